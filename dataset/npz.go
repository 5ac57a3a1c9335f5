package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"sddmmkit/internal/npz"
	"sddmmkit/sparse"
)

// Arrays that WriteFile adds to what scipy.sparse.save_npz writes; scipy ignores them.
const (
	npzRowNames = "row_names"
	npzColNames = "col_names"
	npzTime     = "time"
)

// readNPZ reads a matrix written by scipy.sparse.save_npz (CSR, CSC or COO) or by WriteFile.
// Entries keep the order of the file, duplicates included.
func readNPZ[T sparse.Float](ctx context.Context, name string, r io.ReaderAt, size int64, opt Options) (*Set[T], error) {
	s, err := readMatrixArrays[T](ctx, name, r, size, opt)
	var e *npz.Error
	if errors.As(err, &e) {
		return nil, &ParseError{File: name, Err: errors.New(e.Detail())}
	}
	return s, err
}

func readMatrixArrays[T sparse.Float](ctx context.Context, name string, r io.ReaderAt, size int64, opt Options) (*Set[T], error) {
	f, err := npz.Open(r, size, name)
	if err != nil {
		return nil, err
	}
	n := npzReader{ctx: ctx, file: f, name: name}
	layout := n.layout()
	coo := &sparse.COO[T]{}
	coo.Rows, coo.Cols = n.shape(opt)
	switch layout {
	case "coo":
		coo.Row = n.indices("row", coo.Rows)
		coo.Col = n.indices("col", coo.Cols)
	case "csr":
		ptr := n.pointers(coo.Rows)
		coo.Col = n.indices("indices", coo.Cols)
		coo.Row = n.expand(ptr, len(coo.Col))
	case "csc":
		ptr := n.pointers(coo.Cols)
		coo.Row = n.indices("indices", coo.Rows)
		coo.Col = n.expand(ptr, len(coo.Row))
	}
	if n.err != nil {
		return nil, n.err
	}
	data, err := f.Array("data")
	if err != nil {
		return nil, err
	}
	if len(data.Shape) != 1 {
		return nil, data.Errorf("it has %d axes, want 1", len(data.Shape))
	}
	if coo.Val, err = npz.Floats[T](data); err != nil {
		return nil, err
	}
	if len(coo.Row) != len(coo.Val) || len(coo.Col) != len(coo.Val) {
		return nil, &ParseError{File: name,
			Got:  fmt.Sprintf("%d row indices, %d column indices and %d values", len(coo.Row), len(coo.Col), len(coo.Val)),
			Want: "as many of each"}
	}
	for p, v := range coo.Val {
		if x := float64(v); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, &ParseError{File: name,
				Got:  fmt.Sprintf("value %v in row %d, column %d (entry %d)", v, coo.Row[p], coo.Col[p], p),
				Want: fmt.Sprintf("a finite %T", v)}
		}
	}
	set := &Set[T]{Name: name, Format: NPZ, COO: coo,
		Rows: n.names(npzRowNames, coo.Rows), Cols: n.names(npzColNames, coo.Cols), Time: n.times(len(coo.Val))}
	if n.err == nil && (opt.RowIDs != nil || opt.ColIDs != nil) {
		n.err = set.continueIDs(opt.RowIDs, opt.ColIDs)
	}
	if n.err != nil {
		return nil, n.err
	}
	return set, ctx.Err()
}

// npzReader reads arrays until the first error.
type npzReader struct {
	ctx  context.Context
	file *npz.File
	name string
	err  error
}

func (n *npzReader) fail(err error) {
	if n.err == nil {
		n.err = err
	}
}

func (n *npzReader) array(name string, axes int) *npz.Array {
	if n.err == nil {
		n.err = n.ctx.Err()
	}
	if n.err != nil {
		return nil
	}
	a, err := n.file.Array(name)
	if err == nil && len(a.Shape) != axes {
		err = a.Errorf("it has %d axes, want %d", len(a.Shape), axes)
	}
	if err != nil {
		n.fail(err)
		return nil
	}
	return a
}

// layout returns csr, csc or coo.
func (n *npzReader) layout() string {
	if !n.file.Has("format") {
		n.fail(&ParseError{File: n.name, Got: fmt.Sprintf("an archive of the arrays %q", n.file.Names()),
			Want: `a matrix saved by scipy.sparse.save_npz, with an array "format"`})
		return ""
	}
	a := n.array("format", 0)
	if a == nil {
		return ""
	}
	s, err := npz.Strings(a)
	if err != nil {
		n.fail(err)
		return ""
	}
	switch s[0] {
	case "csr", "csc", "coo":
		return s[0]
	}
	n.fail(&ParseError{File: n.name, Got: fmt.Sprintf("a matrix in scipy's format %q", s[0]),
		Want: "csr, csc or coo: convert it with .tocsr() before saving"})
	return ""
}

