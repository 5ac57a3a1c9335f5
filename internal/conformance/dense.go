package conformance

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/errbound"
)

// Dense is the suite of resident matrices and the row-wise operations on them.
func Dense(t *testing.T, open func(t *testing.T) device.Device) {
	forTypes(t, open, denseSuite[float32], denseSuite[float64])
	forShorts(t, open,
		func(t *testing.T, open Open) { convert[device.BFloat16](t, start(t, open), bfloat16) },
		func(t *testing.T, open Open) { convert[device.Float16](t, start(t, open), binary16) })
	t.Run("LargeIndex", func(t *testing.T) { largeIndex(t, start(t, open), denseFarApart) })
}

func denseSuite[T Float](t *testing.T, open Open) {
	t.Run("Resident", func(t *testing.T) { residents[T](t, start(t, open)) })
	t.Run("Square", func(t *testing.T) { square[T](t, start(t, open)) })
	t.Run("SwapColumns", func(t *testing.T) { swapColumns[T](t, start(t, open)) })
	t.Run("CopyColumn", func(t *testing.T) { copyColumn[T](t, start(t, open)) })
	t.Run("ShiftedQuotient", func(t *testing.T) { shiftedQuotient[T](t, start(t, open)) })
	t.Run("RepeatDiagonal", func(t *testing.T) { repeatDiagonal[T](t, start(t, open)) })
	t.Run("Gram", func(t *testing.T) { gram[T](t, start(t, open)) })
	t.Run("AddMul", func(t *testing.T) { addMul[T](t, start(t, open)) })
	t.Run("ColumnSums", func(t *testing.T) { columnSums[T](t, start(t, open)) })
	t.Run("ExpDigamma", func(t *testing.T) { expDigamma[T](t, start(t, open)) })
	t.Run("Dot", func(t *testing.T) { dot[T](t, start(t, open)) })
	t.Run("Dot3", func(t *testing.T) { dot3[T](t, start(t, open)) })
	t.Run("WeightedNorm", func(t *testing.T) { weightedNorm[T](t, start(t, open)) })
	t.Run("SameBits", func(t *testing.T) { denseSameBits[T](t, start(t, open)) })
	t.Run("Errors", func(t *testing.T) { denseErrors[T](t, start(t, open)) })
	t.Run("OtherDevice", func(t *testing.T) {
		dev := start(t, open)
		denseOtherDevice[T](t, dev, otherDevice(t, open, dev))
	})
	t.Run("Cancel", func(t *testing.T) { denseCancel[T](t, start(t, open)) })
	failEach(t, open, 9, 6, denseScenario[T])
	t.Run("RowCG", func(t *testing.T) { rowCGSuite[T](t, open) })
}

// denseSizes are M×K: nothing, one, odd, more rows than one unit of work holds (2¹⁴ elements),
// and rows longer than one; on GPUs rows for one thread, for several, for a warp, for two and for a block.
var denseSizes = [][2]int{{0, 0}, {0, 3}, {4, 0}, {1, 1}, {7, 3}, {33, 17}, {1, 100}, {100, 1}, {40000, 1}, {1500, 33}, {70, 200}, {3, 20000}}

// manyRows, with the other sizes, makes every block of a GPU's reduction come by several times.
var manyRows = [2]int{40000, 33}

