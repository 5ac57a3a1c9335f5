package factors

import (
	"strings"

	"sddmmkit/internal/npz"
)

// Names are stored as an array of unicode strings where that is exact and not wasteful. NumPy's
// strings all have the length of the longest, four bytes a character, and lose NULs at the end: one
// long name among a million short ones would make gigabytes, and a name that ends in NUL would
// not come back. Such names are stored as their bytes end to end, under the same name and
// "_bytes", with the offset after each name under "_end".

// plain says whether names are stored as unicode strings.
func plain(names []string) bool {
	longest, total := 0, 0
	for _, n := range names {
		if strings.HasSuffix(n, "\x00") {
			return false
		}
		longest = max(longest, len(n))
		total += len(n) + 8
	}
	return longest*len(names) <= 16*total+1<<16
}

// namesArrays returns the arrays that hold names, none when there are no names.
func namesArrays(name string, names []string) []array {
	switch {
	case names == nil:
		return nil
	case plain(names):
		return []array{{name, []int{len(names)}, names, true}}
	}
	end := make([]int64, len(names))
	total := 0
	for i, n := range names {
		total += len(n)
		end[i] = int64(total)
	}
	return []array{
		{name + "_bytes", []int{total}, []byte(strings.Join(names, "")), true},
		{name + "_end", []int{len(end)}, end, true},
	}
}

// readNames returns the names that namesArrays stored, nil when there are none.
func readNames(f *npz.File, name string) ([]string, error) {
	if !f.Has(name) {
		if f.Has(name+"_bytes") || f.Has(name+"_end") {
			return readJoined(f, name)
		}
		return nil, nil
	}
	a, err := f.Array(name)
	if err != nil {
		return nil, err
	}
	if len(a.Shape) != 1 {
		return nil, a.Errorf("shape %v; want one dimension", a.Shape)
	}
	return npz.Strings(a)
}

func readJoined(f *npz.File, name string) ([]string, error) {
	codes, err := readInts[int32](f, name+"_bytes")
	if err != nil {
		return nil, err
	}
	a, err := f.Array(name + "_end")
	if err != nil {
		return nil, err
	}
	end, err := readInts[int64](f, name+"_end")
	if err != nil {
		return nil, err
	}
	text := make([]byte, len(codes))
	for i, c := range codes {
		if c < 0 || c > 255 {
			return nil, a.Errorf("byte %d of the names is %d; want 0 to 255", i, c)
		}
		text[i] = byte(c)
	}
	names := make([]string, len(end))
	at := int64(0)
	for i, e := range end {
		if e < at || e > int64(len(text)) {
			return nil, a.Errorf("name %d ends at byte %d; want %d to %d", i, e, at, len(text))
		}
		names[i] = string(text[at:e])
		at = e
	}
	if at != int64(len(text)) {
		return nil, a.Errorf("the names end at byte %d of %d", at, len(text))
	}
	return names, nil
}
