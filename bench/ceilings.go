package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

const (
	gatherRow    = 512     // bytes of a row that is gathered: K = 128 in float32
	lineWords    = 64 / 8  // a cache line as 8-byte words
	beyondCaches = 1 << 28 // bytes that surely do not fit a cache, or 8 times the largest
	ceilingTurns = 7       // of each measurement, of which the fastest counts
	turnSeconds  = 15e-3   // of one turn
)

// MeasureRoofline measures what a CPU can do with the threads of dev, in about a second:
//
//	flops   the faster of SDDMM and SpMM on operands that stay in the L1 cache
//	gather  rows of 512 bytes in random order, of which every line is touched once, from an array of
//	        half the cache in question, or far larger than all caches
//	stream  the same array from front to back
//
// Touching a line rather than reading all of it measures the lines that arrive, whatever the
// instruction set. The fastest of several turns counts: it is a ceiling.
func MeasureRoofline[T sddmm.Float](ctx context.Context, dev device.Host) (Roofline, error) {
	flops, err := peakFlops[T](ctx, dev)
	if err != nil {
		return Roofline{}, err
	}
	props := dev.Props()
	r := Roofline{Flops: flops}
	if props.L1Bytes > 0 {
		r.Levels = append(r.Levels, Level{Name: "L1", Bytes: props.L1Bytes}) // the flops are limited by it
	}
	levels := []struct {
		name         string
		bytes, array int64
	}{{"L2", props.L2Bytes, props.L2Bytes / 2}, {"L3", props.L3Bytes, props.L3Bytes / 2},
		{"memory", 0, max(beyondCaches, 8*props.L2Bytes, 8*props.L3Bytes)}}
	for _, l := range levels {
		if l.array == 0 {
			continue // the size of the cache is not known
		}
		level := Level{Name: l.name, Bytes: l.bytes}
		if level.Gather, level.Stream, err = bandwidth(ctx, dev, l.array); err != nil {
			return Roofline{}, err
		}
		r.Levels = append(r.Levels, level)
	}
	return r, nil
}

// bandwidth measures bytes per second of gathers and streams from an array that all threads read.
func bandwidth(ctx context.Context, dev device.Host, bytes int64) (gather, stream float64, err error) {
	const rowWords = gatherRow / 8
	rows := uint64(1)
	for rows*2*gatherRow <= uint64(bytes) {
		rows *= 2
	}
	array := make([]uint64, rows*rowWords)
	for i := range array {
		array[i] = uint64(i) // so that the memory is really there
	}
	var sink atomic.Uint64 // so that the reads are really done
	random := func(thread int, count uint64) {
		x, sum := uint64(thread)*0x9e3779b97f4a7c15+1, uint64(0)
		for range count {
			x = x*6364136223846793005 + 1442695040888963407
			at := (x >> 33) & (rows - 1) * rowWords
			r := array[at : at+rowWords : at+rowWords]
			sum += r[0] + r[lineWords] + r[2*lineWords] + r[3*lineWords] + r[4*lineWords] + r[5*lineWords] + r[6*lineWords] + r[7*lineWords]
		}
		sink.Add(sum)
	}
	inOrder := func(thread int, count uint64) {
		at, sum := rows/2*uint64(thread)%rows*rowWords, uint64(0)
		for range count {
			r := array[at : at+rowWords : at+rowWords]
			sum += r[0] + r[lineWords] + r[2*lineWords] + r[3*lineWords] + r[4*lineWords] + r[5*lineWords] + r[6*lineWords] + r[7*lineWords]
			if at += rowWords; at == rows*rowWords {
				at = 0
			}
		}
		sink.Add(sum)
	}
	if gather, err = fastest(ctx, dev, random); err != nil {
		return 0, 0, err
	}
	stream, err = fastest(ctx, dev, inOrder)
	return gather, stream, err
}

// fastest returns the bytes per second of the fastest turn of body, which reads count rows in each
// thread.
func fastest(ctx context.Context, dev device.Host, body func(thread int, count uint64)) (float64, error) {
	threads := dev.Threads()
	count, best := uint64(1<<10), 0.0
	for turn := 0; turn < ceilingTurns; {
		start := time.Now()
		if err := dev.Run(ctx, threads, func(t int) { body(t, count) }); err != nil {
			return 0, err
		}
		took := time.Since(start).Seconds()
		if took < turnSeconds/2 && turn == 0 {
			count *= 2 // not yet long enough for a turn
			continue
		}
		turn++
		best = max(best, float64(count)*float64(threads)*gatherRow/took)
	}
	return best, nil
}

// peakFlops returns the flops per second of the faster primitive where B stays in the L1 cache.
func peakFlops[T sddmm.Float](ctx context.Context, dev device.Host) (float64, error) {
	const rows, k = 1024, 128
	cols := 24 << 10 / (k * int(unsafe.Sizeof(T(0)))) // rows of B, 24 KiB in all
	s := &sparse.CSR[T]{Pattern: sparse.Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1), ColIdx: make([]int32, rows*cols)}, Val: make([]T, rows*cols)}
	for i := range rows {
		s.RowPtr[i+1] = int64((i + 1) * cols)
		for j := range cols {
			s.ColIdx[i*cols+j], s.Val[i*cols+j] = int32(j), 1
		}
	}
	m, err := NewMatrix("ceiling", s)
	if err != nil {
		return 0, err
	}
	best := 0.0
	for _, c := range []Case{{Op: SDDMM, K: k}, {Op: SpMM, K: k}} {
		c.Tiling.By = TileNone
		rec, err := Run(ctx, dev, m, c, Options{Sampling: Sampling{Seconds: ceilingTurns * turnSeconds}})
		if err != nil {
			return 0, fmt.Errorf("measuring the peak: %w", err)
		}
		best = max(best, float64(rec.Flops)/rec.Min)
	}
	return best, nil
}