func residents[T Float](t *testing.T, dev device.Device) {
	for n, size := range denseSizes {
		m := matrix(newRand(uint64(n)), size[0], size[1], reals[T])
		for gap := range 3 {
			with := strided(m, gap)
			for what, put := range map[string]func(device.Device, dense.Matrix[T]) (*dense.Resident[T], error){"Upload": dense.Upload[T], "Place": dense.Place[T]} {
				r, err := put(dev, with)
				must(t, err)
				got, err := r.Download()
				must(t, err)
				if r.Device() != dev || r.Rows != m.Rows || r.Cols != m.Cols || r.Shape() != fmt.Sprintf("%d×%d", m.Rows, m.Cols) {
					t.Errorf("%s: %s on %s, want %d×%d", what, r.Shape(), r.Device().Name(), m.Rows, m.Cols)
				}
				sameBits(t, what+" and Download", got.Data, m.Data)
				first := r.Columns(m.Cols / 2)
				got, err = first.Download()
				must(t, err)
				sameBits(t, what+" and Download of columns", got.Data, m.View(0, m.Rows, m.Cols/2).Clone().Data)
				last := r.ColumnRange(m.Cols/3, m.Cols)
				got, err = last.Download()
				must(t, err)
				want := dense.New[T](m.Rows, m.Cols-m.Cols/3)
				for i := range m.Rows {
					copy(want.Row(i), m.Row(i)[m.Cols/3:])
				}
				sameBits(t, what+" and Download of a range of columns", got.Data, want.Data)
				must(t, last.Close())
				must(t, first.Close())
				if r.Buf.Closed() {
					t.Errorf("%s: closing a view of columns closed the matrix", what)
				}
				must(t, r.Close())
				must(t, r.Close())
				_, err = r.Download()
				wantIs(t, what+", Close and Download", err, device.ErrClosed)
			}
		}
		z := zeros[T](t, dev, size[0], size[1])
		got, err := z.Download()
		must(t, err)
		sameBits(t, "Zeros", got.Data, make([]T, size[0]*size[1]))
	}
	for what, bad := range badMatrices[T]() {
		if r, err := dense.Upload(dev, bad); err == nil {
			t.Errorf("a matrix with %s was uploaded", what)
			r.Close()
		}
		if r, err := dense.Place(dev, bad); err == nil {
			t.Errorf("a matrix with %s was placed", what)
			r.Close()
		}
	}
	for _, size := range [][2]int{{-1, 2}, {2, -1}, {1 << 32, 1 << 32}, {1 << 62, 3}} {
		_, err := dense.Alloc[T](dev, size[0], size[1])
		wantShape(t, fmt.Sprint("Alloc of ", size), err)
	}
	_, err := dense.Alloc[T](dev, 1<<40, 1<<20)
	wantIs(t, "Alloc of 2⁶⁰", err, device.ErrOutOfMemory)
	_, err = dense.Zeros[T](dev, 1<<40, 1<<20)
	wantIs(t, "Zeros of 2⁶⁰", err, device.ErrOutOfMemory)
	var none *dense.Resident[T]
	must(t, none.Close())
	m := zeros[T](t, dev, 2, 3)
	for what, call := range map[string]func(){
		"Columns(-1)":       func() { m.Columns(-1) },
		"Columns(4)":        func() { m.Columns(4) },
		"ColumnRange(-1,2)": func() { m.ColumnRange(-1, 2) },
		"ColumnRange(2,1)":  func() { m.ColumnRange(2, 1) },
		"ColumnRange(2,4)":  func() { m.ColumnRange(2, 4) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of 3 columns did not panic", what)
				}
			}()
			call()
		}()
	}
}

func square[T Float](t *testing.T, dev device.Device) {
	for n, size := range denseSizes {
		m := matrix(newRand(uint64(n)), size[0], size[1], reals[T])
		want := make([]T, len(m.Data))
		for i, v := range m.Data {
			want[i] = v * v
		}
		x := input(t, dev, m, n%3, n%2)
		dst := output(t, dev, matrix(newRand(0), size[0], size[1], func(*randT) T { return T(math.NaN()) }), n%4, 1)
		must(t, dense.Square(context.Background(), dst.Resident, x.Resident))
		x.unchanged(t, "X")
		sameBits(t, "Square", dst.read(t, "dst").Data, want)
		in := output(t, dev, m, 1, 1)
		must(t, dense.Square(context.Background(), in.Resident, in.Resident))
		sameBits(t, "Square in place", in.read(t, "dst").Data, want)
		x.close()
		dst.close()
		in.close()
	}
}

func swapColumns[T Float](t *testing.T, dev device.Device) {
	ctx := context.Background()
	for n, size := range denseSizes {
		m := matrix(newRand(uint64(n)), size[0], size[1], reals[T])
		if m.Cols == 0 {
			continue
		}
		i, j := m.Cols/3, m.Cols-1
		want := m.Clone()
		for r := range m.Rows {
			want.Set(r, i, m.At(r, j))
			want.Set(r, j, m.At(r, i))
		}
		x := output(t, dev, m, n%3, n%2)
		must(t, dense.SwapColumns(ctx, x.Resident, i, j))
		sameBits(t, "SwapColumns", x.read(t, "M").Data, want.Data)
		must(t, dense.SwapColumns(ctx, x.Resident, j, i))
		must(t, dense.SwapColumns(ctx, x.Resident, i, i))
		sameBits(t, "SwapColumns twice", x.read(t, "M").Data, m.Data)
		x.close()
	}
}

