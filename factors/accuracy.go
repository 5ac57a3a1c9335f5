package factors

import (
	"context"
	"errors"
	"fmt"
	"math"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// Accuracy says how far predictions are from ratings: over the test ratings r_ui with predictions p_ui
//
//	RMSE = sqrt( (1/Count) Σ (r_ui − p_ui)² )      MAE = (1/Count) Σ |r_ui − p_ui|
type Accuracy struct {
	RMSE, MAE float64
	Count     int64 // ratings compared
}

// AccuracyOptions says how to compare predictions with ratings.
type AccuracyOptions struct {
	Clamp   bool // limit predictions to the model's rating scale first
	Threads int  // number of goroutines; 0 means all CPUs
}

// Accuracy compares the model's predictions with the ratings of an M×N test matrix. Sums are taken
// in float64 over fixed groups of ratings, so that the result does not depend on Threads. A test
// matrix without ratings is an error.
func (m *Model[T]) Accuracy(ctx context.Context, test *sparse.CSR[T], opt AccuracyOptions) (Accuracy, error) {
	if err := m.checkShape(); err != nil {
		return Accuracy{}, err
	}
	if err := checkPattern("factors.Model.Accuracy", "test ratings", &test.Pattern, m.Users.Rows, m.Items.Rows); err != nil {
		return Accuracy{}, err
	}
	if int64(len(test.Val)) != test.NNZ() {
		return Accuracy{}, fmt.Errorf("factors: %d test ratings on a pattern of %d non-zeros", len(test.Val), test.NNZ())
	}
	sums := make([]errorSums, units(test.NNZ()))
	err := forPairs(ctx, &test.Pattern, opt.Threads, m.Items.Rows, func(unit, u, i int, at int64) {
		sums[unit].add(float64(test.Val[at]) - m.predict(u, i, opt.Clamp))
	})
	if err != nil {
		return Accuracy{}, err
	}
	return total(sums, test.NNZ())
}

// AccuracyCOO is Accuracy for ratings as triplets.
func (m *Model[T]) AccuracyCOO(ctx context.Context, test *sparse.COO[T], opt AccuracyOptions) (Accuracy, error) {
	if err := m.checkShape(); err != nil {
		return Accuracy{}, err
	}
	nnz := test.NNZ()
	switch {
	case test.Rows != m.Users.Rows || test.Cols != m.Items.Rows:
		return Accuracy{}, &sparse.ShapeError{
			Op:       "factors.Model.AccuracyCOO",
			Operands: fmt.Sprintf("test ratings %d×%d, model %d users × %d items", test.Rows, test.Cols, m.Users.Rows, m.Items.Rows),
			Want:     "one row per user and one column per item",
		}
	case int64(len(test.Row)) != nnz || int64(len(test.Col)) != nnz:
		return Accuracy{}, fmt.Errorf("factors: triplets of %d rows, %d columns and %d values", len(test.Row), len(test.Col), nnz)
	}
	sums := make([]errorSums, units(nnz))
	errs := make([]error, len(sums))
	err := parallel.Units(ctx, opt.Threads, len(sums), func(unit int) {
		lo := int64(unit) * pairsPerUnit
		for at := lo; at < min(lo+pairsPerUnit, nnz); at++ {
			u, i := int(test.Row[at]), int(test.Col[at])
			if u < 0 || u >= test.Rows || i < 0 || i >= test.Cols {
				errs[unit] = fmt.Errorf("factors: test rating %d is at (%d, %d) of a %d×%d matrix", at, u, i, test.Rows, test.Cols)
				return
			}
			sums[unit].add(float64(test.Val[at]) - m.predict(u, i, opt.Clamp))
		}
	})
	if err = errors.Join(append(errs, err)...); err != nil {
		return Accuracy{}, err
	}
	return total(sums, nnz)
}

func (m *Model[T]) predict(u, i int, clamp bool) float64 {
	s := m.score(u, i)
	if clamp {
		s = m.Clamp(s)
	}
	return s
}

// errorSums is what one unit of work adds up, on a cache line of its own.
type errorSums struct {
	square, abs float64
	_           [48]byte
}

func (s *errorSums) add(e float64) {
	s.square += e * e
	s.abs += math.Abs(e)
}

// total adds the units' sums in order.
func total(sums []errorSums, count int64) (Accuracy, error) {
	if count == 0 {
		return Accuracy{}, fmt.Errorf("factors: there are no test ratings to compare predictions with")
	}
	var all errorSums
	for _, s := range sums {
		all.square += s.square
		all.abs += s.abs
	}
	return Accuracy{
		RMSE:  math.Sqrt(all.square / float64(count)),
		MAE:   all.abs / float64(count),
		Count: count,
	}, nil
}
