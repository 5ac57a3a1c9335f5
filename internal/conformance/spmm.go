package conformance

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/errbound"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

// SpMM is the suite of sparse-dense products on a device.
func SpMM(t *testing.T, open func(t *testing.T) device.Device) {
	forTypes(t, open, spmmSuite[float32], spmmSuite[float64])
	t.Run("LargeIndex", func(t *testing.T) { largeIndex(t, start(t, open), spmmFarApart) })
}

func spmmSuite[T Float](t *testing.T, open Open) {
	t.Run("Depths", func(t *testing.T) { spmmDepths[T](t, start(t, open)) })
	t.Run("Patterns", func(t *testing.T) { spmmPatterns[T](t, start(t, open)) })
	t.Run("Vectors", func(t *testing.T) { spmmVectors[T](t, start(t, open)) })
	t.Run("ByColumn", func(t *testing.T) { spmmByColumn[T](t, start(t, open)) })
	t.Run("Ones", func(t *testing.T) { spmmOnes[T](t, start(t, open)) })
	t.Run("NonFinite", func(t *testing.T) { spmmNonFinite[T](t, start(t, open)) })
	t.Run("SameBits", func(t *testing.T) { spmmSameBits[T](t, start(t, open)) })
	t.Run("Transpose", func(t *testing.T) { spmmTranspose[T](t, start(t, open)) })
	t.Run("Staged", func(t *testing.T) { spmmStaged[T](t, start(t, open)) })
	t.Run("OneShot", func(t *testing.T) { spmmOneShot[T](t, start(t, open)) })
	t.Run("PermutedRows", func(t *testing.T) { spmmPermuted[T](t, start(t, open)) })
	t.Run("Chain", func(t *testing.T) { chain[T](t, start(t, open)) })
	t.Run("Shapes", func(t *testing.T) { spmmShapes[T](t, start(t, open)) })
	t.Run("Closed", func(t *testing.T) { spmmClosed[T](t, start(t, open)) })
	t.Run("Nil", func(t *testing.T) { spmmNil[T](t, start(t, open)) })
	t.Run("OtherDevice", func(t *testing.T) {
		dev := start(t, open)
		spmmOtherDevice[T](t, dev, otherDevice(t, open, dev))
	})
	t.Run("Cancel", func(t *testing.T) { spmmCancel[T](t, start(t, open)) })
	failEach(t, open, 16, 16, spmmScenario[T])
}

var forms = []spmm.Op{spmm.NoTrans, spmm.Trans}

// spmmCase is one call and what came before it.
type spmmCase[T Float] struct {
	op          spmm.Op
	s           *sparse.CSR[T]
	ones        bool // values are not given
	b, prev     dense.Matrix[T]
	alpha, beta T
	exact       bool // all sums are exact in T, whatever their order

	kernel string // that vectors ran on a GPU
}

func (c *spmmCase[T]) String() string {
	form := "S"
	if c.op == spmm.Trans {
		form = "Sᵀ"
	}
	return fmt.Sprintf("%s, S %d×%d with %d non-zeros, K = %d, α = %v, β = %v, exact %t, ones %t",
		form, c.s.Rows, c.s.Cols, c.s.NNZ(), c.b.Cols, c.alpha, c.beta, c.exact, c.ones)
}

// newSpMM draws the operands. What must not be read is NaN.
func newSpMM[T Float](rng *rand.Rand, p *sparse.Pattern, k int, op spmm.Op, x scalars, draw numbers[T], exact bool) *spmmCase[T] {
	from, to := p.Cols, p.Rows
	if op == spmm.Trans {
		from, to = to, from
	}
	c := &spmmCase[T]{
		op: op, s: &sparse.CSR[T]{Pattern: *p, Val: slice(rng, int(p.NNZ()), draw)},
		b: matrix(rng, from, k, draw), prev: matrix(rng, to, k, draw),
		alpha: T(x.alpha), beta: T(x.beta), exact: exact,
	}
	nan := T(math.NaN())
	if c.beta == 0 {
		c.prev.Data = constant(len(c.prev.Data), nan)
	}
	if c.alpha == 0 {
		c.s.Val, c.b.Data = constant(len(c.s.Val), nan), constant(len(c.b.Data), nan)
	}
	return c
}

