package device

import (
	"errors"
	"fmt"

	"sddmmkit/internal/shape"
)

// Errors that callers test for with errors.Is.
var (
	ErrUnavailable = errors.New("device not available")
	ErrUnsupported = errors.New("not supported by the device")
	ErrOutOfMemory = errors.New("out of device memory")
	ErrClosed      = errors.New("already closed")
)

// Error is a failure of a device's driver.
type Error struct {
	Device string // "cuda:0"
	Call   string // the driver's function, "cuMemAlloc_v2"
	Code   int    // the driver's code, 0 when there is none
	Name   string // the code's name, "CUDA_ERROR_OUT_OF_MEMORY"
	Detail string // sizes, a compiler's log
	Err    error  // one of the errors above, or nil
}

func (e *Error) Error() string {
	s := e.Device + ": " + e.Call
	if e.Name != "" {
		s += fmt.Sprintf(": %s (%d)", e.Name, e.Code)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the class of the error.
func (e *Error) Unwrap() error { return e.Err }

// ShapeError says which operands of an operation do not fit each other, and what was expected.
type ShapeError = shape.Error

// MismatchError says that operands of one operation live on different devices. Nothing is
// copied behind the caller's back: upload one of them to the other's device.
type MismatchError struct {
	Op       string
	A, B     string // operands, "A", "pattern"
	OnA, OnB string // their devices
}

func (e *MismatchError) Error() string {
	other := e.OnB
	if e.OnA == e.OnB {
		other += " opened a second time"
	}
	return fmt.Sprintf("%s: %s is on %s and %s is on %s; put both on one device", e.Op, e.A, e.OnA, e.B, other)
}

// Operand is a named operand of an operation: a buffer, a matrix, a pattern.
type Operand struct {
	Name   string
	On     Device // nil when the operand itself is nil
	Closed bool
}

// Check returns an error unless all operands are there, open, and on the first one's device.
func Check(op string, operands ...Operand) error {
	for _, o := range operands {
		if o.On == nil {
			return fmt.Errorf("%s: operand %s is nil", op, o.Name)
		}
		if o.Closed {
			return &Error{Device: o.On.Name(), Call: op, Err: ErrClosed, Detail: "operand " + o.Name}
		}
		if first := operands[0]; o.On != first.On {
			return &MismatchError{Op: op, A: first.Name, B: o.Name, OnA: first.On.Name(), OnB: o.On.Name()}
		}
	}
	return nil
}
