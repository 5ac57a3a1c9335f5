package conformance

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// SDDMMMixed is the suite of sddmm.RunMixed: SDDMM with A and B in 16 bits. The reference multiplies the numbers that those
// are, and the bounds are those of float32.
func SDDMMMixed(t *testing.T, open func(t *testing.T) device.Device) {
	forShorts(t, open, mixedSDDMMSuite[device.BFloat16], mixedSDDMMSuite[device.Float16])
}

func mixedSDDMMSuite[E device.Short](t *testing.T, open Open) {
	t.Run("Depths", func(t *testing.T) { mixedSDDMMDepths[E](t, start(t, open)) })
	t.Run("Patterns", func(t *testing.T) { mixedSDDMMPatterns[E](t, start(t, open)) })
	t.Run("Panels", func(t *testing.T) { mixedSDDMMPanels[E](t, start(t, open)) })
	t.Run("NonFinite", func(t *testing.T) { mixedSDDMMNonFinite[E](t, start(t, open)) })
	t.Run("SameBits", func(t *testing.T) { mixedSDDMMSameBits[E](t, start(t, open)) })
	t.Run("Errors", func(t *testing.T) { mixedSDDMMErrors[E](t, start(t, open)) })
	failEach(t, open, 5, 3, mixedSDDMMScenario[E])
}

// mixedDepths are around the 8 elements of a load, 1, 2, 4, … loads, and more loads than registers hold.
var mixedDepths = []int{0, 1, 2, 7, 8, 9, 16, 24, 32, 33, 64, 72, 128, 256, 264, 512, 1000, 1024, 2056}

// newMixedSDDMM draws operands that 16 bits hold.
func newMixedSDDMM[E device.Short](rng *rand.Rand, p *sparse.Pattern, k int, f sddmm.Epilogue, x scalars, draw numbers[float32], exact bool) *sddmmCase[float32] {
	c := newSDDMM(rng, p, k, f, x, draw, exact)
	c.a, c.b = shorten[E](c.a), shorten[E](c.b)
	return c
}

// runMixed is run with A and B in 16 bits, in layout n.
func runMixed[E device.Short](t *testing.T, dev device.Device, pl *sddmm.Plan[float32], c *sddmmCase[float32], n int) []float32 {
	t.Helper()
	gap, lead := layout(n, c.a.Cols, 8)
	a, b := inputShort[E](t, dev, c.a, gap, lead), inputShort[E](t, dev, c.b, gap, lead)
	defer a.close()
	defer b.close()
	return c.runWith(t, dev, a, b, n%5, func(s, p *device.Buffer[float32]) error {
		return sddmm.RunMixed(context.Background(), pl, c.f, c.alpha, s, a.Resident, b.Resident, c.beta, p)
	})
}

func mixedSDDMMDepths[E device.Short](t *testing.T, dev device.Device) {
	p := general.pattern()
	_, pl := sddmmPlan[float32](t, dev, p)
	rng := newRand(1)
	for n, k := range mixedDepths {
		for i, f := range epilogues {
			for j, x := range allScalars {
				if (i+j+n)%3 != 0 {
					continue // what α, β and f do is independent of the type of A and B
				}
				c := newMixedSDDMM[E](rng, p, k, f, x, integers[float32], true)
				c.check(t, runMixed[E](t, dev, pl, c, i+j))
				c = newMixedSDDMM[E](rng, p, k, f, x, reals[float32], false)
				c.check(t, runMixed[E](t, dev, pl, c, i+j+1))
			}
		}
	}
}

func mixedSDDMMPatterns[E device.Short](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		p := problem.pattern()
		_, pl := sddmmPlan[float32](t, dev, p)
		rng := newRand(uint64(n))
		for i, k := range []int{32, 9} {
			c := newMixedSDDMM[E](rng, p, k, epilogues[(n+i)%len(epilogues)], scalars{1, 0}, reals[float32], false)
			c.check(t, runMixed[E](t, dev, pl, c, i))
		}
	}
}

// Panels of popular columns in shared memory, on devices that run kernels.
func mixedSDDMMPanels[E device.Short](t *testing.T, dev device.Device) {
	if _, ok := dev.(device.Launcher); !ok {
		t.Skip("runs no kernels")
	}
	for n, problem := range problems {
		p := problem.pattern()
		_, pl := sddmmPlan[float32](t, dev, p)
		rng := newRand(uint64(n))
		for i, k := range []int{8, 72, 128, 264, 520} {
			must(t, pl.SetTile(model.Tile{Ti: max(p.Rows/3, 2), Tj: sharedWidth(p.Cols / 4), Tk: []int{0, 64, 128, 256, 32}[(n+i)%5]}))
			c := newMixedSDDMM[E](rng, p, k, epilogues[(n+i)%len(epilogues)], allScalars[(n+i)%len(allScalars)], integers[float32], true)
			c.check(t, runMixed[E](t, dev, pl, c, 0))
			c = newMixedSDDMM[E](rng, p, k, sddmm.Dot, scalars{1, 0}, reals[float32], false)
			c.check(t, runMixed[E](t, dev, pl, c, 2))
		}
	}
}

