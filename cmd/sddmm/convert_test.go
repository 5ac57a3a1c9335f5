package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sddmmkit/dataset"
)

// Through every output format and back: the same entries, and the same names and times where the
// format has room for them.
func TestConvert(t *testing.T) {
	in := write(t, "r.csv", "user,item,rating,time\nann,\"x,1\",4.5,10\nbob,y,1e-3,20\nann,y,-2,30\nzoë,\"x,1\",3,40\n")
	want, err := dataset.Read[float64](t.Context(), in, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range outputs {
		out := filepath.Join(t.TempDir(), "out"+ext)
		e := last(t, good(t, "convert", in, out, "--json").stdout)
		if num(t, e, "nnz") != 4 || num(t, e, "rows") != 3 || num(t, e, "bytes_out") != float64(fileSize(out)) || e["format"] != "ratings" {
			t.Errorf("%s: %v", ext, e)
		}
		got, err := dataset.Read[float64](t.Context(), out, dataset.Options{})
		if err != nil {
			t.Errorf("%s: %v", ext, err)
			continue
		}
		for p, v := range want.COO.Val {
			if got.COO.Row[p] != want.COO.Row[p] || got.COO.Col[p] != want.COO.Col[p] || got.COO.Val[p] != v {
				t.Errorf("%s: entry %d is %v at (%d, %d)", ext, p, got.COO.Val[p], got.COO.Row[p], got.COO.Col[p])
			}
			if !strings.HasPrefix(ext, ".mtx") && (got.Time[p] != want.Time[p] ||
				got.Rows.Name(int(got.COO.Row[p])) != want.Rows.Name(int(want.COO.Row[p])) || got.Cols.Name(int(got.COO.Col[p])) != want.Cols.Name(int(want.COO.Col[p]))) {
				t.Errorf("%s: entry %d lost a name or its time", ext, p)
			}
		}
	}
}

func TestConvertKeepsWhatIsThere(t *testing.T) {
	out := write(t, "there.mtx", "precious")
	bad(t, exitFailed, []string{"exists", "--force"}, "convert", "uniform:3x3:2", out)
	if text, _ := os.ReadFile(out); string(text) != "precious" {
		t.Errorf("the file now holds %q", text)
	}
	// A conversion that fails leaves the file too, with --force or without.
	bad(t, exitFailed, []string{"no-such-file"}, "convert", "no-such-file", out, "--force")
	if text, _ := os.ReadFile(out); string(text) != "precious" {
		t.Errorf("the file now holds %q", text)
	}
	o := good(t, "convert", "uniform:3x3:2", out, "--force")
	if text, _ := os.ReadFile(out); !strings.HasPrefix(string(text), "%%MatrixMarket") || !strings.Contains(o.stdout, "3 × 3, 2 entries") {
		t.Errorf("the file now holds %q, and the command says %q", text, o.stdout)
	}
	wantFiles(t, filepath.Dir(out), "there.mtx")
}

func TestConvertDuplicates(t *testing.T) {
	in := write(t, "d.csv", "user,item,rating\na,x,1\na,x,2\nb,x,4\n")
	for dup, want := range map[string][]float64{"keep": {1, 2, 4}, "sum": {3, 4}, "last": {2, 4}} {
		out := filepath.Join(t.TempDir(), "out.csv")
		e := last(t, good(t, "convert", in, out, "--duplicates", dup, "--json").stdout)
		got, err := dataset.Read[float64](t.Context(), out, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.COO.Val) != len(want) || num(t, e, "merged") != float64(3-len(want)) {
			t.Errorf("%s: %v, %v", dup, got.COO.Val, e)
		}
		for p, v := range want {
			if got.COO.Val[p] != v {
				t.Errorf("%s: %v; want %v", dup, got.COO.Val, want)
			}
		}
	}
	bad(t, exitFailed, []string{`"a"`, `"x"`}, "convert", in, filepath.Join(t.TempDir(), "out.csv"), "--duplicates", "error")
}

func TestConvertPrecision(t *testing.T) {
	in := write(t, "p.csv", "user,item,rating\na,x,0.1234567890123\n")
	for precision, want := range map[string]string{"64": "0.1234567890123\n", "32": "0.12345679\n"} {
		out := filepath.Join(t.TempDir(), "out.csv")
		good(t, "convert", in, out, "--precision", precision)
		if text, _ := os.ReadFile(out); !strings.HasSuffix(string(text), want) {
			t.Errorf("%s bits: %q", precision, text)
		}
	}
}
