package conformance

import (
	"math/rand/v2"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// problem is a sparsity pattern and the reason why it is tested.
type problem struct {
	why        string
	rows, cols int
	length     func(i int) int // non-zeros of row i
	sorted     bool            // columns in order; shuffled otherwise
	skip       int             // every skip-th column stays empty; 0: none
}

func each(n int) func(int) int { return func(int) int { return n } }

func only(row, n int) func(int) int {
	return func(i int) int {
		if i == row {
			return n
		}
		return 0
	}
}

// problems lists the patterns. Units of work cost 2048 non-zeros plus rows at least, and longer rows
// are cut into pieces; sddmm's CPU path takes up to 256 non-zeros of a row at a time.
var problems = []problem{
	{why: "nothing at all", rows: 0, cols: 0, length: each(0)},
	{why: "no rows", rows: 0, cols: 5, length: each(0)},
	{why: "no columns", rows: 5, cols: 0, length: each(0)},
	{why: "one empty cell", rows: 1, cols: 1, length: each(0)},
	{why: "one cell", rows: 1, cols: 1, length: each(1)},
	{why: "no non-zeros", rows: 13, cols: 9, length: each(0)},
	{why: "one row", rows: 1, cols: 300, length: each(200)},
	{why: "one column", rows: 300, cols: 1, length: func(i int) int { return i % 2 }},
	{why: "dense, tiny", rows: 7, cols: 9, length: each(9), sorted: true},
	{why: "dense, shuffled columns", rows: 16, cols: 16, length: each(16)},
	{why: "empty rows and columns", rows: 61, cols: 50, length: func(i int) int { return i % 3 * 4 }, skip: 4},
	{why: "empty rows at both ends", rows: 40, cols: 30, length: func(i int) int { return max(0, min(i-5, 34-i)) }},
	{why: "rows of 0 to 40, for loops that take several non-zeros at once", rows: 41, cols: 64, length: func(i int) int { return i }},
	{why: "many tiny rows, several units", rows: 5000, cols: 37, length: each(1)},
	{why: "rows around the chunk of 256", rows: 5, cols: 600, length: func(i int) int { return []int{255, 256, 257, 511, 513}[i] }},
	{why: "rows around the length that is cut", rows: 5, cols: 4200, length: func(i int) int { return []int{2047, 2048, 2049, 4095, 4097}[i] }},
	{why: "a row in pieces between short ones", rows: 5, cols: 9000, length: func(i int) int { return []int{3, 0, 7001, 1, 0}[i] }},
	{why: "a column in pieces, for the transpose", rows: 5003, cols: 4, length: each(1), skip: 3},
	{why: "a last row in pieces, all else empty", rows: 9, cols: 5000, length: only(8, 4999), sorted: true},
	{why: "a few hundred rows and columns, several units", rows: 311, cols: 203, length: func(i int) int { return i * 7 % 90 }},
}

// general is the pattern on which every K and every combination of scalars runs.
var general = problem{why: "general", rows: 23, cols: 19, length: func(i int) int { return i * 5 % 12 }, skip: 7}

// longRows is general for rows so long that GPUs keep a row of A while its non-zeros last; others they fetch for each.
var longRows = problem{why: "long rows", rows: 11, cols: 160, skip: 9, length: func(i int) int {
	return []int{0, 70, 0, 0, 143, 33, 0, 64, 1, 129, 0}[i]
}}

// depths lists K: around the unroll by 8, around vectors of 16 and 32 lanes, around 128, and a
// large one whose rounding errors show.
var depths = []int{0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 127, 128, 129, 1000}

// longestDepth is the K up to which kernels of GPUs are promised.
const longestDepth = 4096

// fewDepths stand for depths where patterns vary: the fast path, vectors and a rest, and, unless
// the test is short, none, odd, whole vectors.
func fewDepths() []int {
	if testing.Short() {
		return []int{1, 9}
	}
	return []int{1, 33, 0, 3, 8}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5dd)) }

// pattern builds the pattern.
func (p problem) pattern() *sparse.Pattern {
	rng := newRand(uint64(p.rows)<<32 + uint64(p.cols))
	out := &sparse.Pattern{Rows: p.rows, Cols: p.cols, RowPtr: make([]int64, p.rows+1)}
	var allowed []int32
	for j := range p.cols {
		if p.skip == 0 || j%p.skip != p.skip-1 {
			allowed = append(allowed, int32(j))
		}
	}
	for i := range p.rows {
		n := min(p.length(i), len(allowed))
		row := make([]int32, 0, n)
		if p.sorted {
			for k := range n {
				row = append(row, allowed[k*len(allowed)/n])
			}
		} else {
			rng.Shuffle(len(allowed), func(a, b int) { allowed[a], allowed[b] = allowed[b], allowed[a] })
			row = append(row, allowed[:n]...)
		}
		out.ColIdx = append(out.ColIdx, row...)
		out.RowPtr[i+1] = int64(len(out.ColIdx))
	}
	return out
}

// numbers draws operands.
type numbers[T Float] func(rng *rand.Rand) T

// integers are small enough that all sums and products of the tests are exact in float32.
func integers[T Float](rng *rand.Rand) T { return T(rng.IntN(7) - 3) }

// reals have either sign and all their bits set at random.
func reals[T Float](rng *rand.Rand) T { return T(rng.NormFloat64()) }

// positives keep dot products away from zero, where a quotient has no accuracy.
func positives[T Float](rng *rand.Rand) T { return T(0.1 + rng.Float64()) }

func slice[T Float](rng *rand.Rand, n int, draw numbers[T]) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = draw(rng)
	}
	return out
}

func matrix[T Float](rng *rand.Rand, rows, cols int, draw numbers[T]) dense.Matrix[T] {
	return dense.Matrix[T]{Rows: rows, Cols: cols, Stride: cols, Data: slice(rng, rows*cols, draw)}
}

func constant[T any](n int, v T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// scalars are α and β.
type scalars struct{ alpha, beta float64 }

// allScalars multiply exactly and cover the cases that kernels treat apart.
var allScalars = func() (out []scalars) {
	for _, alpha := range []float64{1, 0, -0.5} {
		for _, beta := range []float64{0, 1, 2} {
			out = append(out, scalars{alpha, beta})
		}
	}
	return out
}()

var epilogues = []sddmm.Epilogue{sddmm.Dot, sddmm.Scale, sddmm.Residual, sddmm.Quotient}

// forShorts runs a suite for both element types of 16 bits.
func forShorts(t *testing.T, open Open, bfloat, half func(t *testing.T, open Open)) {
	t.Run("bfloat16", func(t *testing.T) { bfloat(t, open) })
	t.Run("float16", func(t *testing.T) { half(t, open) })
}

// forTypes runs a suite for both element types.
func forTypes(t *testing.T, open Open, f32, f64 func(t *testing.T, open Open)) {
	t.Run("float32", func(t *testing.T) { f32(t, open) })
	t.Run("float64", func(t *testing.T) { f64(t, open) })
}
