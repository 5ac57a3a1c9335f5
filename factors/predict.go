package factors

import (
	"context"
	"fmt"
	"sort"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// Predict returns the score of item i for user u, μ + b_u + c_i + ⟨x_u, θ_i⟩, computed in float64.
// An index out of range panics, as with a slice.
func (m *Model[T]) Predict(u, i int) float64 {
	if u < 0 || u >= m.Users.Rows || i < 0 || i >= m.Items.Rows {
		panic(fmt.Sprintf("factors.Model.Predict: user %d, item %d of a model of %d users and %d items", u, i, m.Users.Rows, m.Items.Rows))
	}
	return m.score(u, i)
}

// score is the formula, in the order of additions that top-N lists use too.
func (m *Model[T]) score(u, i int) float64 {
	return m.base(u) + biasOf(m.ItemBias, i) + dot(m.Items.Row(i), m.Users.Row(u))
}

// base is the part of a score that does not depend on the item.
func (m *Model[T]) base(u int) float64 { return m.Mean + biasOf(m.UserBias, u) }

// Clamp limits a predicted rating to the model's rating scale, Low to High. A model whose scale
// is unknown (both 0) leaves it alone. Predictions are never clamped unless asked for: clamping
// helps RMSE, but makes ties in top-N lists.
func (m *Model[T]) Clamp(score float64) float64 {
	if m.Low == 0 && m.High == 0 {
		return score
	}
	return min(max(score, m.Low), m.High)
}

// ScoreUser writes the score of every item for user u to dst, which has one element per item.
func (m *Model[T]) ScoreUser(u int, dst []float64) error {
	if err := m.checkShape(); err != nil {
		return err
	}
	if err := m.checkUser(u); err != nil {
		return err
	}
	if len(dst) != m.Items.Rows {
		return fmt.Errorf("factors: room for %d scores of %d items; want one element per item", len(dst), m.Items.Rows)
	}
	for i := range dst {
		dst[i] = m.score(u, i)
	}
	return nil
}

func (m *Model[T]) checkUser(u int) error {
	if u < 0 || u >= m.Users.Rows {
		return fmt.Errorf("factors: there is no user %d: the model has %d users, counted from 0", u, m.Users.Rows)
	}
	return nil
}

func (m *Model[T]) checkItem(i int) error {
	if i < 0 || i >= m.Items.Rows {
		return fmt.Errorf("factors: there is no item %d: the model has %d items, counted from 0", i, m.Items.Rows)
	}
	return nil
}

// PredictAll writes the score of every pair (u, i) of an M×N pattern to dst, in the pattern's order
// of non-zeros: p and dst together are the CSR matrix of predictions. It uses threads goroutines, 0
// for all CPUs, and stops when ctx is done.
func (m *Model[T]) PredictAll(ctx context.Context, p *sparse.Pattern, dst []T, threads int) error {
	if err := m.checkShape(); err != nil {
		return err
	}
	if err := checkPattern("factors.Model.PredictAll", "pattern", p, m.Users.Rows, m.Items.Rows); err != nil {
		return err
	}
	if int64(len(dst)) != p.NNZ() {
		return fmt.Errorf("factors: room for %d predictions of %d pairs; want one element per non-zero", len(dst), p.NNZ())
	}
	return forPairs(ctx, p, threads, m.Items.Rows, func(_, u, i int, at int64) {
		dst[at] = T(m.score(u, i))
	})
}

// pairsPerUnit is the unit of work over the non-zeros of a pattern: fixed, so that sums made per unit
// do not depend on the number of threads; large enough to hide the cost of handing it out.
const pairsPerUnit = 1 << 13

// units returns how many units of work cover nnz pairs.
func units(nnz int64) int { return int((nnz + pairsPerUnit - 1) / pairsPerUnit) }

// forPairs calls do(unit, row, col, position) for every non-zero of p. Units of equal numbers of
// non-zeros run at the same time; within a unit positions come in order. A pattern with bad row
// pointers or columns outside [0, cols) is an error.
func forPairs(ctx context.Context, p *sparse.Pattern, threads, cols int, do func(unit, row, col int, at int64)) error {
	nnz := p.NNZ()
	errs := make([]error, units(nnz))
	err := parallel.Units(ctx, threads, len(errs), func(unit int) {
		at := int64(unit) * pairsPerUnit
		end := min(at+pairsPerUnit, nnz)
		// The row of the first pair: the last one that begins at or before it and is not empty.
		row := sort.Search(p.Rows, func(r int) bool { return p.RowPtr[r+1] > at })
		for ; at < end; at++ {
			for row < p.Rows && p.RowPtr[row+1] <= at {
				row++
			}
			if row >= p.Rows || p.RowPtr[row] > at {
				errs[unit] = fmt.Errorf("factors: row pointers are not in order near non-zero %d; validate the pattern first", at)
				return
			}
			col := int(p.ColIdx[at])
			if col < 0 || col >= cols {
				errs[unit] = fmt.Errorf("factors: row %d holds column %d of %d; validate the pattern first", row, col, cols)
				return
			}
			do(unit, row, col, at)
		}
	})
	if err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
