package dense

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// strided returns a rows×cols matrix inside a larger one; the elements between its rows are NaN.
func strided[T Float](rng *rand.Rand, rows, cols, stride int) Matrix[T] {
	data := make([]T, rows*stride)
	for k := range data {
		data[k] = T(math.NaN())
	}
	m := Matrix[T]{Rows: rows, Cols: cols, Stride: stride, Data: data}
	for i := range rows {
		for j := range cols {
			m.Set(i, j, T(rng.IntN(9)-4))
		}
	}
	return m
}

func TestBlasRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range []struct{ rows, cols, stride int }{{1, 1, 1}, {3, 4, 4}, {3, 4, 9}, {5, 1, 2}, {0, 0, 0}, {3, 0, 0}, {0, 3, 3}, {3, 0, 5}} {
		m64 := strided[float64](rng, s.rows, s.cols, s.stride)
		g64 := ToBlas64(m64)
		back64, err := FromBlas64(g64)
		if err != nil || back64.Rows != s.rows || back64.Cols != s.cols || back64.Stride != s.stride {
			t.Fatalf("%v: %+v, %v", s, back64, err)
		}
		m32 := strided[float32](rng, s.rows, s.cols, s.stride)
		g32 := ToBlas32(m32)
		back32, err := FromBlas32(g32)
		if err != nil || back32.Rows != s.rows || back32.Cols != s.cols || back32.Stride != s.stride {
			t.Fatalf("%v: %+v, %v", s, back32, err)
		}
		if s.rows == 0 || s.cols == 0 {
			continue
		}
		back64.Set(s.rows-1, s.cols-1, 77)
		back32.Set(s.rows-1, s.cols-1, 77)
		if m64.At(s.rows-1, s.cols-1) != 77 || m32.At(s.rows-1, s.cols-1) != 77 {
			t.Fatalf("%v: elements are not shared", s)
		}
		// C = M·Mᵀ.
		c64 := New[float64](s.rows, s.rows)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, g64, g64, 0, ToBlas64(c64))
		c32 := New[float32](s.rows, s.rows)
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, g32, g32, 0, ToBlas32(c32))
		for i := range s.rows {
			for k := range s.rows {
				var want64, want32 float64
				for j := range s.cols {
					want64 += m64.At(i, j) * m64.At(k, j)
					want32 += float64(m32.At(i, j) * m32.At(k, j))
				}
				if c64.At(i, k) != want64 || float64(c32.At(i, k)) != want32 {
					t.Fatalf("%v: product (%d, %d) is %v and %v, want %v and %v", s, i, k, c64.At(i, k), c32.At(i, k), want64, want32)
				}
			}
		}
	}
}

func TestGonumRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, s := range []struct{ rows, cols, stride int }{{1, 1, 1}, {3, 4, 4}, {3, 4, 9}, {5, 1, 2}} {
		m := strided[float64](rng, s.rows, s.cols, s.stride)
		d, err := ToGonum(m)
		if err != nil {
			t.Fatal(err)
		}
		if r, c := d.Dims(); r != s.rows || c != s.cols {
			t.Fatalf("%v: mat.Dense is %d×%d", s, r, c)
		}
		d.Set(s.rows-1, 0, 99)
		if m.At(s.rows-1, 0) != 99 {
			t.Fatalf("%v: elements are not shared", s)
		}
		back, err := FromGonum(d)
		if err != nil || back.Stride != s.stride || &back.Data[0] != &m.Data[0] {
			t.Fatalf("%v: %+v, %v", s, back, err)
		}
		// gonum's results do not reach between the rows.
		d.Scale(2, d)
		for k, v := range m.Data {
			if inside := k%s.stride < s.cols; inside == math.IsNaN(v) {
				t.Fatalf("%v: element %d is %v", s, k, v)
			}
		}
		grown := d.Grow(1, 1).(*mat.Dense)
		grown.Set(s.rows, s.cols, 5)
		for k, v := range m.Data {
			if v == 5 {
				t.Fatalf("%v: growing the mat.Dense wrote element %d", s, k)
			}
		}
	}
	// A slice of a larger mat.Dense keeps the stride of the whole.
	whole := mat.NewDense(4, 6, nil)
	part, err := FromGonum(whole.Slice(1, 3, 2, 5).(*mat.Dense))
	if err != nil || part.Rows != 2 || part.Cols != 3 || part.Stride != 6 {
		t.Fatalf("%+v, %v", part, err)
	}
	part.Set(1, 2, 8)
	if whole.At(2, 4) != 8 {
		t.Error("a slice does not share its elements")
	}
}