// terms returns the number of non-zeros in each row of op(S).
func (c *spmmCase[T]) terms() []int {
	n := make([]int, c.prev.Rows)
	for i := range c.s.Rows {
		for _, j := range c.s.Row(i) {
			if c.op == spmm.Trans {
				n[j]++
			} else {
				n[i]++
			}
		}
	}
	return n
}

// check compares C with the reference.
func (c *spmmCase[T]) check(t *testing.T, got dense.Matrix[T]) {
	t.Helper()
	want, mag := spmm.Reference(c.op, c.alpha, c.s, c.b, c.beta, c.prev)
	if len(got.Data) != len(want) {
		t.Fatalf("%v: %d elements, want %d", c, len(got.Data), len(want))
	}
	terms := c.terms()
	for p := range want {
		g, i := float64(got.Data[p]), p/c.b.Cols
		if c.exact {
			if !same(g, want[p]) {
				t.Fatalf("%v: element (%d,%d) is %v, want exactly %v", c, i, p%c.b.Cols, g, want[p])
			}
		} else if bound := errbound.SpMM[T](terms[i], mag[p]); !near(g, want[p], bound) {
			t.Fatalf("%v: element (%d,%d) is %v, want %v within %.3g; it is off by %.3g", c, i, p%c.b.Cols, g, want[p], bound, math.Abs(g-want[p]))
		}
	}
}

// run places the operands between guards, runs the plan and checks that nothing but C changed.
func (c *spmmCase[T]) run(t *testing.T, dev device.Device, pl *spmm.Plan[T], gap, lead int) dense.Matrix[T] {
	t.Helper()
	b := input(t, dev, c.b, gap, lead)
	defer b.close()
	return c.runWith(t, dev, b, gap+1, lead+1, func(s *device.Buffer[T], out *dense.Resident[T]) error {
		return pl.Run(context.Background(), c.op, c.alpha, s, b.Resident, c.beta, out)
	})
}

// runWith places S and C between guards, with gap guards after each row of C and lead before the first, runs something with them
// and checks that nothing but C changed.
func (c *spmmCase[T]) runWith(t *testing.T, dev device.Device, b interface{ unchanged(*testing.T, string) }, gap, lead int, run func(s *device.Buffer[T], out *dense.Resident[T]) error) dense.Matrix[T] {
	t.Helper()
	out, s := output(t, dev, c.prev, gap, lead), input(t, dev, values(c.s.Val), 0, lead+1)
	defer out.close()
	defer s.close()
	val := s.Buf
	if c.ones {
		val = nil
	}
	must(t, run(val, out.Resident))
	b.unchanged(t, "B")
	s.unchanged(t, "S")
	return out.read(t, "C")
}

// spmmPlan uploads a pattern and plans on it.
func spmmPlan[T Float](t *testing.T, dev device.Device, p *sparse.Pattern) (*pattern.Resident, *spmm.Plan[T]) {
	t.Helper()
	pat, err := pattern.Upload(dev, p)
	must(t, err)
	t.Cleanup(func() { pat.Close() })
	pl, err := spmm.NewPlan[T](pat)
	must(t, err)
	t.Cleanup(func() { pl.Close() })
	return pat, pl
}

func spmmDepths[T Float](t *testing.T, dev device.Device) {
	p := general.pattern()
	_, pl := spmmPlan[T](t, dev, p)
	rng := newRand(1)
	for n, k := range depths {
		for _, op := range forms {
			for _, x := range allScalars {
				c := newSpMM(rng, p, k, op, x, integers[T], true)
				c.check(t, c.run(t, dev, pl, n%3, n%5))
				c = newSpMM(rng, p, k, op, x, reals[T], false)
				c.check(t, c.run(t, dev, pl, n%4, n%7))
			}
		}
	}
	for _, op := range forms {
		c := newSpMM(rng, p, longestDepth, op, scalars{1, 0}, reals[T], false)
		c.check(t, c.run(t, dev, pl, 0, 0))
	}
}

