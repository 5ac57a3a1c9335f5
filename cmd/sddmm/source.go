package main

import (
	"context"

	"sddmmkit/dataset"
	"sddmmkit/sparse"
)

// checkSource reports a matrix spec that makes no sense; files are looked at when they are read.
func checkSource(flag, source string) error {
	if !dataset.IsSpec(source) {
		return nil
	}
	if _, err := dataset.ParseSpec(source); err != nil {
		return usagef("%s: %v", flag, err)
	}
	return nil
}

// readSource reads the matrix of a file or makes that of a spec.
func readSource[T sparse.Float](ctx context.Context, source string, opt dataset.Options) (*dataset.Set[T], error) {
	if dataset.IsSpec(source) {
		return dataset.Generate[T](ctx, source, opt.Threads)
	}
	return dataset.Read[T](ctx, source, opt)
}
