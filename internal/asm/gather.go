package asm

import "sddmmkit/device"

// Gather returns the inner loop of SDDMM in single precision as a device.Measurer wants it: what is
// measured then is what the operations get.
func Gather() device.Gather {
	kernel := For[float32]().SDDMM
	return device.Gather{
		Name: "sddmm " + Active().String(),
		Read: func(data []float32, row int, idx []int32) {
			const run = 64 // non-zeros of a row
			var p [run]float32
			a := data[:row]
			for len(idx) > 0 {
				n := min(run, len(idx))
				kernel(p[:n], p[:n], a, data, row, idx, Dot, 1, 0)
				idx = idx[n:]
			}
		},
	}
}
