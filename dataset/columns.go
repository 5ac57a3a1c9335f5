package dataset

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A delimiter of ratings text: a byte, or one of these two.
const (
	colons = ':' // "::"
	blanks = ' ' // any run of blanks and tabs
)

// layout says how the lines of a ratings file are cut and which fields matter.
type layout struct {
	delim  byte
	fields int // on every line
	header bool
	first  int64 // the first line with data or the header: comments come before

	roles []uint8 // by field: userRole … noRole
	has   [4]bool // by role: whether a column has it
}

// The usual names of columns, in lower case, letters and digits only.
var (
	userNames   = []string{"user", "userid", "users", "uid", "username", "reviewer", "reviewerid", "customer", "customerid", "member", "memberid", "visitor", "visitorid", "reader", "readerid", "listener", "listenerid", "u"}
	itemNames   = []string{"item", "itemid", "items", "iid", "movie", "movieid", "film", "filmid", "artist", "artistid", "product", "productid", "book", "bookid", "isbn", "asin", "song", "songid", "track", "trackid", "album", "albumid", "game", "gameid", "business", "businessid", "article", "articleid", "friend", "friendid", "i"}
	ratingNames = []string{"rating", "ratings", "score", "stars", "value", "weight", "count", "counts", "plays", "playcount", "listens", "overall", "bookrating", "r"}
	timeNames   = []string{"timestamp", "time", "ts", "date", "datetime", "unixtime", "unixreviewtime", "t"}
)

// columnName reduces the name of a column to what columns are compared by.
func columnName(b []byte) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r > 127:
			return r
		}
		return -1
	}, string(bytes.TrimPrefix(b, utf8BOM)))
}

// splitFields cuts a line at its delimiter. Between commas, semicolons and bars a field may
// stand in quotes, with "" for a quote; between tabs too, but there a lone quote is just a
// character. It reports false where quotes do not close. Blanks around fields go.
func splitFields(dst [][]byte, s []byte, delim byte) ([][]byte, bool) {
	switch delim {
	case blanks:
		for p := skipBlanks(s, 0); p < len(s); p = skipBlanks(s, p) {
			f := fieldAt(s, p)
			dst = append(dst, f)
			p += len(f)
		}
		return dst, true
	case colons:
		for {
			i := bytes.Index(s, []byte("::"))
			if i < 0 {
				return append(dst, bytes.Trim(s, " ")), true
			}
			dst = append(dst, bytes.Trim(s[:i], " "))
			s = s[i+2:]
		}
	}
	for {
		s = bytes.TrimLeft(s, " ")
		if len(s) > 0 && s[0] == '"' {
			f, rest, ok := cutQuoted(s, delim)
			if !ok && delim != '\t' {
				return dst, false
			}
			if ok {
				dst = append(dst, f)
				if rest == nil {
					return dst, true
				}
				s = rest
				continue
			}
		}
		i := bytes.IndexByte(s, delim)
		if i < 0 {
			return append(dst, bytes.TrimRight(s, " ")), true
		}
		dst = append(dst, bytes.TrimRight(s[:i], " "))
		s = s[i+1:]
	}
}

// cutQuoted takes the quoted field at the start of s and returns what follows its delimiter,
// nil at the end of the line.
func cutQuoted(s []byte, delim byte) (field, rest []byte, ok bool) {
	escaped := false
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '"' {
			escaped = true
			i++
			continue
		}
		field = s[1:i]
		if escaped {
			field = bytes.ReplaceAll(field, []byte(`""`), []byte{'"'})
		}
		after := bytes.TrimLeft(s[i+1:], " ")
		if len(after) == 0 {
			return field, nil, true
		}
		if after[0] != delim {
			return nil, nil, false
		}
		return field, after[1:], true
	}
	return nil, nil, false
}

