package pattern_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
)

// small is unsorted, with an empty row and an empty column (2).
func small() *sparse.Pattern {
	return &sparse.Pattern{Rows: 4, Cols: 5, RowPtr: []int64{0, 2, 2, 5, 7}, ColIdx: []int32{4, 0, 1, 4, 3, 0, 4}}
}

func upload(t *testing.T, dev device.Device, p *sparse.Pattern) *pattern.Resident {
	t.Helper()
	r, err := pattern.Upload(dev, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		if u := dev.Usage(); u != (device.Usage{}) {
			t.Errorf("%+v is still open", u)
		}
	})
	return r
}

func download[T device.Elem](t *testing.T, b *device.Buffer[T]) []T {
	t.Helper()
	out := make([]T, b.Len())
	if err := b.Download(out); err != nil {
		t.Fatal(err)
	}
	return out
}

// on runs a test on the CPU, which uses slices in place, and on a device that must copy.
func on(t *testing.T, test func(t *testing.T, dev device.Device)) {
	t.Run("cpu", func(t *testing.T) { test(t, cpu.New(2)) })
	t.Run("remote", func(t *testing.T) { test(t, conformance.Remote(cpu.New(2))) })
}

func TestUpload(t *testing.T) {
	on(t, func(t *testing.T, dev device.Device) {
		p := small()
		r := upload(t, dev, p)
		if r.Rows != 4 || r.Cols != 5 || r.NNZ != 7 || r.Device() != dev || r.Host() != p {
			t.Errorf("%s on %s", r.Shape(), r.Device().Name())
		}
		if got := download(t, r.RowPtr); !slices.Equal(got, p.RowPtr) {
			t.Errorf("row pointers %v", got)
		}
		if got := download(t, r.ColIdx); !slices.Equal(got, p.ColIdx) {
			t.Errorf("columns %v", got)
		}
		if r.Shape() != "pattern 4×5 with 7 non-zeros" {
			t.Errorf("Shape is %q", r.Shape())
		}
		if len(r.Work.Units) != 1 {
			t.Errorf("%d units of work, want 1", len(r.Work.Units))
		}
	})
}

func TestUploadValidates(t *testing.T) {
	for want, p := range map[string]*sparse.Pattern{
		"out of range":      {Rows: 1, Cols: 2, RowPtr: []int64{0, 1}, ColIdx: []int32{2}},
		"decreases":         {Rows: 2, Cols: 2, RowPtr: []int64{0, 2, 1}, ColIdx: []int32{0}},
		"more than once":    {Rows: 1, Cols: 2, RowPtr: []int64{0, 2}, ColIdx: []int32{1, 1}},
		"entries in RowPtr": {Rows: 2, Cols: 2},
	} {
		dev := cpu.New(1)
		r, err := pattern.Upload(dev, p)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "pattern.Upload: ") {
			t.Errorf("error %v, want one of pattern.Upload that says %q", err, want)
		}
		if r != nil || dev.Usage() != (device.Usage{}) {
			t.Errorf("a refused pattern left %v and %+v", r, dev.Usage())
		}
	}
	var dup *sparse.DuplicateError
	_, err := pattern.Upload(cpu.New(1), &sparse.Pattern{Rows: 1, Cols: 2, RowPtr: []int64{0, 2}, ColIdx: []int32{1, 1}})
	if !errors.As(err, &dup) {
		t.Errorf("error %v, want a *sparse.DuplicateError inside", err)
	}
}

