package conformance

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/errbound"
)

type randT = rand.Rand

func rowCGSuite[T Float](t *testing.T, open Open) {
	t.Run("Cholesky", func(t *testing.T) { rowCGCholesky[T](t, start(t, open)) })
	t.Run("OneColumn", func(t *testing.T) { rowCGOneColumn[T](t, start(t, open)) })
	t.Run("ManyRows", func(t *testing.T) { rowCGManyRows[T](t, start(t, open)) })
	t.Run("Freeze", func(t *testing.T) { rowCGFreeze[T](t, start(t, open)) })
	t.Run("SameBits", func(t *testing.T) { rowCGSameBits[T](t, start(t, open)) })
	t.Run("Errors", func(t *testing.T) { rowCGErrors[T](t, start(t, open)) })
}

// systems are M independent systems (H_i + s_i·I)·x_i = b_i.
type systems[T Float] struct {
	h     [][]float64 // K×K each, row-major, without the shift
	b, x0 dense.Matrix[T]
	shift []T

	wide bool // X begins at multiples of 16 bytes, which GPUs read at a time where K allows
}

// newSystems draws systems whose H is I/2 plus a random Gram matrix over K, so that they are well
// conditioned; the start is zero in even rows and random in odd ones.
func newSystems[T Float](rng *rand.Rand, rows, k int) *systems[T] {
	s := &systems[T]{b: matrix(rng, rows, k, reals[T]), x0: matrix(rng, rows, k, reals[T]), shift: slice(rng, rows, positives[T])}
	for i := range rows {
		g := slice(rng, k*k, reals[float64])
		h := make([]float64, k*k)
		for p := range k {
			for q := range k {
				for r := range k {
					h[p*k+q] += g[r*k+p] * g[r*k+q] / float64(k)
				}
			}
			h[p*k+p] += 0.5
		}
		s.h = append(s.h, h)
		if i%2 == 0 {
			clear(s.x0.Row(i))
		}
	}
	return s
}

// times returns H_i·v.
func (s *systems[T]) times(i int, v []T) []float64 {
	k := len(v)
	out := make([]float64, k)
	for p := range k {
		for q := range k {
			out[p] += s.h[i][p*k+q] * float64(v[q])
		}
	}
	return out
}

// state is a RowCG on a device, with what the caller provides.
type state[T Float] struct {
	*dense.RowCG[T]
	s     *systems[T]
	x     *operand[T]
	shift *operand[T]
}

// begin uploads the systems and sets R and D.
func (s *systems[T]) begin(t *testing.T, dev device.Device) *state[T] {
	t.Helper()
	gap, lead := 2, 1
	if s.wide {
		gap, lead = 4, 4
	}
	st := &state[T]{s: s, x: output(t, dev, s.x0, gap, lead), shift: input(t, dev, values(s.shift), 0, 1)}
	var err error
	st.RowCG, err = dense.NewRowCG(st.x.Resident, st.shift.Buf)
	must(t, err)
	r, d := s.b.Clone(), dense.New[T](s.b.Rows, s.b.Cols)
	for i, k := 0, r.Cols; i < r.Rows; i++ {
		for p, v := range s.times(i, s.x0.Row(i)) {
			r.Set(i, p, T(float64(s.b.At(i, p))-v))
			d.Set(i, p, T(s.h[i][p*k+p]))
		}
	}
	must(t, st.R.Buf.Upload(r.Data))
	must(t, st.D.Buf.Upload(d.Data))
	return st
}

// step sets Q = H·P and takes a step.
func (st *state[T]) step(t *testing.T) int64 {
	t.Helper()
	p, err := st.P.Download()
	must(t, err)
	q := dense.New[T](p.Rows, p.Cols)
	for i := range p.Rows {
		for j, v := range st.s.times(i, p.Row(i)) {
			q.Set(i, j, T(v))
		}
	}
	must(t, st.Q.Buf.Upload(q.Data))
	active, err := st.Step(context.Background())
	must(t, err)
	return active
}

func (st *state[T]) close(t *testing.T) {
	t.Helper()
	st.shift.unchanged(t, "shift")
	must(t, st.Close())
	must(t, st.Close())
	if st.x.Buf.Closed() || st.shift.Buf.Closed() {
		t.Error("closing the state closed the caller's X or shift")
	}
	st.x.close()
	st.shift.close()
}

