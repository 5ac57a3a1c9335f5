package device_test

import (
	"errors"
	"fmt"
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
)

func TestErrorText(t *testing.T) {
	for want, err := range map[string]error{
		"cuda:0: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of device memory: asked for 8 bytes": &device.Error{
			Device: "cuda:0", Call: "cuMemAlloc_v2", Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Detail: "asked for 8 bytes", Err: device.ErrOutOfMemory},
		"cpu: Buffer.Upload: already closed": &device.Error{Device: "cpu", Call: "Buffer.Upload", Err: device.ErrClosed},
		"cpu: launch":                        &device.Error{Device: "cpu", Call: "launch"},
		"sddmm.Run: pattern is on cuda:0 and A is on cpu; put both on one device": &device.MismatchError{
			Op: "sddmm.Run", A: "pattern", B: "A", OnA: "cuda:0", OnB: "cpu"},
		"sddmm.Run: pattern is on cpu and A is on cpu opened a second time; put both on one device": &device.MismatchError{
			Op: "sddmm.Run", A: "pattern", B: "A", OnA: "cpu", OnB: "cpu"},
		"op: operands do not fit: A 2×3; want A 2×4": &device.ShapeError{Op: "op", Operands: "A 2×3", Want: "A 2×4"},
	} {
		if err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	}
	wrapped := fmt.Errorf("training: %w", &device.Error{Err: device.ErrOutOfMemory})
	if !errors.Is(wrapped, device.ErrOutOfMemory) || errors.Is(wrapped, device.ErrClosed) {
		t.Error("the class of a wrapped error is lost")
	}
}

// The first operand that is wrong is the one that is named.
func TestCheck(t *testing.T) {
	here, there := cpu.New(1), cpu.New(1)
	good := device.Operand{Name: "good", On: here}
	for want, operands := range map[string][]device.Operand{
		"op: operand x is nil":               {good, {Name: "x"}},
		"cpu: op: already closed: operand x": {good, {Name: "x", On: here, Closed: true}, {Name: "y"}},
		"op: good is on cpu and x is on cpu opened a second time; put both on one device": {good, {Name: "x", On: there}},
	} {
		if err := device.Check("op", operands...); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := device.Check("op", good, good); err != nil {
		t.Error(err)
	}
	if err := device.Check("op"); err != nil {
		t.Error(err)
	}
}
