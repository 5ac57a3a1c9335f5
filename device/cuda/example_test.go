package cuda_test

import (
	"errors"
	"fmt"
	"log"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/device/cuda"
)

// The first GPU, or the CPU where there is none.
func Example() {
	var dev device.Device
	gpu, err := cuda.Open(0)
	switch {
	case err == nil:
		dev = gpu
	case errors.Is(err, device.ErrUnavailable): // the error says what is missing
		dev = cpu.New(0)
	default:
		log.Fatal(err)
	}
	defer dev.Close()

	x, err := device.FromHost(dev, []float32{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	if err := x.View(0, 1).Zero(); err != nil {
		log.Fatal(err)
	}
	out := make([]float32, 3)
	if err := x.Download(out); err != nil {
		log.Fatal(err)
	}
	fmt.Println(out)
	// Output: [0 2 3]
}
