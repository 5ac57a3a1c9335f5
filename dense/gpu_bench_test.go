package dense_test

import (
	"context"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"sddmmkit/backend"
	"sddmmkit/dense"
	"sddmmkit/device"
)

// benchSizes are M×K with 48 million elements: Netflix's users at K = 100, and other K.
var benchSizes = [][2]int{{480_189, 100}, {48_018_900, 1}, {1_500_590, 32}, {46_893, 1024}}

// BenchmarkGPU measures row-wise operations, as the device's own events see them. GB/s counts the elements that an
// operation must read and write, each once; GFLOP/s what the formula says, of Gram one triangle.
//
//	go test -bench GPU/cuda:0/480189x100 ./dense
func BenchmarkGPU(b *testing.B) {
	for _, name := range gpus {
		b.Run(name, func(b *testing.B) {
			dev, err := backend.Open(name, backend.Options{})
			if err != nil {
				b.Skip(err)
			}
			defer dev.Close()
			for _, size := range benchSizes {
				b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
					b.Run("float32", func(b *testing.B) { benchOperations[float32](b, dev, size[0], size[1]) })
					b.Run("float64", func(b *testing.B) { benchOperations[float64](b, dev, size[0], size[1]) })
				})
			}
		})
	}
}

func benchOperations[T dense.Float](b *testing.B, dev device.Device, rows, k int) {
	x, y, z := ones[T](b, dev, rows, k), ones[T](b, dev, rows, k), ones[T](b, dev, rows, k)
	g, sums, w := ones[T](b, dev, k, k), ones[T](b, dev, 1, k), ones[T](b, dev, 1, rows).Buf
	m, n := float64(rows), float64(rows)*float64(k)
	for _, op := range []struct {
		name     string
		elements float64 // read and written
		flops    float64
		run      func(ctx context.Context) error
	}{
		{"Square", 2 * n, 0, func(ctx context.Context) error { return dense.Square(ctx, y, x) }},
		{"ExpDigamma", 2 * n, 0, func(ctx context.Context) error { return dense.ExpDigamma(ctx, y, x) }},
		{"ShiftedQuotient", 3*n + m, 0, func(ctx context.Context) error { return dense.ShiftedQuotient(ctx, y, x, z, w) }},
		{"RepeatDiagonal", n, 0, func(ctx context.Context) error { return dense.RepeatDiagonal(ctx, y, g) }},
		{"CopyColumn", 2 * m, 0, func(ctx context.Context) error { return dense.CopyColumn(ctx, y, k-1, 1, x, k/2) }},
		{"Dot", 2 * n, 0, func(ctx context.Context) error { _, err := dense.Dot(ctx, x.Buf, z.Buf); return err }},
		{"WeightedNorm", n + m, 0, func(ctx context.Context) error { _, err := dense.WeightedNorm(ctx, x, w); return err }},
		{"ColumnSums", n, 0, func(ctx context.Context) error { return dense.ColumnSums(ctx, sums, x) }},
		{"Gram", n, n * float64(k+1), func(ctx context.Context) error { return dense.Gram(ctx, g, x) }},
		{"AddMul", 3 * n, 2 * n * float64(k), func(ctx context.Context) error { return dense.AddMul(ctx, y, 1, x, g) }},
	} {
		b.Run(op.name, func(b *testing.B) { benchOnDevice[T](b, dev, op.elements, op.flops, op.run) })
	}
	b.Run("RowCG.Step", func(b *testing.B) {
		cg, err := dense.NewRowCG(x, w)
		try(b, err)
		defer cg.Close()
		try(b, w.Zero())
		try(b, x.Buf.Zero())
		fill(b, cg.R, 1)
		fill(b, cg.D, 1)
		fill(b, cg.Q, 1)
		_, err = cg.Start(b.Context(), 0)
		try(b, err)
		// So long a direction that a step takes a thousandth of the residual away: no row is ever done.
		fill(b, cg.P, 1000)
		benchOnDevice[T](b, dev, 8*n+m, 0, func(ctx context.Context) error {
			active, err := cg.Step(ctx)
			if err == nil && active != int64(rows) {
				err = fmt.Errorf("%d of %d rows take part", active, rows)
			}
			return err
		})
	})
}

// benchOnDevice times run with events of the device.
func benchOnDevice[T dense.Float](b *testing.B, dev device.Device, elements, flops float64, run func(ctx context.Context) error) {
	try(b, run(b.Context())) // compiles
	var took time.Duration
	for b.Loop() {
		start, err := dev.Stream().Record()
		try(b, err)
		try(b, run(b.Context()))
		end, err := dev.Stream().Record()
		try(b, err)
		d, err := end.Since(start)
		try(b, err)
		took += d
		try(b, start.Close())
		try(b, end.Close())
	}
	each := took.Seconds() / float64(b.N)
	b.ReportMetric(each*1e6, "µs/op")
	b.ReportMetric(elements*float64(unsafe.Sizeof(T(0)))/each/1e9, "GB/s")
	if flops > 0 {
		b.ReportMetric(flops/each/1e9, "GFLOP/s")
	}
}

// ones makes a matrix of ones, which the benchmark's end closes.
func ones[T dense.Float](b *testing.B, dev device.Device, rows, cols int) *dense.Resident[T] {
	b.Helper()
	m, err := dense.Alloc[T](dev, rows, cols)
	try(b, err)
	b.Cleanup(func() { m.Close() })
	fill(b, m, 1)
	return m
}

func fill[T dense.Float](b *testing.B, m *dense.Resident[T], v T) {
	b.Helper()
	all := make([]T, m.Buf.Len())
	for i := range all {
		all[i] = v
	}
	try(b, m.Buf.Upload(all))
}

func try(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
