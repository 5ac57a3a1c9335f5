package sddmm

import (
	"context"
	"math"
	"unsafe"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/sddmm/kernels"
)

// launch is the path of devices that run kernels. It returns when the work is on the device's stream.
func (pl *Plan[T]) launch(ctx context.Context, dev device.Launcher, f Epilogue, alpha T, s *device.Buffer[T], a, b operand, beta T, p *device.Buffer[T]) error {
	if err := ctx.Err(); err != nil || pl.pat.NNZ == 0 {
		return err
	}
	nnz := pl.pat.NNZ
	if alpha == 0 {
		kernel, err := pl.kernels.Load(dev, kernels.Scale(dialect.TypeOf[T]()))
		if err != nil {
			return err
		}
		return kernel.Launch(dialect.Blocks(nnz, kernels.Threads), kernels.Threads, 0, device.Value(nnz), device.Value(beta), p.Arg())
	}
	call := &launchCall[T]{dev: dev, f: f, alpha: alpha, beta: beta, s: s, p: p, a: a, b: b}
	if t, err := pl.tuning(ctx, a, b); err != nil {
		return err
	} else if t != nil {
		return pl.try(call, t)
	}
	scheme, err := pl.scheme(ctx, a, b)
	if err != nil {
		return err
	}
	return pl.launchScheme(call, scheme)
}

// launchScheme launches the kernels of a scheme.
func (pl *Plan[T]) launchScheme(c *launchCall[T], s scheme) error {
	if s.shared != nil {
		return pl.launchShared(c, s)
	}
	t, err := pl.gathering()
	if err != nil {
		return err
	}
	return pl.gather(c, t)
}

// launchCall is one call on a device that runs kernels.
type launchCall[T Float] struct {
	dev         device.Launcher
	f           Epilogue
	alpha, beta T
	s, p        *device.Buffer[T]
	a, b        operand
}

// operand is A or B as kernels take it.
type operand struct {
	elem    string // type of an element: one of dialect.Types
	size    int    // of an element, bytes
	cols    int
	aligned bool  // all rows start at multiples of 16 bytes
	bytes   int64 // from a row to the next

	from func(lo int) device.Arg // the matrix from column lo on
}

func operandOf[E device.Real](m *dense.Resident[E]) operand {
	size := int(unsafe.Sizeof(E(0)))
	return operand{dialect.TypeOf[E](), size, m.Cols, m.Aligned(), int64(m.Stride) * int64(size),
		func(lo int) device.Arg { return m.ColumnRange(lo, m.Cols).Buf.Arg() }}
}

// gathering is a pattern whose rows of B are read from wherever they are cached. Non-zero j is value at[j], or value j
// without at. There is either rows, the row of each non-zero, or rowPtr and starts.
type gathering struct {
	nnz            int64
	rowPtr, at     *device.Buffer[int64]
	colIdx, starts *device.Buffer[int32]
	rows           *device.Buffer[int32]
}

// shortRows is the non-zeros of a row, on average, below which gathering is told the row of each non-zero: 4 bytes and both
// rows for each cost less than to wait at the end of every row. On an H200 it is 1.4 times as fast for rows of 5 and as fast for
// rows of 100.
const shortRows = 32

// pairs reports whether the pattern's rows are short.
func (pl *Plan[T]) pairs() bool { return short(pl.pat.Rows, pl.pat.NNZ) }

func short(rows int, nnz int64) bool { return nnz < shortRows*int64(rows) }

// gathering returns the plan's whole pattern.
func (pl *Plan[T]) gathering() (*gathering, error) {
	t := &gathering{nnz: pl.pat.NNZ, colIdx: pl.pat.ColIdx}
	l, err := pl.pat.Launches()
	if err != nil {
		return nil, err
	}
	if pl.pairs() {
		t.rows, err = l.EntryRows()
		return t, err
	}
	t.rowPtr, t.starts = pl.pat.RowPtr, l.Starts
	return t, nil
}

// Slices of K around those that a launch is for, as slices.h says.
const (
	later = 1 << iota // there are some before
	more              // there are some to come
)

// gather launches the kernel that reads rows of B from wherever they are cached: for one slice of K after the other, or for all
// where all warps run at a time, which saves starting and ending in between.
func (pl *Plan[T]) gather(c *launchCall[T], t *gathering) error {
	v := kernels.NewGather(c.a.elem, c.a.cols, vectors(c.a, c.b), t.rows != nil)
	kernel, err := pl.kernels.Load(c.dev, v.Variant())
	if err != nil {
		return err
	}
	k, run := c.a.cols, v.Run(t.nnz, c.dev.Props().Units)
	if k > v.Slice() {
		if err := pl.reserveDots(t.nnz); err != nil {
			return err
		}
	}
	each := v.Slice() // of K, for a launch
	if v.Waves(t.nnz, c.dev.Props().Units) == 1 {
		each = max(k, each)
	}
	index := []device.Arg{t.rows.Arg(), t.colIdx.Arg()}
	if t.rows == nil {
		index = []device.Arg{t.rowPtr.Arg(), t.colIdx.Arg(), t.starts.Arg()}
	}
	for lo := 0; lo == 0 || lo < k; lo += each {
		hi, slices := min(lo+each, k), int32(0)
		if lo > 0 {
			slices |= later
		}
		if hi < k {
			slices |= more
		}
		args := make([]device.Arg, 0, 7+len(index)+8) // at once: a host launches small patterns one after the other
		args = append(args, device.Value(t.nnz), device.Value(int32(run)), device.Value(int32(hi-lo)), device.Value(slices),
			device.Value(int32(c.f)), device.Value(c.alpha), device.Value(c.beta))
		args = append(args, index...)
		args = append(args, t.at.Arg(), c.s.Arg(),
			c.a.from(lo), stride(v, c.a), c.b.from(lo), stride(v, c.b), c.p.Arg(), pl.dots.Arg())
		if err := kernel.Launch(dialect.Blocks(t.nnz, int64(run)*kernels.Warps), kernels.GatherThreads, 0, args...); err != nil {
			return err
		}
	}
	return nil
}

// vectors reports whether kernels may load 16 bytes at a time, which take rows that are less than 2³¹ bytes apart.
func vectors(a, b operand) bool {
	return a.aligned && b.aligned && max(a.bytes, b.bytes) <= math.MaxInt32
}

// stride is the bytes from a row to the next as a kernel takes them: STRIDE in slices.h.
func stride(v kernels.Gather, m operand) device.Arg {
	if v.Vector == 1 {
		return device.Value(m.bytes)
	}
	return device.Value(int32(m.bytes))
}

// Kernel names the kernel that Run or RunMixed launches for a and b on a GPU, of several the one with the most work; it is
// empty on the CPU. It plans as they do.
func Kernel[T Float, E device.Real](pl *Plan[T], a, b *dense.Resident[E]) string {
	if _, ok := pl.pat.Device().(device.Launcher); !ok {
		return ""
	}
	oa, ob := operandOf(a), operandOf(b)
	if s, err := pl.scheme(context.Background(), oa, ob); err == nil && s.shared != nil {
		if s.shared.ShareCount == 0 && s.shared.Dense.Len() > 0 {
			return kernels.Dense(oa.elem).Name
		}
		return kernels.NewTile(oa.elem, s.tile.Tk).Name()
	}
	return kernels.NewGather(oa.elem, oa.cols, vectors(oa, ob), pl.pairs()).Name()
}
