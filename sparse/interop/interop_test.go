package interop

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	bowman "github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"sddmmkit/sparse"
)

var sizes = []struct{ rows, cols, nnz int }{
	{1, 1, 0}, {1, 1, 1}, {4, 3, 0}, {5, 7, 35}, {200, 3, 90}, {3, 200, 90}, {60, 50, 700},
}

// random returns a matrix of small integers with unsorted rows, and its dense equal.
func random[T sparse.Float](rng *rand.Rand, rows, cols, nnz int) (*sparse.CSR[T], *mat.Dense) {
	d := mat.NewDense(rows, cols, nil)
	for range nnz {
		d.Set(rng.IntN(rows), rng.IntN(cols), float64(1+rng.IntN(9)))
	}
	m := &sparse.CSR[T]{Pattern: sparse.Pattern{Rows: rows, Cols: cols, RowPtr: []int64{0}}}
	for i := range rows {
		for _, j := range rng.Perm(cols) {
			if v := d.At(i, j); v != 0 {
				m.ColIdx, m.Val = append(m.ColIdx, int32(j)), append(m.Val, T(v))
			}
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	return m, d
}

func check(t *testing.T, what string, m interface {
	mat.Matrix
	Validate() error
}, err error, want mat.Matrix) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := m.Validate(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !mat.Equal(m, want) {
		t.Fatalf("%s: got\n%v, want\n%v", what, mat.Formatted(m), mat.Formatted(want))
	}
}

func testBothWays[T sparse.Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range sizes {
		m, want := random[T](rng, s.rows, s.cols, s.nnz)
		opt := sparse.BuildOptions{Threads: 2}

		csr, err := ToCSR(m)
		if err != nil || !mat.Equal(csr, want) {
			t.Fatalf("ToCSR: %v", err)
		}
		back, err := FromCSR[T](csr)
		check(t, "FromCSR", back, err, want)

		csc, err := ToCSC(m.ToCSC(2))
		if err != nil || !mat.Equal(csc, want) {
			t.Fatalf("ToCSC: %v", err)
		}
		backCols, err := FromCSC[T](csc)
		check(t, "FromCSC", backCols, err, want)

		coo, err := ToCOO(m.ToCOO())
		if err != nil || !mat.Equal(coo, want) {
			t.Fatalf("ToCOO: %v", err)
		}
		triplets, err := FromCOO[T](coo)
		if err != nil {
			t.Fatal(err)
		}
		back, err = sparse.FromCOO(triplets, opt)
		check(t, "FromCOO", back, err, want)

		dok, err := ToDOK(m)
		if err != nil || !mat.Equal(dok, want) {
			t.Fatalf("ToDOK: %v", err)
		}
		back, err = FromDOK[T](dok)
		check(t, "FromDOK", back, err, want)

		dense, err := ToDense(m)
		if err != nil || !mat.Equal(dense, want) {
			t.Fatalf("ToDense: %v", err)
		}

		// Every format through the one door, and its transposes.
		for _, in := range []mat.Matrix{m, m.ToCSC(1), csr, csc, coo, dok, dense, onlyMatrix{dense}, csr.ToDOK(), csc.ToCOO()} {
			got, err := FromMatrix[T](in, opt)
			check(t, "FromMatrix", got, err, want)
			if !got.Sorted() {
				t.Fatalf("FromMatrix(%T): rows are not sorted", in)
			}
			got, err = FromMatrix[T](in.T(), opt)
			check(t, "FromMatrix of the transpose", got, err, want.T())
		}
	}
}

// onlyMatrix hides everything but the mat.Matrix interface.
type onlyMatrix struct{ mat.Matrix }

func (m onlyMatrix) T() mat.Matrix { return mat.Transpose{Matrix: m} }

func TestBothWays(t *testing.T) {
	t.Run("float32", testBothWays[float32])
	t.Run("float64", testBothWays[float64])
}

// gonum's own non-zero doers.
func TestFromMatrixGonumTypes(t *testing.T) {
	band := mat.NewBandDense(4, 5, 1, 1, []float64{-1, 1, 2, 3, 4, 5, 6, 0, 8, 9, 10, 11})
	sym := mat.NewSymBandDense(3, 1, []float64{1, 2, 3, 4, 5, -1})
	tri := mat.NewTriDense(3, mat.Lower, []float64{1, 0, 0, 2, 3, 0, 4, 0, 6})
	tridiag := mat.NewTridiag(3, []float64{1, 2}, []float64{3, 4, 5}, []float64{6, 7})
	for _, m := range []mat.Matrix{band, sym, tri, tridiag, mat.NewDiagDense(2, []float64{3, 0}), mat.NewVecDense(3, []float64{0, 1, 2}),
		bowman.NewDIA(3, 4, []float64{1, 2, 3})} {
		got, err := FromMatrix[float64](m, sparse.BuildOptions{})
		check(t, "FromMatrix", got, err, m)
		got, err = FromMatrix[float64](m.T(), sparse.BuildOptions{})
		check(t, "FromMatrix of the transpose", got, err, m.T())
	}
}

func TestSharing(t *testing.T) {
	m, _ := random[float64](rand.New(rand.NewPCG(3, 4)), 6, 5, 12)
	csr, err := ToCSR(m)
	if err != nil {
		t.Fatal(err)
	}
	m.Val[0] = 77
	if csr.RawMatrix().Data[0] != 77 {
		t.Error("ToCSR copied float64 values")
	}
	back, err := FromCSR[float64](csr)
	if err != nil {
		t.Fatal(err)
	}
	if &back.Val[0] != &m.Val[0] {
		t.Error("FromCSR copied float64 values")
	}
	copied, err := FromMatrix[float64](csr, sparse.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if &copied.Val[0] == &m.Val[0] {
		t.Error("FromMatrix shares values, which it sorts")
	}
	// Inserting there leaves the values here as they were.
	before := append([]float64(nil), m.Val...)
	for i := range 6 {
		for j := range 5 {
			if csr.At(i, j) == 0 {
				csr.Set(i, j, -1)
			}
		}
	}
	for q := range before {
		if m.Val[q] != before[q] {
			t.Fatalf("an insertion moved value %d", q)
		}
	}
}

// The library's own merging loses leading duplicates; ours gives the sum that its At defines.
func TestLeadingDuplicates(t *testing.T) {
	coo := bowman.NewCOO(2, 2, []int{0, 0, 0, 1}, []int{0, 0, 1, 1}, []float64{1, 2, 4, 8})
	got, err := FromMatrix[float64](coo, sparse.BuildOptions{Duplicates: sparse.SumDuplicates})
	check(t, "sum", got, err, mat.NewDense(2, 2, []float64{3, 4, 0, 8}))
	got, err = FromMatrix[float64](coo, sparse.BuildOptions{Duplicates: sparse.LastDuplicate})
	check(t, "last", got, err, mat.NewDense(2, 2, []float64{2, 4, 0, 8}))
	var e *sparse.DuplicateError
	if _, err := FromMatrix[float64](coo, sparse.BuildOptions{}); !errors.As(err, &e) || e.Row != 0 || e.Col != 0 {
		t.Errorf("duplicates: %v", err)
	}
}

func TestRejects(t *testing.T) {
	const big = math.MaxInt32 + 1
	csr := func(r, c int, ia, ja []int, v ...float64) error {
		_, err := FromCSR[float64](bowman.NewCSR(r, c, ia, ja, v))
		_, err2 := FromMatrix[float64](bowman.NewCSR(r, c, ia, ja, v), sparse.BuildOptions{})
		if (err == nil) != (err2 == nil) {
			t.Errorf("FromCSR: %v, FromMatrix: %v", err, err2)
		}
		return err
	}
	csc := func(r, c int, ia, ja []int, v ...float64) error {
		_, err := FromCSC[float64](bowman.NewCSC(r, c, ia, ja, v))
		return err
	}
	coo := func(r, c int, ia, ja []int, v ...float64) error {
		_, err := FromCOO[float64](bowman.NewCOO(r, c, ia, ja, v))
		return err
	}
	bad := &sparse.CSR[float64]{Pattern: sparse.Pattern{Rows: 1, Cols: 1, RowPtr: []int64{0, 2}, ColIdx: []int32{0}}}
	_, toCSR := ToCSR(bad)
	_, toCSC := ToCSC(&sparse.CSC[float64]{Rows: 1})
	_, toCOO := ToCOO(&sparse.COO[float64]{Rows: 1, Row: []int32{0}})
	_, toDOK := ToDOK(bad)
	_, toDense := ToDense(bad)
	_, own := FromMatrix[float64](bad, sparse.BuildOptions{})
	_, half := ToDense(&sparse.CSR[float64]{Pattern: sparse.Pattern{Rows: 0, Cols: 3, RowPtr: []int64{0}}})
	_, wild := FromMatrix[float64](liar{mat.NewDense(2, 2, nil)}, sparse.BuildOptions{})
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"row pointers short":    {csr(2, 2, []int{0, 1}, []int{0}, 1), "2 entries in RowPtr; want 3"},
		"row pointers decrease": {csr(2, 2, []int{0, 2, 1}, []int{0}, 1), "decreases at row 1"},
		"row pointers lie":      {csr(1, 2, []int{0, 5}, []int{0}, 1), "ends at 5"},
		"column too large":      {csr(1, 2, []int{0, 1}, []int{2}, 1), "column 2 of row 0"},
		"column beyond int32":   {csr(1, 2, []int{0, 1}, []int{1 << 32}, 1), "index 4294967296"},
		"column negative":       {csr(1, 2, []int{0, 1}, []int{-1}, 1), "index -1"},
		"column twice":          {csr(1, 2, []int{0, 2}, []int{1, 1}, 1, 2), "(0, 1) is stored more than once"},
		"values short":          {csr(1, 2, []int{0, 2}, []int{0, 1}, 1), "1 values for 2"},
		"rows negative":         {csr(-1, 2, nil, nil), "-1 rows"},
		"columns beyond int32":  {csr(1, big, []int{0, 0}, nil), "2147483648 columns"},
		"CSC row too large":     {csc(2, 1, []int{0, 1}, []int{2}, 1), "row 2 of column 0"},
		"CSC row twice":         {csc(2, 1, []int{0, 2}, []int{1, 1}, 1, 2), "(1, 0) is stored more than once"},
		"CSC pointers short":    {csc(2, 2, []int{0}, nil), "ColPtr; want 3"},
		"COO row too large":     {coo(2, 2, []int{2}, []int{0}, 1), "at (2, 0), outside a 2×2"},
		"COO column negative":   {coo(2, 2, []int{1}, []int{-1}, 1), "at (1, -1)"},
		"COO rows short":        {coo(2, 2, []int{1}, []int{0, 1}, 1, 2), "fewer rows or columns"},
		"COO rows negative":     {coo(-2, 2, nil, nil), "-2×2"},
		"COO rows beyond int32": {coo(big, 2, nil, nil), "2147483648×2"},
		"ToCSR":                 {toCSR, "interop.ToCSR: sparse: RowPtr ends at 2"},
		"ToCSC":                 {toCSC, "interop.ToCSC: sparse: CSC"},
		"ToCOO":                 {toCOO, "interop.ToCOO: sparse: triplets"},
		"ToDOK":                 {toDOK, "interop.ToDOK: sparse: RowPtr"},
		"ToDense":               {toDense, "interop.ToDense: sparse: RowPtr"},
		"FromMatrix":            {own, "interop.FromMatrix: sparse: RowPtr"},
		"ToDense 0×3":           {half, "cannot hold a 0×3"},
		"non-zeros elsewhere":   {wild, "at (5, 0), outside a 2×2"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: want an error with %q, got %v", name, test.want, test.err)
		}
	}
}

// liar names a non-zero outside itself.
type liar struct{ mat.Matrix }

func (liar) DoNonZero(fn func(i, j int, v float64)) { fn(5, 0, 1) }

func TestEmpty(t *testing.T) {
	m, err := FromCSR[float32](&bowman.CSR{})
	if err != nil || m.Rows != 0 || m.Cols != 0 || m.NNZ() != 0 {
		t.Errorf("zero CSR: %+v, %v", m, err)
	}
	got, err := FromMatrix[float32](&mat.Dense{}, sparse.BuildOptions{})
	if err != nil || got.Rows != 0 || got.Cols != 0 {
		t.Errorf("empty mat.Dense: %+v, %v", got, err)
	}
	d, err := ToDense(m)
	if err != nil || !d.IsEmpty() {
		t.Errorf("ToDense of 0×0: %v, %v", d, err)
	}
	for _, s := range []struct{ r, c int }{{0, 3}, {3, 0}} {
		dok, err := FromDOK[float64](bowman.NewDOK(s.r, s.c))
		if err != nil || dok.Rows != s.r || dok.Cols != s.c {
			t.Errorf("DOK %d×%d: %+v, %v", s.r, s.c, dok, err)
		}
	}
}

// Values pass as they are; only what float32 cannot hold is refused.
func TestValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	csr := bowman.NewCSR(1, 4, []int{0, 4}, []int{0, 1, 2, 3}, []float64{0, nan, -inf, 1e-300})
	m, err := FromCSR[float32](csr)
	if err != nil {
		t.Fatal(err)
	}
	if v := m.Val; v[0] != 0 || v[1] == v[1] || !math.IsInf(float64(v[2]), -1) || v[3] != 0 || len(v) != 4 {
		t.Errorf("values %v", v)
	}
	dense := mat.NewDense(1, 3, []float64{nan, 0, inf})
	got, err := FromMatrix[float64](dense, sparse.BuildOptions{})
	if err != nil || got.NNZ() != 2 || got.Val[0] == got.Val[0] || got.Val[1] != inf {
		t.Errorf("dense: %+v, %v", got, err)
	}
	csr.RawMatrix().Data[3] = 1e300
	if _, err := FromCSR[float32](csr); err == nil || !strings.Contains(err.Error(), "value 3: 1e+300") {
		t.Errorf("1e300 as float32: %v", err)
	}
	dense.Set(0, 1, -1e300)
	if _, err := FromMatrix[float32](dense, sparse.BuildOptions{}); err == nil || !strings.Contains(err.Error(), "element (0, 1): -1e+300") {
		t.Errorf("-1e300 as float32: %v", err)
	}
}
