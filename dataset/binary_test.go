package dataset

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Binary formats are found by their first bytes, whatever the name, in files and in streams.
func TestBinaryFormats(t *testing.T) {
	want, err := readString[float32]("a.csv", "userId,itemId,rating\nu1,i1,5\nu2,i7,4.5\nu1,i7,1\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for format, ext := range map[Format]string{NPZ: ".npz", Parquet: ".parquet"} {
		path := filepath.Join(dir, "a"+ext)
		if err := WriteFile(path, want); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(dir, "b")
		if err := os.WriteFile(other, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, opt := range []Options{{}, {Format: format}} {
			fromFile, err := Read[float32](context.Background(), other, opt)
			if err != nil {
				t.Fatal(err)
			}
			fromStream, err := ReadFrom[float32](context.Background(), "b", bytes.NewReader(data), opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []*Set[float32]{fromFile, fromStream} {
				checkSet(t, s)
				if s.Format != format || s.COO.NNZ() != 3 || s.COO.Rows != 2 || s.COO.Cols != 2 {
					t.Errorf("%s: read as %s, %d×%d with %d entries", ext, s.Format, s.COO.Rows, s.COO.Cols, s.COO.NNZ())
				}
			}
		}
		if _, err := Read[float32](context.Background(), other, Options{Format: Ratings}); err == nil || !strings.Contains(err.Error(), string(format)+" data") {
			t.Errorf("%s as ratings: error %v", ext, err)
		}
		if _, err := readString[float32]("c", "1 2 3\n", Options{Format: format}); err == nil || !strings.Contains(err.Error(), string(format)) {
			t.Errorf("text as %s: error %v", ext, err)
		}
	}
}