// cgBound bounds ‖D^½(x−x*)‖ / max(‖D^½x*‖, ‖D^½x₀‖) after CG has stopped by its criterion at tol in
// the given number of steps, where D is the diagonal of A = H + s·I and κ the condition number
// of D^-½·A·D^-½, whose eigenvalues lie between λ and κλ with λ ≤ 1 ≤ κλ.
//
// The criterion is on the residual that CG updates: it is at most tol times the larger of the first
// one, which is at most κλ·(‖D^½x*‖+‖D^½x₀‖), and ‖D^½x₀‖. Dividing by λ gives 2·κ·tol, with 1/λ ≤ κ.
// The true residual drifts away from the updated one: each step rounds a product with A and three
// updates, γ_{K+4} of at most κλ times the size of x, p or r, which never exceed the first error by
// more than √κ; three such vectors are rounded, and again 1/λ ≤ κ.
func cgBound[T Float](k, steps int, cond, tol float64) float64 {
	return 2*cond*tol + 3*float64(steps+1)*errbound.Gamma(k+4, errbound.Unit[T]())*cond*math.Sqrt(cond)*2
}

func rowCGCholesky[T Float](t *testing.T, dev device.Device) {
	tol := math.Sqrt(errbound.Unit[T]()) / 10
	for _, k := range []int{1, 2, 3, 8, 17, 40, 130, 300, 520} {
		if k > 130 && testing.Short() {
			break
		}
		rows := min(30, max(1000/k, 2))
		s := newSystems[T](newRand(uint64(k)), rows, k)
		s.wide = k%4 == 0
		st := s.begin(t, dev)
		active, err := st.Start(context.Background(), tol)
		must(t, err)
		if active != int64(rows) {
			t.Fatalf("K = %d: %d of %d rows begin", k, active, rows)
		}
		// In exact arithmetic K steps are enough; rounding may cost one more.
		steps := 0
		for ; active > 0 && steps <= k; steps++ {
			active = st.step(t)
		}
		if active > 0 {
			t.Fatalf("K = %d: %d rows have not converged to %g after %d steps", k, active, tol, steps)
		}
		x := st.x.read(t, "X")
		for i := range rows {
			a := mat.NewSymDense(k, nil)
			scaled := mat.NewSymDense(k, nil)
			for p := range k {
				for q := p; q < k; q++ {
					v := s.h[i][p*k+q]
					if p == q {
						v += float64(s.shift[i])
					}
					a.SetSym(p, q, v)
				}
			}
			for p := range k {
				for q := p; q < k; q++ {
					scaled.SetSym(p, q, a.At(p, q)/math.Sqrt(a.At(p, p)*a.At(q, q)))
				}
			}
			var chol mat.Cholesky
			if !chol.Factorize(a) {
				t.Fatalf("K = %d: system %d is not positive definite", k, i)
			}
			b := mat.NewVecDense(k, nil)
			for p, v := range s.b.Row(i) {
				b.SetVec(p, float64(v))
			}
			var want mat.VecDense
			must(t, chol.SolveVecTo(&want, b))
			var eigen mat.EigenSym
			eigen.Factorize(scaled, false)
			ev := eigen.Values(nil)
			var off, size, size0 float64
			for p := range k {
				d := a.At(p, p)
				off += d * math.Pow(float64(x.At(i, p))-want.AtVec(p), 2)
				size += d * math.Pow(want.AtVec(p), 2)
				size0 += d * math.Pow(float64(s.x0.At(i, p)), 2)
			}
			got := math.Sqrt(off / max(size, size0))
			if bound := cgBound[T](k, steps, ev[k-1]/ev[0], tol); !(got <= bound) {
				t.Errorf("K = %d, row %d: off by %.3g, want %.3g after %d steps", k, i, got, bound, steps)
			}
		}
		st.close(t)
	}
}

