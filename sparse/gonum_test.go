package sparse

import (
	"math/rand/v2"
	"testing"

	bowman "github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"
)

// denseOf reads a matrix element by element through gonum's interface.
func denseOf(m mat.Matrix) *mat.Dense { return mat.DenseCopyOf(m) }

func TestGonumMatrix(t *testing.T) {
	for _, s := range shapes {
		if s.rows*s.cols > 50_000 {
			continue
		}
		rng := rand.New(rand.NewPCG(8, 9))
		m := randomCSR[float64](t, rng, s.rows, s.cols, s.nnz)
		shuffleRows(rng, m)
		model := mimicOfCSR(m)
		for _, view := range []struct {
			name  string
			m     mat.Matrix
			model mimic[float64]
		}{
			{"CSR", m, model},
			{"CSC", m.ToCSC(2), model},
			{"CSR.T", m.T(), model.transpose()},
			{"CSC.T", m.ToCSC(1).T(), model.transpose()},
			{"CSR.T.T", m.T().T(), model},
		} {
			r, c := view.m.Dims()
			if view.name[len(view.name)-1] == 'T' && view.name != "CSR.T.T" {
				r, c = c, r
			}
			if r != s.rows || c != s.cols {
				t.Fatalf("%s, %s: %d×%d", s.why, view.name, r, c)
			}
			r, c = view.m.Dims()
			for i := range r {
				for j := range c {
					if got := view.m.At(i, j); got != view.model[cell{i, j}] {
						t.Fatalf("%s, %s: (%d, %d) is %v, want %v", s.why, view.name, i, j, got, view.model[cell{i, j}])
					}
				}
			}
			seen := mimic[float64]{}
			view.m.(mat.NonZeroDoer).DoNonZero(func(i, j int, v float64) { seen[cell{i, j}] = v })
			if d := diff(seen.csr(r, c), view.model.csr(r, c)); d != "" {
				t.Fatalf("%s, %s: DoNonZero: %s", s.why, view.name, d)
			}
		}
	}
}

func TestGonumAccessPanics(t *testing.T) {
	m := &CSR[float32]{Pattern: Pattern{Rows: 2, Cols: 3, RowPtr: []int64{0, 1, 1}, ColIdx: []int32{2}}, Val: []float32{1}}
	c := m.ToCSC(1)
	ignore := func(int, int, float64) {}
	for name, test := range map[string]struct {
		want mat.Error
		call func()
	}{
		"CSR row":     {mat.ErrRowAccess, func() { m.At(2, 0) }},
		"CSR row -1":  {mat.ErrRowAccess, func() { m.At(-1, 0) }},
		"CSR column":  {mat.ErrColAccess, func() { m.At(0, 3) }},
		"CSC row":     {mat.ErrRowAccess, func() { c.At(2, 0) }},
		"CSC column":  {mat.ErrColAccess, func() { c.At(1, -1) }},
		"DoRow":       {mat.ErrRowAccess, func() { m.DoRowNonZero(2, ignore) }},
		"DoCol":       {mat.ErrColAccess, func() { c.DoColNonZero(3, ignore) }},
		"T exchanges": {mat.ErrColAccess, func() { m.T().At(2, 2) }},
	} {
		func() {
			defer func() {
				if got := recover(); got != test.want {
					t.Errorf("%s: panic %v, want %v", name, got, test.want)
				}
			}()
			test.call()
		}()
	}
}

// Transposes and products agree with gonum's dense arithmetic and with james-bowman's sparse one.
func TestOracles(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	for _, s := range shapes {
		if s.rows == 0 || s.cols == 0 || s.rows*s.cols > 50_000 {
			continue
		}
		m := randomCSR[float64](t, rng, s.rows, s.cols, s.nnz)
		for q := range m.Val {
			m.Val[q] = float64(rng.IntN(19) - 9) // small integers: sums are exact
		}
		shuffleRows(rng, m)
		want := denseOf(m)
		if got := denseOf(m.Transpose(3)); !mat.Equal(got, want.T()) {
			t.Fatalf("%s: Transpose is not gonum's", s.why)
		}
		if got := denseOf(m.ToCSC(3)); !mat.Equal(got, want) {
			t.Fatalf("%s: ToCSC is not gonum's", s.why)
		}
		b := mat.NewDense(s.cols, 3, nil)
		for k := range b.RawMatrix().Data {
			b.RawMatrix().Data[k] = float64(rng.IntN(19) - 9)
		}
		var product mat.Dense
		product.Mul(m, b) // through At
		var dense mat.Dense
		dense.Mul(want, b)
		if !mat.Equal(&product, &dense) {
			t.Fatalf("%s: product through mat.Matrix is not that of the dense copy", s.why)
		}
		sorted := *m.Transpose(1).Transpose(1)
		indptr, ind := make([]int, len(sorted.RowPtr)), make([]int, len(sorted.ColIdx))
		for i, q := range sorted.RowPtr {
			indptr[i] = int(q)
		}
		for q, j := range sorted.ColIdx {
			ind[q] = int(j)
		}
		other := bowman.NewCSR(s.rows, s.cols, indptr, ind, sorted.Val)
		if got := bowman.MulMatMat(false, 1, other, b, nil); !mat.Equal(got, &dense) {
			t.Fatalf("%s: james-bowman's product differs", s.why)
		}
		// Its in-place conversion leaves columns unsorted, so compare what is stored and not where.
		theirs := mimic[float64]{}
		other.ToCSC().DoNonZero(func(i, j int, v float64) { theirs[cell{i, j}] = v })
		if d := diff(sorted.ToCSC(2).ToCSR(2), theirs.csr(s.rows, s.cols)); d != "" {
			t.Fatalf("%s: james-bowman's CSC differs: %s", s.why, d)
		}
	}
}