// findDelimiter returns the first delimiter that cuts all lines into the same number of fields,
// at least two; a tab is the surest sign and a blank the weakest. Where none does, it returns
// the one that cuts the first line into most fields, so that the line that differs is named.
func findDelimiter(lines [][]byte) (delim byte, fields int) {
	best, most := byte(0), 1
	for _, d := range []byte{'\t', colons, ',', ';', '|', blanks} {
		n := 0
		same := true
		for i, l := range lines {
			f, ok := splitFields(nil, l, d)
			if i == 0 {
				n = len(f)
			}
			if !ok || len(f) != n {
				same = false
				break
			}
		}
		if n >= 2 && same {
			return d, n
		}
		if n > most && d != blanks {
			best, most = d, n
		}
	}
	return best, most
}

// findLayout works out the layout of a ratings file from its first lines and the options.
func findLayout(in *text, opt Options) (*layout, error) {
	head, whole, err := in.sample()
	s := takeRatingsSample(head, whole)
	if len(s.lines) == 0 {
		if err != nil {
			return nil, err
		}
		return nil, noEntries(in.name, "ratings")
	}
	lay := &layout{first: s.first}
	lay.delim, lay.fields = findDelimiter(s.lines)
	if lay.fields < 2 {
		return nil, &ParseError{File: in.name, Line: s.first, Got: "one field in " + quote(s.lines[0]),
			Want: `user and item, and perhaps rating and time, between tabs, "::", commas, semicolons, bars or blanks`}
	}
	rows := make([][][]byte, len(s.lines))
	for i, l := range s.lines {
		rows[i], _ = splitFields(nil, l, lay.delim)
	}
	names := rows[0]
	known := [4]int{findName(names, userNames), findName(names, itemNames), findName(names, ratingNames), findName(names, timeNames)}
	switch opt.Header {
	case HeaderPresent:
		lay.header = true
	case HeaderAuto:
		lay.header = known[0] >= 0 && known[1] >= 0 && !anyNumber(names) || looksHeader(rows)
	}
	data := rows
	if lay.header {
		data = rows[1:]
	} else {
		names, known = nil, [4]int{-1, -1, -1, -1}
	}
	return lay, lay.chooseColumns(in.name, opt.Columns, names, known, data)
}

// takeRatingsSample is takeSample, but only comments before the first line count as such: later
// a # may begin a name.
func takeRatingsSample(head []byte, whole bool) sample {
	var s sample
	head = bytes.TrimPrefix(head, utf8BOM)
	l := lines{data: head}
	for len(s.lines) < sampleLines {
		cut := !whole && bytes.IndexByte(l.data, '\n') < 0
		b, ok := l.next()
		if !ok || cut && len(s.lines) > 0 {
			break
		}
		if skipBlanks(b, 0) == len(b) || len(s.lines) == 0 && b[0] == '#' {
			continue
		}
		if len(s.lines) == 0 {
			s.first = l.line
		}
		s.lines = append(s.lines, b)
	}
	return s
}

// looksHeader reports whether the first line has no number where later lines have one.
func looksHeader(rows [][][]byte) bool {
	if anyNumber(rows[0]) {
		return false
	}
	for _, r := range rows[1:] {
		if anyNumber(r) {
			return true
		}
	}
	return false
}

func anyNumber(fields [][]byte) bool {
	for _, f := range fields {
		if isNumber(f) {
			return true
		}
	}
	return false
}

func isNumber(b []byte) bool {
	_, ok := parseFloat[float64](b)
	return ok
}

func findName(fields [][]byte, names []string) int {
	for _, n := range names {
		for i, f := range fields {
			if columnName(f) == n {
				return i
			}
		}
	}
	return -1
}

// allPass reports whether there are rows and field i passes in all of them.
func allPass(rows [][][]byte, i int, pass func([]byte) bool) bool {
	for _, r := range rows {
		if i >= len(r) || !pass(r[i]) {
			return false
		}
	}
	return len(rows) > 0
}

// The roles of columns, in the order of their usual positions.
const (
	userRole = iota
	itemRole
	ratingRole
	timeRole
	noRole
)

