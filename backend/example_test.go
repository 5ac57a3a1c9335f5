package backend_test

import (
	"fmt"
	"log"

	"sddmmkit/backend"
)

func ExampleOpen() {
	dev, err := backend.Open("cpu", backend.Options{Threads: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	fmt.Println(dev.Name(), dev.Kind(), dev.Props().Threads)

	_, err = backend.Open("abacus", backend.Options{})
	fmt.Println(err != nil)
	// Output:
	// cpu cpu 4
	// true
}
