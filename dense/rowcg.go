package dense

import (
	"context"
	"errors"
	"fmt"

	"sddmmkit/device"
	"sddmmkit/internal/asm"
)

// RowCG holds the state of M independent conjugate-gradient iterations, one per row of X, with a
// Jacobi preconditioner. Row i solves
//
//	(H_i + s_i·I)·x_i = b_i
//
// where H_i is symmetric and positive semidefinite and known only through products: before each
// step the caller sets Q_i = H_i·P_i. Scalars are per row, so that one step is one pass over the
// rows. A row whose preconditioned residual has fallen below the tolerance, or whose direction has
// no curvature left, stays as it is.
//
//	cg.Start(ctx, tol)           after R = b − H·X and D = diag(H)
//	repeat: Q = H·P; cg.Step(ctx)
type RowCG[T Float] struct {
	X     *Resident[T]      // M×K, the solution; the caller's
	R     *Resident[T]      // M×K, the residual; set to b − H·X before Start
	P     *Resident[T]      // M×K, the direction
	Q     *Resident[T]      // M×K, H·P, set by the caller before each Step, which may change it
	D     *Resident[T]      // M×K, diag(H), set by the caller before Start, which inverts D + s
	Shift *device.Buffer[T] // M, s; the caller's

	rz    *device.Buffer[float64] // M, ⟨r, z⟩ of each row, −1 once the row is done
	stop  *device.Buffer[float64] // M, the ⟨r, z⟩ at which a row is done
	count *device.Buffer[float64] // on a GPU: rows that are not done, in all and in each block
}

// NewRowCG makes the state for solutions x with shifts s (one per row). x and shift stay the
// caller's; the caller closes the state.
func NewRowCG[T Float](x *Resident[T], shift *device.Buffer[T]) (*RowCG[T], error) {
	if err := device.Check("dense.NewRowCG", x.Operand("X"), shift.Operand("shift")); err != nil {
		return nil, err
	}
	if shift.Len() != int64(x.Rows) {
		return nil, shapeError("dense.NewRowCG", "one shift per row", "X %s, shift of %d elements", x.Shape(), shift.Len())
	}
	cg := &RowCG[T]{X: x, Shift: shift}
	for _, m := range []**Resident[T]{&cg.R, &cg.P, &cg.Q, &cg.D} {
		var err error
		if *m, err = Alloc[T](x.Device(), x.Rows, x.Cols); err != nil {
			cg.Close()
			return nil, fmt.Errorf("conjugate gradients: %w", err)
		}
	}
	counts := int64(1 + rowCGBlocks)
	if _, ok := x.Device().(device.Host); ok {
		counts = 0
	}
	for _, v := range []struct {
		buf **device.Buffer[float64]
		n   int64
	}{{&cg.rz, int64(x.Rows)}, {&cg.stop, int64(x.Rows)}, {&cg.count, counts}} {
		var err error
		if *v.buf, err = device.Alloc[float64](x.Device(), v.n); err != nil {
			cg.Close()
			return nil, fmt.Errorf("conjugate gradients: %w", err)
		}
	}
	return cg, nil
}

// Close frees what NewRowCG made. Closing nil or closing again does nothing.
func (cg *RowCG[T]) Close() error {
	if cg == nil {
		return nil
	}
	return errors.Join(cg.R.Close(), cg.P.Close(), cg.Q.Close(), cg.D.Close(), cg.rz.Close(), cg.stop.Close(), cg.count.Close())
}

// Start begins the iteration: R becomes R − s·X, D becomes 1/(D + s), and P = D∘R. A row is done when ⟨r, D∘r⟩ falls to
// tol²·max(⟨r, D∘r⟩ at the start, ⟨x, x/D⟩): relative to the first residual, or to the solution where a
// good start makes the first residual small. It returns the number of rows that are not done.
func (cg *RowCG[T]) Start(ctx context.Context, tol float64) (active int64, err error) {
	h, l, err := on("dense.RowCG.Start", cg.X.Operand("X"), cg.Shift.Operand("shift"), cg.R.Operand("R"))
	if err != nil {
		return 0, err
	}
	if l != nil {
		return cg.startOnGPU(ctx, l, tol)
	}
	xm, rm, pm, dm := cg.X.Host(), cg.R.Host(), cg.P.Host(), cg.D.Host()
	shift, rz, stop := cg.Shift.Host(), cg.rz.Host(), cg.stop.Host()
	loops := asm.For[T]().CG
	return countRows(ctx, h, cg.X, func(lo, hi int) (active int) {
		for i := lo; i < hi; i++ {
			p := pm.Row(i)
			sum, scale := loops.Start(xm.Row(i), rm.Row(i), p, dm.Row(i), shift[i])
			stop[i] = tol * tol * max(sum, scale)
			if asm.Settle(&rz[i], sum, stop[i], p) {
				active++
			}
		}
		return active
	})
}

// Step takes one step of every row that is not done, given Q = H·P, and returns the number of
// rows that are not done after it.
func (cg *RowCG[T]) Step(ctx context.Context) (active int64, err error) {
	h, l, err := on("dense.RowCG.Step", cg.X.Operand("X"), cg.Shift.Operand("shift"), cg.R.Operand("R"))
	if err != nil {
		return 0, err
	}
	if l != nil {
		return cg.stepOnGPU(ctx, l)
	}
	xm, rm, pm, qm, dm := cg.X.Host(), cg.R.Host(), cg.P.Host(), cg.Q.Host(), cg.D.Host()
	shift, rz, stop := cg.Shift.Host(), cg.rz.Host(), cg.stop.Host()
	loops := asm.For[T]().CG
	return countRows(ctx, h, cg.X, func(lo, hi int) int {
		return loops.Step(rowsFrom(lo, xm), rowsFrom(lo, rm), rowsFrom(lo, pm), rowsFrom(lo, qm), rowsFrom(lo, dm), shift[lo:hi], rz[lo:hi], stop[lo:hi])
	})
}

// rowsFrom returns the rows of m from one on, as loops take them.
func rowsFrom[T Float](from int, m Matrix[T]) asm.Rows[T] {
	return asm.Rows[T]{Data: m.Data[min(from*m.Stride, len(m.Data)):], K: m.Cols, Stride: m.Stride}
}

// countRows adds up what count returns for blocks of rows [lo, hi).
func countRows[T Float](ctx context.Context, h device.Host, x *Resident[T], count func(lo, hi int) int) (int64, error) {
	n, err := sumBlocks(ctx, h, x.Rows, x.Cols, func(lo, hi int) float64 { return float64(count(lo, hi)) })
	return int64(n), err
}
