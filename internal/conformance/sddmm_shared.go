package conformance

import (
	"context"
	"fmt"
	"math"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
	"sddmmkit/tiling"
)

// SDDMMShared is the suite of SDDMM on devices that run kernels with panels of B in shared memory: tiles so small that
// there are many panels, blocks of rows and pieces, and non-zeros that belong to none.
func SDDMMShared(t *testing.T, open func(t *testing.T) device.Device) {
	forTypes(t, open, sharedSuite[float32], sharedSuite[float64])
}

func sharedSuite[T Float](t *testing.T, open Open) {
	t.Run("Depths", func(t *testing.T) { sharedDepths[T](t, start(t, open)) })
	t.Run("Patterns", func(t *testing.T) { sharedPatterns[T](t, start(t, open)) })
	t.Run("InPlace", func(t *testing.T) { sharedInPlace[T](t, start(t, open)) })
	t.Run("NonFinite", func(t *testing.T) { sharedNonFinite[T](t, start(t, open)) })
	t.Run("SameBits", func(t *testing.T) { sharedSameBits[T](t, start(t, open)) })
	t.Run("Queue", func(t *testing.T) { sharedQueue[T](t, start(t, open)) })
	t.Run("Tiles", func(t *testing.T) { sharedTiles[T](t, start(t, open)) })
	failEach(t, open, 8, 4, sharedScenario[T])
}

// sharedTile cuts small patterns into many pieces.
var sharedTile = model.Tile{Ti: 7, Tj: 5}

// sharedWidth limits the columns of a panel to what 32 KB of shared memory hold in the longest slices.
func sharedWidth(cols int) int { return min(max(cols, 3), 32) }

// depthsOfVectors are multiples of 16 bytes: less than the smallest slice, slices, one and a bit, several.
var depthsOfVectors = []int{4, 32, 64, 128, 132, 512, 1024}

// sharedPlan plans on a pattern with a tile.
func sharedPlan[T Float](t *testing.T, dev device.Device, p *sparse.Pattern, tile model.Tile) (*pattern.Resident, *sddmm.Plan[T]) {
	t.Helper()
	pat, pl := sddmmPlan[T](t, dev, p)
	must(t, pl.SetTile(tile))
	return pat, pl
}

// runAligned is run with rows of A and B that start at multiples of 16 bytes.
func (c *sddmmCase[T]) runAligned(t *testing.T, dev device.Device, pl *sddmm.Plan[T], gap, lead int) []T {
	t.Helper()
	return c.runOn(t, dev, pl, input(t, dev, c.a, 4*gap, 4*lead), input(t, dev, c.b, 4*gap, 4*lead+4), lead)
}

func sharedDepths[T Float](t *testing.T, dev device.Device) {
	p := general.pattern()
	pat, pl := sharedPlan[T](t, dev, p, sharedTile)
	rng := newRand(1)
	for n, k := range depthsOfVectors {
		for _, f := range epilogues {
			for i, x := range allScalars {
				if testing.Short() && (i+n)%4 != 0 {
					continue
				}
				c := newSDDMM(rng, p, k, f, x, integers[T], true)
				c.check(t, c.runAligned(t, dev, pl, n%3, n%5))
				c = newSDDMM(rng, p, k, f, x, reals[T], false)
				c.check(t, c.runAligned(t, dev, pl, n%4, n%7))
			}
		}
	}
	cut, err := pat.Shared(sharedTile)
	must(t, err)
	if cut.Items.Len() < 6*4 || cut.Rest == nil {
		t.Errorf("%d items and rest %v: the test does not test what it should", cut.Items.Len()/4, cut.Rest)
	}
}

func sharedPatterns[T Float](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		t.Run(problem.why, func(t *testing.T) {
			p := problem.pattern()
			tile := model.Tile{Ti: max(p.Rows/3, 2), Tj: sharedWidth(p.Cols / 4)}
			_, pl := sharedPlan[T](t, dev, p, tile)
			rng := newRand(uint64(n))
			for i, k := range []int{8, 36} {
				x := allScalars[(n+i*4)%len(allScalars)]
				f := epilogues[(n+i)%len(epilogues)]
				c := newSDDMM(rng, p, k, f, x, integers[T], true)
				c.check(t, c.runAligned(t, dev, pl, i, n%3))
				c = newSDDMM(rng, p, k, f, scalars{1, 0}, reals[T], false)
				c.check(t, c.runAligned(t, dev, pl, 0, i))
			}
		})
	}
}

