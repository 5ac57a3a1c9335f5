package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unsafe"

	"sddmmkit/bench/record"
	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/sddmm"
)

// Options say how cases are measured. The zero value has defaults.
type Options struct {
	Sampling
	Seed     uint64   // of the dense operands
	Roofline Roofline // of the device, for this element type; the zero value leaves the share out

	// Cold makes calls on a GPU go to several sets of operands in turn, so many that a set has left the cache before
	// its next turn. Otherwise calls follow each other on one set, and what fits the cache is in it.
	Cold bool

	// Gather measures on a GPU, before a case, how fast it gathers the rows of B and does nothing else.
	Gather bool

	// Machine is the device as the model sees it; nil leaves predictions out.
	Machine *model.Machine
}

// typeName is the name of an element type.
func typeName[T sddmm.Float]() string { return fmt.Sprintf("%T", T(0)) }

// Run measures a case on a device. It checks the result against the formula first, on a sample of rows
// where the matrix is large, and reports a *WrongError and no time when it is off by more than
// the derived bound, or when the last call gave another result than the first.
func Run[T sddmm.Float](ctx context.Context, dev device.Device, m *Matrix[T], c Case, opt Options) (*record.Record, error) {
	s, err := NewSession(dev, m, opt)
	if err != nil {
		return nil, err
	}
	rec, err := s.Run(ctx, c)
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	return rec, nil
}

// newRecord returns a record that says what is computed.
func newRecord[T sddmm.Float](p *problem[T], seed uint64) *record.Record {
	m, c := p.m, p.c
	counts, _ := count(m, c, int64(unsafe.Sizeof(T(0))))
	return &record.Record{Cache: record.Warm, Op: c.Op, Epilogue: c.epilogue(), Matrix: m.Name, Rows: m.S.Rows, Cols: m.S.Cols, NNZ: m.S.NNZ(),
		DataHash: m.Hash, Seed: seed, K: c.K, Type: cmp.Or(c.Stored, typeName[T]()), Counts: counts}
}

// maxSettling is the number of calls after which a plan that still tries tiles is measured as it is.
const maxSettling = 100

// measure checks an operation, times it once it has settled on a tile, which it returns, and checks that
// it still gives the same.
func measure[T sddmm.Float](ctx context.Context, clock timer, s Sampling, p *problem[T], op *operation[T], rec *record.Record) (tile model.Tile, err error) {
	if rec.Accuracy, err = first(ctx, p, op); err != nil {
		return tile, err
	}
	calls := 1
	for settled := op.tile == nil; !settled && calls < maxSettling; {
		if tile, settled, err = op.tile(ctx); err != nil {
			return tile, err
		}
		if !settled {
			calls++
			if err := op.call(ctx); err != nil {
				return tile, err
			}
		}
	}
	t, err := s.take(ctx, clock, func() error { return op.call(ctx) })
	if err != nil {
		return tile, err
	}
	if err := again(p, op, rec.Accuracy); err != nil {
		return tile, err
	}
	rec.Tile, rec.OperandSets = TileText(tile), len(op.each())
	if op.kernel != nil {
		rec.Kernel = op.kernel()
	}
	complete(rec, t, calls, clock.name())
	return tile, nil
}

// first runs an operation for the first time and checks its result, and where calls go to several in turn, all of
// them and theirs.
func first[T sddmm.Float](ctx context.Context, p *problem[T], op *operation[T]) (acc record.Accuracy, err error) {
	for i, one := range op.each() {
		if err := one.poison(); err != nil {
			return record.Accuracy{}, err
		}
		if err := one.call(ctx); err != nil {
			return record.Accuracy{}, err
		}
		if i > 0 {
			if err := same(p, one, acc); err != nil {
				return record.Accuracy{}, err
			}
			continue
		}
		got, err := one.result()
		if err != nil {
			return record.Accuracy{}, err
		}
		if acc, err = p.check(got, one.mark); err != nil {
			return record.Accuracy{}, err
		}
	}
	return acc, nil
}

// again checks that the last result is the same as the first.
func again[T sddmm.Float](p *problem[T], op *operation[T], before record.Accuracy) error {
	for _, one := range op.each() {
		if err := same(p, one, before); err != nil {
			return err
		}
	}
	return nil
}

// same checks a result, which must be the one before to the bit unless the operation varies.
func same[T sddmm.Float](p *problem[T], op *operation[T], before record.Accuracy) error {
	got, err := op.result()
	if err != nil {
		return err
	}
	after, err := p.check(got, op.mark)
	if err != nil {
		return err
	}
	if after != before && !op.varies {
		return fmt.Errorf("%s of %s with K = %d gave another result the last time: the sum of its elements is %v and was %v", p.c.Op, p.m.Name, p.c.K, after.Sum, before.Sum)
	}
	return nil
}

// bound adds what the roofline says to a record.
func bound(r *record.Record, roof Roofline, t traffic) {
	if c := roof.of(r.Counts, t); c.seconds > 0 {
		r.RooflineSeconds, r.RooflineLimit = &c.seconds, c.limit
		r.Summarize()
	}
}

// operandBytes is the size of the operands of a case on a device.
func operandBytes[T sddmm.Float](m *Matrix[T], c Case) int64 {
	size := int64(unsafe.Sizeof(T(0)))
	rows, cols, k, nnz := int64(m.S.Rows), int64(m.S.Cols), int64(c.K), m.S.NNZ()
	gathered, others := cols, rows // rows of B, and of A or C
	if c.Op == SpMMT {
		gathered, others = rows, cols
	}
	stored, each := storedBytes(c, size), size
	if c.Op == SDDMM {
		each = stored
	}
	need := (gathered*stored+others*each)*k + nnz*(4+2*size) + 8*rows
	if c.Op == SpMMT {
		need += nnz*(4+8) + 8*cols // a second index
	}
	return need
}

// fits reports a case whose operands do not fit the memory of a device.
func fits[T sddmm.Float](props device.Props, m *Matrix[T], c Case) error {
	need := operandBytes(m, c)
	if props.MemoryBytes > 0 && need > props.MemoryBytes {
		return fmt.Errorf("%s of %s with K = %d in %s needs %.3g GB, and %s has %.3g GB; take a smaller K or matrix",
			c.Op, m.Name, c.K, typeName[T](), float64(need)/1e9, props.Name, float64(props.MemoryBytes)/1e9)
	}
	return nil
}
