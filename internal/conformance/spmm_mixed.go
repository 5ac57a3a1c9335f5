package conformance

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

// SpMMMixed is the suite of spmm.RunMixed: SpMM with B in 16 bits. The reference multiplies by the numbers that those are, and
// the bounds are those of float32.
func SpMMMixed(t *testing.T, open func(t *testing.T) device.Device) {
	forShorts(t, open, mixedSpMMSuite[device.BFloat16], mixedSpMMSuite[device.Float16])
}

func mixedSpMMSuite[E device.Short](t *testing.T, open Open) {
	t.Run("Depths", func(t *testing.T) { mixedSpMMDepths[E](t, start(t, open)) })
	t.Run("Patterns", func(t *testing.T) { mixedSpMMPatterns[E](t, start(t, open)) })
	t.Run("NonFinite", func(t *testing.T) { mixedSpMMNonFinite[E](t, start(t, open)) })
	t.Run("SameBits", func(t *testing.T) { mixedSpMMSameBits[E](t, start(t, open)) })
	t.Run("Errors", func(t *testing.T) { mixedSpMMErrors[E](t, start(t, open)) })
	failEach(t, open, 3, 2, mixedSpMMScenario[E])
}

// newMixedSpMM draws operands, B such that 16 bits hold it.
func newMixedSpMM[E device.Short](rng *rand.Rand, p *sparse.Pattern, k int, op spmm.Op, x scalars, draw numbers[float32], exact bool) *spmmCase[float32] {
	c := newSpMM(rng, p, k, op, x, draw, exact)
	c.b = shorten[E](c.b)
	return c
}

// runMixedSpMM is run with B in 16 bits, in layout n.
func runMixedSpMM[E device.Short](t *testing.T, dev device.Device, pl *spmm.Plan[float32], c *spmmCase[float32], n int) dense.Matrix[float32] {
	t.Helper()
	gap, lead := layout(n, c.b.Cols, 8)
	b := inputShort[E](t, dev, c.b, gap, lead)
	defer b.close()
	gap, lead = layout(n, c.b.Cols, 4)
	return c.runWith(t, dev, b, gap, lead, func(s *device.Buffer[float32], out *dense.Resident[float32]) error {
		return spmm.RunMixed(context.Background(), pl, c.op, c.alpha, s, b.Resident, c.beta, out)
	})
}

func mixedSpMMDepths[E device.Short](t *testing.T, dev device.Device) {
	p := general.pattern()
	_, pl := spmmPlan[float32](t, dev, p)
	rng := newRand(1)
	for n, k := range mixedDepths {
		for i, op := range forms {
			for j, x := range allScalars {
				if (i+j+n)%2 != 0 {
					continue
				}
				c := newMixedSpMM[E](rng, p, k, op, x, integers[float32], true)
				c.ones = (j+n)%4 == 0
				if c.ones {
					c.s.Val = constant(len(c.s.Val), float32(1))
				}
				c.check(t, runMixedSpMM[E](t, dev, pl, c, j))
				c = newMixedSpMM[E](rng, p, k, op, x, reals[float32], false)
				c.check(t, runMixedSpMM[E](t, dev, pl, c, j+1))
			}
		}
	}
}

func mixedSpMMPatterns[E device.Short](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		p := problem.pattern()
		_, pl := spmmPlan[float32](t, dev, p)
		rng := newRand(uint64(n))
		for i, k := range []int{32, 9} {
			for _, op := range forms {
				c := newMixedSpMM[E](rng, p, k, op, allScalars[n%len(allScalars)], integers[float32], true)
				c.check(t, runMixedSpMM[E](t, dev, pl, c, 2*i))
				c = newMixedSpMM[E](rng, p, k, op, scalars{1, 0}, reals[float32], false)
				c.check(t, runMixedSpMM[E](t, dev, pl, c, i))
			}
		}
	}
}

