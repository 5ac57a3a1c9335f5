package pattern

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"sddmmkit/device"
	"sddmmkit/internal/parallel"
	"sddmmkit/pattern/kernels"
	"sddmmkit/sparse"
)

// Launches is what kernels on a GPU need of a pattern beside its arrays, all on its device. It belongs to the
// pattern.
type Launches struct {
	// Starts[g] is the row of non-zero StartEvery·g; one more is the row of the last non-zero. It
	// tells threads that begin in the middle where they are.
	Starts *device.Buffer[int32]

	pattern  *Resident
	rows     *device.Buffer[int32]         // once made
	pieces   map[int]*Pieces               // by run
	byColumn map[int]*device.Buffer[int32] // by run
}

// StartEvery is the distance between the non-zeros whose rows Starts holds.
const StartEvery = 32

// Pieces are the rows that runs of Run consecutive non-zeros do not finish, each by itself: rows whose non-zeros
// lie in several runs, and rows without any.
type Pieces struct {
	Run   int
	Runs  int64 // of the pattern, the last of which may be shorter
	Count int64 // rows

	// Rows holds three numbers for each: the row, the run in which it begins, and the one after that in which
	// it ends. A row without non-zeros has equal ones.
	Rows *device.Buffer[int64]
}

// Launches returns what kernels need, made on first use.
func (r *Resident) Launches() (*Launches, error) {
	if r.launches != nil {
		return r.launches, nil
	}
	if r.Rows > math.MaxInt32 {
		return nil, fmt.Errorf("pattern: %d rows; a GPU takes at most %d", r.Rows, math.MaxInt32)
	}
	l := &Launches{pattern: r, pieces: map[int]*Pieces{}, byColumn: map[int]*device.Buffer[int32]{}}
	p, err := r.planner(4 * startCount(r.NNZ))
	if err != nil {
		return nil, err
	}
	if p != nil {
		l.Starts, err = p.starts(r.RowPtr, r.NNZ)
	} else {
		l.Starts, err = device.FromHost(r.dev, starts(r.Host()))
	}
	if err != nil {
		return nil, err
	}
	r.launches = l
	return l, nil
}

// EntryRows returns the row of each non-zero, made on first use. It takes 4 bytes a non-zero.
func (l *Launches) EntryRows() (*device.Buffer[int32], error) {
	if l.rows != nil {
		return l.rows, nil
	}
	r := l.pattern
	p, err := r.planner(4 * r.NNZ)
	if err != nil {
		return nil, err
	}
	if p != nil {
		l.rows, err = p.entryRows(r, l.Starts)
	} else {
		l.rows, err = device.FromHost(r.dev, entryRows(r.Host()))
	}
	if err != nil {
		return nil, fmt.Errorf("pattern: rows of non-zeros: %w", err)
	}
	return l.rows, nil
}

// Pieces returns the rows that runs of run non-zeros do not finish, made on first use.
func (r *Resident) Pieces(run int) (*Pieces, error) {
	l, err := r.Launches()
	if err != nil {
		return nil, err
	}
	if p, ok := l.pieces[run]; ok {
		return p, nil
	}
	p := &Pieces{Run: run, Runs: (r.NNZ + int64(run) - 1) / int64(run)}
	plan, err := r.planner(36 * int64(r.Rows)) // a mark, a place and three numbers a row
	if err != nil {
		return nil, err
	}
	if plan != nil {
		p.Rows, err = plan.pieces(r.RowPtr, int64(run))
	} else {
		p.Rows, err = device.FromHost(r.dev, pieces(r.Host(), int64(run)))
	}
	if err != nil {
		return nil, err
	}
	p.Count = p.Rows.Len() / 3
	l.pieces[run] = p
	return p, nil
}

// ByColumn returns the runs of run consecutive non-zeros, by their numbers, in the order of the column of the non-zero in the middle of
// each, made on first use. Where rows are longer than runs, runs that follow each other there want rows of B that are
// near each other.
func (l *Launches) ByColumn(run int) (*device.Buffer[int32], error) {
	if order, ok := l.byColumn[run]; ok {
		return order, nil
	}
	r := l.pattern
	middle := make([]int64, (r.NNZ+int64(run)-1)/int64(run))
	for g := range middle {
		lo := int64(g) * int64(run)
		middle[g] = (lo + min(lo+int64(run), r.NNZ)) / 2
	}
	p, err := r.planner(sortBytes[int32](int64(len(middle))) + 12*int64(len(middle)))
	if err != nil {
		return nil, err
	}
	var order *device.Buffer[int32]
	if p != nil {
		order, err = p.byColumn(r, middle)
	} else {
		order, err = device.FromHost(r.dev, byColumn(r.Host(), middle))
	}
	if err != nil {
		return nil, fmt.Errorf("pattern: the order of runs: %w", err)
	}
	l.byColumn[run] = order
	return order, nil
}

func (l *Launches) close() error {
	if l == nil {
		return nil
	}
	err := errors.Join(l.Starts.Close(), l.rows.Close())
	for _, order := range l.byColumn {
		err = errors.Join(err, order.Close())
	}
	for _, p := range l.pieces {
		err = errors.Join(err, p.Rows.Close())
	}
	return err
}

// startCount returns the length of Launches.Starts.
func startCount(nnz int64) int64 {
	if nnz == 0 {
		return 0
	}
	return (nnz+StartEvery-1)/StartEvery + 1
}