// shape returns the size of the matrix, which both the file and the options may give.
func (n *npzReader) shape(opt Options) (rows, cols int) {
	a := n.array("shape", 1)
	if a == nil {
		return 0, 0
	}
	s, err := npz.Ints[int64](a)
	if err != nil {
		n.fail(err)
		return 0, 0
	}
	if len(s) != 2 || min(s[0], s[1]) < 0 || max(s[0], s[1]) > math.MaxInt32 {
		n.fail(&ParseError{File: n.name, Got: fmt.Sprintf("shape %v", s),
			Want: fmt.Sprintf("two sizes from 0 to %d", math.MaxInt32)})
		return 0, 0
	}
	rows, cols = int(s[0]), int(s[1])
	if opt.Rows > 0 && rows != opt.Rows || opt.Cols > 0 && cols != opt.Cols {
		n.fail(&ParseError{File: n.name, Got: fmt.Sprintf("a matrix of %d×%d", rows, cols),
			Want: fmt.Sprintf("the declared shape %d×%d (0 means any)", opt.Rows, opt.Cols)})
	}
	return rows, cols
}

// indices reads an array of indices in [0, limit).
func (n *npzReader) indices(name string, limit int) []int32 {
	a := n.array(name, 1)
	if a == nil {
		return nil
	}
	v, err := npz.Ints[int32](a)
	if err != nil {
		n.fail(err)
		return nil
	}
	for p, i := range v {
		if i < 0 || int(i) >= limit {
			n.fail(a.Errorf("index %d at position %d; want 0 to %d, as shape says", i, p, limit-1))
			return nil
		}
	}
	return v
}

// pointers reads the row or column pointers of a matrix with that many rows or columns.
func (n *npzReader) pointers(major int) []int64 {
	a := n.array("indptr", 1)
	if a == nil {
		return nil
	}
	ptr, err := npz.Ints[int64](a)
	if err == nil {
		switch {
		case len(ptr) != major+1:
			err = a.Errorf("%d pointers; want %d, one more than shape says", len(ptr), major+1)
		case ptr[0] != 0:
			err = a.Errorf("pointer 0 is %d; want 0", ptr[0])
		}
	}
	for i := 1; err == nil && i < len(ptr); i++ {
		if ptr[i] < ptr[i-1] {
			err = a.Errorf("pointer %d is %d, less than the %d before it", i, ptr[i], ptr[i-1])
		}
	}
	if err != nil {
		n.fail(err)
		return nil
	}
	return ptr
}

// expand turns pointers into one index per entry.
func (n *npzReader) expand(ptr []int64, nnz int) []int32 {
	if n.err != nil {
		return nil
	}
	if last := ptr[len(ptr)-1]; last != int64(nnz) {
		n.fail(&ParseError{File: n.name, Got: fmt.Sprintf("a last pointer of %d and %d indices", last, nnz), Want: "as many indices as the last pointer says"})
		return nil
	}
	out := make([]int32, nnz)
	for i := range len(ptr) - 1 {
		for p := ptr[i]; p < ptr[i+1]; p++ {
			out[p] = int32(i)
		}
	}
	return out
}

// names reads an id map that WriteFile added, if there is one.
func (n *npzReader) names(array string, want int) *IDs {
	if n.err != nil || !n.file.Has(array) {
		return nil
	}
	a := n.array(array, 1)
	if a == nil {
		return nil
	}
	v, err := npz.Strings(a)
	if err == nil && len(v) != want {
		err = a.Errorf("%d names; want %d, as shape says", len(v), want)
	}
	if err != nil {
		n.fail(err)
		return nil
	}
	ids := NewIDs(v)
	if _, empty := ids.Index(""); empty || len(ids.index) != len(v) {
		n.fail(a.Errorf("a name is empty or stands there twice"))
		return nil
	}
	return ids
}

// times reads the time of each entry that WriteFile added, if there is one.
func (n *npzReader) times(want int) []int64 {
	if n.err != nil || !n.file.Has(npzTime) {
		return nil
	}
	a := n.array(npzTime, 1)
	if a == nil {
		return nil
	}
	v, err := npz.Ints[int64](a)
	if err == nil && len(v) != want {
		err = a.Errorf("%d times for %d entries", len(v), want)
	}
	if err != nil {
		n.fail(err)
		return nil
	}
	return v
}
