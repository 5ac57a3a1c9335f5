package als

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"sddmmkit/sparse"
)

// exact is ALS as the papers write it: every row's system is built and solved by Cholesky, in
// float64, with the unknown and the fixed columns written out.
type exact struct {
	opt   Options[float64]
	train *sparse.CSR[float64]
	mean  float64
	x, y  [][]float64 // rows [factors]
	b, c  []float64   // biases
}

// exactFrom starts the oracle at the first factors of s.
func exactFrom(t *testing.T, s *solver[float64], r *sparse.CSR[float64]) *exact {
	t.Helper()
	m, err := s.Model()
	if err != nil {
		t.Fatal(err)
	}
	e := &exact{opt: s.opt, train: r, mean: s.Mean, b: make([]float64, r.Rows), c: make([]float64, r.Cols)}
	for u := range r.Rows {
		e.x = append(e.x, append([]float64(nil), m.Users.Row(u)...))
	}
	for i := range r.Cols {
		e.y = append(e.y, append([]float64(nil), m.Items.Row(i)...))
	}
	return e
}

func (e *exact) iterate(t *testing.T) {
	e.solve(t, e.train, e.x, e.y, e.b, e.c)
	e.solve(t, e.train.Transpose(1), e.y, e.x, e.c, e.b)
}

// solve sets x and its biases bx, given y and by.
func (e *exact) solve(t *testing.T, r *sparse.CSR[float64], x, y [][]float64, bx, by []float64) {
	k := e.opt.Rank
	n := k
	if e.opt.Biases {
		n++
	}
	feature := func(j int) []float64 { // y_j, and a one for the bias of x
		if e.opt.Biases {
			return append(append([]float64(nil), y[j]...), 1)
		}
		return y[j]
	}
	for i := range r.Rows {
		a, rhs := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
		rated := r.RowPtr[i+1] - r.RowPtr[i]
		shift := e.opt.Lambda
		if e.opt.Weighted(e.opt.Implicit) {
			shift *= float64(rated)
		}
		for p := range n {
			a.SetSym(p, p, shift)
		}
		if e.opt.Biases && e.opt.Lambda > 0 {
			a.SetSym(k, k, shift/e.opt.Lambda*e.opt.LambdaOfBiases())
		}
		add := func(j int, weight, target float64) {
			f := feature(j)
			for p := range n {
				for q := p; q < n; q++ {
					a.SetSym(p, q, a.At(p, q)+weight*f[p]*f[q])
				}
				rhs.SetVec(p, rhs.AtVec(p)+target*f[p])
			}
		}
		if e.opt.Implicit {
			for j := range y {
				add(j, 1, 0)
			}
		}
		for z := r.RowPtr[i]; z < r.RowPtr[i+1]; z++ {
			j, v := int(r.ColIdx[z]), r.Val[z]
			if e.opt.Implicit {
				conf := e.opt.Alpha * max(v, -v)
				if v > 0 {
					add(j, conf, 1+conf)
				} else {
					add(j, conf, 0)
				}
				continue
			}
			add(j, 1, v-e.mean-by[j])
		}
		if rated == 0 {
			continue // its factors are zero and stay so
		}
		var chol mat.Cholesky
		if !chol.Factorize(a) {
			t.Fatalf("row %d: the system is not positive definite", i)
		}
		var sol mat.VecDense
		if err := chol.SolveVecTo(&sol, rhs); err != nil {
			t.Fatal(err)
		}
		for p := range k {
			x[i][p] = sol.AtVec(p)
		}
		if e.opt.Biases {
			bx[i] = sol.AtVec(k)
		}
	}
}

// randomRatings makes an m×n matrix of ratings from 1 to 5, with some empty rows and columns.
func randomRatings[T sparse.Float](t testing.TB, m, n int, density float64, seed uint64) *sparse.CSR[T] {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 99))
	c := &sparse.COO[T]{Rows: m, Cols: n}
	for i := range m {
		for j := range n {
			if i%7 == 3 || j%11 == 5 || rng.Float64() > density {
				continue
			}
			c.Row, c.Col, c.Val = append(c.Row, int32(i)), append(c.Col, int32(j)), append(c.Val, T(1+rng.IntN(5)))
		}
	}
	a, err := sparse.FromCOO(c, sparse.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
