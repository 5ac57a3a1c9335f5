package record_test

import (
	"fmt"

	"sddmmkit/bench/record"
)

// Comparing two sets of records: the second is twice as fast.
func ExampleCompare() {
	before := []record.Record{{Op: record.SpMM, Matrix: "m", K: 8, Type: "float32", Seconds: []float64{2.0, 2.1, 2.2, 2.1}}}
	after := []record.Record{{Op: record.SpMM, Matrix: "m", K: 8, Type: "float32", Seconds: []float64{1.0, 1.1, 1.05, 1.05}}}
	report := record.Compare(before, after, record.CompareOptions{})
	fmt.Println(report.Mean)
	// Output: 2.000× (1.905–2.100) faster
}
