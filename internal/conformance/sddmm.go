package conformance

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/errbound"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// SDDMM is the suite of sampled dense-dense products on a device.
func SDDMM(t *testing.T, open func(t *testing.T) device.Device) {
	forTypes(t, open, sddmmSuite[float32], sddmmSuite[float64])
	t.Run("LargeIndex", func(t *testing.T) { largeIndex(t, start(t, open), sddmmFarApart) })
}

func sddmmSuite[T Float](t *testing.T, open Open) {
	t.Run("Depths", func(t *testing.T) { sddmmDepths[T](t, start(t, open), general) })
	t.Run("DepthsOfLongRows", func(t *testing.T) { sddmmDepths[T](t, start(t, open), longRows) })
	t.Run("Patterns", func(t *testing.T) { sddmmPatterns[T](t, start(t, open)) })
	t.Run("Waves", func(t *testing.T) { sddmmWaves[T](t, start(t, open)) })
	t.Run("InPlace", func(t *testing.T) { sddmmInPlace[T](t, start(t, open)) })
	t.Run("NonFinite", func(t *testing.T) { sddmmNonFinite[T](t, start(t, open), general) })
	t.Run("NonFiniteInLongRows", func(t *testing.T) { sddmmNonFinite[T](t, start(t, open), longRows) })
	t.Run("SameBits", func(t *testing.T) { sddmmSameBits[T](t, start(t, open)) })
	t.Run("Staged", func(t *testing.T) { sddmmStaged[T](t, start(t, open)) })
	t.Run("OneShot", func(t *testing.T) { sddmmOneShot[T](t, start(t, open)) })
	t.Run("PermutedRows", func(t *testing.T) { sddmmPermuted[T](t, start(t, open)) })
	t.Run("Shapes", func(t *testing.T) { sddmmShapes[T](t, start(t, open)) })
	t.Run("Closed", func(t *testing.T) { sddmmClosed[T](t, start(t, open)) })
	t.Run("Nil", func(t *testing.T) { sddmmNil[T](t, start(t, open)) })
	t.Run("OtherDevice", func(t *testing.T) {
		dev := start(t, open)
		sddmmOtherDevice[T](t, dev, otherDevice(t, open, dev))
	})
	t.Run("Cancel", func(t *testing.T) { sddmmCancel[T](t, start(t, open)) })
	failEach(t, open, 4, 4, sddmmScenario[T])
}

// sddmmCase is one call and what came before it.
type sddmmCase[T Float] struct {
	s           *sparse.CSR[T]
	a, b        dense.Matrix[T]
	prev        []T
	f           sddmm.Epilogue
	alpha, beta T
	exact       bool // all sums are exact in T, whatever their order
}

func (c *sddmmCase[T]) String() string {
	return fmt.Sprintf("%v, S %d×%d with %d non-zeros, K = %d, α = %v, β = %v, exact %t",
		c.f, c.s.Rows, c.s.Cols, c.s.NNZ(), c.a.Cols, c.alpha, c.beta, c.exact)
}

// newSDDMM draws the operands. What must not be read is NaN.
func newSDDMM[T Float](rng *rand.Rand, p *sparse.Pattern, k int, f sddmm.Epilogue, x scalars, draw numbers[T], exact bool) *sddmmCase[T] {
	nnz := int(p.NNZ())
	factors := draw
	if f == sddmm.Quotient && !exact {
		factors = positives[T]
	}
	c := &sddmmCase[T]{
		s: &sparse.CSR[T]{Pattern: *p, Val: slice(rng, nnz, draw)},
		a: matrix(rng, p.Rows, k, factors), b: matrix(rng, p.Cols, k, factors),
		prev: slice(rng, nnz, draw),
		f:    f, alpha: T(x.alpha), beta: T(x.beta), exact: exact,
	}
	if f == sddmm.Quotient && exact {
		// Sums of positive integers: exact, and never zero.
		for _, m := range []dense.Matrix[T]{c.a, c.b} {
			for i, v := range m.Data {
				m.Data[i] = max(v, -v) + 1
			}
		}
	}
	nan := T(math.NaN())
	if c.beta == 0 {
		c.prev = constant(nnz, nan)
	}
	if c.alpha == 0 {
		c.s.Val, c.a.Data, c.b.Data = constant(nnz, nan), constant(len(c.a.Data), nan), constant(len(c.b.Data), nan)
	}
	return c
}

