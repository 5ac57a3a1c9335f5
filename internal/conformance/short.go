package conformance

import (
	"context"
	"testing"
	"unsafe"

	"sddmmkit/dense"
	"sddmmkit/device"
)

// convert rounds and widens matrices, on the device and on the host: every number of 16 bits, and floats that are hard to
// round, between guards.
func convert[E device.Short](t *testing.T, dev device.Device, f shortFloat) {
	ctx := context.Background()
	x, u := hardToRound(1<<16), count[E](1<<16)
	for n, cols := range []int{1, 3, 32, 100, 1 << 16} {
		rows := len(x) / cols
		floats := dense.Matrix[float32]{Rows: rows, Cols: cols, Stride: cols, Data: x[:rows*cols]}
		shorts := dense.Matrix[E]{Rows: rows, Cols: cols, Stride: cols, Data: u[:rows*cols]}
		f.checkRounded(t, floats.Data, bits(dense.Rounded[E](strided(floats, n)).Data))
		f.checkWidened(t, bits(shorts.Data), dense.Widened(shorts).Data)

		from, to := input(t, dev, floats, n, n+1), place(t, dev, dense.New[E](rows, cols), 3-n%3, n, E(12345))
		must(t, dense.Round(ctx, to.Resident, from.Resident))
		from.unchanged(t, "X")
		f.checkRounded(t, floats.Data, bits(to.read(t, "dst").Data))
		from.close()
		to.close()

		short, wide := place(t, dev, shorts, n, n+1, E(12345)), output(t, dev, dense.New[float32](rows, cols), 2*n, n)
		must(t, dense.Widen(ctx, wide.Resident, short.Resident))
		short.unchanged(t, "X")
		f.checkWidened(t, bits(shorts.Data), wide.read(t, "dst").Data)
		short.close()
		wide.close()
	}

	none, err := dense.Alloc[E](dev, 0, 3)
	must(t, err)
	defer none.Close()
	must(t, dense.Round(ctx, none, zeros[float32](t, dev, 0, 3)))
	two := zeros[float32](t, dev, 2, 3)
	wantShape(t, "Round", dense.Round(ctx, none, two), "dst 0×3", "X 2×3", "equal sizes")
	wantShape(t, "Widen", dense.Widen(ctx, two, none), "dst 2×3", "X 0×3", "equal sizes")
	wantNil(t, "Round", dense.Round[E](ctx, nil, two), "dst")
	wantNil(t, "Widen", dense.Widen[E](ctx, two, nil), "X")
}

// bits returns the bits of numbers.
func bits[E device.Short](x []E) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