// chooseColumns settles which field is what: first the columns that were asked for, then the
// usual names of a header, then positions.
func (lay *layout) chooseColumns(file string, c Columns, names [][]byte, known [4]int, data [][][]byte) error {
	pick := [4]int{-1, -1, -1, -1}
	none := [4]bool{ratingRole: c.Rating == NoColumn, timeRole: c.Time == NoColumn}
	for role, want := range []string{c.User, c.Item, c.Rating, c.Time} {
		if want == "" || none[role] {
			continue
		}
		if pick[role] = lay.column(want, names); pick[role] < 0 {
			return &ParseError{File: file, Line: lay.first, Got: lay.describe(names), Want: fmt.Sprintf("a column %q", want)}
		}
	}
	free := func(i int) bool { return i >= 0 && i < lay.fields && !slices.Contains(pick[:], i) }
	for role, i := range known {
		if pick[role] >= 0 || none[role] || !free(i) || role == timeRole && !allPass(data, i, isTime) {
			continue
		}
		pick[role] = i
	}

	header := len(names) > 0
	byName := header && pick[userRole] >= 0 && pick[itemRole] >= 0
	if header && !byName {
		// Names that say too little leave the rest to position, but only where the file is
		// surely ratings: guessing wrong is worse than asking.
		some := pick[userRole] >= 0 || pick[itemRole] >= 0
		if pick[ratingRole] < 0 && (some || lay.fields > 2 && !allPass(data, 2, isNumber)) {
			return &ParseError{File: file, Line: lay.first, Got: lay.describe(names),
				Want: "columns for user and item: choose them by name or position"}
		}
	}
	for _, role := range []int{userRole, itemRole} {
		for i := 0; pick[role] < 0 && i < lay.fields; i++ {
			if free(i) {
				pick[role] = i
			}
		}
		if pick[role] < 0 {
			return &ParseError{File: file, Line: lay.first, Got: lay.describe(names), Want: "columns for user and item"}
		}
	}
	if pick[ratingRole] < 0 && !none[ratingRole] {
		if byName {
			pick[ratingRole] = lay.onlyNumber(names, data, free)
		} else if free(2) {
			pick[ratingRole] = 2
		}
	}
	if pick[timeRole] < 0 && !none[timeRole] && !byName && free(3) && allPass(data, 3, isTime) {
		pick[timeRole] = 3
	}

	lay.roles = make([]uint8, lay.fields)
	for i := range lay.roles {
		lay.roles[i] = noRole
	}
	for role, i := range pick {
		if i < 0 {
			continue
		}
		if lay.roles[i] != noRole {
			return &ParseError{File: file, Line: lay.first, Got: fmt.Sprintf("column %d chosen for two things", i),
				Want: "different columns for user, item, rating and time"}
		}
		lay.roles[i] = uint8(role)
		lay.has[role] = true
	}
	return nil
}

// onlyNumber returns the one column that is left beside user, item and time, where it holds
// numbers that are no ids by its name; -1 where there is none, or more.
func (lay *layout) onlyNumber(names [][]byte, data [][][]byte, free func(int) bool) int {
	only := -1
	for i := range lay.fields {
		if !free(i) {
			continue
		}
		if only >= 0 {
			return -1
		}
		only = i
	}
	if only >= 0 && !strings.HasSuffix(columnName(names[only]), "id") && allPass(data, only, isNumber) {
		return only
	}
	return -1
}

// column returns the field that a name or a 0-based position chooses, or -1.
func (lay *layout) column(want string, names [][]byte) int {
	for i, n := range names {
		if string(n) == want {
			return i
		}
	}
	for i, n := range names {
		if w := columnName([]byte(want)); w != "" && columnName(n) == w && !isNumber([]byte(want)) {
			return i
		}
	}
	if i, err := strconv.Atoi(want); err == nil && i >= 0 && i < lay.fields {
		return i
	}
	return -1
}

// describe shows the columns of a file in an error.
func (lay *layout) describe(names [][]byte) string {
	if len(names) == 0 {
		return fmt.Sprintf("%d columns without a header", lay.fields)
	}
	return "columns " + quote(bytes.Join(names, []byte(", ")))
}
