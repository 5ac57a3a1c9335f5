package pattern_test

import (
	"context"
	"fmt"
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/model"
	"sddmmkit/pattern"
)

// BenchmarkSlices copies slices of the rows of matrices of 16 and 268 MB, and rows that do not begin on lines: what reaches the copy, and as much read, counts.
func BenchmarkSlices(b *testing.B) {
	dev := cpu.New(0)
	for _, c := range []struct{ rows, cols, depth int }{{8192, 256, 64}, {8192, 256, 128}, {131072, 256, 64}, {131072, 256, 128}, {100_000, 15, 0}} {
		b.Run(fmt.Sprintf("%dx%d/%d", c.rows, c.cols, c.depth), func(b *testing.B) {
			p := full(64, c.rows)
			r, err := pattern.Upload(dev, p)
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			m, err := device.Alloc[float64](dev, int64(c.rows)*int64(c.cols))
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			slice := func(...pattern.Columns[float64]) error { return nil }
			for b.Loop() {
				if err := pattern.Slices(context.Background(), r, m.Host(), c.rows, c.cols, c.cols, model.Tile{Tk: c.depth}, false, slice); err != nil {
					b.Fatal(err)
				}
			}
			bytes := 2 * c.rows * c.cols * 8
			b.ReportMetric(float64(bytes)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
		})
	}
}
