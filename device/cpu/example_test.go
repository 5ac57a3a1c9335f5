package cpu_test

import (
	"context"
	"fmt"
	"log"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
)

// Memory on the CPU is Go memory, and work is a Go function over units.
func Example() {
	dev := cpu.New(2)
	x, err := device.FromHost(dev, []float32{1, 2, 3, 4})
	if err != nil {
		log.Fatal(err)
	}
	if err := dev.Run(context.Background(), 4, func(unit int) { x.Host()[unit] *= 10 }); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Host(), dev.Usage().Buffers)
	x.Close()
	fmt.Println(dev.Usage().Buffers)
	// Output:
	// [10 20 30 40] 1
	// 0
}
