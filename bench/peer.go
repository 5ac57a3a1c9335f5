package bench

import (
	"context"
	"fmt"
	"runtime"

	bowman "github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"sddmmkit/bench/record"
	"sddmmkit/dense"
	"sddmmkit/sddmm"
	"sddmmkit/sparse/interop"
)

// The peers: what a Go program would use otherwise. Both compute in float64.
const (
	Bowman = "james-bowman/sparse" // CSR·dense, which it returns as a CSR; one thread
	Gonum  = "gonum"               // dense matrices: A·Bᵀ, of which the pattern's elements are taken, or S·B
)

// Peers are the names of the peers that can compute an operation.
func Peers(op Op) []string {
	if op == SDDMM {
		return []string{Gonum}
	}
	return []string{Bowman, Gonum}
}

// SkipError says why a peer was not measured.
type SkipError struct{ Peer, Reason string }

func (e *SkipError) Error() string { return fmt.Sprintf("%s was left out: %s", e.Peer, e.Reason) }

// RunPeer measures a peer as Run measures this module, with the same operands, checks and
// clock. memory is the bytes of the machine's memory, 0 when unknown; a peer that would need more than
// half of it is a *SkipError. While gonum runs, GOMAXPROCS is threads.
func RunPeer(ctx context.Context, peer string, threads int, memory int64, m *Matrix[float64], c Case, opt Options) (*record.Record, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Stored != "" {
		return nil, &SkipError{peer, "it has no matrices of " + c.Stored}
	}
	var err error
	if opt.Sampling, err = opt.Sampling.withDefaults(); err != nil {
		return nil, err
	}
	if err := peerFits(peer, memory, m, c); err != nil {
		return nil, err
	}
	runtime.GC()
	p, err := newProblem(nil, m, c, opt.Seed)
	if err != nil {
		return nil, err
	}
	var op *operation[float64]
	switch {
	case peer == Bowman && c.Op != SDDMM:
		op, err = bowmanProduct(p)
		threads = 1
	case peer == Gonum && c.Op == SDDMM:
		op, err = gonumSampled(p)
	case peer == Gonum:
		op, err = gonumProduct(p)
	default:
		return nil, &SkipError{peer, fmt.Sprintf("it does not compute %s", c.Op)}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", peer, err)
	}
	if peer == Gonum {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	}
	rec := newRecord(p, opt.Seed)
	rec.Implementation, rec.Device, rec.Threads, rec.TileBy = peer, "cpu", threads, TileNone
	if _, err := measure(ctx, hostTimer{nothing{}}, opt.Sampling, p, op, rec); err != nil {
		return nil, fmt.Errorf("%s: %w", peer, err)
	}
	_, t := count(m, c, 8)
	bound(rec, opt.Roofline, t)
	return rec, nil
}

// nothing is the queue of what has finished when it returns.
type nothing struct{}

func (nothing) Synchronize() error { return nil }

// peerFits says whether a peer's matrices fit the memory.
func peerFits(peer string, memory int64, m *Matrix[float64], c Case) error {
	rows, cols, nnz, k := float64(m.S.Rows), float64(m.S.Cols), float64(m.S.NNZ()), float64(c.K)
	if m.S.Rows == 0 || m.S.Cols == 0 {
		return &SkipError{peer, "it has no matrices without rows or columns"}
	}
	need := 8 * k * (rows + cols)
	if peer == Bowman {
		need += 16*nnz + 16*k*max(rows, cols) // its indices are ints, and so is the result
	} else {
		need += 8 * rows * cols
	}
	if memory > 0 && need > float64(memory)/2 {
		return &SkipError{peer, fmt.Sprintf("it needs %.3g GB of the machine's %.3g GB", need/1e9, float64(memory)/1e9)}
	}
	return nil
}

// peerOperation is an operation whose result is a slice.
func peerOperation(out []float64, call func()) *operation[float64] {
	return &operation[float64]{
		call: func(ctx context.Context) error {
			call()
			return ctx.Err()
		},
		poison: func() error { setNaN(out); return nil },
		result: func() ([]float64, error) { return out, nil },
		close:  func() error { return nil },
		mark:   nan[float64](),
	}
}

// bowmanProduct multiplies a bowman.CSR, or its transpose made beforehand, by a mat.Dense.
func bowmanProduct(p *problem[float64]) (*operation[float64], error) {
	m := p.m.S
	if p.c.Op == SpMMT {
		m = m.Transpose(0)
	}
	s, err := interop.ToCSR(m)
	if err != nil {
		return nil, err
	}
	b, err := dense.ToGonum(p.b)
	if err != nil {
		return nil, err
	}
	var product bowman.CSR
	out := make([]float64, p.out)
	op := peerOperation(out, func() { product.Mul(s, b) })
	op.poison = func() error { product.Reset(); return nil }
	op.result = func() ([]float64, error) {
		if r, c := product.Dims(); r != m.Rows || c != p.c.K {
			return nil, fmt.Errorf("the product is %d×%d, want %d×%d", r, c, m.Rows, p.c.K)
		}
		clear(out)
		product.DoNonZero(func(i, j int, v float64) { out[i*p.c.K+j] = v })
		return out, nil
	}
	return op, nil
}

// gonumSampled computes the whole of A·Bᵀ and takes the elements of the pattern.
func gonumSampled(p *problem[float64]) (*operation[float64], error) {
	a, err := dense.ToGonum(p.a)
	if err != nil {
		return nil, err
	}
	b, err := dense.ToGonum(p.b)
	if err != nil {
		return nil, err
	}
	s, out := p.m.S, make([]float64, p.out)
	whole := mat.NewDense(s.Rows, s.Cols, nil)
	return peerOperation(out, func() {
		whole.Mul(a, b.T())
		for i := range s.Rows {
			row := whole.RawRowView(i)
			for z := s.RowPtr[i]; z < s.RowPtr[i+1]; z++ {
				d, v := row[s.ColIdx[z]], s.Val[z]
				switch p.c.Epilogue {
				case sddmm.Scale:
					d *= v
				case sddmm.Residual:
					d = v - d
				case sddmm.Quotient:
					d = v / d
				}
				out[z] = d
			}
		}
	}), nil
}

// gonumProduct multiplies S, or Sᵀ, as a dense matrix by B.
func gonumProduct(p *problem[float64]) (*operation[float64], error) {
	s, err := interop.ToDense(p.m.S)
	if err != nil {
		return nil, err
	}
	b, err := dense.ToGonum(p.b)
	if err != nil {
		return nil, err
	}
	var left mat.Matrix = s
	if p.c.Op == SpMMT {
		left = s.T()
	}
	rows, _ := left.Dims()
	out := make([]float64, p.out)
	product := mat.NewDense(rows, p.c.K, out)
	return peerOperation(out, func() { product.Mul(left, b) }), nil
}
