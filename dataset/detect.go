package dataset

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

var (
	utf8BOM = []byte{0xef, 0xbb, 0xbf}
	utf16LE = []byte{0xff, 0xfe}
	utf16BE = []byte{0xfe, 0xff}
)

// sampleLines is how many lines detection looks at.
const sampleLines = 200

// chooseFormat returns the format to read in as: the one that was asked for, else the one
// detected. Either way it turns down what is no text at all.
func chooseFormat(in *text, opt Options) (Format, error) {
	head, whole, err := in.sample()
	if len(head) == 0 {
		if err != nil {
			return "", err
		}
		return "", &ParseError{File: in.name, Got: "an empty file", Want: "a matrix"}
	}
	if e := checkText(in.name, head); e != nil {
		return "", e
	}
	if opt.Format != "" && opt.Format != Auto {
		return opt.Format, nil
	}
	format, e := detect(in.name, head, whole, opt)
	if e != nil && err != nil {
		return "", err // the file breaks off before anything can be told
	}
	return format, e
}

// checkText turns down bytes that no text format has.
func checkText(name string, head []byte) error {
	if bytes.HasPrefix(head, utf16LE) || bytes.HasPrefix(head, utf16BE) {
		return &ParseError{File: name, Line: 1, Got: "UTF-16 text", Want: "ASCII or UTF-8: convert it first"}
	}
	line := int64(1)
	for _, c := range head {
		switch {
		case c == '\n':
			line++
		case c < ' ' && (c < '\t' || c > '\r'):
			return &ParseError{File: name, Line: line, Got: fmt.Sprintf("binary data (byte 0x%02x)", c), Want: "text"}
		}
	}
	return nil
}

// detect tells the format of a text from its name and its first lines. The rules, in order, are
// those of the package documentation.
func detect(name string, head []byte, whole bool, opt Options) (Format, error) {
	base := strings.ToLower(filepath.Base(name))
	for _, z := range []string{".gz", ".gzip", ".zst", ".zstd"} {
		base = strings.TrimSuffix(base, z)
	}
	switch filepath.Ext(base) {
	case ".mtx", ".mm":
		return MatrixMarket, nil
	case ".smtx":
		return SMTX, nil
	case ".svm", ".svmlight", ".libsvm":
		return SVMlight, nil
	case ".ldac", ".lda-c":
		return LDAC, nil
	case ".npz", ".parquet":
		return "", &ParseError{File: name, Got: "text", Want: filepath.Ext(base)[1:] + " data, as the name says; name the format if it is another"}
	}
	if strings.HasPrefix(base, "docword.") {
		return Docword, nil
	}

	head = bytes.TrimPrefix(head, utf8BOM)
	if isBanner(head) {
		return MatrixMarket, nil
	}
	smp := takeSample(head, whole)
	if len(smp.lines) == 0 {
		return "", &ParseError{File: name, Got: "no line with data", Want: "a matrix"}
	}
	if looksDocword(smp.lines) {
		return Docword, nil
	}
	if looksSMTX(smp.lines) {
		return SMTX, nil
	}
	if format, ok := looksPairs(smp); ok {
		return format, nil
	}
	if format, ok := looksNumbers(smp, opt); ok {
		return format, nil
	}
	if _, fields := findDelimiter(smp.lines); fields < 2 {
		return "", &ParseError{File: name, Line: smp.first, Got: quote(smp.lines[0]),
			Want: "a line of a known format (" + formatList + "); name the format if it is one of them"}
	}
	return Ratings, nil
}

// sample is the start of a file as lines.
type sample struct {
	lines    [][]byte // with data: neither blank nor comments
	first    int64    // number of the first of them
	comments bool     // whether lines that start with # or % came among them
	cut      bool     // there is one line, and only its start
}

// takeSample cuts the start of a file into lines. Of a line that the sample cuts off only the
// whole fields count, and only where there is no whole line.
func takeSample(head []byte, whole bool) sample {
	var s sample
	l := lines{data: head}
	for len(s.lines) < sampleLines {
		cut := !whole && bytes.IndexByte(l.data, '\n') < 0
		b, ok := l.next()
		if !ok {
			break
		}
		b = bytes.TrimRight(b, " \t")
		if cut {
			if len(s.lines) > 0 {
				break
			}
			if i := bytes.LastIndexAny(b, " \t,;|"); i > 0 {
				b = bytes.TrimRight(b[:i+1], " \t")
			}
			s.cut = true
		}
		if len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		if b[0] == '#' || b[0] == '%' {
			s.comments = true
			continue
		}
		if len(s.lines) == 0 {
			s.first = l.line
		}
		s.lines = append(s.lines, b)
	}
	return s
}

