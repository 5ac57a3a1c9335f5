package ccd

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/sparse"
)

// plain is algorithm 1 of the paper as it is printed, in float64: R is kept, a factor's product is
// added to it, u and v are solved in turn, and the new product is taken out. X and Y are columns.
type plain struct {
	opt  Options[float64]
	r    *sparse.CSR[float64] // R
	x, y [][]float64          // [column][row]
}

// plainFrom starts the oracle at the first factors of s.
func plainFrom(t *testing.T, s *solver[float64], train *sparse.CSR[float64]) *plain {
	t.Helper()
	columns := func(m *dense.Resident[float64]) [][]float64 {
		host, err := m.Download()
		if err != nil {
			t.Fatal(err)
		}
		out := make([][]float64, host.Cols)
		for j := range out {
			for i := range host.Rows {
				out[j] = append(out[j], host.At(i, j))
			}
		}
		return out
	}
	p := &plain{opt: s.opt, r: &sparse.CSR[float64]{Pattern: train.Pattern, Val: slices.Clone(train.Val)}, x: columns(s.X), y: columns(s.Y)}
	for z := range p.r.Val {
		p.r.Val[z] -= s.Mean
	}
	for c := range p.x {
		p.add(-1, p.x[c], p.y[c])
	}
	return p
}

// each calls f for every non-zero.
func (p *plain) each(f func(i, j int, z int64)) {
	for i := range p.r.Rows {
		for z := p.r.RowPtr[i]; z < p.r.RowPtr[i+1]; z++ {
			f(i, int(p.r.ColIdx[z]), z)
		}
	}
}

// add adds sign·u·vᵀ to R.
func (p *plain) add(sign float64, u, v []float64) {
	p.each(func(i, j int, z int64) { p.r.Val[z] += sign * u[i] * v[j] })
}

func (p *plain) iterate() {
	k := p.opt.Rank
	var columns []int
	if p.opt.Biases {
		columns = append(columns, k, k+1)
	}
	for c := range k {
		columns = append(columns, c)
	}
	for _, c := range columns {
		u, v := p.x[c], p.y[c]
		p.add(1, u, v)
		for range p.opt.InnerSteps {
			if c != k+1 { // the column of the items' biases
				p.solve(u, v, false)
			}
			if c != k { // and the users'
				p.solve(v, u, true)
			}
		}
		p.add(-1, u, v)
	}
}

// solve sets u given v, or with trans the other way round.
func (p *plain) solve(u, v []float64, trans bool) {
	num, den, n := make([]float64, len(u)), make([]float64, len(u)), make([]float64, len(u))
	p.each(func(i, j int, z int64) {
		if trans {
			i, j = j, i
		}
		num[i] += p.r.Val[z] * v[j]
		den[i] += v[j] * v[j]
		n[i]++
	})
	for i := range u {
		lambda := p.opt.Lambda
		if p.opt.Weighted(false) {
			lambda *= n[i]
		}
		if u[i] = 0; den[i]+lambda != 0 {
			u[i] = num[i] / (den[i] + lambda)
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