// check compares P with the reference.
func (c *sddmmCase[T]) check(t *testing.T, got []T) {
	t.Helper()
	want, mag := sddmm.Reference(c.f, c.alpha, c.s, c.a, c.b, c.beta, c.prev)
	dot, _ := sddmm.Reference(sddmm.Dot, 1, c.s, c.a, c.b, 0, nil)
	if len(got) != len(want) {
		t.Fatalf("%v: %d values, want %d", c, len(got), len(want))
	}
	for z := range want {
		g := float64(got[z])
		if c.exact && c.f != sddmm.Quotient {
			if !same(g, want[z]) {
				t.Fatalf("%v: value %d is %v, want exactly %v", c, z, g, want[z])
			}
			continue
		}
		if c.f == sddmm.Quotient && c.alpha != 0 && c.a.Cols == 0 {
			// s/0: an infinity or NaN, and so is any sum with it.
			if !same(g, want[z]) {
				t.Fatalf("%v: value %d is %v, want %v", c, z, g, want[z])
			}
			continue
		}
		k := c.a.Cols
		if c.exact {
			k = 0 // the dot product has no error
		}
		bound := errbound.SDDMM[T](c.f, k, float64(c.alpha), float64(c.s.Val[z]), dot[z], mag[z], float64(c.beta), float64(c.prev[z]))
		if math.IsInf(bound, 1) {
			t.Fatalf("%v: value %d has no bound: the test's numbers are badly chosen", c, z)
		}
		if !near(g, want[z], bound) {
			t.Fatalf("%v: value %d is %v, want %v within %.3g; it is off by %.3g", c, z, g, want[z], bound, math.Abs(g-want[z]))
		}
	}
}

// run places the operands between guards, runs the plan and checks that nothing but P changed.
func (c *sddmmCase[T]) run(t *testing.T, dev device.Device, pl *sddmm.Plan[T], gap, lead int) []T {
	t.Helper()
	return c.runOn(t, dev, pl, input(t, dev, c.a, gap, lead), input(t, dev, c.b, gap, lead+1), lead)
}

// runOn is run with A and B, which it closes.
func (c *sddmmCase[T]) runOn(t *testing.T, dev device.Device, pl *sddmm.Plan[T], a, b *operand[T], lead int) []T {
	t.Helper()
	defer a.close()
	defer b.close()
	return c.runWith(t, dev, a, b, lead, func(s, p *device.Buffer[T]) error {
		return pl.Run(context.Background(), c.f, c.alpha, s, a.Resident, b.Resident, c.beta, p)
	})
}

// runWith places S and P between guards, runs something with them and checks that nothing but P changed.
func (c *sddmmCase[T]) runWith(t *testing.T, dev device.Device, a, b interface{ unchanged(*testing.T, string) }, lead int, run func(s, p *device.Buffer[T]) error) []T {
	t.Helper()
	s, p := input(t, dev, values(c.s.Val), 0, lead), output(t, dev, values(c.prev), 0, lead+2)
	defer s.close()
	defer p.close()
	must(t, run(s.Buf, p.Buf))
	a.unchanged(t, "A")
	b.unchanged(t, "B")
	s.unchanged(t, "S")
	return p.read(t, "P").Data
}

// sddmmPlan uploads a pattern and plans on it.
func sddmmPlan[T Float](t *testing.T, dev device.Device, p *sparse.Pattern) (*pattern.Resident, *sddmm.Plan[T]) {
	t.Helper()
	pat, err := pattern.Upload(dev, p)
	must(t, err)
	t.Cleanup(func() { pat.Close() })
	pl, err := sddmm.NewPlan[T](pat)
	must(t, err)
	t.Cleanup(func() { pl.Close() })
	return pat, pl
}

