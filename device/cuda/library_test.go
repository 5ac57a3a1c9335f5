package cuda

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sddmmkit/internal/dl"
)

// fakeLibrary has all symbols but one.
type fakeLibrary struct {
	lacks  string
	asked  []string
	closed bool
}

func (l *fakeLibrary) Sym(name string) (uintptr, error) {
	l.asked = append(l.asked, name)
	if name == l.lacks {
		return 0, fmt.Errorf("libcuda.so.1: function %s %w", name, dl.ErrNotFound)
	}
	return 1, nil
}

func (l *fakeLibrary) Close() error { l.closed = true; return nil }

func TestLibraryAbsent(t *testing.T) {
	var asked []string
	_, err := openLibrary(func(names ...string) (dl.Library, error) {
		asked = names
		return nil, fmt.Errorf("library %w: no such file", dl.ErrNotFound)
	})
	wantUnavailable(t, err, "driver is not installed", "no such file")
	if len(asked) == 0 || asked[0] != "libcuda.so.1" {
		t.Errorf("asked for %q", asked)
	}
}

// Each function that is missing makes the driver too old, and the library is given back.
func TestSymbolMissing(t *testing.T) {
	for _, name := range append(symbols, "") {
		lib := &fakeLibrary{lacks: name}
		drv, err := openLibrary(func(...string) (dl.Library, error) { return lib, nil })
		if name == "" {
			if err != nil || drv == nil || lib.closed || !slices.Equal(lib.asked, symbols) {
				t.Errorf("with nothing missing: error %v, asked for %q", err, lib.asked)
			}
			continue
		}
		wantUnavailable(t, err, name, "too old", "install")
		if !lib.closed {
			t.Errorf("%s missing: the library stays open", name)
		}
	}
}

//go:embed library.go
var librarySource string

// Every function that is called is looked up before, and has its prototype above the call.
func TestSymbols(t *testing.T) {
	var called []string
	for _, m := range regexp.MustCompile(`(?:call\(l, |dl\.Call\(l\[)"(cu\w+)"`).FindAllStringSubmatchIndex(librarySource, -1) {
		name := librarySource[m[2]:m[3]]
		called = append(called, name)
		before := librarySource[:m[0]]
		if at := strings.LastIndex(before, "// CUresult "); at < 0 || !strings.HasPrefix(before[at:], "// CUresult "+name+"(") {
			t.Errorf("%s is called without its prototype above", name)
		}
	}
	slices.Sort(called)
	want := slices.Sorted(slices.Values(symbols))
	if !slices.Equal(called, want) {
		t.Errorf("called %q, looked up %q", called, want)
	}
}
