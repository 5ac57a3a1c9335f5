package spmm

import (
	"context"
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

// Op is S or its transpose.
type Op bool

// The two forms of S.
const (
	NoTrans Op = false
	Trans   Op = true
)

// Plan runs SpMM on one resident pattern. It is not safe for concurrent use.
type Plan[T Float] struct {
	pat     *pattern.Resident
	tile    *model.Tile       // nil: searched for each K
	scratch *device.Buffer[T] // partial sums of rows in pieces, grown on demand

	kernels dialect.Kernels // of a GPU
}

// NewPlan returns a plan on pat, which stays the caller's and must outlive the plan. The caller
// closes the plan.
func NewPlan[T Float](pat *pattern.Resident) (*Plan[T], error) {
	if err := device.Check("spmm.NewPlan", pat.Operand()); err != nil {
		return nil, err
	}
	switch pat.Device().(type) {
	case device.Host, device.Launcher:
	default:
		return nil, &device.Error{Device: pat.Device().Name(), Call: "spmm.NewPlan", Err: device.ErrUnsupported,
			Detail: fmt.Sprintf("no SpMM for %s devices in this build", pat.Device().Kind())}
	}
	return &Plan[T]{pat: pat}, nil
}

// Run computes c = α·op(S)·b + β·c. s has one element per non-zero, in the pattern's order, also
// for Trans; nil means that all are 1. All operands live on the plan's device.
//
// Where the pattern has many non-zeros for each row of b, a CPU copies b first if its rows do not begin on cache lines, into memory that
// the pattern keeps until it is closed (pattern.Slices).
//
// When ctx is done, Run returns its error within milliseconds and c is undefined.
func (pl *Plan[T]) Run(ctx context.Context, op Op, alpha T, s *device.Buffer[T], b *dense.Resident[T], beta T, c *dense.Resident[T]) error {
	if err := check("spmm.Run", pl, op, s, b, c); err != nil {
		return err
	}
	pat, perm, err := pl.index(op)
	if err != nil {
		return err
	}
	if dev, ok := pat.Device().(device.Launcher); ok {
		return launch(ctx, pl, dev, pat, perm, alpha, s, b, beta, c)
	}
	if err := pl.reserve(int64(pat.Work.Slots) * int64(c.Cols)); err != nil {
		return err
	}
	return pl.runHost(ctx, pat.Device().(device.Host), op, pat, perm, alpha, s, b, beta, c)
}

// index returns the pattern of op(S), and where its values stand, nil for in its order.
func (pl *Plan[T]) index(op Op) (pat *pattern.Resident, perm *device.Buffer[int64], err error) {
	if op == NoTrans {
		return pl.pat, nil, nil
	}
	t, err := pl.pat.Transpose()
	if err != nil {
		return nil, nil, err
	}
	return &t.Resident, t.Perm, nil
}

// Close frees the plan's scratch memory. Closing again does nothing.
func (pl *Plan[T]) Close() error {
	err := pl.scratch.Close()
	pl.scratch = nil
	return err
}

// reserve makes room for n elements of scratch.
func (pl *Plan[T]) reserve(n int64) error {
	if n == 0 || pl.scratch != nil && pl.scratch.Len() >= n {
		return nil
	}
	if err := pl.Close(); err != nil {
		return err
	}
	buf, err := device.Alloc[T](pl.pat.Device(), n)
	if err != nil {
		return fmt.Errorf("spmm.Run: partial sums of long rows: %w", err)
	}
	pl.scratch = buf
	return nil
}

func check[T Float, E device.Real](name string, pl *Plan[T], op Op, s *device.Buffer[T], b *dense.Resident[E], c *dense.Resident[T]) error {
	operands := []device.Operand{pl.pat.Operand(), b.Operand("B"), c.Operand("C")}
	if s != nil {
		operands = append(operands, s.Operand("S"))
	}
	if err := device.Check(name, operands...); err != nil {
		return err
	}
	rows, cols, form := pl.pat.Rows, pl.pat.Cols, "S"
	if op == Trans {
		rows, cols, form = cols, rows, "Sᵀ"
	}
	shape := func(want string) error {
		ops := fmt.Sprintf("%s, used as %s, B %s, C %s", pl.pat.Shape(), form, b.Shape(), c.Shape())
		if s != nil {
			ops += fmt.Sprintf(", S with %d values", s.Len())
		}
		return &device.ShapeError{Op: name, Operands: ops, Want: want}
	}
	switch {
	case b.Rows != cols:
		return shape(fmt.Sprintf("B with %d rows", cols))
	case c.Rows != rows:
		return shape(fmt.Sprintf("C with %d rows", rows))
	case b.Cols != c.Cols:
		return shape("B and C with the same number of columns")
	case s != nil && s.Len() != pl.pat.NNZ:
		return shape(fmt.Sprintf("S with %d values", pl.pat.NNZ))
	}
	return nil
}

// Compute computes c = α·op(S)·b + β·c for host matrices on device dev. On the CPU no operand is
// copied; on other devices all are copied there and c is copied back.
func Compute[T Float](ctx context.Context, dev device.Device, op Op, alpha T, s *sparse.CSR[T], b dense.Matrix[T], beta T, c dense.Matrix[T]) error {
	if int64(len(s.Val)) != s.NNZ() {
		return &device.ShapeError{Op: "spmm.Compute",
			Operands: fmt.Sprintf("S %d×%d with %d non-zeros and %d values", s.Rows, s.Cols, s.NNZ(), len(s.Val)),
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
	vals, err := device.Place(dev, s.Val)
	if err != nil {
		return err
	}
	defer vals.Close()
	rb, err := dense.Place(dev, b)
	if err != nil {
		return fmt.Errorf("spmm.Compute: B: %w", err)
	}
	defer rb.Close()
	rc, err := dense.Place(dev, c)
	if err != nil {
		return fmt.Errorf("spmm.Compute: C: %w", err)
	}
	defer rc.Close()
	if err := pl.Run(ctx, op, alpha, vals, rb, beta, rc); err != nil {
		return err
	}
	if rc.Buf.Host() == nil && rc.Buf.Len() > 0 {
		return rc.Buf.Download(c.Data[:rc.Buf.Len()])
	}
	return nil
}
