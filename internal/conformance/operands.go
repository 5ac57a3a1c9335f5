package conformance

import (
	"math"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
)

// guard is what stands before, after and between the rows of an output. It is a number: adding
// to it shows, where adding to NaN would not.
const guard = -77.25

// operand is a matrix on a device in the middle of a larger buffer. The elements around it and
// the gaps between its rows are guards.
type operand[T device.Real] struct {
	*dense.Resident[T]
	whole *device.Buffer[T]
	image []T // what was uploaded
	lead  int // guards before the first element
}

// place puts m on dev with gap guards after each row and lead before the first.
func place[T device.Real](t *testing.T, dev device.Device, m dense.Matrix[T], gap, lead int, guard T) *operand[T] {
	t.Helper()
	stride := m.Cols + gap
	image := constant(lead+m.Rows*stride+3, guard)
	for i := range m.Rows {
		copy(image[lead+i*stride:], m.Row(i))
	}
	whole, err := device.FromHost(dev, image)
	must(t, err)
	extent := 0
	if m.Rows > 0 && m.Cols > 0 {
		extent = (m.Rows-1)*stride + m.Cols
	}
	view := whole.View(int64(lead), int64(lead+extent))
	return &operand[T]{
		Resident: &dense.Resident[T]{Rows: m.Rows, Cols: m.Cols, Stride: stride, Buf: view},
		whole:    whole, image: image, lead: lead,
	}
}

// input places a matrix among NaN, which spoils every result that reads a guard.
func input[T Float](t *testing.T, dev device.Device, m dense.Matrix[T], gap, lead int) *operand[T] {
	t.Helper()
	return place(t, dev, m, gap, lead, T(math.NaN()))
}

// output places a matrix among numbers, which show every write to a guard.
func output[T Float](t *testing.T, dev device.Device, m dense.Matrix[T], gap, lead int) *operand[T] {
	t.Helper()
	return place(t, dev, m, gap, lead, guard)
}

// values wraps one value per non-zero as a matrix of one row.
func values[T Float](v []T) dense.Matrix[T] {
	return dense.Matrix[T]{Rows: 1, Cols: len(v), Stride: len(v), Data: v}
}

// read downloads the matrix and checks that the guards are as they were.
func (o *operand[T]) read(t *testing.T, what string) dense.Matrix[T] {
	t.Helper()
	now := make([]T, len(o.image))
	must(t, o.whole.Download(now))
	out := dense.New[T](o.Rows, o.Cols)
	for p := range now {
		i, j := -1, -1
		if p >= o.lead && o.Stride > 0 {
			i, j = (p-o.lead)/o.Stride, (p-o.lead)%o.Stride
		}
		if i >= 0 && i < o.Rows && j < o.Cols {
			out.Data[i*o.Cols+j] = now[p]
			continue
		}
		if !same(float64(now[p]), float64(o.image[p])) {
			t.Fatalf("%s: guard %d (row %d, column %d of %s) was %v and is %v", what, p, i, j, o.Shape(), o.image[p], now[p])
		}
	}
	return out
}

// unchanged checks that an input is as it was.
func (o *operand[T]) unchanged(t *testing.T, what string) {
	t.Helper()
	now := make([]T, len(o.image))
	must(t, o.whole.Download(now))
	sameBits(t, what+" is read only", now, o.image)
}

func (o *operand[T]) close() { o.whole.Close() }