func sddmmDepths[T Float](t *testing.T, dev device.Device, on problem) {
	p := on.pattern()
	_, pl := sddmmPlan[T](t, dev, p)
	rng := newRand(1)
	for n, k := range depths {
		for _, f := range epilogues {
			for _, x := range allScalars {
				c := newSDDMM(rng, p, k, f, x, integers[T], true)
				c.check(t, c.run(t, dev, pl, n%3, n%5))
				c = newSDDMM(rng, p, k, f, x, reals[T], false)
				c.check(t, c.run(t, dev, pl, n%4, n%7))
			}
		}
	}
	for _, f := range epilogues {
		c := newSDDMM(rng, p, longestDepth, f, scalars{1, 0}, reals[T], false)
		c.check(t, c.run(t, dev, pl, 0, 0))
	}
}

func sddmmPatterns[T Float](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		t.Run(problem.why, func(t *testing.T) {
			p := problem.pattern()
			_, pl := sddmmPlan[T](t, dev, p)
			rng := newRand(uint64(n))
			for i, k := range fewDepths() {
				for j, f := range epilogues {
					x := allScalars[(n+i*4+j)%len(allScalars)]
					c := newSDDMM(rng, p, k, f, x, integers[T], true)
					c.check(t, c.run(t, dev, pl, i, j))
					c = newSDDMM(rng, p, k, f, scalars{1, 0}, reals[T], false)
					c.check(t, c.run(t, dev, pl, j, i))
				}
			}
		})
	}
}

// sddmmWaves has more non-zeros than a GPU has warps for at a time: slices of K have launches of their own there, and one
// launch where problems are small.
func sddmmWaves[T Float](t *testing.T, dev device.Device) {
	if _, ok := dev.(device.Launcher); !ok {
		t.Skip("launches are for GPUs")
	}
	const warps, run = 32, 512 // of a multiprocessor at most, and of a warp
	p := problem{rows: dev.Props().Units*warps*run/2000 + 1, cols: 2100, length: each(2000)}.pattern()
	_, pl := sddmmPlan[T](t, dev, p)
	must(t, pl.SetTile(model.Tile{})) // to gather
	for _, f := range []sddmm.Epilogue{sddmm.Dot, sddmm.Residual} {
		c := newSDDMM(newRand(1), p, 136, f, scalars{1, 0}, reals[T], false)
		c.check(t, c.runOn(t, dev, pl, input(t, dev, c.a, 0, 0), input(t, dev, c.b, 0, 0), 0))
	}
}

// P may be S, and Dot needs no S at all.
func sddmmInPlace[T Float](t *testing.T, dev device.Device) {
	p := general.pattern()
	_, pl := sddmmPlan[T](t, dev, p)
	rng := newRand(2)
	for _, f := range epilogues {
		for _, x := range allScalars {
			c := newSDDMM(rng, p, 9, f, x, integers[T], true)
			v := slice(rng, int(p.NNZ()), integers[T])
			c.s.Val, c.prev = v, v
			a, b := input(t, dev, c.a, 1, 0), input(t, dev, c.b, 2, 0)
			s := output(t, dev, values(v), 0, 3)
			must(t, pl.Run(context.Background(), f, c.alpha, s.Buf, a.Resident, b.Resident, c.beta, s.Buf))
			c.check(t, s.read(t, "S and P").Data)
			if f == sddmm.Dot {
				again := output(t, dev, values(v), 0, 1)
				must(t, pl.Run(context.Background(), f, c.alpha, nil, a.Resident, b.Resident, c.beta, again.Buf))
				c.check(t, again.read(t, "P").Data)
				again.close()
			}
			a.close()
			b.close()
			s.close()
		}
	}
}