func spmmPatterns[T Float](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		t.Run(problem.why, func(t *testing.T) {
			p := problem.pattern()
			_, pl := spmmPlan[T](t, dev, p)
			rng := newRand(uint64(n))
			for i, k := range fewDepths() {
				for j, op := range forms {
					for m := range 3 {
						x := allScalars[(n+i*4+j+m*4)%len(allScalars)]
						c := newSpMM(rng, p, k, op, x, integers[T], true)
						c.check(t, c.run(t, dev, pl, i, j))
					}
					c := newSpMM(rng, p, k, op, scalars{1, 0}, reals[T], false)
					c.check(t, c.run(t, dev, pl, j, i))
				}
			}
		})
	}
}

// vectors are rows of B and C that start at multiples of 16 bytes, the first of them after lead times that, with values
// sLead elements after such a multiple: GPUs have kernels for them.
func (c *spmmCase[T]) vectors(t *testing.T, dev device.Device, pl *spmm.Plan[T], gap, lead, sLead int) dense.Matrix[T] {
	t.Helper()
	load := int(16 / unsafe.Sizeof(T(0)))
	gap += (load - c.b.Cols%load) % load
	b, s := input(t, dev, c.b, gap, lead*load), input(t, dev, values(c.s.Val), 0, sLead)
	defer b.close()
	defer s.close()
	return c.runWith(t, dev, b, gap, lead*load, func(val *device.Buffer[T], out *dense.Resident[T]) error {
		if val != nil {
			val = s.Buf
		}
		c.kernel = spmm.Kernel(pl, c.op, b.Resident, out)
		return pl.Run(context.Background(), c.op, c.alpha, val, b.Resident, c.beta, out)
	})
}

func spmmVectors[T Float](t *testing.T, dev device.Device) {
	for m, problem := range []problem{general, longRows} {
		p := problem.pattern()
		_, pl := spmmPlan[T](t, dev, p)
		rng := newRand(uint64(m))
		for n, k := range []int{2, 4, 8, 12, 20, 32, 36, 64, 100, 260} {
			for i, op := range forms {
				x := allScalars[(n+i)%len(allScalars)]
				c := newSpMM(rng, p, k, op, x, integers[T], true)
				c.check(t, c.vectors(t, dev, pl, 0, n%2, n%3))
				c = newSpMM(rng, p, k, op, scalars{1, 0}, reals[T], false)
				first := c.vectors(t, dev, pl, 0, 0, 0)
				c.check(t, first)
				sameBits(t, c.String()+": another layout", c.vectors(t, dev, pl, 0, 3, 1).Data, first.Data)
			}
		}
	}
}

