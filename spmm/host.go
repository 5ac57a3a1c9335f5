package spmm

import (
	"context"
	"time"
	"unsafe"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/asm"
	"sddmmkit/model"
	"sddmmkit/pattern"
)

// hostRun is one call on the CPU: operands as slices, and the non-zeros as one of the two indices of
// S sees them.
type hostRun[T Float] struct {
	rowPtr      []int64
	cols        []int32
	val         []T                  // nil: all ones
	perm        []int64              // nil: val is in the order of cols
	b           []pattern.Columns[T] // that are gathered, and follow each other
	c           dense.Matrix[T]      // as many columns
	scratch     []T
	alpha, beta T
	kernels     asm.Kernels[T]
}

// runHost is the CPU path: whole rows go straight to C, pieces of long rows go to scratch and
// are added up in order afterwards.
func (pl *Plan[T]) runHost(ctx context.Context, host device.Host, op Op, pat *pattern.Resident, perm *device.Buffer[int64], alpha T, s *device.Buffer[T], b *dense.Resident[T], beta T, c *dense.Resident[T]) error {
	if c.Cols == 0 {
		return ctx.Err()
	}
	r := hostRun[T]{
		rowPtr: pat.RowPtr.Host(), cols: pat.ColIdx.Host(),
		c: c.Host(), alpha: alpha, beta: beta,
		kernels: asm.For[T](),
	}
	if s != nil {
		r.val = s.Host()
		if perm != nil {
			r.perm = perm.Host()
		}
	}
	if pl.scratch != nil {
		r.scratch = pl.scratch.Host()
	}
	if alpha == 0 {
		return r.runSlice(ctx, host, pat, model.Tile{})
	}
	tile, report, err := pl.nextTile(ctx, op, c.Cols)
	if err != nil {
		return err
	}
	start := time.Now()
	err = r.runTile(ctx, host, op, pat, b.Host(), tile)
	if report != nil && err == nil {
		report(time.Since(start).Seconds())
	}
	return err
}

// runTile goes over slices of K, one after the other, so that the rows of B of a slice stay in cache.
func (r *hostRun[T]) runTile(ctx context.Context, host device.Host, op Op, pat *pattern.Resident, b dense.Matrix[T], tile model.Tile) error {
	lastApart := op == NoTrans && model.LastApart(model.SpMM, pat.NNZ, b.Rows, b.Cols, int(unsafe.Sizeof(T(0))))
	return pattern.Slices(ctx, pat, b.Data, b.Rows, b.Cols, b.Stride, tile, lastApart, func(slice ...pattern.Columns[T]) error {
		if r.kernels.SpMMRowsLast != nil && len(slice) > 1 && slice[1].Stride != 1 { // not copied, for there was no memory: whole rows give the same bits
			slice[0].Hi = slice[1].Hi
			slice = slice[:1]
		}
		run := r.of(slice)
		if tile.Tj > 0 && len(slice) > 1 && !run.fused() { // a single column is not tiled
			if err := r.of(slice[:1]).runSlice(ctx, host, pat, tile); err != nil {
				return err
			}
			return r.of(slice[1:]).runSlice(ctx, host, pat, model.Tile{})
		}
		if run.c.Cols < r.c.Cols && r.beta == 0 { // else rows of C would have to be copied before as well
			return run.runPacked(ctx, host, pat, tile)
		}
		return run.runSlice(ctx, host, pat, tile)
	})
}

// runPacked computes a slice of K, where that pays in rows that follow each other, from which it copies them to C.
func (r *hostRun[T]) runPacked(ctx context.Context, host device.Host, pat *pattern.Resident, tile model.Tile) error {
	c := pattern.Columns[T]{Lo: r.b[0].Lo, Hi: r.b[0].Lo + r.c.Cols, Data: r.c.Data, Stride: r.c.Stride}
	room, ok, err := pattern.Packed(pat, tile, c)
	if err != nil {
		return err
	}
	if !ok {
		return r.runSlice(ctx, host, pat, tile)
	}
	r.c.Data, r.c.Stride = room.Data, room.Stride
	if err := r.runSlice(ctx, host, pat, tile); err != nil {
		return err
	}
	return pattern.CopyRows(ctx, pat, c, room)
}

