package dataset

import (
	"context"
	"errors"
	"io"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// readParquet reads ratings from a Parquet table: a user and an item column of integers or
// strings, and, where there are, a rating column of numbers and a time column of integers or
// timestamps, which stay in the unit of the file. Row groups are decoded in parallel.
//
// The metadata is decoded by parquet-go, the pages here: the library makes room for what a page
// claims to hold, and a few bytes can claim gigabytes.
func readParquet[T sparse.Float](ctx context.Context, name string, r io.ReaderAt, size int64, opt Options) (*Set[T], error) {
	s, err := readTable[T](ctx, name, r, size, opt)
	var pe *ParseError
	if err != nil && ctx.Err() == nil && !errors.As(err, &pe) {
		err = &ParseError{File: name, Err: err}
	}
	return s, err
}

func readTable[T sparse.Float](ctx context.Context, name string, r io.ReaderAt, size int64, opt Options) (*Set[T], error) {
	meta, err := parquetMetadata(r, size)
	if err != nil {
		return nil, err
	}
	t, err := newParquetTable(name, meta, opt.Columns)
	if err != nil {
		return nil, err
	}
	groups := make([]*parquetGroup[T], len(meta.RowGroups))
	errs := make([]error, len(groups))
	err = parallel.Units(ctx, opt.Threads, len(groups), func(g int) {
		groups[g] = &parquetGroup[T]{}
		errs[g] = groups[g].read(ctx, t, r, size, g)
	})
	if err != nil {
		return nil, err
	}
	for _, err := range errs { // the first in the file, whichever came first in time
		if err != nil {
			return nil, err
		}
	}
	return joinGroups(name, t, groups, opt)
}

// joinGroups puts the row groups together in their order and numbers the names over all of them.
func joinGroups[T sparse.Float](name string, t *parquetTable, groups []*parquetGroup[T], opt Options) (*Set[T], error) {
	users, items := newIDTable(), newIDTable()
	if opt.RowIDs != nil {
		users.seed(opt.RowIDs)
	}
	if opt.ColIDs != nil {
		items.seed(opt.ColIDs)
	}
	n := 0
	for _, d := range groups {
		n += len(d.row)
	}
	if n == 0 {
		return nil, noEntries(name, "ratings")
	}
	c := &sparse.COO[T]{Row: make([]int32, 0, n), Col: make([]int32, 0, n), Val: make([]T, 0, n)}
	s := &Set[T]{Name: name, Format: Parquet, COO: c}
	if t.roles[timeRole] != nil {
		s.Time = make([]int64, 0, n)
	}
	for g, d := range groups {
		c.Row = appendMerged(c.Row, d.row, d.users, users)
		c.Col = appendMerged(c.Col, d.col, d.items, items)
		if t.roles[ratingRole] != nil {
			c.Val = append(c.Val, d.val...)
		} else {
			for range d.row {
				c.Val = append(c.Val, 1)
			}
		}
		s.Time = append(s.Time, d.time...)
		groups[g] = nil
	}
	for _, table := range []*idTable{users, items} {
		if err := table.checkCount(name); err != nil {
			return nil, err
		}
	}
	s.Rows, s.Cols = users.ids(opt.RowIDs), items.ids(opt.ColIDs)
	c.Rows, c.Cols = s.Rows.Len(), s.Cols.Len()
	return s, nil
}

// appendMerged appends indices by one table as indices by another.
func appendMerged(dst, index []int32, from, to *idTable) []int32 {
	merged := make([]int32, len(from.names))
	for i, name := range from.names {
		merged[i] = to.merge(name)
	}
	for _, i := range index {
		dst = append(dst, merged[i])
	}
	return dst
}
