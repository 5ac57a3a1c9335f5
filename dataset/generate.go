package dataset

import (
	"context"

	"sddmmkit/sparse"
)

// Generate makes the matrix that a spec describes (see ParseSpec), with exactly NNZ distinct
// entries in row order.
//
//	uniform  every set of NNZ cells is equally likely
//	rmat     a recursive matrix, a = 0.57, b = c = 0.19, d = 0.05: a graph with hubs
//	zipf     row lengths lognormal, columns by Zipf's law, both shuffled
//	skewed   as zipf with a spread of row lengths to choose, no row longer than 60 % of the columns
//	ratings  planted factors and noise; see PlantedRatings
//
// Values are uniform in (0, 1] but for ratings. Time and memory are O(NNZ), and for zipf,
// skewed and ratings O(ROWS+COLS) besides. The same spec gives the same bits for any number of threads
// (0 means one per CPU). The set has no names; its own name is the spec with its seed.
func Generate[T sparse.Float](ctx context.Context, spec string, threads int) (*Set[T], error) {
	s, err := ParseSpec(spec)
	if err != nil {
		return nil, err
	}
	set := &Set[T]{Name: s.String(), Format: Generated}
	switch s.Kind {
	case "ratings":
		made, _, err := PlantedRatings[T](ctx, PlantedOptions{Users: s.Rows, Items: s.Cols, NNZ: s.NNZ,
			Rank: s.Rank, Noise: s.Noise, Seed: s.Seed, Threads: threads})
		if err != nil {
			return nil, err
		}
		set.COO = made.COO
	case "zipf", "skewed":
		if set.COO, err = fromSkewed[T](ctx, s, threads); err != nil {
			return nil, err
		}
	default:
		make := uniformCells
		if s.Kind == "rmat" {
			make = rmatCells
		}
		c, err := make(ctx, s, threads)
		if err != nil {
			return nil, err
		}
		if set.COO, err = coo[T](ctx, c, s.Seed); err != nil {
			return nil, err
		}
	}
	return set, nil
}