// GPUs take runs of non-zeros by column where rows are many runs long: short runs of a pattern with few non-zeros, and, on GPUs and
// unless the test is short, long ones.
func spmmByColumn[T Float](t *testing.T, dev device.Device) {
	long := problem{why: "rows of many runs", rows: 9, cols: 1500, length: func(i int) int { return []int{700, 3, 0, 513, 300, 1, 1499, 33, 0}[i] }}
	longer := problem{why: "rows of many long runs", rows: 14, cols: 400_000, length: func(i int) int { return i % 3 * 390_000 }, sorted: true}
	test := func(problem problem, k int, op spmm.Op, x scalars) {
		t.Helper()
		p := problem.pattern()
		_, pl := spmmPlan[T](t, dev, p)
		c := newSpMM(newRand(uint64(k)), p, k, op, x, integers[T], true)
		c.check(t, c.vectors(t, dev, pl, 0, 8, k%3))
		if dev.Props().BlockThreads >= 1024 && !strings.Contains(c.kernel, "bycolumn") {
			t.Errorf("%v: kernel %s does not go by column: the test does not test what it should", c, c.kernel)
		}
		c = newSpMM(newRand(uint64(k)), p, k, op, scalars{1, 0}, reals[T], false)
		first := c.vectors(t, dev, pl, 0, 0, 0)
		c.check(t, first)
		sameBits(t, c.String()+": another layout", c.vectors(t, dev, pl, 0, 1, 1).Data, first.Data)
	}
	for n, k := range []int{128, 132, 300} {
		test(long, k, spmm.NoTrans, allScalars[n%len(allScalars)])
	}
	tall := long
	tall.rows, tall.cols, tall.length = 1500, 9, func(i int) int { return i % 10 }
	test(tall, 128, spmm.Trans, scalars{1, 0})
	if dev.Props().BlockThreads > 0 && !testing.Short() {
		test(longer, 32, spmm.NoTrans, scalars{2, 1}) // rows of B are cache lines
		test(longer, 36, spmm.NoTrans, scalars{1, 0})
	}
}

// Without values every non-zero counts as 1.
func spmmOnes[T Float](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		p := problem.pattern()
		_, pl := spmmPlan[T](t, dev, p)
		for _, k := range []int{1, 3, 6} {
			for _, op := range forms {
				c := newSpMM(newRand(uint64(n)), p, k, op, scalars{-0.5, 2}, integers[T], true)
				c.s.Val = constant(len(c.s.Val), T(1))
				given := c.run(t, dev, pl, 1, 0)
				c.check(t, given)
				c.ones = true
				sameBits(t, c.String(), c.run(t, dev, pl, 0, 1).Data, given.Data)
			}
		}
	}
}

// NaN and infinities reach the rows that use them, and no other.
func spmmNonFinite[T Float](t *testing.T, dev device.Device) {
	p := general.pattern()
	_, pl := spmmPlan[T](t, dev, p)
	const nanRow, infRow, badValue = 5, 7, 40
	for _, k := range []int{1, 2, 3, 4, 7, 8, 33} {
		for _, op := range forms {
			c := newSpMM(newRand(3), p, k, op, scalars{1, 1}, positives[T], false)
			clean := c.run(t, dev, pl, 0, 0)
			c.check(t, clean)
			c.b.Set(nanRow, k-1, T(math.NaN()))
			c.b.Set(infRow, k/2, T(math.Inf(1)))
			c.s.Val[badValue] = T(math.NaN())
			got := c.run(t, dev, pl, 1, 1)
			want, _ := spmm.Reference(c.op, c.alpha, c.s, c.b, c.beta, c.prev)
			hit := 0
			for z, w := range want {
				if math.IsNaN(w) || math.IsInf(w, 0) {
					hit++
					if !same(float64(got.Data[z]), w) {
						t.Errorf("%v: element %d is %v, want %v", c, z, got.Data[z], w)
					}
				} else {
					sameBits(t, fmt.Sprintf("%v: element %d, which uses finite operands only,", c, z), got.Data[z:z+1], clean.Data[z:z+1])
				}
			}
			if hit < 3 || hit == len(want) {
				t.Fatalf("%d of %d elements use NaN or an infinity: the test does not test what it should", hit, len(want))
			}
		}
	}
}

// The same bits come from run to run, for any number of threads and any layout of the operands.
func spmmSameBits[T Float](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		p := problem.pattern()
		pat, pl := spmmPlan[T](t, dev, p)
		for _, k := range append([]int{3}, fewDepths()[:2]...) {
			for _, op := range forms {
				c := newSpMM(newRand(uint64(n)), p, k, op, scalars{-0.3, 0.7}, reals[T], false)
				first := c.run(t, dev, pl, 0, 0).Data
				sameBits(t, c.String()+": again", c.run(t, dev, pl, 0, 0).Data, first)
				sameBits(t, c.String()+": another layout", c.run(t, dev, pl, 3, 1).Data, first)
				h, ok := dev.(device.Host)
				if !ok || units(t, pat, op) < 2 {
					continue // one unit runs on one thread
				}
				for _, threads := range []int{1, 2, 3, 8} {
					d := Threaded(h, threads)
					_, pl := spmmPlan[T](t, d, p)
					sameBits(t, fmt.Sprintf("%v: %d threads", c, threads), c.run(t, d, pl, 0, 0).Data, first)
				}
			}
		}
	}
}