func copyColumn[T Float](t *testing.T, dev device.Device) {
	ctx := context.Background()
	for n, size := range denseSizes {
		rng := newRand(uint64(n))
		m, old := matrix(rng, size[0], size[1], reals[T]), matrix(rng, size[0], size[1]+2, reals[T])
		if m.Cols == 0 {
			continue
		}
		i, j := m.Cols-1, old.Cols/2
		want := old.Clone()
		for r := range m.Rows {
			want.Set(r, j, -0.75*m.At(r, i))
		}
		src, dst := input(t, dev, m, n%3, n%2), output(t, dev, old, n%2, 1)
		must(t, dense.CopyColumn(ctx, dst.Resident, j, -0.75, src.Resident, i))
		src.unchanged(t, "src")
		sameBits(t, "CopyColumn", dst.read(t, "dst").Data, want.Data)
		for r := range m.Rows {
			want.Set(r, 0, 2*want.At(r, j))
		}
		must(t, dense.CopyColumn(ctx, dst.Resident, 0, 2, dst.Resident, j))
		sameBits(t, "CopyColumn within a matrix", dst.read(t, "dst").Data, want.Data)
		src.close()
		dst.close()
	}
}

func shiftedQuotient[T Float](t *testing.T, dev device.Device) {
	ctx := context.Background()
	for n, size := range denseSizes {
		rng := newRand(uint64(n))
		rows, k := size[0], size[1]
		num, den, shift := matrix(rng, rows, k, reals[T]), matrix(rng, rows, k, positives[T]), slice(rng, rows, positives[T])
		for i := 0; i < rows; i += 3 { // no data, whatever the numerator
			clear(den.Row(i))
			shift[i] = 0
		}
		want := dense.New[T](rows, k)
		for i := range rows {
			for j := range k {
				if d := den.At(i, j) + shift[i]; d != 0 {
					want.Set(i, j, num.At(i, j)/d)
				}
			}
		}
		nr, dr, sr := input(t, dev, num, n%3, 1), input(t, dev, den, n%2, 2), input(t, dev, values(shift), 0, 1)
		dst := output(t, dev, matrix(newRand(0), rows, k, func(*randT) T { return T(math.NaN()) }), n%4, 1)
		must(t, dense.ShiftedQuotient(ctx, dst.Resident, nr.Resident, dr.Resident, sr.Buf))
		nr.unchanged(t, "num")
		dr.unchanged(t, "den")
		sr.unchanged(t, "s")
		sameBits(t, "ShiftedQuotient", dst.read(t, "dst").Data, want.Data)
		overNum, overDen := output(t, dev, num, 1, 0), output(t, dev, den, 0, 1)
		must(t, dense.ShiftedQuotient(ctx, overNum.Resident, overNum.Resident, dr.Resident, sr.Buf))
		sameBits(t, "ShiftedQuotient over num", overNum.read(t, "num").Data, want.Data)
		must(t, dense.ShiftedQuotient(ctx, overDen.Resident, nr.Resident, overDen.Resident, sr.Buf))
		sameBits(t, "ShiftedQuotient over den", overDen.read(t, "den").Data, want.Data)
		for _, o := range []*operand[T]{nr, dr, sr, dst, overNum, overDen} {
			o.close()
		}
	}
}

func repeatDiagonal[T Float](t *testing.T, dev device.Device) {
	for n, size := range [][2]int{{0, 0}, {0, 3}, {4, 0}, {1, 1}, {7, 3}, {1500, 33}} {
		g := matrix(newRand(uint64(n)), size[1], size[1], reals[T])
		gr, dst := input(t, dev, g, 1, 1), output(t, dev, matrix(newRand(0), size[0], size[1], reals[T]), 2, 0)
		must(t, dense.RepeatDiagonal(context.Background(), dst.Resident, gr.Resident))
		want := dense.New[T](size[0], size[1])
		for i := range size[0] {
			for k := range size[1] {
				want.Set(i, k, g.At(k, k))
			}
		}
		sameBits(t, "RepeatDiagonal", dst.read(t, "dst").Data, want.Data)
		gr.unchanged(t, "G")
		gr.close()
		dst.close()
	}
}