// NaN and infinities reach the non-zeros that use them, and no other.
func sddmmNonFinite[T Float](t *testing.T, dev device.Device, on problem) {
	p := on.pattern()
	_, pl := sddmmPlan[T](t, dev, p)
	rng := newRand(3)
	const nanRow, infRow, nanCol, badValue = 5, 7, 3, 40
	for _, k := range []int{1, 2, 3, 4, 7, 8, 33, 68, 130} {
		for _, f := range epilogues {
			c := newSDDMM(rng, p, k, f, scalars{1, 0}, positives[T], false)
			clean := c.run(t, dev, pl, 0, 0)
			c.check(t, clean)
			c.a.Set(nanRow, k-1, T(math.NaN()))
			c.a.Set(infRow, k/2, T(math.Inf(1)))
			c.b.Set(nanCol, 0, T(math.NaN()))
			c.s.Val[badValue] = T(math.NaN())
			got := c.run(t, dev, pl, 1, 1)
			want, _ := sddmm.Reference(c.f, c.alpha, c.s, c.a, c.b, c.beta, c.prev)
			hit := 0
			for i := range p.Rows {
				for z := p.RowPtr[i]; z < p.RowPtr[i+1]; z++ {
					if i == nanRow || i == infRow || p.ColIdx[z] == nanCol || z == badValue && f != sddmm.Dot {
						hit++
						if !same(float64(got[z]), want[z]) {
							t.Errorf("%v: value %d in row %d is %v, want %v", c, z, i, got[z], want[z])
						}
					} else {
						sameBits(t, fmt.Sprintf("%v: value %d in row %d, which uses finite operands only,", c, z, i), got[z:z+1], clean[z:z+1])
					}
				}
			}
			if hit < 10 || hit == len(got) {
				t.Fatalf("%d of %d values use NaN or an infinity: the test does not test what it should", hit, len(got))
			}
		}
	}
}

// The same bits come from run to run, for any number of threads and any layout of the operands.
func sddmmSameBits[T Float](t *testing.T, dev device.Device) {
	for n, problem := range problems {
		p := problem.pattern()
		pat, pl := sddmmPlan[T](t, dev, p)
		for _, k := range fewDepths()[:2] {
			c := newSDDMM(newRand(uint64(n)), p, k, epilogues[n%len(epilogues)], scalars{-0.3, 0.7}, reals[T], false)
			first := c.run(t, dev, pl, 0, 0)
			sameBits(t, c.String()+": again", c.run(t, dev, pl, 0, 0), first)
			sameBits(t, c.String()+": another layout", c.run(t, dev, pl, 3, 1), first)
			h, ok := dev.(device.Host)
			if !ok || len(pat.Work.Units) < 2 {
				continue // one unit runs on one thread
			}
			for _, threads := range []int{1, 2, 3, 8} {
				d := Threaded(h, threads)
				_, pl := sddmmPlan[T](t, d, p)
				sameBits(t, fmt.Sprintf("%v: %d threads", c, threads), c.run(t, d, pl, 0, 0), first)
			}
		}
	}
}

// Compute gives the bits of a planned Run, also where dst is S's own values.
func sddmmOneShot[T Float](t *testing.T, dev device.Device) {
	ctx := context.Background()
	for n, problem := range problems {
		p := problem.pattern()
		_, pl := sddmmPlan[T](t, dev, p)
		f := epilogues[n%len(epilogues)]
		c := newSDDMM(newRand(uint64(n)), p, 17, f, scalars{2, 0.5}, reals[T], false)
		want := c.run(t, dev, pl, 0, 0)

		dst := slices.Clone(c.prev)
		a, b := strided(c.a, 2), strided(c.b, 3)
		val := slices.Clone(c.s.Val)
		must(t, sddmm.Compute(ctx, dev, f, c.alpha, c.s, a, b, c.beta, dst))
		sameBits(t, c.String()+": Compute", dst, want)
		sameBits(t, c.String()+": S after Compute", c.s.Val, val)

		c.prev = c.s.Val
		want = c.run(t, dev, pl, 0, 0)
		must(t, sddmm.Compute(ctx, dev, f, c.alpha, c.s, a, b, c.beta, c.s.Val))
		sameBits(t, c.String()+": Compute in place", c.s.Val, want)
	}

	s := &sparse.CSR[T]{Pattern: *general.pattern()}
	nnz := int(s.NNZ())
	a, b := dense.New[T](s.Rows, 4), dense.New[T](s.Cols, 4)
	s.Val = make([]T, nnz)
	compute := func(s *sparse.CSR[T], a, b dense.Matrix[T], dst []T) error {
		return sddmm.Compute(ctx, dev, sddmm.Dot, 1, s, a, b, 0, dst)
	}
	must(t, compute(s, a, b, make([]T, nnz)))
	wantShape(t, "short dst", compute(s, a, b, make([]T, nnz-1)), fmt.Sprint(nnz), fmt.Sprint(nnz-1))
	wantShape(t, "short values", compute(&sparse.CSR[T]{Pattern: s.Pattern, Val: s.Val[1:]}, a, b, make([]T, nnz)))
	wantShape(t, "A with a row less", compute(s, a.View(0, a.Rows-1, 4), b, make([]T, nnz)))
	wantShape(t, "B with a column less", compute(s, a, b.View(0, b.Rows, 3), make([]T, nnz)))
	for what, bad := range badMatrices[T]() {
		if compute(s, bad, b, make([]T, nnz)) == nil || compute(s, a, bad, make([]T, nnz)) == nil {
			t.Errorf("a matrix with %s passed", what)
		}
	}
	for what, bad := range badPatterns() {
		m := &sparse.CSR[T]{Pattern: bad, Val: make([]T, bad.NNZ())}
		if compute(m, a, b, make([]T, bad.NNZ())) == nil {
			t.Errorf("a pattern with %s passed", what)
		}
	}
}

