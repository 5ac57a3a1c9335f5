package conformance

import (
	"math/rand/v2"
	"testing"

	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// SDDMMDense is the suite of SDDMM with A and B in 16 bits on devices that run kernels, where all products of dense panels are made.
func SDDMMDense(t *testing.T, open func(t *testing.T) device.Device) {
	forShorts(t, open, densePanelsSuite[device.BFloat16], densePanelsSuite[device.Float16])
}

func densePanelsSuite[E device.Short](t *testing.T, open Open) {
	if has := start(t, open).Props().SharedBytes; has < model.DenseBytes {
		t.Skipf("the device has %d bytes of shared memory; dense panels take %d", has, model.DenseBytes)
	}
	t.Run("Depths", func(t *testing.T) { densePanelsDepths[E](t, start(t, open)) })
	t.Run("Patterns", func(t *testing.T) { densePanelsPatterns[E](t, start(t, open)) })
	t.Run("Bands", func(t *testing.T) { densePanelsBands[E](t, start(t, open)) })
	t.Run("NonFinite", func(t *testing.T) { densePanelsNonFinite[E](t, start(t, open)) })
	t.Run("SameBits", func(t *testing.T) { densePanelsSameBits[E](t, start(t, open)) })
}

// densePanelsTile cuts a pattern into blocks of rows, with panels that are dense, others that are not, and columns in none.
func densePanelsTile(p *sparse.Pattern, blocks, panels, dense int) model.Tile {
	return model.Tile{Ti: max((p.Rows+blocks-1)/blocks, 1), Tj: sharedWidth(p.Cols / (panels + 1)), Tk: 64, Panels: panels, Dense: dense}
}

// K around the 8 elements of a load, the 64 of a slice and the slices on their way.
func densePanelsDepths[E device.Short](t *testing.T, dev device.Device) {
	p := general.pattern()
	pat, pl := sddmmPlan[float32](t, dev, p)
	rng := newRand(1)
	for n, k := range []int{8, 56, 64, 72, 128, 136, 192, 256, 264, 1000} {
		tile := densePanelsTile(p, 1+n%3, 2, 1+n%2)
		must(t, pl.SetTile(tile))
		for i, f := range epilogues {
			x := allScalars[(n+i)%len(allScalars)]
			c := newMixedSDDMM[E](rng, p, k, f, x, integers[float32], true)
			c.check(t, runMixed[E](t, dev, pl, c, 0))
			c = newMixedSDDMM[E](rng, p, k, f, x, reals[float32], false)
			c.check(t, runMixed[E](t, dev, pl, c, 2))
		}
		cut, err := pat.Shared(tile)
		must(t, err)
		if cut.Dense.Len() == 0 || tile.Dense == 1 && cut.ShareCount == 0 || cut.Rest == nil {
			t.Errorf("%+v: %d dense cells, %d shares and rest %v: the test does not test what it should", tile, cut.Dense.Len()/4, cut.ShareCount, cut.Rest)
		}
	}
}

func densePanelsPatterns[E device.Short](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		t.Run(problem.why, func(t *testing.T) {
			p := problem.pattern()
			_, pl := sddmmPlan[float32](t, dev, p)
			must(t, pl.SetTile(densePanelsTile(p, 3, 3, 1+n%3)))
			c := newMixedSDDMM[E](newRand(uint64(n)), p, 72, epilogues[n%len(epilogues)], scalars{1, 0}, integers[float32], true)
			c.check(t, runMixed[E](t, dev, pl, c, 0))
		})
	}
}

// Panels wider than a tile, all of their columns dense or some, and more rows than tiles and bands have: rows with all columns, with a few,
// and for longer than a band with none.
func densePanelsBands[E device.Short](t *testing.T, dev device.Device) {
	p := problem{why: "bands", rows: 1100, cols: 500, length: func(i int) int {
		switch {
		case i < 20 || i >= 300 && i < 700:
			return 0
		case i%97 == 0:
			return 500
		}
		return i * 11 % 60
	}}.pattern()
	rng := newRand(8)
	for _, tile := range []model.Tile{
		{Ti: 1100, Tj: 500, Tk: 64, Panels: 1, Dense: 1},
		{Ti: 600, Tj: 230, Tk: 64, Panels: 3, Dense: 2},
		{Ti: 129, Tj: 120, Tk: 64, Panels: 3, Dense: 9},
	} {
		_, pl := sddmmPlan[float32](t, dev, p)
		must(t, pl.SetTile(tile))
		c := newMixedSDDMM[E](rng, p, 40, sddmm.Scale, scalars{-0.5, 2}, integers[float32], true)
		c.check(t, runMixed[E](t, dev, pl, c, 0))
	}
}

// NaN and infinities reach the non-zeros that use them, and no other, though products of all rows and columns are made.
func densePanelsNonFinite[E device.Short](t *testing.T, dev device.Device) {
	p := general.pattern()
	_, pl := sddmmPlan[float32](t, dev, p)
	must(t, pl.SetTile(densePanelsTile(p, 1, 1, 1)))
	for _, k := range []int{8, 72} {
		nonFiniteReaches[E](t, dev, pl, p, k, 0)
	}
}

// The same bits come from run to run, for any layout, and where rows change their places.
func densePanelsSameBits[E device.Short](t *testing.T, dev device.Device) {
	for _, problem := range []problem{general, longRows, {rows: 311, cols: 90, length: func(i int) int { return i * 7 % 90 }}} {
		p := problem.pattern()
		tile := model.Tile{Ti: 1 << 14, Tj: p.Cols, Tk: 64, Panels: 1, Dense: 1}
		_, pl := sddmmPlan[float32](t, dev, p)
		must(t, pl.SetTile(tile))
		c := newMixedSDDMM[E](newRand(9), p, 200, sddmm.Scale, scalars{-0.3, 0.7}, reals[float32], false)
		first := runMixed[E](t, dev, pl, c, 0)
		sameBits(t, c.String()+": again", runMixed[E](t, dev, pl, c, 0), first)
		sameBits(t, c.String()+": another layout", runMixed[E](t, dev, pl, c, 2), first)
		q, d, want := permuteRows(rand.New(rand.NewPCG(4, 4)), p, c, first)
		_, permuted := sddmmPlan[float32](t, dev, q)
		must(t, permuted.SetTile(tile))
		sameBits(t, c.String()+": permuted rows", runMixed[E](t, dev, permuted, d, 0), want)
	}
}