// float64Sum bounds the error of a sum of n products that is taken in float64 and compared with
// another such sum in another order.
func float64Sum(n int, mag float64) float64 {
	return 2 * errbound.Gamma(n+1, errbound.Unit[float64]()) * mag
}

func gram[T Float](t *testing.T, dev device.Device) {
	for n, size := range [][2]int{{0, 0}, {0, 3}, {4, 0}, {1, 1}, {7, 3}, {31, 5}, {32, 5}, {33, 17}, {1000, 9}, {1, 40},
		// Around the tiles of GPUs, with several tiles, and with more rows than are staged at a time.
		{700, 8}, {700, 32}, {300, 64}, {301, 65}, {6000, 66}, {90, 130}, {150_000, 2}} {
		for _, exact := range []bool{true, false} {
			draw := reals[T]
			if exact {
				draw = integers[T]
			}
			rows, k := size[0], size[1]
			m := matrix(newRand(uint64(n)), rows, k, draw)
			x, g := input(t, dev, m, n%3, n%2), output(t, dev, matrix(newRand(0), k, k, func(*randT) T { return T(math.NaN()) }), 2, 1)
			must(t, dense.Gram(context.Background(), g.Resident, x.Resident))
			x.unchanged(t, "X")
			got := g.read(t, "G")
			for p := range k {
				for q := range k {
					var want, mag float64
					for i := range rows {
						v := float64(m.At(i, p)) * float64(m.At(i, q))
						want, mag = want+v, mag+math.Abs(v)
					}
					bound := float64Sum(rows, mag) + errbound.Gamma(2, errbound.Unit[T]())*math.Abs(want)
					if v := float64(got.At(p, q)); exact && v != want || !near(v, want, bound) {
						t.Fatalf("Gram of %d×%d: element (%d,%d) is %v, want %v within %.3g, exact %t", rows, k, p, q, v, want, bound, exact)
					}
					if got.At(p, q) != got.At(q, p) {
						t.Fatalf("Gram of %d×%d is not symmetric at (%d,%d)", rows, k, p, q)
					}
				}
			}
			x.close()
			g.close()
		}
	}
}

func addMul[T Float](t *testing.T, dev device.Device) {
	for n, size := range [][3]int{{0, 0, 0}, {0, 3, 3}, {4, 0, 2}, {4, 2, 0}, {1, 1, 1}, {7, 3, 5}, {33, 17, 17}, {2000, 9, 9}, {1, 100, 100},
		// Around the tiles of GPUs, also where all rows begin at multiples of 16 bytes.
		{513, 8, 32}, {512, 7, 33}, {257, 16, 64}, {300, 33, 65}, {255, 40, 130}, {129, 100, 100}, {700, 4, 8}, {260, 36, 264}} {
		for _, exact := range []bool{true, false} {
			draw := reals[T]
			if exact {
				draw = integers[T]
			}
			gap := func(odd int) int {
				if exact == (n%2 == 0) {
					return 4
				}
				return odd
			}
			rows, k, cols := size[0], size[1], size[2]
			rng := newRand(uint64(n))
			xm, gm, cm := matrix(rng, rows, k, draw), matrix(rng, k, cols, draw), matrix(rng, rows, cols, draw)
			x, g, c := input(t, dev, xm, gap(n%3), gap(n%2)), input(t, dev, gm, gap(1), gap(2)), output(t, dev, cm, gap(2), gap(1))
			const alpha = -0.5
			must(t, dense.AddMul(context.Background(), c.Resident, alpha, x.Resident, g.Resident))
			x.unchanged(t, "X")
			g.unchanged(t, "G")
			got := c.read(t, "C")
			for i := range rows {
				for q := range cols {
					want := float64(cm.At(i, q))
					mag := math.Abs(want)
					for p := range k {
						v := alpha * float64(xm.At(i, p)) * float64(gm.At(p, q))
						want, mag = want+v, mag+math.Abs(v)
					}
					// α·x, the product with g, and at most K sums.
					bound := errbound.Gamma(k+2, errbound.Unit[T]()) * mag * errbound.ReferenceShare[T]()
					if v := float64(got.At(i, q)); exact && v != want || !near(v, want, bound) {
						t.Fatalf("AddMul of %v: element (%d,%d) is %v, want %v within %.3g, exact %t", size, i, q, v, want, bound, exact)
					}
				}
			}
			x.close()
			g.close()
			c.close()
		}
	}
}