// With one column every system is a division, done in one step.
func rowCGOneColumn[T Float](t *testing.T, dev device.Device) {
	s := &systems[T]{
		h: [][]float64{{2}, {0}, {3.5}, {0.25}},
		b: dense.Matrix[T]{Rows: 4, Cols: 1, Stride: 1, Data: []T{8, 3, 0, -1}}, x0: dense.New[T](4, 1), shift: []T{2, 1.5, 0.5, 0},
	}
	st := s.begin(t, dev)
	active, err := st.Start(context.Background(), 0)
	must(t, err)
	if active != 3 {
		t.Errorf("%d rows begin, want the 3 with b ≠ 0", active)
	}
	if active = st.step(t); active != 0 {
		t.Errorf("%d rows go on after one step", active)
	}
	sameBits(t, "x = b/(h+s)", st.x.read(t, "X").Data, []T{2, 2, 0, -4})
	st.close(t)
}

// So many rows that each block of a GPU takes several, and rows as long as a block of a GPU holds, and longer: H = 3/2·I
// and s = 1/2 make every system a division by two, done in one step, and every third row has nothing to do.
func rowCGManyRows[T Float](t *testing.T, dev device.Device) {
	for _, size := range [][2]int{{1_100_000, 1}, {40_000, 33}, {9_000, 129}, {300_000, 4}, {20_000, 100}, {500, 512}, {500, 516}, {500, 1023}, {500, 1024}, {500, 1028}, {90, 4100}} {
		rows, k := size[0], size[1]
		b := matrix(newRand(uint64(k)), rows, k, reals[T])
		for i := 0; i < rows; i += 3 {
			clear(b.Row(i))
		}
		gap := 1
		if k%4 == 0 {
			gap = 4 // every row begins at a multiple of 16 bytes
		}
		x, shift := output(t, dev, dense.New[T](rows, k), gap, gap), input(t, dev, values(constant(rows, T(0.5))), 0, 1)
		cg, err := dense.NewRowCG(x.Resident, shift.Buf)
		must(t, err)
		must(t, cg.R.Buf.Upload(b.Data))
		must(t, cg.D.Buf.Upload(constant(rows*k, T(1.5))))
		active, err := cg.Start(context.Background(), 1e-3)
		must(t, err)
		if want := rows - (rows+2)/3; active != int64(want) {
			t.Errorf("%v: %d rows begin, want %d", size, active, want)
		}
		p, err := cg.P.Download()
		must(t, err)
		for i := range p.Data {
			p.Data[i] *= 1.5
		}
		must(t, cg.Q.Buf.Upload(p.Data))
		active, err = cg.Step(context.Background())
		must(t, err)
		if active != 0 {
			t.Errorf("%v: %d rows go on after one step", size, active)
		}
		for i := range b.Data {
			b.Data[i] /= 2
		}
		sameBits(t, fmt.Sprintf("%v: x", size), x.read(t, "X").Data, b.Data)
		must(t, cg.Close())
		x.close()
		shift.close()
	}
}

