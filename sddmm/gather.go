package sddmm

import (
	"sddmmkit/device"
	"sddmmkit/internal/asm"
)

// Gather returns the inner loop of the CPU path as a device.Measurer wants it.
func Gather() device.Gather { return asm.Gather() }
