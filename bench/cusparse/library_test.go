package cusparse

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sddmmkit/device"
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
		return 0, fmt.Errorf("libcusparse.so.12: function %s %w", name, dl.ErrNotFound)
	}
	return 1, nil
}

func (l *fakeLibrary) Close() error { l.closed = true; return nil }

func wantUnavailable(t *testing.T, err error, texts ...string) {
	t.Helper()
	if !errors.Is(err, device.ErrUnavailable) {
		t.Errorf("error %v is not device.ErrUnavailable", err)
		return
	}
	for _, s := range texts {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q does not say %q", err, s)
		}
	}
}

func TestLibraryAbsent(t *testing.T) {
	var asked []string
	_, err := openLibrary(func(names ...string) (dl.Library, error) {
		asked = names
		return nil, fmt.Errorf("library %w: no such file", dl.ErrNotFound)
	})
	wantUnavailable(t, err, "cuSPARSE 12 was not found", "install", "no such file")
	if len(asked) == 0 || asked[0] != "libcusparse.so.12" {
		t.Errorf("asked for %q", asked)
	}
}

func TestSymbolMissing(t *testing.T) {
	for _, name := range append(symbols, "") {
		lib := &fakeLibrary{lacks: name}
		a, err := openLibrary(func(...string) (dl.Library, error) { return lib, nil })
		if name == "" {
			if err != nil || a == nil || lib.closed || !slices.Equal(lib.asked, symbols) {
				t.Errorf("with nothing missing: error %v, asked for %q", err, lib.asked)
			}
			continue
		}
		wantUnavailable(t, err, name, "too old")
		if !lib.closed {
			t.Errorf("%s missing: the library stays open", name)
		}
	}
}

// Every function that is called is looked up before, and has its prototype above the call.
func TestSymbols(t *testing.T) {
	text, err := os.ReadFile("library.go")
	if err != nil {
		t.Fatal(err)
	}
	var called []string
	for _, m := range regexp.MustCompile(`(?:call\(l, |l\.buffer\(|l\.product\()"(cusparse\w+)"`).FindAllStringSubmatchIndex(string(text), -1) {
		name := string(text[m[2]:m[3]])
		called = append(called, name)
		before := string(text[:m[0]])
		if at := strings.LastIndex(before, "// cusparseStatus_t "); at < 0 || !strings.HasPrefix(before[at:], "// cusparseStatus_t "+name+"(") {
			t.Errorf("%s is called without its prototype above", name)
		}
	}
	slices.Sort(called)
	if want := slices.Sorted(slices.Values(symbols)); !slices.Equal(called, want) {
		t.Errorf("called %q, looked up %q", called, want)
	}
}
