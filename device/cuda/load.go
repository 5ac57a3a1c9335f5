//go:build !cuda5

package cuda

import "sddmmkit/internal/dl"

// load returns the driver of this machine.
func load() (driver, error) { return openLibrary(dl.Open) }
