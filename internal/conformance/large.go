package conformance

import (
	"context"
	"errors"
	"testing"
	"unsafe"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/sddmm"
)

// farApart puts a matrix of three rows on a device with 2³⁰ elements from row to row, so that offsets
// of elements (and of their bytes much sooner) do not fit 32 bits: the last row starts at element
// 2³¹. Only the elements of the matrix are ever touched.
func farApart(t *testing.T, whole *device.Buffer[float32], lead int64, m dense.Matrix[float32]) *dense.Resident[float32] {
	t.Helper()
	const stride = 1 << 30
	extent := int64(m.Rows-1)*stride + int64(m.Cols)
	r := &dense.Resident[float32]{Rows: m.Rows, Cols: m.Cols, Stride: stride, Buf: whole.View(lead, lead+extent)}
	for i := range m.Rows {
		must(t, r.Buf.View(int64(i)*stride, int64(i)*stride+int64(m.Cols)).Upload(m.Row(i)))
	}
	return r
}

// fetch reads the elements of a farApart matrix.
func fetch(t *testing.T, r *dense.Resident[float32]) []float32 {
	t.Helper()
	out := make([]float32, r.Rows*r.Cols)
	for i := range r.Rows {
		lo := int64(i) * int64(r.Stride)
		must(t, r.Buf.View(lo, lo+int64(r.Cols)).Download(out[i*r.Cols:(i+1)*r.Cols]))
	}
	return out
}

// largeIndex gives test a buffer of 2³¹+64 float32: on a Host address space that is not backed
// by memory before it is touched, elsewhere memory, if the device has it to spare.
func largeIndex(t *testing.T, dev device.Device, test func(t *testing.T, dev device.Device, whole *device.Buffer[float32])) {
	const elements = 1<<31 + 64
	var whole *device.Buffer[float32]
	if _, ok := dev.(device.Host); ok {
		raw, free, err := reserve(4 * elements)
		if err != nil {
			t.Skipf("no %d bytes of address space: %v", int64(4*elements), err)
		}
		defer free()
		whole, err = device.Place(dev, unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(raw))), elements))
		must(t, err)
	} else {
		if have := dev.Props().MemoryBytes; have < 2*4*elements {
			t.Skipf("the device has %d bytes, the test wants twice %d", have, int64(4*elements))
		}
		var err error
		whole, err = device.Alloc[float32](dev, elements)
		if dev.Kind() == device.OpenCL && errors.Is(err, device.ErrOutOfMemory) { // such drivers need not give all they have at once
			t.Skip(err)
		}
		must(t, err)
	}
	defer whole.Close()
	test(t, dev, whole)
}

func sddmmFarApart(t *testing.T, dev device.Device, whole *device.Buffer[float32]) {
	rng := newRand(6)
	p := problem{rows: 3, cols: 3, length: each(3)}.pattern()
	_, pl := sddmmPlan[float32](t, dev, p)
	for _, k := range []int{1, 4} {
		c := newSDDMM(rng, p, k, sddmm.Scale, scalars{1, 0}, integers[float32], true)
		a, b := farApart(t, whole, 0, c.a), farApart(t, whole, 16, c.b)
		s, out := input(t, dev, values(c.s.Val), 0, 0), output(t, dev, values(c.prev), 0, 0)
		must(t, pl.Run(context.Background(), c.f, c.alpha, s.Buf, a, b, c.beta, out.Buf))
		c.check(t, out.read(t, "P").Data)
		s.close()
		out.close()
	}
}

func spmmFarApart(t *testing.T, dev device.Device, whole *device.Buffer[float32]) {
	rng := newRand(7)
	p := problem{rows: 3, cols: 3, length: each(2)}.pattern()
	_, pl := spmmPlan[float32](t, dev, p)
	for _, k := range []int{1, 4} {
		for _, op := range forms {
			c := newSpMM(rng, p, k, op, scalars{1, 1}, integers[float32], true)
			b, out := farApart(t, whole, 0, c.b), farApart(t, whole, 16, c.prev)
			s := input(t, dev, values(c.s.Val), 0, 0)
			must(t, pl.Run(context.Background(), c.op, c.alpha, s.Buf, b, c.beta, out))
			c.check(t, dense.Matrix[float32]{Rows: 3, Cols: k, Stride: k, Data: fetch(t, out)})
			s.close()
		}
	}
}

func denseFarApart(t *testing.T, dev device.Device, whole *device.Buffer[float32]) {
	ctx := context.Background()
	for _, k := range []int{1, 4, 5} {
		rng := newRand(uint64(k))
		m, other := matrix(rng, 3, k, integers[float32]), matrix(rng, 3, k, integers[float32])
		x, y := farApart(t, whole, 0, m), farApart(t, whole, 16, other)
		g, sums := output(t, dev, dense.New[float32](k, k), 0, 0), output(t, dev, dense.New[float32](1, k), 0, 0)
		must(t, dense.Gram(ctx, g.Resident, x))
		must(t, dense.ColumnSums(ctx, sums.Resident, x))
		must(t, dense.AddMul(ctx, y, 1, x, g.Resident))
		must(t, dense.Square(ctx, x, x))
		must(t, dense.CopyColumn(ctx, y, 0, 1, x, k-1))
		gram, sum, got, squares := g.read(t, "G"), sums.read(t, "sums"), fetch(t, y), fetch(t, x)
		for p := range k {
			var s float32
			for q := range k {
				var want float32
				for i := range 3 {
					want += m.At(i, p) * m.At(i, q)
				}
				if gram.At(p, q) != want {
					t.Errorf("K = %d: element (%d,%d) of XᵀX is %v, want %v", k, p, q, gram.At(p, q), want)
				}
			}
			for i := range 3 {
				s += m.At(i, p)
				want := other.At(i, p)
				for q := range k {
					want += m.At(i, q) * gram.At(q, p)
				}
				if p == 0 {
					want = m.At(i, k-1) * m.At(i, k-1)
				}
				if v := got[i*k+p]; v != want {
					t.Errorf("K = %d: element (%d,%d) of Y is %v, want %v", k, i, p, v, want)
				}
				if v := squares[i*k+p]; v != m.At(i, p)*m.At(i, p) {
					t.Errorf("K = %d: element (%d,%d) of X∘X is %v", k, i, p, v)
				}
			}
			if sum.At(0, p) != s {
				t.Errorf("K = %d: the sum of column %d is %v, want %v", k, p, sum.At(0, p), s)
			}
		}
		g.close()
		sums.close()
	}
}