// strided copies m to a matrix with gaps of NaN.
func strided[T Float](m dense.Matrix[T], gap int) dense.Matrix[T] {
	out := dense.Matrix[T]{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols + gap}
	out.Data = constant(out.Rows*out.Stride, T(math.NaN()))
	for i := range m.Rows {
		copy(out.Row(i), m.Row(i))
	}
	return out
}

// badMatrices do not hold what they say.
func badMatrices[T Float]() map[string]dense.Matrix[T] {
	return map[string]dense.Matrix[T]{
		"too little data":                {Rows: 3, Cols: 4, Stride: 4, Data: make([]T, 11)},
		"no data":                        {Rows: 3, Cols: 4, Stride: 4},
		"a stride less than the columns": {Rows: 3, Cols: 4, Stride: 3, Data: make([]T, 12)},
		"negative rows":                  {Rows: -1, Cols: 4, Stride: 4},
		"negative columns":               {Rows: 3, Cols: -1, Stride: 4, Data: make([]T, 12)},
		"sizes whose product overflows":  {Rows: 1 << 40, Cols: 4, Stride: 1 << 40, Data: make([]T, 12)},
	}
}

// badPatterns are not valid.
func badPatterns() map[string]sparse.Pattern {
	return map[string]sparse.Pattern{
		"a column out of range":     {Rows: 1, Cols: 2, RowPtr: []int64{0, 1}, ColIdx: []int32{2}},
		"a negative column":         {Rows: 1, Cols: 2, RowPtr: []int64{0, 1}, ColIdx: []int32{-1}},
		"a repeated column":         {Rows: 1, Cols: 2, RowPtr: []int64{0, 2}, ColIdx: []int32{1, 1}},
		"row pointers that go back": {Rows: 2, Cols: 2, RowPtr: []int64{0, 2, 1}, ColIdx: []int32{0}},
		"too few row pointers":      {Rows: 2, Cols: 2, RowPtr: []int64{0, 1}, ColIdx: []int32{0}},
		"no row pointers":           {Rows: 2, Cols: 2},
		"too few columns":           {Rows: 1, Cols: 2, RowPtr: []int64{0, 2}, ColIdx: []int32{0}},
		"negative rows":             {Rows: -1, Cols: 2, RowPtr: []int64{}},
	}
}

// Permuting the rows of S and A permutes the values, and leaves their bits.
func sddmmPermuted[T Float](t *testing.T, dev device.Device) {
	for _, problem := range problems {
		p := problem.pattern()
		_, pl := sddmmPlan[T](t, dev, p)
		rng := newRand(4)
		c := newSDDMM(rng, p, 19, sddmm.Residual, scalars{0.7, 0.3}, reals[T], false)
		q, d, want := permuteRows(rng, p, c, c.run(t, dev, pl, 0, 0))
		_, permuted := sddmmPlan[T](t, dev, q)
		sameBits(t, problem.why+": permuted rows", d.run(t, dev, permuted, 0, 0), want)
	}
}