// NaN and infinities reach the rows that use them, and no other.
func mixedSpMMNonFinite[E device.Short](t *testing.T, dev device.Device) {
	p := general.pattern()
	_, pl := spmmPlan[float32](t, dev, p)
	const nanRow, infRow = 5, 7
	for n, k := range []int{1, 7, 8, 24, 33, 128} {
		for _, op := range forms {
			c := newMixedSpMM[E](newRand(3), p, k, op, scalars{1, 1}, positives[float32], false)
			clean := runMixedSpMM[E](t, dev, pl, c, n)
			c.check(t, clean)
			c.b.Set(nanRow, k-1, float32(math.NaN()))
			c.b.Set(infRow, k/2, float32(math.Inf(1)))
			got := runMixedSpMM[E](t, dev, pl, c, n)
			want, _ := spmm.Reference(c.op, c.alpha, c.s, c.b, c.beta, c.prev)
			for z, w := range want {
				if !math.IsNaN(w) && !math.IsInf(w, 0) {
					sameBits(t, fmt.Sprintf("%v: element %d, which uses finite operands only,", c, z), got.Data[z:z+1], clean.Data[z:z+1])
				} else if !same(float64(got.Data[z]), w) {
					t.Errorf("%v: element %d is %v, want %v", c, z, got.Data[z], w)
				}
			}
		}
	}
}

// The same bits come from run to run and for any layout, and on the CPU those of Run.
func mixedSpMMSameBits[E device.Short](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		p := problem.pattern()
		_, pl := spmmPlan[float32](t, dev, p)
		for _, op := range forms {
			c := newMixedSpMM[E](newRand(uint64(n)), p, []int{1, 32, 40}[n%3], op, scalars{-0.3, 0.7}, reals[float32], false)
			first := runMixedSpMM[E](t, dev, pl, c, 0).Data
			sameBits(t, c.String()+": again", runMixedSpMM[E](t, dev, pl, c, 0).Data, first)
			sameBits(t, c.String()+": another layout", runMixedSpMM[E](t, dev, pl, c, 2).Data, first)
			if _, ok := dev.(device.Host); ok {
				sameBits(t, c.String()+": Run", c.run(t, dev, pl, 0, 0).Data, first)
			}
		}
	}
}

func mixedSpMMErrors[E device.Short](t *testing.T, dev device.Device) {
	o := newSpMMOperands[float32](t, dev)
	b := mixedZeros[E](t, dev, 5, 3)
	run := func(ctx context.Context, b *dense.Resident[E]) error {
		return spmm.RunMixed(ctx, o.pl, spmm.NoTrans, 1, o.s, b, 0, o.c)
	}
	must(t, run(context.Background(), b))
	wantShape(t, "B with 4 rows", run(context.Background(), mixedZeros[E](t, dev, 4, 3)), "spmm.RunMixed", "B 4×3", "B with 5 rows")
	wantNil(t, "B", run(context.Background(), nil), "B")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	wantIs(t, "cancelled before", run(ctx, b), context.Canceled)
	must(t, b.Close())
	wantIs(t, "B", run(context.Background(), b), device.ErrClosed)
}

func mixedSpMMScenario[E device.Short](dev device.Device) error {
	p := general.pattern()
	pat, err := pattern.Upload(dev, p)
	if err != nil {
		return err
	}
	defer pat.Close()
	pl, err := spmm.NewPlan[float32](pat)
	if err != nil {
		return err
	}
	defer pl.Close()
	c := newSpMM(newRand(5), p, 8, spmm.Trans, scalars{1, 0}, integers[float32], true)
	b, err := rounded[E](dev, c.b)
	if err != nil {
		return err
	}
	defer b.Close()
	out, err := dense.Alloc[float32](dev, p.Cols, 8)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := spmm.RunMixed(context.Background(), pl, c.op, c.alpha, nil, b, c.beta, out); err != nil {
		return err
	}
	_, err = out.Download()
	return err
}