func dot[T Float](t *testing.T, dev device.Device) {
	for n, length := range []int{0, 1, 2, 100, 1 << 14, 1<<14 + 1, 100_000, 1_100_000} {
		for _, exact := range []bool{true, false} {
			draw := reals[T]
			if exact {
				draw = integers[T]
			}
			rng := newRand(uint64(n))
			xv, yv := slice(rng, length, draw), slice(rng, length, draw)
			var want, mag float64
			for i := range xv {
				v := float64(xv[i]) * float64(yv[i])
				want, mag = want+v, mag+math.Abs(v)
			}
			x, y := input(t, dev, values(xv), 0, 1), input(t, dev, values(yv), 0, 2)
			got, err := dense.Dot(context.Background(), x.Buf, y.Buf)
			must(t, err)
			if bound := float64Sum(length, mag); exact && got != want || !near(got, want, bound) {
				t.Errorf("Dot of %d is %v, want %v within %.3g, exact %t", length, got, want, bound, exact)
			}
			x.close()
			y.close()
		}
	}
}

func dot3[T Float](t *testing.T, dev device.Device) {
	for n, length := range []int{0, 1, 2, 100, 1<<14 + 1, 1_100_000} {
		for _, exact := range []bool{true, false} {
			draw := reals[T]
			if exact {
				draw = integers[T]
			}
			rng := newRand(uint64(n))
			wv, xv, yv := slice(rng, length, draw), slice(rng, length, draw), slice(rng, length, draw)
			var want, mag float64
			for i := range xv {
				v := float64(wv[i]) * float64(xv[i]) * float64(yv[i])
				want, mag = want+v, mag+math.Abs(v)
			}
			w, x, y := input(t, dev, values(wv), 0, 3), input(t, dev, values(xv), 0, 1), input(t, dev, values(yv), 0, 2)
			got, err := dense.Dot3(context.Background(), w.Buf, x.Buf, y.Buf)
			must(t, err)
			if bound := float64Sum(length+1, mag); exact && got != want || !near(got, want, bound) {
				t.Errorf("Dot3 of %d is %v, want %v within %.3g, exact %t", length, got, want, bound, exact)
			}
			for _, o := range []*operand[T]{w, x, y} {
				o.close()
			}
		}
	}
}

func columnSums[T Float](t *testing.T, dev device.Device) {
	for n, size := range append(slices.Clone(denseSizes), manyRows) {
		for _, exact := range []bool{true, false} {
			draw := reals[T]
			if exact {
				draw = integers[T]
			}
			m := matrix(newRand(uint64(n)), size[0], size[1], draw)
			x := input(t, dev, m, n%3, n%2)
			dst := output(t, dev, matrix(newRand(0), 1, m.Cols, func(*randT) T { return T(math.NaN()) }), 2, 1)
			must(t, dense.ColumnSums(context.Background(), dst.Resident, x.Resident))
			x.unchanged(t, "X")
			got := dst.read(t, "dst")
			for k := range m.Cols {
				var want, mag float64
				for i := range m.Rows {
					v := float64(m.At(i, k))
					want, mag = want+v, mag+math.Abs(v)
				}
				bound := float64Sum(m.Rows, mag) + errbound.Gamma(2, errbound.Unit[T]())*math.Abs(want)
				if v := float64(got.At(0, k)); exact && v != want || !near(v, want, bound) {
					t.Fatalf("ColumnSums of %v: column %d is %v, want %v within %.3g, exact %t", size, k, v, want, bound, exact)
				}
			}
			x.close()
			dst.close()
		}
	}
}

func weightedNorm[T Float](t *testing.T, dev device.Device) {
	for n, size := range append(slices.Clone(denseSizes), manyRows) {
		for _, exact := range []bool{true, false} {
			draw := reals[T]
			if exact {
				draw = integers[T]
			}
			rng := newRand(uint64(n))
			m, w := matrix(rng, size[0], size[1], draw), slice(rng, size[0], draw)
			var want, mag float64
			for i := range m.Rows {
				for _, v := range m.Row(i) {
					x := float64(w[i]) * float64(v) * float64(v)
					want, mag = want+x, mag+math.Abs(x)
				}
			}
			x, ws := input(t, dev, m, n%3, 1), input(t, dev, values(w), 0, 3)
			got, err := dense.WeightedNorm(context.Background(), x.Resident, ws.Buf)
			must(t, err)
			if bound := float64Sum(len(m.Data)+1, mag); exact && got != want || !near(got, want, bound) {
				t.Errorf("WeightedNorm of %v is %v, want %v within %.3g, exact %t", size, got, want, bound, exact)
			}
			x.close()
			ws.close()
		}
	}
}