// looksDocword: three lines of one number, then lines of three.
func looksDocword(lines [][]byte) bool {
	if len(lines) < 3 {
		return false
	}
	for i, l := range lines {
		n, ok := wholeNumbers(l)
		if !ok || i < 3 && n != 1 || i >= 3 && n != 3 {
			return false
		}
	}
	return len(lines) > 3 || bytes.Equal(bytes.TrimSpace(lines[2]), []byte("0"))
}

// looksSMTX: "rows, cols, nnz" and then a line of numbers without commas, which starts with 0.
func looksSMTX(lines [][]byte) bool {
	parts := bytes.Split(lines[0], []byte(","))
	if len(parts) != 3 || len(lines) < 2 {
		return false
	}
	for _, p := range parts {
		if n, ok := wholeNumbers(p); !ok || n != 1 {
			return false
		}
	}
	second := bytes.Fields(lines[1])
	return len(second) > 0 && string(second[0]) == "0" && bytes.IndexByte(lines[1], ',') < 0
}

// looksPairs: a number, then "id:value" fields. Where that number is on every line the number
// of fields that follow it is LDA-C, else SVMlight.
func looksPairs(s sample) (Format, bool) {
	pairs, counted := false, true
	for _, l := range s.lines {
		if i := bytes.IndexByte(l, '#'); i >= 0 {
			l, counted = l[:i], false // a comment: SVMlight only
		}
		f := bytes.Fields(l)
		if len(f) == 0 {
			continue
		}
		if bytes.IndexByte(f[0], ':') >= 0 {
			return "", false
		}
		for _, p := range f[1:] {
			id, val, ok := bytes.Cut(p, []byte(":"))
			if string(id) == "qid" {
				counted = false
				continue
			}
			_, end := digits(id, 0)
			if !ok || end == 0 || end != len(id) || len(val) == 0 {
				return "", false
			}
			if _, ok := parseFloat[float64](val); !ok {
				return "", false
			}
			pairs = true
		}
		n, end := digits(f[0], 0)
		if end != len(f[0]) || n != int64(len(f)-1) && !(s.cut && n >= int64(len(f)-1)) {
			counted = false
		}
	}
	switch {
	case !pairs:
		return "", false
	case counted:
		return LDAC, true
	}
	return SVMlight, true
}

// looksNumbers tells the three formats apart whose lines are whole numbers between blanks.
func looksNumbers(s sample, opt Options) (Format, bool) {
	least, most := 1<<30, 0
	rising := true // the first number grows from line to line
	prev := int64(-1)
	for _, l := range s.lines {
		n, ok := wholeNumbers(l)
		if !ok {
			// A SNAP list may carry weights.
			if s.comments && opt.RowIDs == nil && opt.ColIDs == nil && isWeightedEdge(l) {
				n = 3
			} else {
				return "", false
			}
		}
		least, most = min(least, n), max(most, n)
		u, _ := digits(bytes.TrimLeft(l, " \t"), 0)
		rising = rising && u > prev
		prev = u
	}
	named := opt.RowIDs != nil || opt.ColIDs != nil
	switch {
	case named && least == most && least >= 2 && least <= 4:
		return Ratings, true // it continues a file that has names
	case least == 2 && most == 2:
		return Edges, true
	case least == 3 && most == 3 && s.comments:
		return Edges, true
	case least != most, least > 4, least >= 3 && rising && len(s.lines) >= 5:
		return Adjacency, true
	case least >= 3:
		return Ratings, true
	}
	return "", false
}

// wholeNumbers returns how many whole numbers, between blanks, a line has; false where it has
// anything else.
func wholeNumbers(l []byte) (n int, ok bool) {
	i := skipBlanks(l, 0)
	for i < len(l) {
		_, end := digits(l, i)
		if end == i {
			return 0, false
		}
		i = skipBlanks(l, end)
		if i == end && i < len(l) {
			return 0, false
		}
		n++
	}
	return n, n > 0
}

func isWeightedEdge(l []byte) bool {
	f := bytes.Fields(l)
	if len(f) != 3 {
		return false
	}
	if n, ok := wholeNumbers(bytes.Join(f[:2], []byte(" "))); !ok || n != 2 {
		return false
	}
	_, ok := parseFloat[float64](f[2])
	return ok
}

// skipBlanks returns the position of the first byte from i on that is no blank.
func skipBlanks(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}