// starts returns Launches.Starts.
func starts(p *sparse.Pattern) []int32 {
	nnz := p.NNZ()
	if nnz == 0 {
		return nil
	}
	out := make([]int32, startCount(nnz))
	last := len(out) - 1
	parallel.Ranges(0, int64(p.Rows), func(_ int, lo, hi int64) {
		for i := lo; i < hi; i++ {
			from, to := p.RowPtr[i], p.RowPtr[i+1]
			for g := (from + StartEvery - 1) / StartEvery; g*StartEvery < to; g++ {
				out[g] = int32(i)
			}
			if from < nnz && to == nnz {
				out[last] = int32(i)
			}
		}
	})
	return out
}

// entryRows returns what Launches.EntryRows does.
func entryRows(p *sparse.Pattern) []int32 {
	out := make([]int32, p.NNZ())
	parallel.Ranges(0, int64(p.Rows), func(_ int, lo, hi int64) {
		for i := lo; i < hi; i++ {
			for j := p.RowPtr[i]; j < p.RowPtr[i+1]; j++ {
				out[j] = int32(i)
			}
		}
	})
	return out
}

// pieces returns Pieces.Rows.
func pieces(p *sparse.Pattern, run int64) []int64 {
	parts := make([][]int64, parallel.Threads(0))
	parallel.Ranges(len(parts), int64(p.Rows), func(part int, lo, hi int64) {
		for i := lo; i < hi; i++ {
			from, to := p.RowPtr[i], p.RowPtr[i+1]
			switch {
			case from == to:
				parts[part] = append(parts[part], i, 0, 0)
			case from/run != (to-1)/run:
				parts[part] = append(parts[part], i, from/run, (to-1)/run+1)
			}
		}
	})
	return slices.Concat(parts...)
}

// byColumn returns what Launches.ByColumn does, for runs with those non-zeros in the middle.
func byColumn(p *sparse.Pattern, middle []int64) []int32 {
	order := make([]int32, len(middle))
	for g := range order {
		order[g] = int32(g)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(p.ColIdx[middle[a]], p.ColIdx[middle[b]]) })
	return order
}

// byColumn is the function of that name on the device.
func (p *planner) byColumn(r *Resident, middle []int64) (order *device.Buffer[int32], err error) {
	var s scratch
	defer func() { s.close(&err) }()
	at, err := device.FromHost(p.dev, middle)
	if err != nil {
		return nil, err
	}
	s = append(s, at)
	keys, err := temporary[int32](p.dev, &s, at.Len())
	if err != nil {
		return nil, err
	}
	if err := p.launch(kernels.Take("int"), at.Len(), device.Value(at.Len()), r.ColIdx.Arg(), at.Arg(), keys.Arg()); err != nil {
		return nil, err
	}
	sorted, err := sortKeys[int32](p, keys, r.Cols-1, rising)
	if err != nil {
		return nil, err
	}
	s = append(s, sorted.keys)
	return sorted.from, nil
}

// starts is the function of that name on the device.
func (p *planner) starts(rowPtr *device.Buffer[int64], nnz int64) (*device.Buffer[int32], error) {
	out, err := device.Alloc[int32](p.dev, startCount(nnz))
	if err != nil {
		return nil, err
	}
	if err := p.launch(kernels.Starts(), out.Len(), device.Value(nnz), device.Value(int32(rowPtr.Len()-1)), rowPtr.Arg(), out.Arg()); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// entryRows is the function of that name on the device.
func (p *planner) entryRows(r *Resident, starts *device.Buffer[int32]) (*device.Buffer[int32], error) {
	rows, err := device.Alloc[int32](p.dev, r.NNZ)
	if err != nil {
		return nil, err
	}
	if err := p.rowsOf(r, starts, nil, rows); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return rows, nil
}

// rowsOf writes the rows of non-zeros at of r, or of all of them where at is nil.
func (p *planner) rowsOf(r *Resident, starts *device.Buffer[int32], at *device.Buffer[int64], rows *device.Buffer[int32]) error {
	return p.launch(kernels.Rows(), rows.Len(), device.Value(rows.Len()), at.Arg(), r.RowPtr.Arg(), starts.Arg(), rows.Arg())
}

// pieces is the function of that name on the device. It waits for the number of rows.
func (p *planner) pieces(rowPtr *device.Buffer[int64], run int64) (rows *device.Buffer[int64], err error) {
	var s scratch
	defer func() { s.close(&err) }()
	n := rowPtr.Len() - 1
	cut, err := temporary[int32](p.dev, &s, n)
	if err != nil {
		return nil, err
	}
	none := (*device.Buffer[int64])(nil)
	if err := p.launch(kernels.Pieces(), n, device.Value(int32(n)), device.Value(run), rowPtr.Arg(), none.Arg(), cut.Arg(), none.Arg()); err != nil {
		return nil, err
	}
	places, err := p.sum(cut)
	if err != nil {
		return nil, err
	}
	s = append(s, places)
	count := make([]int64, 1)
	if err := places.View(n, n+1).Download(count); err != nil {
		return nil, err
	}
	if rows, err = device.Alloc[int64](p.dev, 3*count[0]); err != nil {
		return nil, err
	}
	if err := p.launch(kernels.Pieces(), n, device.Value(int32(n)), device.Value(run), rowPtr.Arg(), places.Arg(), cut.Arg(), rows.Arg()); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return rows, nil
}