// reductions returns the results of all operations that sum, on m.
func reductions[T Float](t *testing.T, dev device.Device, m dense.Matrix[T], w []T, gap int) []T {
	t.Helper()
	ctx := context.Background()
	x, ws := input(t, dev, m, gap, gap), input(t, dev, values(w), 0, gap)
	defer x.close()
	defer ws.close()
	flat := input(t, dev, values(m.Data), 0, gap)
	defer flat.close()
	g, c := output(t, dev, dense.New[T](m.Cols, m.Cols), gap, 0), output(t, dev, m, gap, 0)
	defer g.close()
	defer c.close()
	sums := output(t, dev, dense.New[T](1, m.Cols), 0, gap)
	defer sums.close()
	must(t, dense.Gram(ctx, g.Resident, x.Resident))
	must(t, dense.ColumnSums(ctx, sums.Resident, x.Resident))
	must(t, dense.AddMul(ctx, c.Resident, 0.3, x.Resident, g.Resident))
	d, err := dense.Dot(ctx, flat.Buf, flat.Buf)
	must(t, err)
	n, err := dense.WeightedNorm(ctx, x.Resident, ws.Buf)
	must(t, err)
	d3, err := dense.Dot3(ctx, flat.Buf, flat.Buf, flat.Buf)
	must(t, err)
	out := append(g.read(t, "G").Data, c.read(t, "C").Data...)
	out = append(out, sums.read(t, "sums").Data...)
	for _, v := range []float64{d, d3, n} {
		hi := T(v) // with the rest, all bits of the float64
		out = append(out, hi, T(v-float64(hi)))
	}
	return out
}

func denseSameBits[T Float](t *testing.T, dev device.Device) {
	for n, size := range [][2]int{{7, 3}, {40000, 1}, {2500, 33}} {
		rng := newRand(uint64(n))
		m, w := matrix(rng, size[0], size[1], reals[T]), slice(rng, size[0], reals[T])
		want := reductions(t, dev, m, w, 0)
		sameBits(t, "again", reductions(t, dev, m, w, 0), want)
		sameBits(t, "another layout", reductions(t, dev, m, w, 3), want)
		if h, ok := dev.(device.Host); ok {
			for _, threads := range []int{1, 2, 3, 8} {
				sameBits(t, fmt.Sprint(threads, " threads"), reductions(t, Threaded(h, threads), m, w, 0), want)
			}
		}
	}
}

// denseCalls are all operations on operands of which one is changed: x and y 4×3, g 3×3, v with 4
// elements, w with 12. s, 1×3, stays.
type denseCalls[T Float] struct {
	x, y, g, s *dense.Resident[T]
	v, w       *device.Buffer[T]
}

func newDenseCalls[T Float](t *testing.T, dev device.Device) denseCalls[T] {
	t.Helper()
	return denseCalls[T]{
		x: zeros[T](t, dev, 4, 3), y: zeros[T](t, dev, 4, 3), g: zeros[T](t, dev, 3, 3), s: zeros[T](t, dev, 1, 3),
		v: zeros[T](t, dev, 1, 4).Buf, w: zeros[T](t, dev, 1, 12).Buf,
	}
}

