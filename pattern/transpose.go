package pattern

import (
	"errors"
	"fmt"
	"math"

	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/internal/parallel"
	"sddmmkit/pattern/kernels"
)

// Transposed is the transpose of a pattern. As a Resident it is a pattern like any other, with
// values in its own order; Perm says where its non-zeros stand in the order of the original.
type Transposed struct {
	Resident
	Perm *device.Buffer[int64] // NNZ: non-zero q here is non-zero Perm[q] of the original

	perm []int64 // on the host, where that is made
}

// Transpose returns the transpose of the pattern. It is made on first use, belongs to r and is
// closed with it.
func (r *Resident) Transpose() (*Transposed, error) {
	if err := device.Check("pattern.Transpose", r.Operand()); err != nil {
		return nil, err
	}
	if r.transposed != nil && r.transposed.RowPtr != nil {
		return r.transposed, nil
	}
	t := &Transposed{}
	if err := r.transpose(t); err != nil {
		return nil, fmt.Errorf("pattern.Transpose: %w", err)
	}
	r.transposed = t
	return t, nil
}

// transpose makes t, or leaves nothing behind.
func (r *Resident) transpose(t *Transposed) error {
	plan, err := r.planner(sortBytes[int64](r.NNZ) + 8*int64(r.Cols))
	if err != nil {
		return err
	}
	if plan != nil && r.Rows <= math.MaxInt32 {
		return plan.transpose(r, t)
	}
	p, perm := r.Host().Transpose(r.threads())
	if err := t.place(r.dev, p); err != nil {
		return err
	}
	t.perm = perm
	if t.Perm, err = device.Place(r.dev, perm); err != nil {
		return errors.Join(err, t.Resident.Close())
	}
	return nil
}

// transpose makes t on the device: the columns of r, sorted, are the rows of t.
func (p *planner) transpose(r *Resident, t *Transposed) error {
	launches, err := r.Launches()
	if err != nil {
		return err
	}
	s, err := sortKeys[int64](p, r.ColIdx, r.Cols-1, rising)
	if err != nil {
		return err
	}
	rowPtr, err := lower(p, s.keys, nil, int64(r.Cols)+1)
	if err != nil {
		return errors.Join(err, s.close())
	}
	// The rows of r take the place of its columns.
	if err := p.rowsOf(r, launches.Starts, s.from, s.keys); err != nil {
		return errors.Join(err, rowPtr.Close(), s.close())
	}
	t.Resident = Resident{Rows: r.Cols, Cols: r.Rows, NNZ: r.NNZ, dev: r.dev, RowPtr: rowPtr, ColIdx: s.keys, plans: p}
	t.Perm = s.from
	t.makeHost = func() { t.host, t.perm = r.Host().Transpose(r.threads()) }
	return nil
}

// onHost makes what the transpose has on the host, if it was made on the device.
func (t *Transposed) onHost() []int64 {
	t.Host()
	return t.perm
}

// Gather returns values of the original, on the host, in the order of the transpose.
func Gather[T any](t *Transposed, values []T) []T {
	out, perm := make([]T, len(values)), t.onHost()
	parallel.Ranges(0, int64(len(out)), func(_ int, lo, hi int64) {
		for q := lo; q < hi; q++ {
			out[q] = values[perm[q]]
		}
	})
	return out
}

// Carry returns values of the original in the order of the transpose, in a new buffer that is the caller's.
func Carry[T float32 | float64](t *Transposed, values *device.Buffer[T]) (*device.Buffer[T], error) {
	const op = "pattern.Carry"
	if err := device.Check(op, t.Operand(), values.Operand("values")); err != nil {
		return nil, err
	}
	if values.Len() != t.NNZ {
		return nil, &device.ShapeError{Op: op, Operands: fmt.Sprintf("%s, %d values", t.Shape(), values.Len()), Want: "a value for each non-zero"}
	}
	dev, launches := t.dev.(device.Launcher)
	if from := values.Host(); !launches {
		if from == nil && t.NNZ > 0 {
			return nil, &device.Error{Device: t.dev.Name(), Call: op, Err: device.ErrUnsupported, Detail: "it launches no kernels"}
		}
		return device.FromHost(t.dev, Gather(t, from))
	}
	out, err := device.Alloc[T](dev, t.NNZ)
	if err != nil {
		return nil, err
	}
	take := planner{dev: dev}
	if err := take.launch(kernels.Take(dialect.TypeOf[T]()), t.NNZ, device.Value(t.NNZ), values.Arg(), t.Perm.Arg(), out.Arg()); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// Close frees the transpose and leaves the original open, which makes another one when asked.
// Closing again does nothing.
func (t *Transposed) Close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.Perm.Close(), t.Resident.Close())
}
