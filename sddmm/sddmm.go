package sddmm

import (
	"context"
	"errors"
	"fmt"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
)

// Float is the element type.
type Float interface{ float32 | float64 }

// Epilogue is the function f of a value of S and a dot product.
type Epilogue uint8

// The epilogues; see the package comment.
const (
	Dot Epilogue = iota
	Scale
	Residual
	Quotient
	epilogues // their number
)

func (f Epilogue) String() string {
	if f < epilogues {
		return [...]string{"dot", "scale", "residual", "quotient"}[f]
	}
	return fmt.Sprintf("epilogue(%d)", uint8(f))
}

// Plan runs SDDMM on one resident pattern. It is not safe for concurrent use.
type Plan[T Float] struct {
	pat   *pattern.Resident
	tile  *model.Tile           // nil: searched for each K, or chosen on a GPU
	tune  bool                  // try tiles on a GPU
	dots  *device.Buffer[T]     // dot products of a GPU between two kernels, grown on demand
	taken *device.Buffer[int32] // its counter of shares, once needed

	kernels dialect.Kernels // of a GPU
	tunings map[tuneKey]*tuning
}

// NewPlan returns a plan on pat, which stays the caller's and must outlive the plan. The caller closes the plan.
func NewPlan[T Float](pat *pattern.Resident) (*Plan[T], error) {
	if err := device.Check("sddmm.NewPlan", pat.Operand()); err != nil {
		return nil, err
	}
	switch pat.Device().(type) {
	case device.Host, device.Launcher:
	default:
		return nil, &device.Error{Device: pat.Device().Name(), Call: "sddmm.NewPlan", Err: device.ErrUnsupported,
			Detail: fmt.Sprintf("no SDDMM for %s devices in this build", pat.Device().Kind())}
	}
	return &Plan[T]{pat: pat}, nil
}

// Run computes p = α·f(s, ⟨A_i, B_j⟩) + β·p on the plan's pattern. a is M×K, b is N×K; s and p
// have one element per non-zero, in the pattern's order. s may be nil for Dot, and may be p
// itself; p must not share memory with a or b. All operands live on the plan's device.
//
// Where the pattern has many non-zeros for each row of b, a CPU copies b first if its rows do not begin on cache lines, into memory that
// the pattern keeps until it is closed (pattern.Slices).
//
// When ctx is done, Run returns its error within milliseconds and p is undefined.
func (pl *Plan[T]) Run(ctx context.Context, f Epilogue, alpha T, s *device.Buffer[T], a, b *dense.Resident[T], beta T, p *device.Buffer[T]) error {
	if err := check("sddmm.Run", pl, f, s, a, b, p); err != nil {
		return err
	}
	if dev, ok := pl.pat.Device().(device.Launcher); ok {
		return pl.launch(ctx, dev, f, alpha, s, operandOf(a), operandOf(b), beta, p)
	}
	return pl.runHost(ctx, pl.pat.Device().(device.Host), f, alpha, s, a, b, beta, p)
}

// Close frees what the plan has on the device. Closing again does nothing.
func (pl *Plan[T]) Close() error {
	err := errors.Join(pl.dots.Close(), pl.taken.Close())
	pl.dots, pl.taken = nil, nil
	return err
}

func check[T Float, E device.Real](op string, pl *Plan[T], f Epilogue, s *device.Buffer[T], a, b *dense.Resident[E], p *device.Buffer[T]) error {
	if f >= epilogues {
		return fmt.Errorf("%s: %v is no epilogue; want Dot, Scale, Residual or Quotient", op, f)
	}
	if s == nil && f != Dot {
		return fmt.Errorf("%s: S is nil; epilogue %v needs its values", op, f)
	}
	operands := []device.Operand{pl.pat.Operand(), a.Operand("A"), b.Operand("B"), p.Operand("P")}
	if s != nil {
		operands = append(operands, s.Operand("S"))
	}
	if err := device.Check(op, operands...); err != nil {
		return err
	}
	shape := func(want string) error {
		ops := fmt.Sprintf("%s, A %s, B %s, P with %d values", pl.pat.Shape(), a.Shape(), b.Shape(), p.Len())
		if s != nil {
			ops += fmt.Sprintf(", S with %d values", s.Len())
		}
		return &device.ShapeError{Op: op, Operands: ops, Want: want}
	}
	switch {
	case a.Rows != pl.pat.Rows:
		return shape(fmt.Sprintf("A with %d rows", pl.pat.Rows))
	case b.Rows != pl.pat.Cols:
		return shape(fmt.Sprintf("B with %d rows", pl.pat.Cols))
	case a.Cols != b.Cols:
		return shape("A and B with the same number of columns")
	case p.Len() != pl.pat.NNZ:
		return shape(fmt.Sprintf("P with %d values", pl.pat.NNZ))
	case s != nil && s.Len() != pl.pat.NNZ:
		return shape(fmt.Sprintf("S with %d values", pl.pat.NNZ))
	}
	return nil
}

// Compute computes dst = α·f(S, ⟨A_i, B_j⟩) + β·dst for host matrices on device dev; dst has one
// element per non-zero of s and may be s.Val. On the CPU no operand is copied; on other devices
// all are copied there and dst is copied back.
func Compute[T Float](ctx context.Context, dev device.Device, f Epilogue, alpha T, s *sparse.CSR[T], a, b dense.Matrix[T], beta T, dst []T) (err error) {
	if int64(len(s.Val)) != s.NNZ() || int64(len(dst)) != s.NNZ() {
		return &device.ShapeError{Op: "sddmm.Compute",
			Operands: fmt.Sprintf("S %d×%d with %d non-zeros and %d values, dst with %d values", s.Rows, s.Cols, s.NNZ(), len(s.Val), len(dst)),
			Want:     "as many values as non-zeros"}
	}
	pat, err := pattern.Upload(dev, &s.Pattern)
	if err != nil {
		return err
	}
	defer pat.Close()
	pl, err := NewPlan[T](pat)
	if err != nil {
		return err
	}
	defer pl.Close()
	pl.tile = &model.Tile{} // one call does not pay for planning
	ra, err := dense.Place(dev, a)
	if err != nil {
		return fmt.Errorf("sddmm.Compute: A: %w", err)
	}
	defer ra.Close()
	rb, err := dense.Place(dev, b)
	if err != nil {
		return fmt.Errorf("sddmm.Compute: B: %w", err)
	}
	defer rb.Close()
	vals, err := device.Place(dev, s.Val)
	if err != nil {
		return err
	}
	defer vals.Close()
	p, err := device.Place(dev, dst)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := pl.Run(ctx, f, alpha, vals, ra, rb, beta, p); err != nil {
		return err
	}
	if p.Host() == nil {
		return p.Download(dst)
	}
	return nil
}
