package ccd

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/errbound"
	"sddmmkit/sparse"
)

// Every residual and every solution of every rank-one update is the formula's, for what stood on
// the device before it, within bounds that follow from the number of roundings.
func TestEveryUpdate(t *testing.T) {
	t.Run("float32", everyUpdate[float32])
	t.Run("float64", everyUpdate[float64])
}

func everyUpdate[T sparse.Float](t *testing.T) {
	ctx := context.Background()
	r := randomRatings[T](t, 40, 30, 0.3, 1)
	for name, opt := range variants[T](5) {
		t.Run(name, func(t *testing.T) {
			opt.InnerSteps = 3
			s, err := newSolver(cpu.New(2), r, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			whole, err := newSolver(cpu.New(2), r, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer whole.close()
			u := watch[T]{s: s, users: r, items: r.Transpose(1)}
			for n := range 4 {
				if err := s.restart(ctx); err != nil {
					t.Fatal(err)
				}
				u.begin(t)
				last := -1
				for _, f := range s.order() {
					what := fmt.Sprintf("iteration %d, column %d", n+1, f.column)
					if err := s.exclude(ctx, last, f.column); err != nil {
						t.Fatal(err)
					}
					u.residuals(t, what, f.column)
					one := *s
					one.opt.InnerSteps = 1
					for range opt.InnerSteps {
						if f.users {
							if err := one.solve(ctx, factor{f.column, true, false}); err != nil {
								t.Fatal(err)
							}
							u.solution(t, what+", users", u.users, s.users, s.items)
						}
						if f.items {
							if err := one.solve(ctx, factor{f.column, false, true}); err != nil {
								t.Fatal(err)
							}
							u.solution(t, what+", items", u.items, s.items, s.users)
						}
					}
					if err := s.store(ctx, f.column); err != nil {
						t.Fatal(err)
					}
					last = f.column
				}
				if err := whole.Iterate(ctx); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(download(t, s.X.Buf), download(t, whole.X.Buf)) || !slices.Equal(download(t, s.Y.Buf), download(t, whole.Y.Buf)) {
					t.Fatalf("iteration %d has other bits than its updates one by one", n+1)
				}
			}
		})
	}
}

// watch compares the updates of a solver with the formulas.
type watch[T sparse.Float] struct {
	s            *solver[T]
	users, items *sparse.CSR[T] // ratings and their transpose
	size         []float64      // per rating: |r − μ| + Σ_t |u·v|, added up over all passes over the residuals
}

// begin is called when the residuals have been computed anew.
func (w *watch[T]) begin(t *testing.T) {
	w.size = make([]float64, w.users.NNZ())
	w.grow(t)
}

func (w *watch[T]) grow(t *testing.T) {
	t.Helper()
	x, y := matrix(t, w.s.X), matrix(t, w.s.Y)
	each(w.users, func(i, j int, z int64) {
		w.size[z] += math.Abs(float64(w.users.Val[z]) - w.s.Mean)
		for c := range x.Cols {
			w.size[z] += math.Abs(float64(x.At(i, c)) * float64(y.At(j, c)))
		}
	})
}

// residuals checks those without column t.
//
// What the device holds has come from r − μ (one rounding), one SDDMM with all W columns, and one pass
// with K = 2 per factor since. The operands of each are at most twice |r − μ| + Σ|u·v| in size, for every
// product is of columns that stand in X and Y at that time; so each adds an error of at most 2·γ times that.
func (w *watch[T]) residuals(t *testing.T, what string, column int) {
	t.Helper()
	w.grow(t)
	x, y := matrix(t, w.s.X), matrix(t, w.s.Y)
	u := errbound.Unit[T]()
	got := map[string][]T{"users": download(t, w.s.users.residual), "items": byUsers(w.users, w.items, download(t, w.s.items.residual))}
	each(w.users, func(i, j int, z int64) {
		want := float64(w.users.Val[z]) - w.s.Mean
		for c := range x.Cols {
			if c != column {
				want -= float64(x.At(i, c)) * float64(y.At(j, c))
			}
		}
		bound := 2 * errbound.Gamma(x.Cols+5, u) * w.size[z] * errbound.ReferenceShare[T]()
		for side, vals := range got {
			if v := float64(vals[z]); !(math.Abs(v-want) <= bound) {
				t.Fatalf("%s: the residual of the %s at (%d,%d) is %v, want %v within %.3g", what, side, i, j, v, want, bound)
			}
		}
	})
}

// solution checks the column that s has found.
func (w *watch[T]) solution(t *testing.T, what string, r *sparse.CSR[T], s, other *side[T]) {
	t.Helper()
	res, shift := download(t, s.residual), download(t, s.shift)
	got, v := download(t, s.vec.Buf), download(t, other.vec.Buf)
	for i := range r.Rows {
		var num, mag, den float64
		n := 0
		for z := r.RowPtr[i]; z < r.RowPtr[i+1]; z++ {
			y := float64(v[r.ColIdx[z]])
			num += float64(res[z]) * y
			mag += math.Abs(float64(res[z]) * y)
			den += y * y
			n++
		}
		den += float64(shift[i])
		if n == 0 {
			if got[i] != 0 {
				t.Fatalf("%s: row %d has no ratings and %v", what, i, got[i])
			}
			continue
		}
		// The denominator is a sum of terms ≥ 0, so its relative error is at most γ, ρ; the
		// square is one rounding more and so is the shift. The division is the last one.
		u := errbound.Unit[T]()
		rho := errbound.Gamma(n+6, u)
		bound := (errbound.SpMM[T](n, mag)*(1+2*rho) + (2*rho+u)*mag) / den * errbound.ReferenceShare[T]()
		if want := num / den; !(math.Abs(float64(got[i])-want) <= bound) {
			t.Fatalf("%s: row %d is %v, want %v within %.3g", what, i, got[i], want, bound)
		}
	}
}

// each calls f for every non-zero.
func each[T sparse.Float](r *sparse.CSR[T], f func(i, j int, z int64)) {
	for i := range r.Rows {
		for z := r.RowPtr[i]; z < r.RowPtr[i+1]; z++ {
			f(i, int(r.ColIdx[z]), z)
		}
	}
}

// byUsers puts values that stand in the order of the transpose into the order of the ratings.
func byUsers[T sparse.Float](users, items *sparse.CSR[T], vals []T) []T {
	place := map[[2]int]int64{}
	each(users, func(i, j int, z int64) { place[[2]int{i, j}] = z })
	out := make([]T, len(vals))
	each(items, func(j, i int, z int64) { out[place[[2]int{i, j}]] = vals[z] })
	return out
}

func download[T sparse.Float](t *testing.T, b *device.Buffer[T]) []T {
	t.Helper()
	out := make([]T, b.Len())
	if err := b.Download(out); err != nil {
		t.Fatal(err)
	}
	return out
}

func matrix[T sparse.Float](t *testing.T, m *dense.Resident[T]) dense.Matrix[T] {
	t.Helper()
	out, err := m.Download()
	if err != nil {
		t.Fatal(err)
	}
	return out
}