// NaN and infinities reach the non-zeros that use them, and no other.
func mixedSDDMMNonFinite[E device.Short](t *testing.T, dev device.Device) {
	p := general.pattern()
	_, pl := sddmmPlan[float32](t, dev, p)
	for n, k := range []int{1, 7, 8, 24, 33, 128} {
		nonFiniteReaches[E](t, dev, pl, p, k, n)
	}
}

// nonFiniteReaches checks that NaN in a row and a column and an infinity in another row reach the non-zeros that use them, and no other, in
// layout n.
func nonFiniteReaches[E device.Short](t *testing.T, dev device.Device, pl *sddmm.Plan[float32], p *sparse.Pattern, k, n int) {
	t.Helper()
	const nanRow, infRow, nanCol = 5, 7, 3
	c := newMixedSDDMM[E](newRand(3), p, k, sddmm.Dot, scalars{1, 0}, positives[float32], false)
	clean := runMixed[E](t, dev, pl, c, n)
	c.check(t, clean)
	c.a.Set(nanRow, k-1, float32(math.NaN()))
	c.a.Set(infRow, k/2, float32(math.Inf(1)))
	c.b.Set(nanCol, 0, float32(math.NaN()))
	got := runMixed[E](t, dev, pl, c, n)
	want, _ := sddmm.Reference(c.f, c.alpha, c.s, c.a, c.b, c.beta, c.prev)
	for i := range p.Rows {
		for z := p.RowPtr[i]; z < p.RowPtr[i+1]; z++ {
			if i != nanRow && i != infRow && p.ColIdx[z] != nanCol {
				sameBits(t, fmt.Sprintf("%v: value %d in row %d, which uses finite operands only,", c, z, i), got[z:z+1], clean[z:z+1])
			} else if !same(float64(got[z]), want[z]) {
				t.Errorf("%v: value %d in row %d is %v, want %v", c, z, i, got[z], want[z])
			}
		}
	}
}

// The same bits come from run to run and for any layout with rows at multiples of 16 bytes, and on the CPU those of Run.
func mixedSDDMMSameBits[E device.Short](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		p := problem.pattern()
		_, pl := sddmmPlan[float32](t, dev, p)
		c := newMixedSDDMM[E](newRand(uint64(n)), p, []int{1, 32, 40}[n%3], epilogues[n%len(epilogues)], scalars{-0.3, 0.7}, reals[float32], false)
		first := runMixed[E](t, dev, pl, c, 0)
		sameBits(t, c.String()+": again", runMixed[E](t, dev, pl, c, 0), first)
		sameBits(t, c.String()+": another layout", runMixed[E](t, dev, pl, c, 2), first)
		if _, ok := dev.(device.Host); ok {
			sameBits(t, c.String()+": Run", c.run(t, dev, pl, 0, 0), first)
		}
	}
}

// mixedZeros makes a matrix that the test closes in the end.
func mixedZeros[E device.Short](t *testing.T, dev device.Device, rows, cols int) *dense.Resident[E] {
	t.Helper()
	m, err := dense.Zeros[E](dev, rows, cols)
	must(t, err)
	t.Cleanup(func() { m.Close() })
	return m
}

func mixedSDDMMErrors[E device.Short](t *testing.T, dev device.Device) {
	o := newSDDMMOperands[float32](t, dev)
	a, b := mixedZeros[E](t, dev, 4, 3), mixedZeros[E](t, dev, 5, 3)
	run := func(ctx context.Context, a, b *dense.Resident[E]) error {
		return sddmm.RunMixed(ctx, o.pl, sddmm.Scale, 1, o.s, a, b, 0, o.p)
	}
	must(t, run(context.Background(), a, b))
	wantShape(t, "A with 5 rows", run(context.Background(), b, b), "sddmm.RunMixed", "A 5×3", "A with 4 rows")
	wantNil(t, "A", run(context.Background(), nil, b), "A")
	wantNil(t, "B", run(context.Background(), a, nil), "B")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	wantIs(t, "cancelled before", run(ctx, a, b), context.Canceled)
	must(t, a.Close())
	wantIs(t, "A", run(context.Background(), a, b), device.ErrClosed)
}

func mixedSDDMMScenario[E device.Short](dev device.Device) error {
	p := general.pattern()
	pat, err := pattern.Upload(dev, p)
	if err != nil {
		return err
	}
	defer pat.Close()
	pl, err := sddmm.NewPlan[float32](pat)
	if err != nil {
		return err
	}
	defer pl.Close()
	c := newSDDMM(newRand(5), p, 8, sddmm.Dot, scalars{1, 0}, integers[float32], true)
	a, err := rounded[E](dev, c.a)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := rounded[E](dev, c.b)
	if err != nil {
		return err
	}
	defer b.Close()
	out, err := device.Alloc[float32](dev, pat.NNZ)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := sddmm.RunMixed(context.Background(), pl, c.f, c.alpha, nil, a, b, c.beta, out); err != nil {
		return err
	}
	return out.Download(make([]float32, out.Len()))
}

// rounded puts a matrix on a device and rounds it there.
func rounded[E device.Short](dev device.Device, m dense.Matrix[float32]) (*dense.Resident[E], error) {
	x, err := dense.Upload(dev, m)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	out, err := dense.Alloc[E](dev, m.Rows, m.Cols)
	if err != nil {
		return nil, err
	}
	if err := dense.Round(context.Background(), out, x); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}