func TestGonumEmpty(t *testing.T) {
	m, err := FromGonum(&mat.Dense{})
	if err != nil || m.Rows != 0 || m.Cols != 0 {
		t.Errorf("empty mat.Dense: %+v, %v", m, err)
	}
	used := mat.NewDense(2, 2, nil)
	used.Reset()
	if m, err = FromGonum(used); err != nil || m.Rows != 0 {
		t.Errorf("reset mat.Dense: %+v, %v", m, err)
	}
	d, err := ToGonum(New[float64](0, 0))
	if err != nil || !d.IsEmpty() {
		t.Errorf("0×0: %v, %v", d, err)
	}
	for _, s := range []struct{ r, c int }{{0, 3}, {3, 0}} {
		if _, err := ToGonum(New[float64](s.r, s.c)); err == nil || !strings.Contains(err.Error(), "both sizes positive") {
			t.Errorf("%v: %v", s, err)
		}
	}
}

func TestFromMatrix(t *testing.T) {
	d := mat.NewDense(2, 3, []float64{1, math.NaN(), 3, math.Inf(-1), 5, 1e-300})
	for _, m := range []mat.Matrix{d, d.T(), mat.NewSymDense(2, []float64{1, 2, 2, 3}), mat.NewVecDense(3, []float64{1, 2, 3}), &mat.Dense{}} {
		r, c := m.Dims()
		m64, err := FromMatrix[float64](m)
		if err != nil {
			t.Fatal(err)
		}
		m32, err := FromMatrix[float32](m)
		if err != nil {
			t.Fatal(err)
		}
		if m64.Rows != r || m64.Cols != c || m32.Rows != r || m32.Cols != c || m64.Stride != c {
			t.Fatalf("%d×%d became %+v and %+v", r, c, m64, m32)
		}
		for i := range r {
			for j := range c {
				want := m.At(i, j)
				if got := m64.At(i, j); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("(%d, %d) is %v, want %v", i, j, got, want)
				}
				if got, want := m32.At(i, j), float32(want); got != want && !(got != got && want != want) {
					t.Errorf("(%d, %d) as float32 is %v, want %v", i, j, got, want)
				}
			}
		}
	}
	copied, err := FromMatrix[float64](d)
	if err != nil {
		t.Fatal(err)
	}
	copied.Set(0, 0, 42)
	if d.At(0, 0) != 1 {
		t.Error("the copy shares its elements")
	}
	d.Set(1, 1, 1e39)
	if _, err := FromMatrix[float32](d); err == nil || !strings.Contains(err.Error(), "element (1, 1): 1e+39") {
		t.Errorf("1e39 as float32: %v", err)
	}
	if _, err := FromMatrix[float64](vast{}); err == nil || !strings.Contains(err.Error(), "fits in memory") {
		t.Errorf("vast matrix: %v", err)
	}
}

// vast is a matrix of a size that no memory holds.
type vast struct{ mat.Matrix }

func (vast) Dims() (int, int) { return math.MaxInt, math.MaxInt }

func TestFromRejects(t *testing.T) {
	d := &mat.Dense{}
	d.SetRawMatrix(blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float64, 3)})
	_, short := FromGonum(d)
	_, stride := FromBlas32(blas32.General{Rows: 2, Cols: 3, Stride: 2, Data: make([]float32, 9)})
	_, negative := FromBlas64(blas64.General{Rows: -1, Cols: 3, Stride: 3})
	_, to := ToGonum(Matrix[float64]{Rows: 2, Cols: 2, Stride: 2})
	for _, test := range []struct {
		err  error
		want string
	}{
		{short, "dense.FromGonum: dense: matrix 2×2 with stride 2 and 3 elements"},
		{stride, "dense.FromBlas32: dense: matrix 2×3 with stride 2"},
		{negative, "dense.FromBlas64: dense: matrix -1×3"},
		{to, "dense.ToGonum: dense: matrix 2×2 with stride 2 and 0 elements"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("want an error with %q, got %v", test.want, test.err)
		}
	}
}