// Rows that cannot or need not be solved stay as they are, to the bit, and so do rows that are done
// while others go on.
func rowCGFreeze[T Float](t *testing.T, dev device.Device) {
	const k = 12
	s := newSystems[T](newRand(9), 12, k)
	nan := T(math.NaN())
	const (
		solved    = 0 // b = 0 and x = 0
		nothing   = 1 // H = 0, s = 0
		negative  = 2 // H = −I: no curvature
		poisoned  = 3 // b is NaN
		diagonal  = 4 // H = I: done after one step
		startNaN  = 5 // x₀ is NaN
		exact     = 6 // x₀ is the solution
		saddle    = 7 // a positive diagonal, but no curvature along b
		nearly    = 8 // x₀ is as near the solution as asked for
		firstFull = 9 // an ordinary system from here on
	)
	clear(s.b.Row(solved))
	clear(s.h[nothing])
	s.shift[nothing] = 0
	clear(s.h[negative])
	clear(s.h[diagonal])
	s.b.Set(poisoned, 3, nan)
	for p := range k {
		s.h[negative][p*k+p] = -1
		s.h[diagonal][p*k+p] = 1
	}
	s.shift[negative] = 0.5
	s.x0.Set(startNaN, 0, nan)
	// H = I, s = 1, x = 2, b = 4.
	for _, i := range []int{exact, nearly} {
		clear(s.h[i])
		s.shift[i] = 1
		for p := range k {
			s.h[i][p*k+p] = 1
			s.x0.Set(i, p, 2)
			s.b.Set(i, p, 4)
		}
	}
	for p := range k {
		s.x0.Set(nearly, p, 2+T(p)/(1<<14))
	}
	// H = 1 on the diagonal and 2 beside it, in pairs: (1, −1) has the eigenvalue −1.
	clear(s.h[saddle])
	s.shift[saddle] = 0
	clear(s.x0.Row(saddle))
	for p := range k {
		s.h[saddle][p*k+p], s.h[saddle][p*k+p^1] = 1, 2
		s.b.Set(saddle, p, T(1-p%2*2))
	}
	st := s.begin(t, dev)
	active, err := st.Start(context.Background(), 1e-3)
	must(t, err)
	if active != 5 {
		t.Errorf("%d rows begin, want the diagonal, the saddle and the three full ones", active)
	}
	active = st.step(t)
	if active != 3 {
		t.Errorf("%d rows go on after one step, want the three full ones", active)
	}
	after := st.x.read(t, "X")
	for n := 0; active > 0 && n < 100; n++ {
		active = st.step(t)
	}
	if active != 0 {
		t.Errorf("%d rows have not converged", active)
	}
	done := st.x.read(t, "X")
	for _, i := range []int{solved, nothing, negative, poisoned, startNaN, exact, saddle, nearly} {
		sameBits(t, fmt.Sprintf("row %d, which cannot or need not be solved,", i), done.Row(i), s.x0.Row(i))
	}
	sameBits(t, "the row that is done after one step", done.Row(diagonal), after.Row(diagonal))
	for i := firstFull; i < done.Rows; i++ {
		for _, v := range done.Row(i) {
			if v != v {
				t.Fatalf("row %d: %v", i, done.Row(i))
			}
		}
	}
	p, err := st.P.Download()
	must(t, err)
	sameBits(t, "the directions of rows that are done", p.Data, make([]T, len(p.Data)))
	sameBits(t, "another step", func() []T { st.step(t); return st.x.read(t, "X").Data }(), done.Data)
	st.close(t)
}

func rowCGSameBits[T Float](t *testing.T, dev device.Device) {
	const rows, k = 4000, 9
	s := newSystems[T](newRand(10), rows, k)
	solve := func(dev device.Device) ([]T, int64) {
		st := s.begin(t, dev)
		defer st.close(t)
		active, err := st.Start(context.Background(), 1e-2)
		must(t, err)
		for range 4 {
			active = st.step(t)
		}
		return st.x.read(t, "X").Data, active
	}
	want, wantActive := solve(dev)
	if wantActive == 0 || wantActive == rows {
		t.Fatalf("%d of %d rows are active: the test does not test what it should", wantActive, rows)
	}
	devices := map[string]device.Device{"again": dev}
	if h, ok := dev.(device.Host); ok {
		for _, n := range []int{1, 2, 3, 8} {
			devices[fmt.Sprint(n, " threads")] = Threaded(h, n)
		}
	}
	for what, d := range devices {
		got, active := solve(d)
		sameBits(t, what, got, want)
		if active != wantActive {
			t.Errorf("%s: %d rows are active, want %d", what, active, wantActive)
		}
	}
}

func rowCGErrors[T Float](t *testing.T, dev device.Device) {
	ctx := context.Background()
	s := newSystems[T](newRand(11), 3, 2)
	_, err := dense.NewRowCG(zeros[T](t, dev, 3, 2), zeros[T](t, dev, 1, 2).Buf)
	wantShape(t, "two shifts", err, "3×2", "2 elements")
	for what, close := range map[string]func(st *state[T]){
		"state": func(st *state[T]) { st.Close() },
		"X":     func(st *state[T]) { st.x.close() },
		"shift": func(st *state[T]) { st.shift.close() },
	} {
		st := s.begin(t, dev)
		close(st)
		_, err := st.Start(ctx, 0.1)
		wantIs(t, "Start with a closed "+what, err, device.ErrClosed)
		_, err = st.Step(ctx)
		wantIs(t, "Step with a closed "+what, err, device.ErrClosed)
		must(t, st.Close())
		st.x.close()
		st.shift.close()
	}
	st := s.begin(t, dev)
	done, cancel := context.WithCancel(ctx)
	cancel()
	_, err = st.Start(done, 0.1)
	wantIs(t, "Start", err, context.Canceled)
	_, err = st.Step(done)
	wantIs(t, "Step", err, context.Canceled)
	st.close(t)
	must(t, (*dense.RowCG[T])(nil).Close())
}