// units returns how many units of work a form of S is cut into.
func units(t *testing.T, pat *pattern.Resident, op spmm.Op) int {
	t.Helper()
	if op == spmm.NoTrans {
		return len(pat.Work.Units)
	}
	tr, err := pat.Transpose()
	must(t, err)
	return len(tr.Work.Units)
}

// Trans is NoTrans on the transposed matrix, bit for bit.
func spmmTranspose[T Float](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		p := problem.pattern()
		_, pl := spmmPlan[T](t, dev, p)
		for _, k := range []int{1, 2, 3, 4, 12} {
			c := newSpMM(newRand(uint64(n)), p, k, spmm.Trans, scalars{-0.3, 0.7}, reals[T], false)
			got := c.run(t, dev, pl, 0, 0)
			d := *c
			d.op, d.s = spmm.NoTrans, c.s.Transpose(1)
			_, transposed := spmmPlan[T](t, dev, &d.s.Pattern)
			sameBits(t, c.String(), got.Data, d.run(t, dev, transposed, 0, 0).Data)
		}
	}
}

// Compute gives the bits of a planned Run.
func spmmOneShot[T Float](t *testing.T, dev device.Device) {
	ctx := context.Background()
	for n, problem := range problems {
		p := problem.pattern()
		_, pl := spmmPlan[T](t, dev, p)
		for _, op := range forms {
			c := newSpMM(newRand(uint64(n)), p, 17, op, scalars{2, 0.5}, reals[T], false)
			want := c.run(t, dev, pl, 0, 0)
			b, out := strided(c.b, 2), strided(c.prev, 3)
			must(t, spmm.Compute(ctx, dev, op, c.alpha, c.s, b, c.beta, out))
			sameBits(t, c.String()+": Compute", out.Clone().Data, want.Data)
			for z, v := range out.Data {
				if z%out.Stride >= out.Cols && v == v {
					t.Fatalf("%v: Compute wrote %v to a gap of C", c, v)
				}
			}
		}
	}

	s := &sparse.CSR[T]{Pattern: *general.pattern()}
	s.Val = make([]T, s.NNZ())
	b, c := dense.New[T](s.Cols, 4), dense.New[T](s.Rows, 4)
	compute := func(s *sparse.CSR[T], b, c dense.Matrix[T]) error {
		return spmm.Compute(ctx, dev, spmm.NoTrans, 1, s, b, 0, c)
	}
	must(t, compute(s, b, c))
	wantShape(t, "short values", compute(&sparse.CSR[T]{Pattern: s.Pattern, Val: s.Val[1:]}, b, c))
	wantShape(t, "B with a row less", compute(s, b.View(0, b.Rows-1, 4), c))
	wantShape(t, "C with a column less", compute(s, b, c.View(0, c.Rows, 3)))
	for what, bad := range badMatrices[T]() {
		if compute(s, bad, c) == nil || compute(s, b, bad) == nil {
			t.Errorf("a matrix with %s passed", what)
		}
	}
	for what, bad := range badPatterns() {
		if compute(&sparse.CSR[T]{Pattern: bad, Val: make([]T, bad.NNZ())}, b, c) == nil {
			t.Errorf("a pattern with %s passed", what)
		}
	}
}

