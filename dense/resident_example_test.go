package dense_test

import (
	"context"
	"fmt"
	"log"

	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/device/cpu"
)

func ExampleGram() {
	dev := cpu.New(0)
	defer dev.Close()

	x, err := dense.Upload(dev, dense.Matrix[float32]{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4, 5, 6}})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	g, err := dense.Zeros[float32](dev, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if err := dense.Gram(context.Background(), g, x); err != nil {
		log.Fatal(err)
	}
	got, err := g.Download()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(got.Row(0), got.Row(1))
	// Output: [35 44] [44 56]
}

// Two systems at once: (diag(1, 2) + 1)·x = (2, 3) and (diag(3, 3) + 0.5)·x = (7, 14).
func ExampleRowCG() {
	dev := cpu.New(0)
	defer dev.Close()
	ctx := context.Background()

	diagonals := []float32{1, 2, 3, 3}
	x, err := dense.Zeros[float32](dev, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	shift, err := device.FromHost(dev, []float32{1, 0.5})
	if err != nil {
		log.Fatal(err)
	}
	defer shift.Close()
	cg, err := dense.NewRowCG(x, shift)
	if err != nil {
		log.Fatal(err)
	}
	defer cg.Close()

	// With x = 0 the first residual b − H·x is b.
	if err := cg.R.Buf.Upload([]float32{2, 3, 7, 14}); err != nil {
		log.Fatal(err)
	}
	if err := cg.D.Buf.Upload(diagonals); err != nil {
		log.Fatal(err)
	}
	active, err := cg.Start(ctx, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	for active > 0 {
		p, err := cg.P.Download()
		if err != nil {
			log.Fatal(err)
		}
		for i, d := range diagonals {
			p.Data[i] *= d // H·P
		}
		if err := cg.Q.Buf.Upload(p.Data); err != nil {
			log.Fatal(err)
		}
		if active, err = cg.Step(ctx); err != nil {
			log.Fatal(err)
		}
	}
	got, err := x.Download()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(got.Row(0), got.Row(1))
	// Output: [1 1] [2 4]
}
