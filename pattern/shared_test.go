package pattern_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/model"
	"sddmmkit/sparse"
	"sddmmkit/tiling"
)

// gpu is a device that says it is an H200 of some kind. It launches nothing.
type gpu struct {
	device.Device
	kind device.Kind
}

func newGPU(kind device.Kind) gpu { return gpu{conformance.Remote(cpu.New(1)), kind} }

func (g gpu) Kind() device.Kind { return g.kind }

func (g gpu) Props() device.Props {
	return device.Props{Kind: g.kind, Units: 132, SharedBytes: 227 << 10, L2Bytes: 60 << 20}
}

func (g gpu) Kernel(*device.Program) (device.Kernel, error) {
	return nil, fmt.Errorf("it launches nothing: %w", device.ErrUnsupported)
}

// every is a pattern with n columns in each row, as far apart as they can be.
func every(rows, cols, n int) *sparse.Pattern {
	p := &sparse.Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}
	for i := range rows {
		for k := range n {
			p.ColIdx = append(p.ColIdx, int32((k*cols+i%cols)/n))
		}
		p.RowPtr[i+1] = int64(len(p.ColIdx))
	}
	return p
}

// The buffers hold what tiling cuts, and a cut is made once.
func TestShared(t *testing.T) {
	dev := newGPU(device.CUDA)
	p := every(100, 40, 8)
	p.ColIdx[0], p.ColIdx[3] = p.ColIdx[3], p.ColIdx[0]
	r := upload(t, dev, p)
	s, err := r.Shared(model.Tile{Ti: 30, Tj: 16, Panels: 2})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.Shared(model.Tile{Ti: 30, Tj: 16, Panels: 2}); again != s || err != nil {
		t.Errorf("asked again: another cut, error %v", err)
	}
	want, err := tiling.NewShared(p, r.Popular().Order, tiling.SharedCut{Width: 16, Height: 30, Panels: 2, Units: dev.Props().Units}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s.Width != 16 || s.Columns != 32 || s.ShareCount != len(want.Shares)-1 || s.Entries != int64(len(want.Local)) || s.PieceCount != int64(len(want.Blocks)) {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(download(t, s.Cols), want.Cols) || !slices.Equal(download(t, s.Shares), want.Shares) || !slices.Equal(download(t, s.Local), want.Local) || !slices.Equal(download(t, s.Entry), want.Entry) {
		t.Error("columns, shares, entries or the ways to them differ")
	}
	for n, it := range want.Items {
		if got := download(t, s.Items)[4*n : 4*n+4]; !slices.Equal(got, []int64{int64(it.Panel), int64(it.Row), it.Lo, it.Hi}) {
			t.Errorf("item %d is %v, want %+v", n, got, it)
		}
	}
	for n, b := range want.Blocks {
		if got := download(t, s.Pieces)[3*n : 3*n+3]; !slices.Equal(got, []int64{b.Lo, b.Hi, b.Entry}) {
			t.Errorf("piece %d is %v, want %+v", n, got, b)
		}
	}
	if s.Rest.NNZ != want.Rest.NNZ() || !slices.Equal(download(t, s.Rest.RowPtr), want.Rest.RowPtr) ||
		!slices.Equal(download(t, s.Rest.ColIdx), want.Rest.ColIdx) || !slices.Equal(download(t, s.Rest.At), want.RestAt) {
		t.Error("the rest differs")
	}
	if _, err := r.Shared(model.Tile{Ti: 1, Panels: 1}); err == nil {
		t.Error("panels of no columns")
	}
}

// Pieces end with blocks of rows, and have at most PieceNNZ non-zeros.
func TestSharedPieces(t *testing.T) {
	r := upload(t, newGPU(device.CUDA), every(1000, 100, 10))
	s, err := r.Shared(model.Tile{Ti: 450, Tj: 100, Panels: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]int64
	for piece := range slices.Chunk(download(t, s.Pieces), 3) {
		got = append(got, [2]int64{piece[0], piece[1]})
	}
	if want := [][2]int64{{0, 2048}, {2048, 4096}, {4096, 4500}, {4500, 6548}, {6548, 8596}, {8596, 9000}, {9000, 10_000}}; !slices.Equal(got, want) {
		t.Errorf("pieces %v, want %v", got, want)
	}
}

// Useful panels are those with a non-zero for each column and block of rows.
func TestUsefulPanels(t *testing.T) {
	p := &sparse.Pattern{Rows: 4, Cols: 6, RowPtr: []int64{0, 5, 7, 9, 10}, ColIdx: []int32{0, 1, 2, 3, 5, 1, 3, 1, 3, 1}}
	// Columns by count: 1 has four non-zeros, 3 three, 0, 2 and 5 one, 4 none.
	for _, test := range []struct{ width, height, columns int }{
		{1, 4, 5}, {1, 2, 2}, {2, 4, 4}, {2, 2, 2}, {2, 1, 0}, {6, 4, 6}, {6, 2, 0},
	} {
		r := upload(t, newGPU(device.CUDA), p)
		s, err := r.Shared(model.Tile{Ti: test.height, Tj: test.width})
		if err != nil || s.Columns != test.columns {
			t.Errorf("%d columns, blocks of %d rows: %d columns are in panels, want %d; error %v", test.width, test.height, s.Columns, test.columns, err)
		}
	}
}

// On a CUDA device the model chooses between schemes; other devices and operations have one.
func TestChooseScheme(t *testing.T) {
	dense, few := every(20_000, 1600, 400), every(100, 200, 10)
	for _, test := range []struct {
		kind   device.Kind
		p      *sparse.Pattern
		op     model.Op
		k      int
		shared bool
		reason string
	}{
		{device.CUDA, dense, model.SDDMM, 512, true, "panels of "},
		{device.CUDA, dense, model.SDDMM, 1, false, "too small"},
		{device.CUDA, few, model.SDDMM, 512, false, "too small"},
		{device.CUDA, dense, model.SpMM, 512, false, "SpMM has no tiles"},
		{device.OpenCL, dense, model.SDDMM, 512, false, "CUDA devices only"},
	} {
		r := upload(t, newGPU(test.kind), test.p)
		if _, ok := r.Chosen(test.op, test.k, 4); ok {
			t.Error("chosen before it was asked for")
		}
		c, err := r.Choose(context.Background(), test.op, test.k, 4)
		if err != nil || (c.Tile != model.Tile{}) != test.shared || !strings.Contains(c.Reason, test.reason) {
			t.Errorf("%s, %v, K = %d: %+v, %q, error %v; want %q", test.kind, test.op, test.k, c.Tile, c.Reason, err, test.reason)
		}
		if got, ok := r.Chosen(test.op, test.k, 4); !ok || got.Tile != c.Tile {
			t.Errorf("chosen %+v, %t", got.Tile, ok)
		}
	}
	r := upload(t, newGPU(device.CUDA), dense)
	for given, want := range map[model.Tile]model.Tile{
		{Tj: 50}:                  {Ti: 41_472, Tj: 50, Tk: 128},
		{Ti: 7, Tj: 50}:           {Ti: 7, Tj: 50, Tk: 128},
		{Ti: 7, Tj: 50, Tk: 1024}: {Ti: 7, Tj: 50, Tk: 1024},
	} {
		if got := r.SharedTile(given, 128, 4); got != want {
			t.Errorf("%+v stands for %+v, want %+v", given, got, want)
		}
	}
}
