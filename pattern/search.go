package pattern

import (
	"context"
	"math"
	"slices"

	"sddmmkit/model"
)

// Search finds the fastest tile of one operation, K and element type on a pattern by trying: the first
// calls take turns with the tiles that the model thinks best, and later calls use the fastest of them
// (cuSDDMM, algorithm 4, does so for T_k). No tile changes a bit of a result, so trying does not either.
type Search struct {
	pat        *Resident
	candidates []model.Tile
	least      []float64 // seconds of each candidate, the least of its turns
	turn       int
}

// Bounds of a search. They keep what planning takes, with the profile of the pattern, below five calls.
const (
	turns         = 2    // times that each candidate is tried
	maxCandidates = 2    // the model's choice, and another
	worthTrying   = 1.15 // times the seconds predicted for the best
	worthMaking   = 1.5  // times those seconds, for the panels of a tile that the model would not take
	apart         = 1.4  // factor between widths, or slices, that are tried
)

// Search returns the search for an operation on the pattern with K = k and elements of elemBytes bytes, made
// at the first call; for SpMMT call it on the transpose. See Choose for what that may cost.
func (r *Resident) Search(ctx context.Context, op model.Op, k, elemBytes int) (*Search, error) {
	key := chooseKey{op, k, elemBytes}
	if s, ok := r.searches[key]; ok {
		return s, nil
	}
	c, err := r.Choose(ctx, op, k, elemBytes)
	if err != nil {
		return nil, err
	}
	s := &Search{pat: r, candidates: candidates(c)}
	s.least = make([]float64, len(s.candidates))
	for i := range s.least {
		s.least[i] = math.Inf(1)
	}
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

// candidates returns the tiles to try, the model's choice first.
func candidates(c model.Choice) []model.Tile {
	tiles := []model.Tile{c.Tile}
	best := math.Inf(1)
	for _, p := range c.Alternatives {
		best = min(best, p.Seconds)
	}
	near := func(a, b int) bool {
		return a == b || a > 0 && b > 0 && max(float64(a)/float64(b), float64(b)/float64(a)) < apart
	}
	byTime := slices.Clone(c.Alternatives)
	slices.SortStableFunc(byTime, func(a, b model.Prediction) int {
		switch {
		case a.Seconds < b.Seconds:
			return -1
		case a.Seconds > b.Seconds:
			return 1
		}
		return 0
	})
	for _, p := range byTime {
		if len(tiles) == maxCandidates || p.Seconds > worthTrying*best {
			break
		}
		if p.Making <= worthMaking*best && !slices.ContainsFunc(tiles, func(t model.Tile) bool { return near(t.Tj, p.Tile.Tj) && near(t.Tk, p.Tile.Tk) }) {
			tiles = append(tiles, p.Tile)
		}
	}
	return tiles
}

// Next returns the tile for the next call, and a function that takes the seconds of the call, or nil when
// the search is over.
func (s *Search) Next() (tile model.Tile, report func(seconds float64)) {
	n := len(s.candidates)
	if n == 1 || s.turn == n*turns {
		return s.candidates[s.fastest()], nil
	}
	i := s.turn % n
	return s.candidates[i], func(seconds float64) {
		s.least[i] = min(s.least[i], seconds)
		if s.turn++; s.turn == n*turns {
			s.pat.forgetPanels()
		}
	}
}

func (s *Search) fastest() int {
	f := 0
	for i, t := range s.least {
		if t < s.least[f] {
			f = i
		}
	}
	return f
}

// forgetPanels drops panels that no search needs any more.
func (r *Resident) forgetPanels() {
	needed := map[int]bool{}
	for _, s := range r.searches {
		tile, report := s.Next()
		needed[tile.Tj] = true
		for _, t := range s.candidates {
			needed[t.Tj] = needed[t.Tj] || report != nil
		}
	}
	for width := range r.panels {
		if !needed[width] {
			delete(r.panels, width)
		}
	}
}
