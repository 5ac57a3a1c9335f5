package dense_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"sddmmkit/dense"
)

// A block of a gonum matrix and the matrix made from it are the same elements.
func ExampleFromGonum() {
	d := mat.NewDense(3, 4, []float64{
		0, 1, 2, 3,
		4, 5, 6, 7,
		8, 9, 10, 11,
	})
	m, err := dense.FromGonum(d.Slice(1, 3, 0, 2).(*mat.Dense))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Rows, m.Cols, m.Stride, m.Row(1))
	m.Set(0, 0, -1)
	fmt.Println(d.At(1, 0))
	// Output:
	// 2 2 4 [8 9]
	// -1
}
