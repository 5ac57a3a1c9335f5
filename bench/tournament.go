package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"sddmmkit/bench/record"
	"sddmmkit/internal/cputime"
	"sddmmkit/model"
)

// Tiles of a search take turns, in rounds that lie apart. Other programs make a tile look slower and never
// faster: the least time of each counts, and those that are far behind drop out.
const (
	turnSeconds = 8e-3 // that a tile runs in a turn at least, where calls are short
	longCall    = 0.25 // seconds of a call that hardly depends on what it finds in caches: memory fills them in a hundredth of that
	retakes     = 3    // of a turn in which other programs had the processors
	quiet       = 0.93 // share of the processors from which on a turn is as good as any
	hopeless    = 2    // as many widths in a row that drop out, and no narrower ones are tried
)

// Whichever of many tiles is the fastest was lucky too. What others lose to it is therefore taken from turns of their own, in
// which it takes part again, for longer than most disturbances last.
const (
	leastReplays = 7   // rounds in any case
	replays      = 15  // rounds, and
	leastElapsed = 3.0 // seconds that pass, both at least where calls are short
	mostCalled   = 4.0 // seconds of calls, one a turn, from which on there are no more
)

// dropOut says by how much a tile may be behind the fastest after each round.
var dropOut = []float64{2, 1.5, 1.25, 1.15, 1.15}

// contender is a tile in a search.
type contender struct {
	tile    model.Tile
	samples []float64 // seconds per call, one each round
	keep    bool      // stays to the end, however slow
}

func (c *contender) least() float64 {
	if len(c.samples) == 0 {
		return math.Inf(1)
	}
	return slices.Min(c.samples)
}

// tournament is a search in progress.
type tournament struct {
	all  []*contender
	turn func(model.Tile) (float64, error) // seconds per call
}

func (t *tournament) best() *contender {
	return slices.MinFunc(t.all, func(a, b *contender) int { return cmp.Compare(a.least(), b.least()) })
}

// enter adds a tile and runs its first turn; a tile that is there already stays to the end if keep is set.
func (t *tournament) enter(tile model.Tile, keep bool) (*contender, error) {
	at := slices.IndexFunc(t.all, func(c *contender) bool { return c.tile == tile })
	if at >= 0 {
		t.all[at].keep = t.all[at].keep || keep
		return t.all[at], nil
	}
	c := &contender{tile: tile, keep: keep}
	s, err := t.turn(tile)
	if err != nil {
		return nil, fmt.Errorf("tile %s: %w", TileText(tile), err)
	}
	c.samples = append(c.samples, s)
	t.all = append(t.all, c)
	return c, nil
}

// round gives another turn to all that are at most behind times as slow as the fastest.
func (t *tournament) round(behind float64) error {
	limit := behind * t.best().least()
	for _, c := range t.all {
		if c.least() > limit && !c.keep {
			continue
		}
		s, err := t.turn(c.tile)
		if err != nil {
			return fmt.Errorf("tile %s: %w", TileText(c.tile), err)
		}
		c.samples = append(c.samples, s)
	}
	return nil
}

// among tries no tile and the given ones, the first two to the end.
func (t *tournament) among(tiles []model.Tile) error {
	for n, tile := range append([]model.Tile{{}}, tiles...) {
		if _, err := t.enter(tile, n < 3); err != nil {
			return err
		}
	}
	for _, behind := range dropOut {
		if err := t.round(behind); err != nil {
			return err
		}
	}
	return nil
}

// behind returns by how much of the time of best each of tiles is behind it: the median over rounds of their own in which they
// take turns. The fastest of all has no more luck there than others. Tiles that are the same have the same turns.
func (t *tournament) behind(best model.Tile, tiles ...model.Tile) ([]float64, error) {
	ratios := map[model.Tile][]float64{best: {1}}
	var others []model.Tile
	for _, tile := range tiles {
		if _, ok := ratios[tile]; !ok {
			ratios[tile], others = nil, append(others, tile)
		}
	}
	spent, start := 0.0, time.Now()
	more := func(n int) bool {
		return n < leastReplays || spent < mostCalled && (n < replays || time.Since(start).Seconds() < leastElapsed)
	}
	for n := 0; len(others) > 0 && more(n); n++ {
		reference, err := t.turn(best)
		if err != nil {
			return nil, err
		}
		spent += reference
		for _, tile := range others {
			s, err := t.turn(tile)
			if err != nil {
				return nil, err
			}
			spent += s
			ratios[tile] = append(ratios[tile], s/reference)
		}
	}
	losses := make([]float64, len(tiles))
	for i, tile := range tiles {
		losses[i] = max(record.Summarize(ratios[tile]).Median-1, 0)
	}
	return losses, nil
}

// run tries no tile, the tiles to keep and, for all of K and for slices of each depth, panels from the widest down; after a round the
// widths between those near the best; and then has rounds.
func (t *tournament) run(gathered int, depths []int, keep ...model.Tile) error {
	for _, tile := range append([]model.Tile{{}}, keep...) {
		if _, err := t.enter(tile, true); err != nil {
			return err
		}
	}
	for _, depth := range append([]int{0}, depths...) {
		worse := 0
		for _, tile := range append([]model.Tile{{}}, coarse(gathered)...) {
			tile.Tk = depth
			c, err := t.enter(tile, false)
			if err != nil {
				return err
			}
			best := t.best()
			if c.least() <= dropOut[0]*best.least() || tile.Tj == 0 || tile.Tj > best.tile.Tj && best.tile.Tj > 0 {
				worse = 0 // or wider than the best: with less of K a narrower one may still be as good
			} else if worse++; worse == hopeless {
				break
			}
		}
	}
	for n, behind := range dropOut {
		if err := t.round(behind); err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		for _, tile := range finer(t.best().tile, gathered) {
			if _, err := t.enter(tile, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn returns the seconds per call of enough calls, after one that finds the caches as others left them, or of that
// one where it is so long that this matters little. Where others had the processors meanwhile it is taken again.
func turn(ctx context.Context, clock timer, threads int, call func() error) (float64, error) {
	least := math.Inf(1)
	for take := 0; take <= retakes; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		total, n := 0.0, 0
		before := cputime.Process()
		for ; total < turnSeconds; n++ {
			took, err := clock.time(call)
			if err != nil {
				return 0, err
			}
			if !(took > 0) {
				return 0, fmt.Errorf("bench: a call took %v seconds by the %s clock; its resolution is too coarse", took, clock.name())
			}
			total += took
		}
		if take++; take == 1 && total < longCall {
			continue
		}
		least = min(least, total/float64(n))
		if threads < 1 || before == 0 || (cputime.Process()-before).Seconds() >= quiet*total*float64(threads) {
			break
		}
	}
	return least, nil
}
