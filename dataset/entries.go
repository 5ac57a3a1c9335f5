package dataset

import (
	"context"
	"fmt"
	"math"
	"slices"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

// entries is what one block of lines holds.
type entries[T sparse.Float] struct {
	row, col []int32
	val      []T     // empty where all values are 1
	time     []int64 // empty where there are no times

	stored int64 // entries as the file counts them: without the mirrored ones of a symmetric matrix
	rows   int64 // lines that are rows, where a line is a row

	users, items []idName // names that row and col refer to, until they are merged
}

func (e *entries[T]) reset() {
	e.row, e.col, e.val, e.time = e.row[:0], e.col[:0], e.val[:0], e.time[:0]
	e.stored, e.rows = 0, 0
	e.users, e.items = nil, nil
}

// clone returns a copy that takes no more memory than it needs.
func (e *entries[T]) clone() entries[T] {
	c := *e
	c.row, c.col = exact(e.row), exact(e.col)
	c.val, c.time = exact(e.val), exact(e.time)
	c.users, c.items = slices.Clone(e.users), slices.Clone(e.items)
	return c
}

// exact returns a copy of s, or nil where s is empty.
func exact[E any](s []E) []E {
	if len(s) == 0 {
		return nil
	}
	c := make([]E, len(s))
	copy(c, s)
	return c
}

// join puts the entries of all blocks together, in order, and takes the parts apart as it goes:
// at most one array lives twice. The shape is left to the caller.
func join[T sparse.Float](ctx context.Context, threads int, parts []entries[T]) (coo *sparse.COO[T], time []int64, err error) {
	at := make([]int64, len(parts)+1)
	for i := range parts {
		at[i+1] = at[i] + int64(len(parts[i].row))
	}
	n := at[len(parts)]
	coo = &sparse.COO[T]{}
	coo.Row, err = joinOne(ctx, threads, parts, at, func(e *entries[T]) *[]int32 { return &e.row })
	if err != nil {
		return nil, nil, err
	}
	coo.Col, err = joinOne(ctx, threads, parts, at, func(e *entries[T]) *[]int32 { return &e.col })
	if err != nil {
		return nil, nil, err
	}
	if n > 0 && parts[0].val != nil {
		coo.Val, err = joinOne(ctx, threads, parts, at, func(e *entries[T]) *[]T { return &e.val })
		if err != nil {
			return nil, nil, err
		}
	} else {
		coo.Val = make([]T, n)
		for i := range coo.Val {
			coo.Val[i] = 1
		}
	}
	if n > 0 && parts[0].time != nil {
		time, err = joinOne(ctx, threads, parts, at, func(e *entries[T]) *[]int64 { return &e.time })
	}
	return coo, time, err
}

func joinOne[T sparse.Float, E any](ctx context.Context, threads int, parts []entries[T], at []int64,
	field func(*entries[T]) *[]E) ([]E, error) {
	all := make([]E, at[len(parts)])
	err := parallel.Units(ctx, threads, len(parts), func(p int) {
		f := field(&parts[p])
		copy(all[at[p]:at[p+1]], *f)
		*f = nil
	})
	return all, err
}

// extent returns the number of rows or columns that indices need: the largest plus one.
func extent(idx []int32) int {
	m := int32(-1)
	for _, i := range idx {
		m = max(m, i)
	}
	return int(m) + 1
}

// shapeOf returns the declared dimension, or the one that indices need where none is declared.
func shapeOf(declared int, idx []int32) int {
	if declared > 0 {
		return declared
	}
	return extent(idx)
}

// limits returns the number of rows and columns that indices may refer to.
func (o *Options) limits() (rows, cols int64) {
	rows, cols = maxIndex+1, maxIndex+1
	if o.Rows > 0 {
		rows = min(rows, int64(o.Rows))
	}
	if o.Cols > 0 {
		cols = min(cols, int64(o.Cols))
	}
	return rows, cols
}

// checkHeaderShape compares the shape that a file's header gives with what is possible and with
// what was declared.
func (o *Options) checkHeaderShape(file string, line, rows, cols int64) error {
	if rows > math.MaxInt32 || cols > math.MaxInt32 {
		return &ParseError{File: file, Line: line, Got: fmt.Sprintf("a matrix of %d×%d", rows, cols),
			Want: fmt.Sprintf("at most %d rows and columns", math.MaxInt32)}
	}
	if o.Rows > 0 && int64(o.Rows) != rows || o.Cols > 0 && int64(o.Cols) != cols {
		return &ParseError{File: file, Line: line, Got: fmt.Sprintf("a matrix of %d×%d", rows, cols),
			Want: fmt.Sprintf("the declared shape %s×%s", orAny(o.Rows), orAny(o.Cols))}
	}
	return nil
}

func orAny(n int) string {
	if n > 0 {
		return fmt.Sprint(n)
	}
	return "any"
}

// noEntries says that a file holds nothing but comments and blank lines.
func noEntries(file, what string) error {
	return &ParseError{File: file, Got: "no " + what, Want: "at least one"}
}
