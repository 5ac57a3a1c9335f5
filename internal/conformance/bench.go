package conformance

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"unsafe"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/errbound"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
	"sddmmkit/spmm"
)

// benchPattern is a pattern with about a million non-zeros.
type benchPattern struct {
	name   string
	depths []int
	build  func() *sparse.Pattern
}

var benchPatterns = []benchPattern{
	{"uniform", []int{1, 32, 128}, sync.OnceValue(func() *sparse.Pattern {
		const n, perRow = 20_000, 50
		rng := newRand(1)
		return distinct(n, n, func(int) int { return perRow }, func() int32 { return rng.Int32N(n) })
	})},
	// Popularity falls as 1/rank in rows and columns, as in ratings; no row has more than 2500.
	{"skewed", []int{1, 32, 128}, sync.OnceValue(func() *sparse.Pattern {
		const n = 20_000
		rng := newRand(2)
		order := rng.Perm(n)
		return distinct(n, n, func(i int) int { return min(2500, 5+200_000/(1+order[i])) }, func() int32 {
			return int32(math.Pow(n, rng.Float64())) - 1
		})
	})},
	// One row with a million non-zeros among short ones. K = 128 would need a gigabyte for B.
	{"longrow", []int{1, 32}, sync.OnceValue(func() *sparse.Pattern {
		p := &sparse.Pattern{Rows: 101, Cols: 1_000_000, RowPtr: []int64{0}}
		for i := range p.Rows {
			step := p.Cols / 50
			if i == p.Rows/2 {
				step = 1
			}
			for j := 0; j < p.Cols; j += step {
				p.ColIdx = append(p.ColIdx, int32(j))
			}
			p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
		}
		return p
	})},
}

// distinct builds a pattern by drawing columns until each row has enough different ones.
func distinct(rows, cols int, length func(i int) int, draw func() int32) *sparse.Pattern {
	p := &sparse.Pattern{Rows: rows, Cols: cols, RowPtr: make([]int64, 1, rows+1)}
	seen := make([]int, cols)
	for i := range rows {
		for n := length(i); n > 0; {
			if j := draw(); seen[j] != i+1 {
				seen[j] = i + 1
				p.ColIdx = append(p.ColIdx, j)
				n--
			}
		}
		p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
	}
	return p
}

// BenchmarkSDDMM measures Scale on a device opened with 1 and 2 threads, after checking its result.
// It reports GFLOP/s from 2·nnz·K flops, and GB/s from these bytes, wherever they come from:
//
//	nnz·K·size + M·K·size       a row of B per non-zero, each row of A once
//	+ nnz·(4 + 2·size) + 8·M    column, value and result of each non-zero; row pointers
func BenchmarkSDDMM(b *testing.B, open func(threads int) device.Device) {
	forBench(b, open, benchSDDMM[float32], benchSDDMM[float64])
}

// BenchmarkSpMM measures S·B on a device opened with 1 and 2 threads, after checking its result.
// It reports GFLOP/s from 2·nnz·K flops, and GB/s from these bytes, wherever they come from:
//
//	nnz·K·size + M·K·size       a row of B per non-zero, each row of C once
//	+ nnz·(4 + size) + 8·M      column and value of each non-zero; row pointers
func BenchmarkSpMM(b *testing.B, open func(threads int) device.Device) {
	forBench(b, open, benchSpMM[float32], benchSpMM[float64])
}

// forBench runs a benchmark for all patterns, depths, types and numbers of threads.
func forBench(b *testing.B, open func(threads int) device.Device, f32, f64 func(b *testing.B, dev device.Device, p *sparse.Pattern, k int)) {
	for _, bp := range benchPatterns {
		for _, k := range bp.depths {
			for _, threads := range []int{1, 2} {
				dev := open(threads)
				b.Run(fmt.Sprintf("%s/K=%d/float32/threads=%d", bp.name, k, threads), func(b *testing.B) { f32(b, dev, bp.build(), k) })
				b.Run(fmt.Sprintf("%s/K=%d/float64/threads=%d", bp.name, k, threads), func(b *testing.B) { f64(b, dev, bp.build(), k) })
				dev.Close()
			}
		}
	}
}

