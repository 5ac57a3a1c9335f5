package dense

import (
	"fmt"

	"sddmmkit/device"
)

// on returns the device that all operands of op live on: as h when it runs Go functions, and otherwise as l,
// which runs kernels.
func on(op string, operands ...device.Operand) (h device.Host, l device.Launcher, err error) {
	if err := device.Check(op, operands...); err != nil {
		return nil, nil, err
	}
	switch d := operands[0].On.(type) {
	case device.Host:
		return d, nil, nil
	case device.Launcher:
		return nil, d, nil
	}
	return nil, nil, &device.Error{Device: operands[0].On.Name(), Call: op, Err: device.ErrUnsupported,
		Detail: fmt.Sprintf("no row-wise operations for %s devices in this build", operands[0].On.Kind())}
}

func shapeError(op, want, operands string, args ...any) error {
	return &device.ShapeError{Op: op, Operands: fmt.Sprintf(operands, args...), Want: want}
}