// Permuting the rows of S permutes the rows of C. On a Host it leaves their bits: where a row is cut does not depend on
// its place. On a GPU it may, see package spmm, and the result is as good as any.
func spmmPermuted[T Float](t *testing.T, dev device.Device) {
	for _, problem := range problems {
		p := problem.pattern()
		_, pl := spmmPlan[T](t, dev, p)
		rng := newRand(4)
		c := newSpMM(rng, p, 19, spmm.NoTrans, scalars{0.7, 0.3}, reals[T], false)
		got := c.run(t, dev, pl, 0, 0)
		q := &sparse.Pattern{Rows: p.Rows, Cols: p.Cols, RowPtr: make([]int64, p.Rows+1)}
		d := *c
		d.s, d.prev = &sparse.CSR[T]{}, dense.New[T](p.Rows, 19)
		want := dense.New[T](p.Rows, 19)
		for i, from := range rng.Perm(p.Rows) {
			lo, hi := p.RowPtr[from], p.RowPtr[from+1]
			q.ColIdx = append(q.ColIdx, p.ColIdx[lo:hi]...)
			q.RowPtr[i+1] = int64(len(q.ColIdx))
			d.s.Val = append(d.s.Val, c.s.Val[lo:hi]...)
			copy(d.prev.Row(i), c.prev.Row(from))
			copy(want.Row(i), got.Row(from))
		}
		d.s.Pattern = *q
		_, permuted := spmmPlan[T](t, dev, q)
		result := d.run(t, dev, permuted, 0, 0)
		if _, ok := dev.(device.Host); !ok {
			d.check(t, result)
			continue
		}
		sameBits(t, problem.why+": permuted rows", result.Data, want.Data)
	}
}

// chain runs what solvers run: values from SDDMM, used by SpMM in both directions without leaving
// the device. It compares with dense float64 products: G = (S∘(A·Bᵀ))·B and (S∘(A·Bᵀ))ᵀ·A.
//
// Each value carries an error of γ_{K+4} relative to |s|·Σ|a||b|, and γ_{n+4} is added by the
// sum over n non-zeros, both relative to the sum of absolute values of all terms.
func chain[T Float](t *testing.T, dev device.Device) {
	ctx := context.Background()
	for n, problem := range problems {
		p := problem.pattern()
		const k = 11
		c := newSDDMM(newRand(uint64(n)), p, k, sddmm.Scale, scalars{1, 0}, reals[T], false)
		pat, products := sddmmPlan[T](t, dev, p)
		sums, err := spmm.NewPlan[T](pat)
		must(t, err)
		t.Cleanup(func() { sums.Close() })
		a, b := input(t, dev, c.a, 1, 0), input(t, dev, c.b, 2, 1)
		s := input(t, dev, values(c.s.Val), 0, 1)
		v, rows, cols := zeros[T](t, dev, 1, int(pat.NNZ)).Buf, zeros[T](t, dev, p.Rows, k), zeros[T](t, dev, p.Cols, k)
		must(t, products.Run(ctx, sddmm.Scale, 1, s.Buf, a.Resident, b.Resident, 0, v))
		must(t, sums.Run(ctx, spmm.NoTrans, 1, v, b.Resident, 0, rows))
		must(t, sums.Run(ctx, spmm.Trans, 1, v, a.Resident, 0, cols))
		s.close()

		type sum struct{ v, mag float64 }
		wantRows, wantCols := make([]sum, p.Rows*k), make([]sum, p.Cols*k)
		rowTerms, colTerms := make([]int, p.Rows), make([]int, p.Cols)
		for i := range p.Rows {
			for z := p.RowPtr[i]; z < p.RowPtr[i+1]; z++ {
				j := int(p.ColIdx[z])
				rowTerms[i]++
				colTerms[j]++
				var d, mag float64
				for q := range k {
					x := float64(c.a.At(i, q)) * float64(c.b.At(j, q))
					d, mag = d+x, mag+math.Abs(x)
				}
				x, size := float64(c.s.Val[z])*d, math.Abs(float64(c.s.Val[z]))*mag
				for q := range k {
					to, y := &wantRows[i*k+q], float64(c.b.At(j, q))
					to.v, to.mag = to.v+x*y, to.mag+size*math.Abs(y)
					to, y = &wantCols[j*k+q], float64(c.a.At(i, q))
					to.v, to.mag = to.v+x*y, to.mag+size*math.Abs(y)
				}
			}
		}
		compare := func(what string, m *dense.Resident[T], want []sum, terms []int) {
			got, err := m.Download()
			must(t, err)
			for z, w := range want {
				bound := errbound.Gamma(k+4+terms[z/k]+4, errbound.Unit[T]()) * w.mag * errbound.ReferenceShare[T]()
				if g := float64(got.Data[z]); !near(g, w.v, bound) {
					t.Fatalf("%s: %s element %d is %v, want %v within %.3g", problem.why, what, z, g, w.v, bound)
				}
			}
		}
		compare("S∘(A·Bᵀ)·B", rows, wantRows, rowTerms)
		compare("(S∘(A·Bᵀ))ᵀ·A", cols, wantCols, colTerms)
		a.close()
		b.close()
	}
}