// of returns the run for columns of B and C.
func (r *hostRun[T]) of(columns []pattern.Columns[T]) *hostRun[T] {
	s := *r
	s.b, s.c = columns, r.c.Columns(columns[0].Lo, columns[len(columns)-1].Hi)
	return &s
}

// fused reports whether all columns of B go through the inner loop together, though the last one lies apart.
func (r *hostRun[T]) fused() bool { return r.kernels.SpMMRowsLast != nil && len(r.b) == 2 }

// runSlice computes one slice of K, or all of it.
func (r *hostRun[T]) runSlice(ctx context.Context, host device.Host, pat *pattern.Resident, tile model.Tile) error {
	run := func() error { return r.runRows(ctx, host, pat) }
	if tile.Tj > 0 {
		run = func() error { return r.runPanels(ctx, host, pat, tile.Tj) }
	}
	if err := run(); err != nil {
		return err
	}
	return r.addPieces(ctx, host, pat)
}

// runRows does all units of the pattern: whole rows to C, pieces to scratch.
func (r *hostRun[T]) runRows(ctx context.Context, host device.Host, pat *pattern.Resident) error {
	units, near := pat.Work.Units, r.near(host, pat, pat.Cols)
	return host.Run(ctx, len(units), func(unit int) {
		u, collected := units[unit], r.collected()
		if u.Slot >= 0 {
			r.piece(u.Slot, u.Lo, u.Hi, collected)
			return
		}
		for i := u.RowLo; i < u.RowHi; i++ {
			r.start(i)
		}
		for i, end := u.RowLo, 0; i < u.RowHi && r.alpha != 0; i = end {
			if end = r.batch(i, u.RowHi, collected); end == i { // a long row
				end++
				r.addRows(r.c.Row(i), r.cols[r.rowPtr[i]:], r.rowPtr[i], r.rowPtr[end], r.beta == 0, collected)
				continue
			}
			v := r.values(r.rowPtr[i], r.rowPtr[end], collected)
			if r.fused() {
				b := r.b[0]
				r.kernels.SpMMRowsLast(r.rows(i), v, b.Data, b.Stride, r.b[1].Data, r.cols[r.rowPtr[i]:], r.rowPtr[i:end+1], r.alpha, r.beta == 0, near)
				continue
			}
			for _, b := range r.b {
				r.kernels.SpMMRows(r.output(i, b), v, b.Data, b.Stride, r.cols[r.rowPtr[i]:], r.rowPtr[i:end+1], r.alpha, r.beta == 0, near)
			}
		}
	})
}

// near reports whether the given number of rows of B, which may have no columns, are near.
func (r *hostRun[T]) near(host device.Host, pat *pattern.Resident, rows int) bool {
	return len(r.b) > 0 && pat.Near(host, model.SpMM, rows, r.b[0].RowBytes())
}

// batch returns the end of the rows from i on that one call of the inner loop does: all up to end, or as many as have room for
// their values.
func (r *hostRun[T]) batch(i, end int, collected []T) int {
	if collected == nil {
		return end
	}
	most := r.rowPtr[i] + int64(len(collected))
	for i < end && r.rowPtr[i+1] <= most {
		i++
	}
	return i
}

// values returns the values of non-zeros [lo, hi) in order, collected where they are not; nil where all are 1.
func (r *hostRun[T]) values(lo, hi int64, collected []T) []T {
	switch {
	case r.val == nil:
		return nil
	case collected == nil:
		return r.val[lo:hi]
	}
	for z, at := range r.perm[lo:hi] {
		collected[z] = r.val[at]
	}
	return collected[:hi-lo]
}