// all calls every operation that uses the named operand and returns their errors.
func (o denseCalls[T]) all(ctx context.Context, uses string) map[string]error {
	errs := map[string]error{}
	add := func(op, operands string, call func() error) {
		for _, u := range operands {
			if string(u) == uses {
				errs[op] = call()
				return
			}
		}
	}
	add("Square", "xy", func() error { return dense.Square(ctx, o.x, o.y) })
	add("SwapColumns", "x", func() error { return dense.SwapColumns(ctx, o.x, 0, 2) })
	add("CopyColumn", "xy", func() error { return dense.CopyColumn(ctx, o.x, 0, 1, o.y, 2) })
	add("ShiftedQuotient num", "xyv", func() error { return dense.ShiftedQuotient(ctx, o.x, o.y, o.x, o.v) })
	add("ShiftedQuotient den", "xyv", func() error { return dense.ShiftedQuotient(ctx, o.x, o.x, o.y, o.v) })
	add("RepeatDiagonal", "xg", func() error { return dense.RepeatDiagonal(ctx, o.x, o.g) })
	add("Gram", "gx", func() error { return dense.Gram(ctx, o.g, o.x) })
	add("ColumnSums", "x", func() error { return dense.ColumnSums(ctx, o.s, o.x) })
	add("ExpDigamma", "xy", func() error { return dense.ExpDigamma(ctx, o.x, o.y) })
	add("AddMul", "xyg", func() error { return dense.AddMul(ctx, o.y, 1, o.x, o.g) })
	add("Dot", "w", func() error { _, err := dense.Dot(ctx, o.w, o.w); return err })
	add("Dot3", "w", func() error { _, err := dense.Dot3(ctx, o.w, o.w, o.w); return err })
	add("WeightedNorm", "xv", func() error { _, err := dense.WeightedNorm(ctx, o.x, o.v); return err })
	add("NewRowCG", "xv", func() error {
		cg, err := dense.NewRowCG(o.x, o.v)
		cg.Close()
		return err
	})
	return errs
}

// changes give each operand in turn another value.
func (o denseCalls[T]) changes(x, g *dense.Resident[T], v, w *device.Buffer[T]) map[string]denseCalls[T] {
	out := map[string]denseCalls[T]{}
	for _, name := range []string{"x", "y", "g", "v", "w"} {
		c := o
		switch name {
		case "x":
			c.x = x
		case "y":
			c.y = x
		case "g":
			c.g = g
		case "v":
			c.v = v
		case "w":
			c.w = w
		}
		out[name] = c
	}
	return out
}

func denseErrors[T Float](t *testing.T, dev device.Device) {
	ctx := context.Background()
	o := newDenseCalls[T](t, dev)
	for _, name := range []string{"x", "y", "g", "v", "w"} {
		for op, err := range o.all(ctx, name) {
			if err != nil {
				t.Errorf("%s: %v", op, err)
			}
		}
	}
	for name, c := range o.changes(zeros[T](t, dev, 5, 4), zeros[T](t, dev, 4, 2), zeros[T](t, dev, 1, 7).Buf, o.w) {
		for op, err := range c.all(ctx, name) {
			if name == "w" || op == "SwapColumns" || op == "NewRowCG" && name == "y" {
				continue // any size will do
			}
			wantShape(t, op+" with another "+name, err)
		}
	}
	_, err := dense.Dot(ctx, o.v, o.w)
	wantShape(t, "Dot", err, "4", "12")
	_, err = dense.Dot3(ctx, o.v, o.w, o.w)
	wantShape(t, "Dot3", err, "4", "12")
	wantShape(t, "ColumnSums to three rows", dense.ColumnSums(ctx, o.g, o.x), "3×3", "4×3")
	wantShape(t, "ColumnSums to two columns", dense.ColumnSums(ctx, o.s.Columns(2), o.x), "1×2", "4×3")
	for _, cols := range [][2]int{{0, 3}, {3, 0}, {-1, 0}, {0, -1}} {
		wantShape(t, fmt.Sprint("SwapColumns ", cols), dense.SwapColumns(ctx, o.x, cols[0], cols[1]), "4×3")
		wantShape(t, fmt.Sprint("CopyColumn ", cols), dense.CopyColumn(ctx, o.x, cols[0], 1, o.y, cols[1]), "4×3")
	}
	for name, c := range o.changes(nil, nil, nil, nil) {
		for op, err := range c.all(ctx, name) {
			if err == nil {
				t.Errorf("%s passed with a nil %s", op, name)
			}
		}
	}
	dead := newDenseCalls[T](t, dev)
	for _, close := range []func() error{dead.x.Close, dead.g.Close, dead.v.Close, dead.w.Close} {
		must(t, close())
	}
	for name, c := range o.changes(dead.x, dead.g, dead.v, dead.w) {
		for op, err := range c.all(ctx, name) {
			wantIs(t, op+" with a closed "+name, err, device.ErrClosed)
		}
	}
}

