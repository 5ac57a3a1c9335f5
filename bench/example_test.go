package bench_test

import (
	"context"
	"fmt"
	"log"

	"sddmmkit/bench"
	"sddmmkit/dataset"
	"sddmmkit/device/cpu"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// Measuring one case. The time depends on the machine; what is counted does not.
func ExampleRun() {
	ctx := context.Background()
	set, err := dataset.Generate[float32](ctx, "uniform:1000x2000:50k", 0)
	if err != nil {
		log.Fatal(err)
	}
	s, err := sparse.FromCOO(set.COO, sparse.BuildOptions{})
	if err != nil {
		log.Fatal(err)
	}
	m, err := bench.NewMatrix(set.Name, s)
	if err != nil {
		log.Fatal(err)
	}
	dev := cpu.New(1)
	defer dev.Close()
	rec, err := bench.Run(ctx, dev, m, bench.Case{Op: bench.SDDMM, Epilogue: sddmm.Scale, K: 32},
		bench.Options{Sampling: bench.Sampling{Samples: 3, Seconds: 0.001}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rec.Op, rec.Matrix, rec.K, rec.Type)
	fmt.Println(rec.Flops, "flops,", rec.Bytes, "bytes,", rec.Compulsory, "of them compulsory")
	fmt.Println("within the bound:", rec.Share <= 1, "- timed:", rec.GFLOPS > 0)
	// Output:
	// sddmm uniform:1000x2000:50000:seed=1 32 float32
	// 3200000 flops, 7136008 bytes, 992008 of them compulsory
	// within the bound: true - timed: true
}
