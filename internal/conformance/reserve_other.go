//go:build !linux && !darwin

package conformance

import "errors"

func reserve(int) (b []byte, free func(), err error) {
	return nil, func() {}, errors.ErrUnsupported
}