func denseOtherDevice[T Float](t *testing.T, dev, other device.Device) {
	ctx := context.Background()
	o, far := newDenseCalls[T](t, dev), newDenseCalls[T](t, other)
	wantMismatch(t, "Square", dense.Square(ctx, o.x, far.y), "dst", "X")
	wantMismatch(t, "CopyColumn", dense.CopyColumn(ctx, o.x, 0, 1, far.y, 0), "dst", "src")
	wantMismatch(t, "ShiftedQuotient num", dense.ShiftedQuotient(ctx, o.x, far.y, o.y, o.v), "dst", "num")
	wantMismatch(t, "ShiftedQuotient den", dense.ShiftedQuotient(ctx, o.x, o.y, far.y, o.v), "dst", "den")
	wantMismatch(t, "ShiftedQuotient s", dense.ShiftedQuotient(ctx, o.x, o.y, o.y, far.v), "dst", "s")
	wantMismatch(t, "RepeatDiagonal", dense.RepeatDiagonal(ctx, o.x, far.g), "dst", "G")
	wantMismatch(t, "Gram", dense.Gram(ctx, o.g, far.x), "G", "X")
	wantMismatch(t, "AddMul X", dense.AddMul(ctx, o.y, 1, far.x, o.g), "C", "X")
	wantMismatch(t, "AddMul G", dense.AddMul(ctx, o.y, 1, o.x, far.g), "C", "G")
	wantMismatch(t, "ColumnSums", dense.ColumnSums(ctx, o.s, far.x), "dst", "X")
	wantMismatch(t, "ExpDigamma", dense.ExpDigamma(ctx, o.x, far.y), "dst", "X")
	_, err := dense.Dot(ctx, o.w, far.w)
	wantMismatch(t, "Dot", err, "x", "y")
	_, err = dense.Dot3(ctx, o.w, o.w, far.w)
	wantMismatch(t, "Dot3", err, "w", "y")
	_, err = dense.WeightedNorm(ctx, o.x, far.v)
	wantMismatch(t, "WeightedNorm", err, "X", "w")
	_, err = dense.NewRowCG(o.x, far.v)
	wantMismatch(t, "NewRowCG", err, "X", "shift")
}

func denseCancel[T Float](t *testing.T, dev device.Device) {
	const rows, k = 20000, 10 // a dozen units of work
	for what, run := range map[string]func(ctx context.Context, x, y, g *dense.Resident[T]) error{
		"Square": func(ctx context.Context, x, y, _ *dense.Resident[T]) error { return dense.Square(ctx, y, x) },
		"Gram":   func(ctx context.Context, x, _, g *dense.Resident[T]) error { return dense.Gram(ctx, g, x) },
		"AddMul": func(ctx context.Context, x, y, g *dense.Resident[T]) error { return dense.AddMul(ctx, y, 1, x, g) },
		"ColumnSums": func(ctx context.Context, x, y, _ *dense.Resident[T]) error {
			return dense.ColumnSums(ctx, &dense.Resident[T]{Rows: 1, Cols: y.Cols, Stride: y.Cols, Buf: y.Buf.View(0, int64(y.Cols))}, x)
		},
		"Dot": func(ctx context.Context, x, y, _ *dense.Resident[T]) error {
			_, err := dense.Dot(ctx, x.Buf, y.Buf)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			cancelled(t, dev, 40, func(ctx context.Context, dev device.Device) error {
				return run(ctx, zeros[T](t, dev, rows, k), zeros[T](t, dev, rows, k), zeros[T](t, dev, k, k))
			})
		})
	}
}

func denseScenario[T Float](dev device.Device) error {
	m := matrix(newRand(1), 30, 4, reals[T])
	x, err := dense.Upload(dev, m)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := dense.Zeros[T](dev, 30, 4)
	if err != nil {
		return err
	}
	defer y.Close()
	shift, err := device.Alloc[T](dev, 30)
	if err != nil {
		return err
	}
	defer shift.Close()
	if err := shift.Zero(); err != nil {
		return err
	}
	cg, err := dense.NewRowCG(y, shift)
	if err != nil {
		return err
	}
	defer cg.Close()
	for _, m := range []*dense.Resident[T]{cg.R, cg.D, cg.Q} {
		if err := m.Buf.CopyFrom(x.Buf); err != nil {
			return err
		}
	}
	if _, err := cg.Start(context.Background(), 0.1); err != nil {
		return err
	}
	_, err = cg.Step(context.Background())
	return err
}