// P may be S, also where K is in slices.
func sharedInPlace[T Float](t *testing.T, dev device.Device) {
	p := general.pattern()
	_, pl := sharedPlan[T](t, dev, p, sharedTile)
	rng := newRand(2)
	for _, k := range []int{16, 516} {
		for _, f := range epilogues {
			for _, x := range []scalars{{1, 0}, {-0.5, 2}, {0, 1}} {
				c := newSDDMM(rng, p, k, f, x, integers[T], true)
				v := slice(rng, int(p.NNZ()), integers[T])
				c.s.Val, c.prev = v, v
				a, b := input(t, dev, c.a, 0, 0), input(t, dev, c.b, 0, 4)
				s := output(t, dev, values(v), 0, 3)
				must(t, pl.Run(context.Background(), f, c.alpha, s.Buf, a.Resident, b.Resident, c.beta, s.Buf))
				c.check(t, s.read(t, "S and P").Data)
				a.close()
				b.close()
				s.close()
			}
		}
	}
}

// NaN and infinities reach the non-zeros that use them, and no other: not what fills up slices, panels and batches.
func sharedNonFinite[T Float](t *testing.T, dev device.Device) {
	p := general.pattern()
	_, pl := sharedPlan[T](t, dev, p, sharedTile)
	rng := newRand(3)
	const nanRow, infRow, nanCol = 5, 7, 3
	for _, k := range []int{4, 36, 516} {
		c := newSDDMM(rng, p, k, sddmm.Dot, scalars{1, 0}, positives[T], false)
		clean := c.runAligned(t, dev, pl, 0, 0)
		c.check(t, clean)
		c.a.Set(nanRow, k-1, T(math.NaN()))
		c.a.Set(infRow, k/2, T(math.Inf(1)))
		c.b.Set(nanCol, 0, T(math.NaN()))
		got := c.runAligned(t, dev, pl, 1, 1)
		want, _ := sddmm.Reference(c.f, c.alpha, c.s, c.a, c.b, c.beta, c.prev)
		hit := 0
		for i := range p.Rows {
			for z := p.RowPtr[i]; z < p.RowPtr[i+1]; z++ {
				if i == nanRow || i == infRow || p.ColIdx[z] == nanCol {
					hit++
					if !same(float64(got[z]), want[z]) {
						t.Errorf("%v: value %d in row %d is %v, want %v", c, z, i, got[z], want[z])
					}
				} else {
					sameBits(t, fmt.Sprintf("%v: value %d in row %d, which uses finite operands only,", c, z, i), got[z:z+1], clean[z:z+1])
				}
			}
		}
		if hit < 10 || hit == len(got) {
			t.Fatalf("%d of %d values use NaN or an infinity: the test does not test what it should", hit, len(got))
		}
	}
}

// The same bits come from run to run, for any layout, and where rows change their places: they do not depend on which
// group of lanes has a non-zero.
func sharedSameBits[T Float](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		p := problem.pattern()
		tile := model.Tile{Ti: max(p.Rows/2, 2), Tj: sharedWidth(p.Cols / 2)}
		_, pl := sharedPlan[T](t, dev, p, tile)
		k := []int{32, 132, 516}[n%3]
		c := newSDDMM(newRand(uint64(n)), p, k, epilogues[n%len(epilogues)], scalars{-0.3, 0.7}, reals[T], false)
		first := c.runAligned(t, dev, pl, 0, 0)
		sameBits(t, c.String()+": again", c.runAligned(t, dev, pl, 0, 0), first)
		sameBits(t, c.String()+": another layout", c.runAligned(t, dev, pl, 1, 2), first)
		q, d, want := permuteRows(newRand(4), p, c, first)
		_, permuted := sharedPlan[T](t, dev, q, tile)
		sameBits(t, problem.why+": permuted rows", d.runAligned(t, dev, permuted, 0, 0), want)
	}
}