// permuteRows returns c with the rows of its pattern p, of A and of values in another order, and got in that order.
func permuteRows[T Float](rng *rand.Rand, p *sparse.Pattern, c *sddmmCase[T], got []T) (q *sparse.Pattern, d *sddmmCase[T], want []T) {
	q = &sparse.Pattern{Rows: p.Rows, Cols: p.Cols, RowPtr: make([]int64, p.Rows+1)}
	d = &sddmmCase[T]{s: &sparse.CSR[T]{}, a: dense.New[T](p.Rows, c.a.Cols), b: c.b, f: c.f, alpha: c.alpha, beta: c.beta}
	for i, from := range rng.Perm(p.Rows) {
		lo, hi := p.RowPtr[from], p.RowPtr[from+1]
		q.ColIdx = append(q.ColIdx, p.ColIdx[lo:hi]...)
		q.RowPtr[i+1] = int64(len(q.ColIdx))
		d.s.Val, d.prev, want = append(d.s.Val, c.s.Val[lo:hi]...), append(d.prev, c.prev[lo:hi]...), append(want, got[lo:hi]...)
		copy(d.a.Row(i), c.a.Row(from))
	}
	d.s.Pattern = *q
	return q, d, want
}

// sddmmOperands are operands that fit a 4×5 pattern with 7 non-zeros and K = 3.
type sddmmOperands[T Float] struct {
	pat  *pattern.Resident
	pl   *sddmm.Plan[T]
	a, b *dense.Resident[T]
	s, p *device.Buffer[T]
}

func newSDDMMOperands[T Float](t *testing.T, dev device.Device) *sddmmOperands[T] {
	t.Helper()
	o := &sddmmOperands[T]{}
	o.pat, o.pl = sddmmPlan[T](t, dev, &sparse.Pattern{Rows: 4, Cols: 5, RowPtr: []int64{0, 2, 2, 5, 7}, ColIdx: []int32{4, 0, 1, 2, 3, 0, 4}})
	o.a, o.b = zeros[T](t, dev, 4, 3), zeros[T](t, dev, 5, 3)
	o.s, o.p = zeros[T](t, dev, 1, 7).Buf, zeros[T](t, dev, 1, 7).Buf
	must(t, o.run(sddmm.Scale))
	return o
}

func (o *sddmmOperands[T]) run(f sddmm.Epilogue) error {
	return o.pl.Run(context.Background(), f, 1, o.s, o.a, o.b, 0, o.p)
}

// with returns the error of a call with one thing changed.
func (o sddmmOperands[T]) with(change func(o *sddmmOperands[T])) error {
	change(&o)
	return o.run(sddmm.Scale)
}

// zeros makes a matrix that the test closes in the end.
func zeros[T Float](t *testing.T, dev device.Device, rows, cols int) *dense.Resident[T] {
	t.Helper()
	m, err := dense.Zeros[T](dev, rows, cols)
	must(t, err)
	t.Cleanup(func() { m.Close() })
	return m
}

func sddmmShapes[T Float](t *testing.T, dev device.Device) {
	o := newSDDMMOperands[T](t, dev)
	type ops = sddmmOperands[T]
	wantShape(t, "A with 5 rows", o.with(func(o *ops) { o.a = zeros[T](t, dev, 5, 3) }), "pattern 4×5", "A 5×3", "A with 4 rows")
	wantShape(t, "B with 4 rows", o.with(func(o *ops) { o.b = zeros[T](t, dev, 4, 3) }), "B 4×3", "B with 5 rows")
	wantShape(t, "B with 2 columns", o.with(func(o *ops) { o.b = zeros[T](t, dev, 5, 2) }), "A 4×3", "B 5×2", "columns")
	wantShape(t, "P with 6 values", o.with(func(o *ops) { o.p = zeros[T](t, dev, 1, 6).Buf }), "P with 6 values", "P with 7 values")
	wantShape(t, "S with 8 values", o.with(func(o *ops) { o.s = zeros[T](t, dev, 1, 8).Buf }), "S with 8 values", "S with 7 values")
	for _, f := range []sddmm.Epilogue{4, 255} {
		if err := o.run(f); err == nil {
			t.Errorf("epilogue %d passed", f)
		}
	}
}