func benchSDDMM[T Float](b *testing.B, dev device.Device, p *sparse.Pattern, k int) {
	rng := newRand(1)
	s := &sparse.CSR[T]{Pattern: *p, Val: slice(rng, int(p.NNZ()), positives[T])}
	am, bm := matrix(rng, p.Rows, k, reals[T]), matrix(rng, p.Cols, k, reals[T])
	got := make([]T, p.NNZ())
	try(b, sddmm.Compute(b.Context(), dev, sddmm.Scale, 1, s, am, bm, 0, got))
	want, mag := sddmm.Reference(sddmm.Scale, 1, s, am, bm, 0, nil)
	for z := range want {
		if bound := errbound.SDDMM[T](sddmm.Scale, k, 1, float64(s.Val[z]), 0, mag[z], 0, 0); !near(float64(got[z]), want[z], bound) {
			b.Fatalf("value %d is %v, want %v within %.3g", z, got[z], want[z], bound)
		}
	}

	u := newUploads(b, dev, p)
	pl, err := sddmm.NewPlan[T](u.pat)
	try(b, err)
	x, y, in, out := upload(u, am), upload(u, bm), upload(u, values(s.Val)).Buf, upload(u, values(got)).Buf
	measure(b, dev, p, k, int64(unsafe.Sizeof(T(0))), 2, func(ctx context.Context) error {
		return pl.Run(ctx, sddmm.Scale, 1, in, x, y, 0, out)
	})
}

func benchSpMM[T Float](b *testing.B, dev device.Device, p *sparse.Pattern, k int) {
	rng := newRand(1)
	s := &sparse.CSR[T]{Pattern: *p, Val: slice(rng, int(p.NNZ()), reals[T])}
	bm, cm := matrix(rng, p.Cols, k, reals[T]), dense.New[T](p.Rows, k)
	try(b, spmm.Compute(b.Context(), dev, spmm.NoTrans, 1, s, bm, 0, cm))
	want, mag := spmm.Reference(spmm.NoTrans, 1, s, bm, 0, cm)
	for z := range want {
		terms := int(p.RowPtr[z/k+1] - p.RowPtr[z/k])
		if bound := errbound.SpMM[T](terms, mag[z]); !near(float64(cm.Data[z]), want[z], bound) {
			b.Fatalf("element %d is %v, want %v within %.3g", z, cm.Data[z], want[z], bound)
		}
	}

	u := newUploads(b, dev, p)
	pl, err := spmm.NewPlan[T](u.pat)
	try(b, err)
	b.Cleanup(func() { pl.Close() })
	in, x, out := upload(u, values(s.Val)).Buf, upload(u, bm), upload(u, cm)
	measure(b, dev, p, k, int64(unsafe.Sizeof(T(0))), 1, func(ctx context.Context) error {
		return pl.Run(ctx, spmm.NoTrans, 1, in, x, 0, out)
	})
}

// measure times run and reports its rates; values is how many values per non-zero it touches.
func measure(b *testing.B, dev device.Device, p *sparse.Pattern, k int, size, values int64, run func(ctx context.Context) error) {
	nnz := p.NNZ()
	flops := 2 * nnz * int64(k)
	bytes := (nnz+int64(p.Rows))*int64(k)*size + nnz*(4+values*size) + 8*int64(p.Rows)
	for b.Loop() {
		try(b, run(b.Context()))
		try(b, dev.Stream().Synchronize())
	}
	perSecond := float64(b.N) / b.Elapsed().Seconds() / 1e9
	b.ReportMetric(float64(flops)*perSecond, "GFLOP/s")
	b.ReportMetric(float64(bytes)*perSecond, "GB/s")
}

// uploads puts operands on a device and closes them after the benchmark.
type uploads struct {
	b   *testing.B
	dev device.Device
	pat *pattern.Resident
}

func newUploads(b *testing.B, dev device.Device, p *sparse.Pattern) *uploads {
	pat, err := pattern.Upload(dev, p)
	try(b, err)
	b.Cleanup(func() { pat.Close() })
	return &uploads{b, dev, pat}
}

func upload[T Float](u *uploads, m dense.Matrix[T]) *dense.Resident[T] {
	r, err := dense.Upload(u.dev, m)
	try(u.b, err)
	u.b.Cleanup(func() { r.Close() })
	return r
}

func try(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
