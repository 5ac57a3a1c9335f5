package sddmm

import (
	"sddmmkit/device"
	"sddmmkit/internal/asm"
)

// Gather returns SDDMM's inner loop in single precision as a device.Measurer wants it: what is measured
// then is what this package gets.
func Gather() device.Gather {
	kernel := asm.For[float32]().SDDMM
	return device.Gather{
		Name: "sddmm " + asm.Active().String(),
		Read: func(data []float32, row int, idx []int32) {
			const run = 64 // non-zeros of a row
			var p [run]float32
			a := data[:row]
			for len(idx) > 0 {
				n := min(run, len(idx))
				kernel(p[:n], p[:n], a, data, row, idx, asm.Dot, 1, 0)
				idx = idx[n:]
			}
		},
	}
}
