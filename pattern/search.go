package pattern

import (
	"cmp"
	"context"
	"math"
	"slices"

	"sddmmkit/model"
)

// Search finds the fastest tile of one operation, K and element type on a pattern by trying: the first
// calls take turns with tiles that the model thinks good, and later calls use the fastest of them
// (cuSDDMM, algorithm 4, does so for T_k). No tile changes a bit of a result, so trying does not either.
//
// First comes the model's choice, twice, for the first call of all finds memory that nobody has touched, and what is spent counts in calls
// of the fastest. Then come no tile, which has no panels to make, and others far from both, which stay in another cache: what the
// model is least sure of is which of them is how fast at the moment. After them come the neighbours of the fastest, as long as they gain. All that
// counts by the least of few calls. In the end the fastest few have turns: a call that finds the caches as another tile left
// them, and one that counts. They are compared turn by turn, for what else the machine does lasts longer than a call, and
// a tile takes the place of one before it only for a gain that the median of those ratios shows.
type Search struct {
	pat    *Resident
	k      int
	elem   int                // bytes
	grid   []model.Prediction // all tiles that the model looked at
	trials []*trial           // the model's choice first
	spent  float64            // seconds that went into the profile and panels, and into the calls themselves
	calls  int                // reports so far
	half   *trial             // had the first call of its turn
	finals []*trial           // those that have turns in the end, when no tile will be added
}

// trial is a tile of a search.
type trial struct {
	at    int       // in the grid
	calls int       // so far
	least float64   // seconds of the fastest of them
	turns []float64 // seconds of the second call of each turn of the end
}

// slower returns the median ratio of the seconds of its turns to those of another trial, turn by turn, and how many both had; where
// those are few, the ratio of the fastest calls.
func (t *trial) slower(than *trial) (ratio float64, turns int) {
	n := min(len(t.turns), len(than.turns))
	if n < finalTurns[0].turns {
		return t.least / than.least, n
	}
	ratios := make([]float64, n)
	for i := range ratios {
		ratios[i] = t.turns[i] / than.turns[i]
	}
	return median(ratios), n
}