// spmmOperands are operands that fit a 4×5 pattern with 7 non-zeros and K = 3.
type spmmOperands[T Float] struct {
	pat  *pattern.Resident
	pl   *spmm.Plan[T]
	s    *device.Buffer[T]
	b, c *dense.Resident[T]
}

func newSpMMOperands[T Float](t *testing.T, dev device.Device) *spmmOperands[T] {
	t.Helper()
	o := &spmmOperands[T]{}
	o.pat, o.pl = spmmPlan[T](t, dev, &sparse.Pattern{Rows: 4, Cols: 5, RowPtr: []int64{0, 2, 2, 5, 7}, ColIdx: []int32{4, 0, 1, 2, 3, 0, 4}})
	o.s, o.b, o.c = zeros[T](t, dev, 1, 7).Buf, zeros[T](t, dev, 5, 3), zeros[T](t, dev, 4, 3)
	must(t, o.run(spmm.NoTrans))
	return o
}

func (o *spmmOperands[T]) run(op spmm.Op) error {
	return o.pl.Run(context.Background(), op, 1, o.s, o.b, 0, o.c)
}

// with returns the error of a call with one thing changed.
func (o spmmOperands[T]) with(change func(o *spmmOperands[T])) error {
	change(&o)
	return o.run(spmm.NoTrans)
}

func spmmShapes[T Float](t *testing.T, dev device.Device) {
	o := newSpMMOperands[T](t, dev)
	type ops = spmmOperands[T]
	wantShape(t, "B with 4 rows", o.with(func(o *ops) { o.b = zeros[T](t, dev, 4, 3) }), "pattern 4×5", "B 4×3", "B with 5 rows")
	wantShape(t, "C with 5 rows", o.with(func(o *ops) { o.c = zeros[T](t, dev, 5, 3) }), "C 5×3", "C with 4 rows")
	wantShape(t, "C with 2 columns", o.with(func(o *ops) { o.c = zeros[T](t, dev, 4, 2) }), "B 5×3", "C 4×2", "columns")
	wantShape(t, "S with 8 values", o.with(func(o *ops) { o.s = zeros[T](t, dev, 1, 8).Buf }), "S with 8 values", "S with 7 values")
	wantShape(t, "operands of S for Sᵀ", o.run(spmm.Trans), "Sᵀ", "B with 4 rows")
}

func spmmClosed[T Float](t *testing.T, dev device.Device) {
	for what, change := range map[string]func(o *spmmOperands[T]){
		"S":       func(o *spmmOperands[T]) { o.s.Close() },
		"B":       func(o *spmmOperands[T]) { o.b.Close() },
		"C":       func(o *spmmOperands[T]) { o.c.Close() },
		"pattern": func(o *spmmOperands[T]) { o.pat.Close() },
		"view":    func(o *spmmOperands[T]) { c := o.c; o.c = c.Columns(3); c.Close() },
	} {
		o := newSpMMOperands[T](t, dev)
		wantIs(t, what, o.with(change), device.ErrClosed)
	}
	o := newSpMMOperands[T](t, dev)
	_, err := o.pat.Transpose()
	must(t, err)
	must(t, o.pat.Close())
	_, err = spmm.NewPlan[T](o.pat)
	wantIs(t, "NewPlan", err, device.ErrClosed)
	must(t, o.pl.Close())
	must(t, o.pl.Close())
}

