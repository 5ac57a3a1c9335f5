package dataset

import (
	"bytes"
	"context"

	"sddmmkit/sparse"
)

// readEdges reads a SNAP edge list: a line "from to [weight]" for each edge, node numbers from
// 0, and comments that start with # or %. Whether there are weights, the first edge says. The
// matrix is square, unless a shape was declared; its size is the largest node number plus one.
func readEdges[T sparse.Float](ctx context.Context, in *text, opt Options) (*Set[T], error) {
	t := &triples{file: in.name, what: [3]string{"source node", "target node", "weight"}, comments: true}
	t.rows, t.cols = opt.limits()
	if opt.Symmetric {
		t.mirror = sameMirror
		t.rows = min(t.rows, t.cols)
		t.cols = t.rows
	}
	head, whole, _ := in.sample()
	if s := takeSample(head, whole); len(s.lines) > 0 && len(bytes.Fields(s.lines[0])) == 3 {
		t.value = realValue
	}
	parts, err := collect(ctx, in, opt.Threads, func() parser[T] { return triplesParser[T](t) }, nil)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, noEntries(in.name, "edges")
	}
	coo, _, err := join(ctx, opt.Threads, parts)
	if err != nil {
		return nil, err
	}
	n := max(extent(coo.Row), extent(coo.Col))
	coo.Rows, coo.Cols = n, n
	if opt.Rows > 0 {
		coo.Rows = opt.Rows
	}
	if opt.Cols > 0 {
		coo.Cols = opt.Cols
	}
	return &Set[T]{COO: coo}, nil
}