// median sorts v.
func median(v []float64) float64 {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// Bounds of a search. They keep what planning takes, with the profile of the pattern, below five calls.
const (
	firstCalls  = 2      // of each tile that is not hopeless after one
	hopeless    = 1.6    // times the fastest
	near        = 1.12   // times the fastest; those have turns in the end
	finalists   = 3      // at most have turns
	gain        = 0.97   // times the seconds of a tile for one that takes its place
	fewGain     = 0.82   // where both had few turns: a disturbance may have lasted for all of them
	worthTrying = 1.3    // times the seconds predicted for the best, and times the fastest, once planning took searchCalls, of what has a second call
	worthMaking = 2.5    // times those seconds, for what has to be made for a tile that the model would not take
	cheapMaking = 1.0    // times them, for that of a tile next to the fastest
	searchCalls = 2.5    // calls that planning took from which on no tile is tried for which anything has to be made
	makingCalls = 3.2    // and no other either, with what it takes to make that
	finalCalls  = 3.5    // calls that planning took from which on only those near the fastest are called, and have no more turns than it takes to tell them apart
	mostCalls   = 4.0    // and from which on there are none
	touching    = 1.7e-9 // seconds a byte that nobody has touched yet takes on virtual machines, in huge pages or not; elsewhere less
	coarse      = 4      // factor between the widths that are tried first
	fine        = 2      // factor between the fastest and its neighbours
	finest      = 1.4    // and between it and the widths next to it
)

// finalTurns says how many turns tiles have in the end that are, by the turns before, at most so many times as slow as the best.
var finalTurns = []struct {
	turns  int
	behind float64
}{{3, near}, {7, 1.06}, {11, 1.03}}

// Search returns the search for an operation on the pattern with K = k and elements of elemBytes bytes, made
// at the first call; for SpMMT call it on the transpose. See Choose for what that may cost.
func (r *Resident) Search(ctx context.Context, op model.Op, k, elemBytes int) (*Search, error) {
	key := chooseKey{op, k, elemBytes}
	if s, ok := r.searches[key]; ok {
		return s, nil
	}
	before := r.planning
	c, err := r.Choose(ctx, op, k, elemBytes)
	if err != nil {
		return nil, err
	}
	s := newSearch(r, k, elemBytes, c)
	s.spent = (r.planning - before).Seconds()
	if r.searches == nil {
		r.searches = map[chooseKey]*Search{}
	}
	r.searches[key] = s
	return s, nil
}

// Searched returns the search where there is one already.
func (r *Resident) Searched(op model.Op, k, elemBytes int) (*Search, bool) {
	s, ok := r.searches[chooseKey{op, k, elemBytes}]
	return s, ok
}

func newSearch(r *Resident, k, elemBytes int, c model.Choice) *Search {
	s := &Search{pat: r, k: k, elem: elemBytes, grid: slices.Clone(c.Alternatives)}
	if len(s.grid) == 0 {
		s.grid = []model.Prediction{c.Prediction}
	}
	s.enter(slices.IndexFunc(s.grid, func(p model.Prediction) bool { return p.Tile == c.Tile }))
	// Far ones, the best predictions first.
	byTime := make([]int, len(s.grid))
	for i := range byTime {
		byTime[i] = i
	}
	slices.SortStableFunc(byTime, func(a, b int) int { return cmp.Compare(s.grid[a].Seconds, s.grid[b].Seconds) })
	for _, i := range byTime {
		none := s.grid[i].Tile == model.Tile{} // has no panels to make
		if d := s.distance(i); d >= coarse || none && d > 1 {
			s.consider(i, worthMaking)
		}
	}
	if len(s.trials) == 1 && !s.refine() {
		s.end()
	}
	return s
}

// width returns the width of the panels of a tile of the grid, for comparisons.
func (s *Search) width(i int) float64 {
	if tj := s.grid[i].Tile.Tj; tj > 0 {
		return float64(tj)
	}
	return float64(max(s.pat.Cols, 1))
}

// depth returns the slice of K of a tile of the grid.
func (s *Search) depth(i int) float64 {
	if tk := s.grid[i].Tile.Tk; tk > 0 {
		return float64(tk)
	}
	return float64(max(s.k, 1))
}

// distance returns the least factor between a tile of the grid and those being tried: that between widths times that between slices
// of K.
func (s *Search) distance(i int) float64 {
	least := math.Inf(1)
	for _, t := range s.trials {
		least = min(least, factor(s.width(i), s.width(t.at))*factor(s.depth(i), s.depth(t.at)))
	}
	return least
}

// factor returns the larger of two positive numbers in times of the other.
func factor(a, b float64) float64 { return max(a/b, b/a) }

// best returns the least seconds predicted.
func (s *Search) best() float64 {
	least := math.Inf(1)
	for _, p := range s.grid {
		least = min(least, p.Seconds)
	}
	return least
}

func (s *Search) enter(i int) { s.trials = append(s.trials, &trial{at: i, least: math.Inf(1)}) }

// consider enters a tile if it may be the fastest and what has to be made to find out takes at most so many calls.
func (s *Search) consider(i int, most float64) bool {
	p, best := s.grid[i], s.best()
	if p.Seconds > worthTrying*best || s.making(i) > most*best {
		return false
	}
	s.enter(i)
	return true
}

// making returns the seconds that it will take to make the panels of a tile of the grid, and to touch memory for copies of its slices.
func (s *Search) making(i int) (seconds float64) {
	tile := s.grid[i].Tile
	if _, ok := s.pat.panels[tile.Tj]; !ok {
		seconds = s.grid[i].Making * s.pat.profiling.Seconds()
	}
	if tile.Tk > 0 && tile.Tk < s.k {
		untouched := func(bytes int64, there buffer) {
			if bytes > bytesOf(there) {
				seconds += float64(bytes) * touching
			}
		}
		untouched(s.pat.copiedBytes(tile, s.elem), s.pat.staged)
		untouched(s.pat.packedBytes(tile, s.elem, s.grid[i].Segments), s.pat.packed)
	}
	return seconds
}

// planned returns how many calls of the fastest tile planning took so far: profile, panels and slower calls.
func (s *Search) planned() float64 {
	if s.calls == 0 {
		return 0
	}
	call := s.fastest().least
	if best := s.winner(); len(best.turns) > 0 { // other programs make most calls slower than the fastest
		call = median(slices.Clone(best.turns))
	}
	return s.spent/call - float64(s.calls)
}

// refine enters neighbours of the fastest that were not tried yet, and reports whether there are any. Those next to it, which differ little, are worth
// it only where their panels take little to make.
func (s *Search) refine() bool {
	if s.planned() > searchCalls {
		return false
	}
	at := s.fastest().at
	any := false
	for _, by := range [...]struct{ width, depth float64 }{{1.0 / fine, 1}, {fine, 1}, {1, 1.0 / fine}, {1, fine}} {
		if i := s.nearest(s.width(at)*by.width, s.depth(at)*by.depth); s.distance(i) > math.Sqrt(fine) && s.consider(i, worthMaking) {
			any = true
		}
	}
	if any {
		return true
	}
	for _, by := range [...]float64{1.0 / finest, finest} {
		if i := s.nearest(s.width(at)*by, s.depth(at)); s.distance(i) > math.Sqrt(finest) && s.consider(i, cheapMaking) {
			any = true
		}
	}
	return any
}

// nearest returns the tile of the grid nearest to panels of a width and slices of a depth.
func (s *Search) nearest(width, depth float64) int {
	off := func(p int) float64 { return factor(s.width(p), width) * factor(s.depth(p), depth) }
	found := 0
	for i := range s.grid {
		if off(i) < off(found) {
			found = i
		}
	}
	return found
}

// Next returns the tile for the next call, and a function that takes the seconds of the call, or nil when
// the search is over.
func (s *Search) Next() (tile model.Tile, report func(seconds float64)) {
	t := s.due()
	if t == nil {
		return s.grid[s.winner().at].Tile, nil
	}
	call, before := s.calls, s.pat.planning
	return s.grid[t.at].Tile, func(seconds float64) {
		if s.calls != call { // reported already
			return
		}
		s.spent += seconds + (s.pat.planning - before).Seconds()
		s.calls++
		s.add(t, seconds)
		if s.due() == nil && s.finals == nil && !s.refine() {
			s.end()
		}
		if s.due() == nil {
			s.pat.forgetPanels()
		}
	}
}

// add counts a call of a trial.
func (s *Search) add(t *trial, seconds float64) {
	t.calls++
	t.least = min(t.least, seconds)
	switch {
	case s.finals == nil:
	case s.half == nil:
		s.half = t
	default:
		t.turns, s.half = append(t.turns, seconds), nil
	}
}

// due returns the trial whose call is the next, or nil when there are enough.
func (s *Search) due() *trial {
	if s.half != nil {
		return s.half
	}
	if s.finals != nil {
		return s.dueInTheEnd()
	}
	if s.trials[0].calls < firstCalls {
		return s.trials[0]
	}
	fastest, planned := s.fastest().least, s.planned()
	var next *trial
	for _, t := range s.trials {
		slow := hopeless
		switch {
		case planned > finalCalls:
			slow = near
		case planned > searchCalls:
			slow = worthTrying
		}
		if t.calls > 0 && t.least > slow*fastest {
			continue
		}
		if making := s.making(t.at); t.calls == 0 && (planned > searchCalls && making > 0 || planned+making/fastest > makingCalls) {
			continue
		}
		if t.calls < firstCalls && (next == nil || t.calls < next.calls) {
			next = t
		}
	}
	return next
}

// dueInTheEnd returns the trial with the fewest turns among those that are still near the best, or nil when only one is left
// or all had their turns.
func (s *Search) dueInTheEnd() *trial {
	best, planned := s.winner(), s.planned()
	if planned > mostCalls || planned > finalCalls && len(best.turns) >= finalTurns[0].turns {
		return nil
	}
	var next *trial
	running := 0
	for _, t := range s.finals {
		behind, _ := t.slower(best)
		for _, f := range finalTurns {
			if behind > f.behind {
				break
			}
			if len(t.turns) < f.turns {
				if running++; next == nil || len(t.turns) < len(next.turns) {
					next = t
				}
				break
			}
		}
	}
	if running <= 1 {
		return nil
	}
	return next
}

// end begins the end of a search, which has turns for the few trials that are near the fastest.
func (s *Search) end() {
	fastest := s.fastest().least
	for n, t := range s.trials {
		limit := near
		if n == 0 {
			limit = worthTrying // the model's tile is not given up for a moment's disturbance
		}
		if t.least <= limit*fastest {
			s.finals = append(s.finals, t)
		}
	}
	for len(s.finals) > finalists {
		slowest := slices.MaxFunc(s.finals[1:], func(a, b *trial) int { return cmp.Compare(a.least, b.least) })
		s.finals = slices.DeleteFunc(s.finals, func(t *trial) bool { return t == slowest })
	}
}

func (s *Search) fastest() *trial {
	return slices.MinFunc(s.trials, func(a, b *trial) int { return cmp.Compare(a.least, b.least) })
}

// winner returns the tile that a search ends with: the first of those that have turns in the end, unless a later one gains. What few
// calls show may be chance, and so more is asked of them.
func (s *Search) winner() *trial {
	among := s.finals
	if among == nil {
		among = s.trials
	}
	best := among[0]
	for _, t := range among[1:] {
		ratio, turns := t.slower(best)
		limit := gain
		if turns < finalTurns[0].turns {
			limit = fewGain
		}
		if t.calls > 0 && ratio < limit {
			best = t
		}
	}
	return best
}

// forgetPanels drops panels that no search needs any more.
func (r *Resident) forgetPanels() {
	needed := map[int]bool{}
	for _, s := range r.searches {
		tile, report := s.Next()
		needed[tile.Tj] = true
		for _, t := range s.trials {
			width := s.grid[t.at].Tile.Tj
			needed[width] = needed[width] || report != nil
		}
	}
	for width := range r.panels {
		if !needed[width] {
			delete(r.panels, width)
		}
	}
}
