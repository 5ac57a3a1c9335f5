package dataset

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// ReadTitles reads what people call the items (or users) of a ratings file: a map from id to
// title. It takes what such files look like, plain or compressed with gzip or zstd:
//
//	1|Toy Story (1995)|…           u.item of MovieLens 100K, in ISO-8859-1
//	movieId,title,genres           movies.csv, quoted where it must be
//	1::Toy Story (1995)::…         movies.dat
//	id<TAB>name<TAB>…              artists.dat of HetRec
//
// The separator is whatever comes first in the first line of a tab, "::", '|', ',' and ';'. A first
// line that has a column "title" or "name" is a header, and that column the title; without
// a header the second column is. Ids stand in the first column. Lines that are not UTF-8 are
// taken for ISO-8859-1. The last of several titles of an id counts.
func ReadTitles(ctx context.Context, path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &ParseError{File: path, Got: "a directory", Want: "a file"}
	}
	stop := context.AfterFunc(ctx, func() { f.Close() })
	defer stop()
	titles, err := readTitles(path, f)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return titles, err
}

func readTitles(name string, r io.Reader) (map[string]string, error) {
	plain, done, err := unpack(name, bufio.NewReader(r))
	if err != nil {
		return nil, err
	}
	defer done()
	in := newText(name, plain, Options{})
	head, _, err := in.sample()
	if err != nil && len(head) == 0 {
		return nil, err
	}
	if err := checkText(name, head); err != nil {
		return nil, err
	}
	titles := map[string]string{}
	var fields [][]byte
	var sep byte
	column := -1 // of the title, once the first line with data has been seen
	for {
		line, err := in.headerLine()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if in.line == 1 {
			line = bytes.TrimPrefix(line, utf8BOM)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		first := column < 0
		if first {
			if sep = titleSeparator(line); sep == 0 {
				return nil, &ParseError{File: name, Line: in.line, Got: quote(line),
					Want: `an id and a title with a tab, "::", "|", "," or ";" between them`}
			}
		}
		var ok bool
		if fields, ok = splitTitle(fields[:0], line, sep); !ok {
			return nil, &ParseError{File: name, Line: in.line, Got: "a quote that does not close on its line, in " + quote(line), Want: "a closing quote"}
		}
		if first {
			column = 1
			if at := headerTitle(fields); at > 0 {
				column = at
				continue
			}
		}
		if len(fields) <= column {
			return nil, &ParseError{File: name, Line: in.line, Got: quote(line), Want: "an id and a title"}
		}
		titles[string(bytes.TrimSpace(fields[0]))] = toUTF8(bytes.TrimSpace(fields[column]))
	}
	if len(titles) == 0 {
		return nil, &ParseError{File: name, Got: "no titles", Want: "lines of an id and a title"}
	}
	return titles, nil
}

// titleSeparator returns what stands between the columns; colons for "::", 0 for nothing known.
func titleSeparator(line []byte) byte {
	i := bytes.IndexAny(line, "\t|,;")
	if c := bytes.Index(line, []byte("::")); c >= 0 && (i < 0 || c < i) {
		return colons
	}
	if i < 0 {
		return 0
	}
	return line[i]
}

// splitTitle cuts a line into columns. Quotes mean something only between commas and semicolons:
// elsewhere they belong to the title.
func splitTitle(fields [][]byte, line []byte, sep byte) ([][]byte, bool) {
	switch sep {
	case ',', ';':
		return splitFields(fields, line, sep)
	case colons:
		return append(fields, bytes.Split(line, []byte("::"))...), true
	}
	return append(fields, bytes.Split(line, []byte{sep})...), true
}

// headerTitle returns the column that a header calls title or name, 0 when the line is no header.
func headerTitle(fields [][]byte) int {
	for i, f := range fields {
		if i == 0 {
			continue
		}
		switch strings.ToLower(string(bytes.TrimSpace(f))) {
		case "title", "name":
			return i
		}
	}
	return 0
}

// toUTF8 turns ISO-8859-1, whose bytes are the first 256 characters of Unicode, into UTF-8.
func toUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}
