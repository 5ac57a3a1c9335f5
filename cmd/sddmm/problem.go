package main

import (
	"context"
	"fmt"
	"time"

	"sddmmkit/dataset"
	"sddmmkit/sparse"
)

// problem is what a solver is given.
type problem[T sparse.Float] struct {
	name   string
	format dataset.Format
	split  string
	merged int64  // entries that were merged with another of the same cell
	floor  number // the best possible test RMSE, where the data were made by a known model

	train            *sparse.CSR[T]
	validation, test *sparse.CSR[T] // nil when there is none
	users, items     []string       // names, nil when they are numbers
	seconds          float64        // that reading and parting took
}

// load reads the data of a plan and parts them. The seed decides what goes where; fits is asked
// about the shape before anything of its size is made.
func load[T sparse.Float](ctx context.Context, p plan, seed uint64, fits func(rows, cols int) error) (*problem[T], error) {
	start := time.Now()
	out := &problem[T]{split: p.split.String(), floor: unknown}
	set, err := readTraining(ctx, p, out)
	if err != nil {
		return nil, err
	}
	if err := fits(set.COO.Rows, set.COO.Cols); err != nil {
		return nil, fmt.Errorf("%s: %w", set.Name, err)
	}
	if set, out.merged, err = set.Merge(p.duplicates, p.read.Threads); err != nil {
		return nil, err
	}
	out.name, out.format = set.Name, set.Format

	var test, validation *dataset.Set[T]
	switch {
	case p.test != "":
		if test, err = readTest(ctx, p, set); err != nil {
			return nil, err
		}
		if err := fits(test.COO.Rows, test.COO.Cols); err != nil {
			return nil, fmt.Errorf("%s: %w", test.Name, err)
		}
		if test, _, err = test.Merge(p.duplicates, p.read.Threads); err != nil {
			return nil, err
		}
		out.split = "files"
	case p.split.by == "random":
		set, test, err = dataset.SplitRandom(set, p.split.fraction, seed)
	case p.split.by == "time":
		set, test, err = dataset.SplitByTime(set, p.split.fraction)
	case p.split.by == "leave":
		set, test, err = dataset.SplitLeaveN(set, p.split.leave, seed)
	}
	if err != nil {
		return nil, err
	}
	if p.validation > 0 {
		// Another seed: the same one would choose by the same stream of random numbers again.
		if set, validation, err = dataset.SplitRandom(set, p.validation, seed+1); err != nil {
			return nil, err
		}
	}
	build := func(s *dataset.Set[T]) *sparse.CSR[T] {
		if s == nil || err != nil {
			return nil
		}
		var m *sparse.CSR[T]
		if m, err = sparse.FromCOO(s.COO, sparse.BuildOptions{Duplicates: p.duplicates, Threads: p.read.Threads}); err != nil {
			err = fmt.Errorf("%s: %w", s.Name, err)
		}
		return m
	}
	out.train, out.validation, out.test = build(set), build(validation), build(test)
	if err != nil {
		return nil, err
	}
	out.users, out.items = names(set.Rows), names(set.Cols)
	out.seconds = time.Since(start).Seconds()
	return out, ctx.Err()
}

// readTraining reads the training matrix and notes the noise of one that was made.
func readTraining[T sparse.Float](ctx context.Context, p plan, out *problem[T]) (*dataset.Set[T], error) {
	if p.source == "" {
		// Always the same set: --seed is for what is done with it.
		set, truth, err := dataset.BuiltIn[T](ctx, 1, p.read.Threads)
		if err == nil {
			out.floor = number(truth.BestRMSE)
		}
		return set, err
	}
	if dataset.IsSpec(p.source) {
		if s, err := dataset.ParseSpec(p.source); err == nil && s.Kind == "ratings" {
			out.floor = number(s.Noise)
		}
	}
	return readSource[T](ctx, p.source, p.read)
}

// readTest reads the test matrix with the ids of the training set, and gives both the same shape:
// users and items that only the test knows become rows and columns without training entries.
func readTest[T sparse.Float](ctx context.Context, p plan, train *dataset.Set[T]) (*dataset.Set[T], error) {
	opt := p.read
	opt.RowIDs, opt.ColIDs = train.Rows, train.Cols
	test, err := readSource[T](ctx, p.test, opt)
	if err != nil {
		return nil, err
	}
	if (test.Rows == nil) != (train.Rows == nil) || (test.Cols == nil) != (train.Cols == nil) {
		return nil, fmt.Errorf("%s has format %s and %s has format %s: one has names and the other has indices; give --format",
			train.Name, train.Format, test.Name, test.Format)
	}
	rows, cols := max(train.COO.Rows, test.COO.Rows), max(train.COO.Cols, test.COO.Cols)
	train.COO.Rows, train.COO.Cols, test.COO.Rows, test.COO.Cols = rows, cols, rows, cols
	train.Rows, train.Cols = test.Rows, test.Cols
	return test, nil
}

func names(ids *dataset.IDs) []string {
	if ids == nil {
		return nil
	}
	return ids.Names()
}

// event is the problem as a JSON event.
func (p *problem[T]) event() dataEvent {
	nnz := func(m *sparse.CSR[T]) int64 {
		if m == nil {
			return 0
		}
		return m.NNZ()
	}
	e := dataEvent{Event: "data", Name: p.name, Format: string(p.format), Rows: p.train.Rows, Cols: p.train.Cols,
		Train: nnz(p.train), Validation: nnz(p.validation), Test: nnz(p.test),
		Merged: p.merged, Split: p.split, NoiseFloor: p.floor, Seconds: p.seconds}
	e.NNZ = e.Train + e.Validation + e.Test
	return e
}