// Non-zeros are more than one share each for the device's units: blocks of threads take shares from a counter, in each call anew.
func sharedQueue[T Float](t *testing.T, dev device.Device) {
	units := max(dev.Props().Units, 1)
	const length = 50
	rows := 1
	for tiling.OneShareEach(int64(rows*length), units) {
		rows += rows/8 + 1
	}
	p := problem{rows: rows, cols: 2 * length, length: each(length)}.pattern()
	tile := model.Tile{Ti: min(rows/3, 1<<16), Tj: 30}
	pat, pl := sharedPlan[T](t, dev, p, tile)
	c := newSDDMM(newRand(6), p, 8, sddmm.Residual, scalars{-0.5, 2}, integers[T], true)
	for range 2 {
		c.check(t, c.runAligned(t, dev, pl, 0, 0))
	}
	cut, err := pat.Shared(tile)
	must(t, err)
	if cut.ShareCount <= 2*units {
		t.Errorf("%d shares for %d units: the test does not test what it should", cut.ShareCount, units)
	}
}

// Tiles of all slices, and as large as the device takes.
func sharedTiles[T Float](t *testing.T, dev device.Device) {
	p := problems[len(problems)-1].pattern()
	rng := newRand(5)
	for _, bytes := range model.SharedSlices {
		depth := bytes / sizeOf[T]()
		for _, tile := range []model.Tile{{Ti: 100, Tj: 50, Tk: depth}, {Tj: 40, Tk: depth}, {Ti: 1 << 16, Tj: 203, Tk: depth}, {Ti: 1, Tj: 203, Tk: depth}} {
			if int64(tile.Tj*bytes) > dev.Props().SharedBytes-10<<10 {
				continue
			}
			_, pl := sharedPlan[T](t, dev, p, tile)
			for _, k := range []int{depth, 2*depth + 4} {
				c := newSDDMM(rng, p, k, sddmm.Scale, scalars{1, 0}, integers[T], true)
				c.check(t, c.runAligned(t, dev, pl, 0, 0))
			}
			if got, settled := pl.Tile(8); got != tile || !settled {
				t.Errorf("tile %v, settled %t, want %v", got, settled, tile)
			}
		}
	}
	_, pl := sddmmPlan[T](t, dev, p)
	if tile, settled := pl.Tile(33); tile != (model.Tile{}) || !settled {
		t.Errorf("K = 33, which is gathered: tile %v, settled %t", tile, settled)
	}
	for _, tile := range []model.Tile{{Ti: -1, Tj: 5}, {Ti: 5}, {Tk: 32}, {Tj: -1}, {Tj: 1<<16 + 1}, {Ti: 1<<16 + 1, Tj: 5}, {Tj: 5, Tk: 33}} {
		if pl.SetTile(tile) == nil {
			t.Errorf("tile %+v passed", tile)
		}
	}
	must(t, pl.SetTile(model.Tile{Tj: 1 << 16}))
	a, b := zeros[T](t, dev, p.Rows, 1024), zeros[T](t, dev, p.Cols, 1024)
	err := pl.Run(context.Background(), sddmm.Dot, 1, nil, a, b, 0, zeros[T](t, dev, 1, int(p.NNZ())).Buf)
	wantIs(t, "more shared memory than there is", err, device.ErrUnsupported)
}

func sharedScenario[T Float](dev device.Device) error {
	p := general.pattern()
	pat, err := pattern.Upload(dev, p)
	if err != nil {
		return err
	}
	defer pat.Close()
	pl, err := sddmm.NewPlan[T](pat)
	if err != nil {
		return err
	}
	defer pl.Close()
	if err := pl.SetTile(sharedTile); err != nil {
		return err
	}
	c := newSDDMM(newRand(5), p, 516, sddmm.Dot, scalars{1, 0}, integers[T], true)
	a, err := dense.Upload(dev, c.a)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := dense.Upload(dev, c.b)
	if err != nil {
		return err
	}
	defer b.Close()
	out, err := device.Alloc[T](dev, pat.NNZ)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := pl.Run(context.Background(), c.f, c.alpha, nil, a, b, c.beta, out); err != nil {
		return err
	}
	return out.Download(make([]T, out.Len()))
}