func spmmNil[T Float](t *testing.T, dev device.Device) {
	o := newSpMMOperands[T](t, dev)
	type ops = spmmOperands[T]
	wantNil(t, "B", o.with(func(o *ops) { o.b = nil }), "B")
	wantNil(t, "C", o.with(func(o *ops) { o.c = nil }), "C")
	wantNil(t, "plan", o.with(func(o *ops) { o.pl = &spmm.Plan[T]{} }), "pattern")
	_, err := spmm.NewPlan[T](nil)
	wantNil(t, "NewPlan", err, "pattern")
}

func spmmOtherDevice[T Float](t *testing.T, dev, other device.Device) {
	o, far := newSpMMOperands[T](t, dev), newSpMMOperands[T](t, other)
	type ops = spmmOperands[T]
	wantMismatch(t, "S", o.with(func(o *ops) { o.s = far.s }), "pattern", "S")
	wantMismatch(t, "B", o.with(func(o *ops) { o.b = far.b }), "pattern", "B")
	wantMismatch(t, "C", o.with(func(o *ops) { o.c = far.c }), "pattern", "C")
	wantMismatch(t, "plan", o.with(func(o *ops) { o.pl = far.pl }), "pattern", "B")
}

func spmmCancel[T Float](t *testing.T, dev device.Device) {
	p := problem{rows: 30000, cols: 40, length: each(1)}.pattern()
	for _, op := range forms {
		cancelled(t, dev, 30, func(ctx context.Context, dev device.Device) error {
			pat, err := pattern.Upload(dev, p)
			if err != nil {
				return err
			}
			defer pat.Close()
			pl, err := spmm.NewPlan[T](pat)
			if err != nil {
				return err
			}
			defer pl.Close()
			rows, cols := zeros[T](t, dev, p.Rows, 5), zeros[T](t, dev, p.Cols, 5)
			if op == spmm.Trans {
				return pl.Run(ctx, op, 1, nil, rows, 0, cols)
			}
			return pl.Run(ctx, op, 1, nil, cols, 0, rows)
		})
	}
}

// spmmScenario has a long row and a long column, so that partial sums are allocated both ways.
func spmmScenario[T Float](dev device.Device) error {
	p := problem{rows: 3000, cols: 3001, length: func(i int) int { return 1 + i/2999*2900 }, sorted: true}.pattern()
	pat, err := pattern.Upload(dev, p)
	if err != nil {
		return err
	}
	defer pat.Close()
	pl, err := spmm.NewPlan[T](pat)
	if err != nil {
		return err
	}
	defer pl.Close()
	for _, op := range forms {
		for _, k := range []int{2, 5} {
			c := newSpMM(newRand(5), p, k, op, scalars{1, 1}, integers[T], true)
			if err := spmmUploaded(dev, pl, c); err != nil {
				return err
			}
			if err := spmm.Compute(context.Background(), dev, op, c.alpha, c.s, c.b, c.beta, c.prev.Clone()); err != nil {
				return err
			}
		}
	}
	return nil
}

func spmmUploaded[T Float](dev device.Device, pl *spmm.Plan[T], c *spmmCase[T]) error {
	s, err := device.FromHost(dev, c.s.Val)
	if err != nil {
		return err
	}
	defer s.Close()
	b, err := dense.Upload(dev, c.b)
	if err != nil {
		return err
	}
	defer b.Close()
	out, err := dense.Upload(dev, c.prev)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := pl.Run(context.Background(), c.op, c.alpha, s, b, c.beta, out); err != nil {
		return err
	}
	_, err = out.Download()
	return err
}
