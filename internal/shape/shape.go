// Package shape holds the one error for operands that do not fit each other. Packages sparse and
// device publish it under the name ShapeError, so that errors.As finds it wherever it comes from.
package shape

import "fmt"

// Error says that the operands of an operation do not fit each other.
type Error struct {
	Op       string // the operation: "sddmm.Run"
	Operands string // with their sizes: "pattern 3×4, A 2×8, B 4×8"
	Want     string // what was expected: "A with 3 rows"
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: operands do not fit: %s; want %s", e.Op, e.Operands, e.Want)
}
