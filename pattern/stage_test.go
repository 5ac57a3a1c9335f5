package pattern_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/asm"
	"sddmmkit/internal/conformance"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
)

// full is a pattern of rows·cols non-zeros.
func full(rows, cols int) *sparse.Pattern {
	p := &sparse.Pattern{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for range rows {
		for j := range cols {
			p.ColIdx = append(p.ColIdx, int32(j))
		}
		p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
	}
	return p
}

// stage returns whole rows as operations gather them, and their stride.
func stage[T float32 | float64](ctx context.Context, r *pattern.Resident, data []T, rows, cols, stride int) (b []T, step int, err error) {
	b, step = data, stride // of no columns there are no slices
	err = pattern.Slices(ctx, r, data, rows, cols, stride, model.Tile{}, false, func(s ...pattern.Columns[T]) error {
		b, step = s[0].Data, s[0].Stride
		return nil
	})
	return b, step, err
}

func testStage[T float32 | float64](t *testing.T) {
	const rows = 3000 // several units
	size := int(unsafe.Sizeof(*new(T)))
	line := 64 / size
	dev := cpu.New(2)
	r := upload(t, dev, full(64, rows))
	for _, c := range []struct {
		cols, stride int
		staged       bool
	}{
		{2*line - 1, 2*line - 1, true},
		{8*line + 1, 9*line + 1, true},
		{10 * line, 10*line + 3, true},
		{line / 2, line / 2, false},                 // two of them lie in one
		{2*line - 1, 2 * line, false},               // on lines already
		{line + 1, line + 1, false},                 // mostly padding
		{8*line + 1, 80 * line, false},              // on lines, far apart
		{1, 1, false}, {0, 0, false}, {0, 5, false}, // nothing to gain
	} {
		data := make([]T, rows*c.stride)
		for i := range data {
			data[i] = T(i)
		}
		got, stride, err := stage(context.Background(), r, data, rows, c.cols, c.stride)
		if err != nil {
			t.Fatal(err)
		}
		if staged := unsafe.SliceData(got) != unsafe.SliceData(data); staged != c.staged {
			t.Errorf("%d columns, stride %d: staged is %v", c.cols, c.stride, staged)
		}
		if c.staged && (stride%line != 0 || stride >= c.cols+line || uintptr(unsafe.Pointer(unsafe.SliceData(got)))%64 != 0) {
			t.Errorf("%d columns, stride %d: rows of the copy do not begin on lines", c.cols, c.stride)
		}
		for i := range rows {
			if !slices.Equal(got[i*stride:][:c.cols], data[i*c.stride:][:c.cols]) {
				t.Fatalf("%d columns, stride %d: row %d differs", c.cols, c.stride, i)
			}
		}
	}
}

// Rows of more than half a line lie in one line each, and rows of more than a quarter two in one, as long as half of a private cache holds
// all of them. Up to four columns they follow each other.
func TestStageInOneLine(t *testing.T) {
	half := int(cpu.New(1).Props().L2Bytes / 2)
	for cols, want := range map[int]int{13: 16, 9: 16, 7: 8, 5: 8, 4: 4, 3: 3} {
		most := half / (4 * want)
		for _, rows := range []int{most, most + 1} {
			r := upload(t, cpu.New(1), full(64, rows))
			data := make([]float32, cols*rows)
			got, stride, err := stage(context.Background(), r, data, rows, cols, cols)
			if err != nil {
				t.Fatal(err)
			}
			copied := rows > 0 && rows == most && cols != want
			if copied && stride != want || !copied && stride != cols {
				t.Errorf("%d columns, %d of %d rows: a stride of %d", cols, rows, most, stride)
			}
			if copied && (uintptr(unsafe.Pointer(&got[0]))%64 != 0 || &got[0] == &data[0]) {
				t.Errorf("%d columns: rows of the copy do not begin on lines", cols)
			}
		}
	}
}

func TestStage(t *testing.T) {
	t.Run("float32", testStage[float32])
	t.Run("float64", testStage[float64])
}

// The memory is kept for the next call, grows, changes its type and goes with the pattern.
func TestStageMemory(t *testing.T) {
	dev := cpu.New(1)
	r := upload(t, dev, full(64, 10))
	copied := func(cols int) *float32 {
		got, _, err := stage(context.Background(), r, make([]float32, 10*cols), 10, cols, cols)
		if err != nil {
			t.Fatal(err)
		}
		return unsafe.SliceData(got)
	}
	first, before := copied(31), dev.Usage()
	if copied(15) != first || dev.Usage() != before {
		t.Error("a smaller copy has memory of its own")
	}
	if copied(63); dev.Usage().Bytes <= before.Bytes {
		t.Error("a larger copy has no more memory")
	}
	if _, _, err := stage(context.Background(), r, make([]float64, 150), 10, 15, 15); err != nil {
		t.Error(err)
	}
	if u := dev.Usage(); u.Bytes >= before.Bytes+10*64*4 {
		t.Errorf("%+v is open; copies of both types?", u)
	}
}

// A pattern whose rows of B are read a few times only, and a device that computes itself, use the matrix as it is.
func TestStageDoesNotPay(t *testing.T) {
	for _, dev := range []device.Device{cpu.New(1), conformance.Remote(cpu.New(1))} {
		rows := map[bool]int{true: 63, false: 64}[dev.Kind() == device.CPU]
		r := upload(t, dev, full(rows, 10))
		data := make([]float32, 310)
		if got, stride, err := stage(context.Background(), r, data, 10, 31, 31); err != nil || stride != 31 || &got[0] != &data[0] {
			t.Errorf("%s: stride %d (%v)", dev.Name(), stride, err)
		}
	}
}

// A slice is copied wherever it begins, and the memory of the one before is used again.
func TestSlices(t *testing.T) {
	const rows, k = 1000, 300
	dev := cpu.New(2)
	r := upload(t, dev, full(1, rows))
	data := make([]float32, rows*k)
	for i := range data {
		data[i] = float32(i)
	}
	var memory *float32
	var ends []int
	err := pattern.Slices(context.Background(), r, data, rows, k, k, model.Tile{Tk: 128}, false, func(s ...pattern.Columns[float32]) error {
		lo, hi, got, stride := s[0].Lo, s[0].Hi, s[0].Data, s[0].Stride
		if memory == nil {
			memory = &got[0]
		}
		if &got[0] != memory || &got[0] == &data[0] || stride%16 != 0 || stride >= hi-lo+16 {
			t.Errorf("columns %d to %d: a stride of %d, or memory of their own", lo, hi, stride)
		}
		for i := range rows {
			if !slices.Equal(got[i*stride:][:hi-lo], data[i*k+lo:i*k+hi]) {
				t.Fatalf("columns %d to %d: row %d differs", lo, hi, i)
			}
		}
		ends = append(ends, hi)
		return nil
	})
	if err != nil || !slices.Equal(ends, []int{128, 256, 300}) {
		t.Errorf("slices end at %v (%v)", ends, err)
	}
	broken := errors.New("broken")
	calls := 0
	err = pattern.Slices(context.Background(), r, data, rows, k, k, model.Tile{Tk: 128}, false, func(...pattern.Columns[float32]) error { calls++; return broken })
	if !errors.Is(err, broken) || calls != 1 {
		t.Errorf("%d slices after an error (%v)", calls, err)
	}
	for _, size := range [][2]int{{0, 300}, {5, 0}} { // no rows, no columns
		if err := pattern.Slices(context.Background(), r, []float32{}, size[0], size[1], k, model.Tile{Tk: 128}, true, func(s ...pattern.Columns[float32]) error {
			if len(s[0].Data) > 0 {
				t.Errorf("%v: %d elements", size, len(s[0].Data))
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// A last column apart is packed, and the others begin on lines, wherever they come from; without memory both lie where they were.
func TestLastApart(t *testing.T) {
	const rows, k, stride = 1000, 33, 35
	data := make([]float64, rows*stride)
	for i := range data {
		data[i] = float64(i)
	}
	for _, memory := range []bool{true, false} {
		var dev device.Device = cpu.New(2)
		if !memory {
			dev = noMemory{cpu.New(2)}
		}
		calls := 0
		err := pattern.Slices(context.Background(), upload(t, dev, full(1, rows)), data, rows, k, stride, model.Tile{}, true, func(s ...pattern.Columns[float64]) error {
			if len(s) != 2 || s[0].Lo != 0 || s[0].Hi != k-1 || s[1].Lo != k-1 || s[1].Hi != k {
				t.Fatalf("%+v", s)
			}
			if on := s[0].Stride == k-1 && uintptr(unsafe.Pointer(&s[0].Data[0]))%64 == 0; on != memory {
				t.Errorf("memory %v: strides of %d", memory, s[0].Stride)
			}
			if packed := s[1].Stride == 1; packed != memory {
				t.Errorf("memory %v: strides of %d", memory, s[1].Stride)
			}
			for i := range rows {
				row := data[i*stride:][:k]
				if !slices.Equal(s[0].Data[i*s[0].Stride:][:k-1], row[:k-1]) || s[1].Data[i*s[1].Stride] != row[k-1] {
					t.Fatalf("row %d differs", i)
				}
			}
			calls++
			return nil
		})
		if err != nil || calls != 1 {
			t.Errorf("%d calls (%v)", calls, err)
		}
	}
}

// The model cuts K where inner loops add up.
func TestDepths(t *testing.T) {
	for k := range 3000 {
		for elemBytes, least := range map[int]int{4: asm.SliceOf[float32](), 8: asm.SliceOf[float64]()} {
			for _, depth := range model.Depths(k, elemBytes) {
				if depth%least != 0 || asm.SliceEnd(depth, k) == k {
					t.Fatalf("K = %d, elements of %d bytes: slices of %d", k, elemBytes, depth)
				}
			}
		}
	}
}

type noMemory struct{ *cpu.Device }

func (noMemory) Alloc(int64) (device.Memory, error) { return nil, device.ErrOutOfMemory }

func TestStageFails(t *testing.T) {
	data := make([]float32, 310)
	r := upload(t, noMemory{cpu.New(1)}, full(64, 10))
	if got, _, err := stage(context.Background(), r, data, 10, 31, 31); err != nil || &got[0] != &data[0] {
		t.Errorf("without memory: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r = upload(t, cpu.New(1), full(64, 10))
	if _, _, err := stage(ctx, r, data, 10, 31, 31); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
