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
// First come the model's choice and others far from it, which stay in another cache: what the model is least sure of
// is which of them is how fast at the moment. Then come the neighbours of the fastest, as long as they gain. All that
// counts by the least of few turns. In the end the fastest few have more turns, for a time is noisy and a small
// difference costs little, and the median counts.
type Search struct {
	pat    *Resident
	grid   []model.Prediction // all tiles that the model looked at
	trials []*trial           // the model's choice first
	spent  float64            // seconds that went into the profile and panels, and into the calls themselves
	turn   int                // reports so far
	final  bool               // no tile will be added
}

// trial is a tile of a search.
type trial struct {
	at    int       // in the grid
	turns []float64 // seconds, the least first
}

// least returns the least seconds of its turns.
func (t *trial) least() float64 {
	if len(t.turns) == 0 {
		return math.Inf(1)
	}
	return t.turns[0]
}

// Bounds of a search. They keep what planning takes, with the profile of the pattern, below five calls.
const (
	firstTurns  = 2    // of each tile that is not hopeless after one
	hopeless    = 1.6  // times the fastest
	finalTurns  = 7    // of those that are near the fastest in the end
	near        = 1.12 // times the fastest
	worthTrying = 1.3  // times the seconds predicted for the best
	worthMaking = 1.5  // times those seconds, for the panels of a tile that the model would not take
	searchCalls = 2.5  // calls that planning took from which on no further tile is tried
	coarse      = 4    // factor between the widths that are tried first
	fine        = 2    // factor between the fastest and its neighbours
)

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
	s := newSearch(r, c)
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

func newSearch(r *Resident, c model.Choice) *Search {
	s := &Search{pat: r, grid: slices.Clone(c.Alternatives)}
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
		if s.distance(i) >= coarse {
			s.consider(i)
		}
	}
	s.final = len(s.trials) == 1 && !s.refine()
	return s
}

// width returns the width of the panels of a tile of the grid, for comparisons.
func (s *Search) width(i int) float64 {
	if tj := s.grid[i].Tile.Tj; tj > 0 {
		return float64(tj)
	}
	return float64(max(s.pat.Cols, 1))
}

// distance returns the least factor between the width of a tile of the grid and those being tried.
func (s *Search) distance(i int) float64 {
	least := math.Inf(1)
	for _, t := range s.trials {
		a, b := s.width(i), s.width(t.at)
		least = min(least, max(a/b, b/a))
	}
	return least
}

// best returns the least seconds predicted.
func (s *Search) best() float64 {
	least := math.Inf(1)
	for _, p := range s.grid {
		least = min(least, p.Seconds)
	}
	return least
}

func (s *Search) enter(i int) { s.trials = append(s.trials, &trial{at: i}) }

// consider enters a tile if it may be the fastest and it does not cost too many calls to find out.
func (s *Search) consider(i int) bool {
	p, best := s.grid[i], s.best()
	if p.Seconds > worthTrying*best || p.Making > worthMaking*best {
		return false
	}
	s.enter(i)
	return true
}

// planned returns how many calls of the fastest tile planning took so far: profile, panels and slower calls.
func (s *Search) planned() float64 {
	if s.turn == 0 {
		return 0
	}
	return s.spent/s.fastest().least() - float64(s.turn)
}

// refine enters the neighbours of the fastest that were not tried yet, and reports whether there are any.
func (s *Search) refine() bool {
	if s.planned() > searchCalls {
		return false
	}
	at, any := s.fastest().at, false
	for _, factor := range []float64{1.0 / fine, fine} {
		// The tile of the grid nearest to that width.
		wanted, found := s.width(at)*factor, -1
		for i := range s.grid {
			off := func(i int) float64 { return math.Abs(math.Log(s.width(i) / wanted)) }
			if found < 0 || off(i) < off(found) {
				found = i
			}
		}
		if s.distance(found) > math.Sqrt(fine) && s.consider(found) {
			any = true
		}
	}
	return any
}

// Next returns the tile for the next call, and a function that takes the seconds of the call, or nil when
// the search is over.
func (s *Search) Next() (tile model.Tile, report func(seconds float64)) {
	t := s.due()
	if t == nil {
		return s.grid[s.winner().at].Tile, nil
	}
	turn, before := s.turn, s.pat.planning
	return s.grid[t.at].Tile, func(seconds float64) {
		if s.turn != turn { // reported already
			return
		}
		s.spent += seconds + (s.pat.planning - before).Seconds()
		s.turn++
		at, _ := slices.BinarySearch(t.turns, seconds)
		t.turns = slices.Insert(t.turns, at, seconds)
		if s.due() == nil && !s.final {
			s.final = !s.refine()
		}
		if s.due() == nil {
			s.pat.forgetPanels()
		}
	}
}

// due returns the tile whose turn it is, the one with the fewest, or nil when the search is over.
func (s *Search) due() *trial {
	most, behind := firstTurns, hopeless
	if s.final {
		most, behind = finalTurns, near
	}
	fastest, enough := s.fastest().least(), s.planned() > searchCalls
	var next *trial
	running := 0
	for _, t := range s.trials {
		if len(t.turns) > 0 && t.least() > behind*fastest || len(t.turns) == 0 && enough {
			continue
		}
		if running++; len(t.turns) < most && (next == nil || len(t.turns) < len(next.turns)) {
			next = t
		}
	}
	if s.final && running == 1 {
		return nil
	}
	return next
}

func (s *Search) fastest() *trial {
	return slices.MinFunc(s.trials, func(a, b *trial) int { return cmp.Compare(a.least(), b.least()) })
}

// winner returns the tile that a search ends with: of those that had all turns the one with the least median, or the
// fastest where none had.
func (s *Search) winner() *trial {
	best, median := s.fastest(), math.Inf(1)
	for _, t := range s.trials {
		if len(t.turns) >= finalTurns && t.turns[len(t.turns)/2] < median {
			best, median = t, t.turns[len(t.turns)/2]
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
