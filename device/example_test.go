package device_test

import (
	"errors"
	"fmt"
	"log"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
)

func Example() {
	dev := cpu.New(0)
	defer dev.Close()

	b, err := device.FromHost(dev, []float32{1, 2, 3, 4})
	if err != nil {
		log.Fatal(err)
	}
	if err := b.View(1, 3).Zero(); err != nil {
		log.Fatal(err)
	}
	out := make([]float32, b.Len())
	if err := b.Download(out); err != nil {
		log.Fatal(err)
	}
	fmt.Println(out, dev.Usage().Buffers, "open")

	b.Close()
	err = b.Zero()
	fmt.Println(err, errors.Is(err, device.ErrClosed), dev.Usage().Buffers, "open")
	// Output:
	// [1 0 0 4] 1 open
	// cpu: Buffer.Zero: already closed true 0 open
}

// Place uses memory of the host where the device can.
func ExamplePlace() {
	dev := cpu.New(0)
	defer dev.Close()

	mine := []float64{1, 2, 3}
	b, err := device.Place(dev, mine)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	mine[0] = 7
	fmt.Println(b.Host(), dev.Usage().Bytes, "bytes held")
	// Output: [7 2 3] 0 bytes held
}