// rows returns the rows of C from the given one on.
func (r *hostRun[T]) rows(from int) asm.Rows[T] {
	return asm.Rows[T]{Data: r.c.Data[from*r.c.Stride:], K: r.c.Cols, Stride: r.c.Stride}
}

// output returns the rows of C from the given one on, of them the columns that belong to those of B.
func (r *hostRun[T]) output(from int, b pattern.Columns[T]) asm.Rows[T] {
	return asm.Rows[T]{Data: r.c.Data[from*r.c.Stride+b.Lo-r.b[0].Lo:], K: b.Hi - b.Lo, Stride: r.c.Stride}
}

// piece sets the row of scratch of one piece.
func (r *hostRun[T]) piece(slot int, lo, hi int64, collected []T) {
	k := r.c.Cols
	acc := r.scratch[slot*k : (slot+1)*k]
	if r.alpha == 0 {
		clear(acc)
		return
	}
	r.addRows(acc, r.cols[lo:], lo, hi, true, collected)
}

// start sets row i of C to β times itself, unless the first product will set it.
func (r *hostRun[T]) start(i int) {
	if r.alpha == 0 || r.beta != 0 {
		scaleRow(r.c.Row(i), r.beta)
	}
}

// addPieces finishes the rows in pieces.
func (r *hostRun[T]) addPieces(ctx context.Context, host device.Host, pat *pattern.Resident) error {
	k := r.c.Cols
	return host.Run(ctx, len(pat.Work.Split), func(n int) {
		split := pat.Work.Split[n]
		row := r.c.Row(split.Row)
		scaleRow(row, r.beta)
		for slot := split.SlotLo; slot < split.SlotHi; slot++ {
			for j, v := range r.scratch[slot*k : (slot+1)*k] {
				row[j] += v
			}
		}
	})
}

// scaleRow sets row = β·row, and to zero for β = 0 whatever it held.
func scaleRow[T Float](row []T, beta T) {
	switch beta {
	case 0:
		clear(row)
	case 1:
	default:
		for j := range row {
			row[j] *= beta
		}
	}
}

// collected returns room for the values of asm.Stretch non-zeros, or nil where they are in order.
func (r *hostRun[T]) collected() []T {
	if r.val == nil || r.perm == nil {
		return nil
	}
	return make([]T, asm.Stretch)
}

// addRows adds α·Σ s_z·B_cols[z] over the non-zeros [lo, hi) to acc, or sets acc to it. cols are the
// column indices from lo on; rows of B for those behind hi are fetched early. collected is what r.collected
// returns. Rows of at most asm.Narrow elements are added up stretch by stretch also where nothing is collected, so
// that both ways give the same bits.
func (r *hostRun[T]) addRows(acc []T, cols []int32, lo, hi int64, fresh bool, collected []T) {
	if r.fused() {
		row, b := asm.Rows[T]{Data: acc, K: len(acc), Stride: len(acc)}, r.b[0]
		r.kernels.SpMMRowsLast(row, r.values(lo, hi, nil), b.Data, b.Stride, r.b[1].Data, cols, []int64{lo, hi}, r.alpha, fresh, false)
		return
	}
	for _, b := range r.b {
		r.addColumns(acc[b.Lo-r.b[0].Lo:][:b.Hi-b.Lo], b, cols, lo, hi, fresh, collected)
	}
}

// addColumns is addRows for columns of B and the elements of acc that belong to them.
func (r *hostRun[T]) addColumns(acc []T, b pattern.Columns[T], cols []int32, lo, hi int64, fresh bool, collected []T) {
	most := hi - lo
	if collected != nil || len(acc) <= asm.Narrow {
		most = asm.Stretch
	}
	for first := true; first || lo < hi; first = false {
		n := min(hi-lo, most)
		v := r.values(lo, lo+n, collected)
		r.kernels.SpMM(acc, v, b.Data, b.Stride, cols, int(n), r.alpha, fresh && first)
		lo, cols = lo+n, cols[n:]
	}
}