func sddmmClosed[T Float](t *testing.T, dev device.Device) {
	for what, change := range map[string]func(o *sddmmOperands[T]){
		"A":       func(o *sddmmOperands[T]) { o.a.Close() },
		"B":       func(o *sddmmOperands[T]) { o.b.Close() },
		"S":       func(o *sddmmOperands[T]) { o.s.Close() },
		"P":       func(o *sddmmOperands[T]) { o.p.Close() },
		"pattern": func(o *sddmmOperands[T]) { o.pat.Close() },
		"view":    func(o *sddmmOperands[T]) { a := o.a; o.a = a.Columns(3); a.Close() },
	} {
		o := newSDDMMOperands[T](t, dev)
		wantIs(t, what, o.with(change), device.ErrClosed)
	}
	o := newSDDMMOperands[T](t, dev)
	must(t, o.pat.Close())
	must(t, o.pat.Close())
	_, err := sddmm.NewPlan[T](o.pat)
	wantIs(t, "NewPlan", err, device.ErrClosed)
}

func sddmmNil[T Float](t *testing.T, dev device.Device) {
	o := newSDDMMOperands[T](t, dev)
	type ops = sddmmOperands[T]
	wantNil(t, "A", o.with(func(o *ops) { o.a = nil }), "A")
	wantNil(t, "B", o.with(func(o *ops) { o.b = nil }), "B")
	wantNil(t, "P", o.with(func(o *ops) { o.p = nil }), "P")
	wantNil(t, "S", o.with(func(o *ops) { o.s = nil }), "S")
	wantNil(t, "plan", o.with(func(o *ops) { o.pl = &sddmm.Plan[T]{} }), "pattern")
	_, err := sddmm.NewPlan[T](nil)
	wantNil(t, "NewPlan", err, "pattern")
}

func sddmmOtherDevice[T Float](t *testing.T, dev, other device.Device) {
	o, far := newSDDMMOperands[T](t, dev), newSDDMMOperands[T](t, other)
	type ops = sddmmOperands[T]
	wantMismatch(t, "A", o.with(func(o *ops) { o.a = far.a }), "pattern", "A")
	wantMismatch(t, "B", o.with(func(o *ops) { o.b = far.b }), "pattern", "B")
	wantMismatch(t, "P", o.with(func(o *ops) { o.p = far.p }), "pattern", "P")
	wantMismatch(t, "S", o.with(func(o *ops) { o.s = far.s }), "pattern", "S")
	wantMismatch(t, "plan", o.with(func(o *ops) { o.pl = far.pl }), "pattern", "A")
}

func sddmmCancel[T Float](t *testing.T, dev device.Device) {
	p := problem{rows: 30000, cols: 40, length: each(1)}.pattern()
	cancelled(t, dev, 30, func(ctx context.Context, dev device.Device) error {
		pat, err := pattern.Upload(dev, p)
		if err != nil {
			return err
		}
		defer pat.Close()
		if _, ok := dev.(device.Host); ok && len(pat.Work.Units) < 16 {
			t.Fatalf("%d units of work: too few for this test", len(pat.Work.Units))
		}
		pl, err := sddmm.NewPlan[T](pat)
		if err != nil {
			return err
		}
		defer pl.Close()
		a, b := zeros[T](t, dev, p.Rows, 5), zeros[T](t, dev, p.Cols, 5)
		return pl.Run(ctx, sddmm.Dot, 1, nil, a, b, 0, zeros[T](t, dev, 1, int(p.NNZ())).Buf)
	})
}

func sddmmScenario[T Float](dev device.Device) error {
	p := general.pattern()
	pat, err := pattern.Upload(dev, p)
	if err != nil {
		return err
	}
	defer pat.Close()
	pl, err := sddmm.NewPlan[T](pat)
	if err != nil {
		return err
	}
	defer pl.Close()
	const k = 72 // in slices on GPUs
	c := newSDDMM(newRand(5), p, k, sddmm.Scale, scalars{1, 0}, integers[T], true)
	a, err := dense.Upload(dev, c.a)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := dense.Upload(dev, c.b)
	if err != nil {
		return err
	}
	defer b.Close()
	s, err := device.FromHost(dev, c.s.Val)
	if err != nil {
		return err
	}
	defer s.Close()
	out, err := device.Alloc[T](dev, pat.NNZ)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := pl.Run(context.Background(), c.f, c.alpha, s, a, b, c.beta, out); err != nil {
		return err
	}
	if err := out.Download(make([]T, out.Len())); err != nil {
		return err
	}
	return sddmm.Compute(context.Background(), dev, c.f, c.alpha, c.s, c.a, c.b, c.beta, c.prev)
}