func TestTranspose(t *testing.T) {
	on(t, func(t *testing.T, dev device.Device) {
		p := small()
		r := upload(t, dev, p)
		tr, err := r.Transpose()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := r.Transpose(); again != tr || err != nil {
			t.Errorf("a second Transpose made another: %v", err)
		}
		ptr, col, perm := download(t, tr.RowPtr), download(t, tr.ColIdx), download(t, tr.Perm)
		if tr.Rows != 5 || tr.Cols != 4 || tr.NNZ != 7 || !slices.Equal(ptr, tr.Host().RowPtr) {
			t.Errorf("%s with row pointers %v", tr.Shape(), ptr)
		}
		// The row of each non-zero of the original.
		row := make([]int32, 7)
		for i := range p.Rows {
			for z := p.RowPtr[i]; z < p.RowPtr[i+1]; z++ {
				row[z] = int32(i)
			}
		}
		seen := make([]bool, 7)
		for j := range tr.Rows {
			for q := ptr[j]; q < ptr[j+1]; q++ {
				z := perm[q]
				if seen[z] || p.ColIdx[z] != int32(j) || row[z] != col[q] {
					t.Errorf("non-zero %d at (%d,%d) of the transpose is said to be non-zero %d at (%d,%d)", q, j, col[q], z, row[z], p.ColIdx[z])
				}
				seen[z] = true
			}
		}
		got := pattern.Gather(tr, []string{"a", "b", "c", "d", "e", "f", "g"})
		want := make([]string, 7)
		for q, z := range perm {
			want[q] = string(rune('a' + z))
		}
		if !slices.Equal(got, want) {
			t.Errorf("Gather gave %v, want %v", got, want)
		}

		// The transpose of the transpose is the original with sorted rows.
		back, err := tr.Transpose()
		if err != nil {
			t.Fatal(err)
		}
		if got := download(t, back.ColIdx); !slices.Equal(got, []int32{0, 4, 1, 3, 4, 0, 4}) {
			t.Errorf("transposed twice, the columns are %v", got)
		}
	})
}

func TestClose(t *testing.T) {
	on(t, func(t *testing.T, dev device.Device) {
		r := upload(t, dev, small())
		tr, err := r.Transpose()
		if err != nil {
			t.Fatal(err)
		}
		// Closing the transpose leaves the original, which makes another.
		for range 2 {
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
		}
		if u := dev.Usage(); u.Buffers != 2 {
			t.Errorf("%d buffers are open, want the original's 2", u.Buffers)
		}
		again, err := r.Transpose()
		if err != nil {
			t.Fatal(err)
		}
		if got := download(t, again.Perm); len(got) != 7 {
			t.Errorf("permutation %v", got)
		}
		for range 2 {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if u := dev.Usage(); u != (device.Usage{}) {
			t.Errorf("after Close, %+v is open", u)
		}
		if _, err := r.Transpose(); !errors.Is(err, device.ErrClosed) {
			t.Errorf("Transpose of a closed pattern: error %v", err)
		}
		if _, err := again.Transpose(); !errors.Is(err, device.ErrClosed) {
			t.Errorf("Transpose of a transpose that was closed with its original: error %v", err)
		}
		if o := again.Operand(); !o.Closed {
			t.Error("the transpose was not closed with its original")
		}
		var none *pattern.Resident
		if err := none.Close(); err != nil {
			t.Error(err)
		}
		if _, err := none.Transpose(); err == nil {
			t.Error("a nil pattern was transposed")
		}
	})
}

func TestFailingAllocations(t *testing.T) {
	// Row pointers, columns, the same of the transpose, and the permutation.
	for n := 1; n <= 6; n++ {
		dev := cpu.New(1)
		failing := conformance.Failing(conformance.Remote(dev), n)
		r, err := pattern.Upload(failing, small())
		if err == nil {
			_, err = r.Transpose()
		}
		if n <= 5 && !errors.Is(err, device.ErrOutOfMemory) || n == 6 && err != nil {
			t.Errorf("allocation %d failed: error %v", n, err)
		}
		if n >= 3 && r.Operand().Closed {
			t.Errorf("a failed transpose closed the original")
		}
		r.Close()
		if u := dev.Usage(); u != (device.Usage{}) {
			t.Errorf("after allocation %d failed, %+v is open", n, u)
		}
	}
}
