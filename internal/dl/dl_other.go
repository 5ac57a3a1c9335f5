//go:build !((linux || darwin) && (amd64 || arm64))

package dl

import (
	"fmt"
	"runtime"
	"strings"
)

// Open finds no library: on this system none can be opened without cgo.
func Open(names ...string) (Library, error) {
	return nil, fmt.Errorf("library %s %w: libraries cannot be opened on %s/%s", strings.Join(names, ", "), ErrNotFound, runtime.GOOS, runtime.GOARCH)
}

// Call panics: there is no function to call.
func Call(uintptr, ...uintptr) uintptr { panic("dl: no library can be open on this system") }
