package conformance

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"sddmmkit/device"
)

// RequireVariable names the environment variable that lists the kinds of devices that must be there, with
// commas between: "cuda,opencl". Where one is missing, tests of it fail and are not skipped.
const RequireVariable = "SDDMMKIT_REQUIRE"

// Require looks at what opening a device of a kind returned, and lets the test go on where that is no error. A device
// that is not available skips the test, unless RequireVariable lists its kind; any other error fails it.
//
//	dev, err := cuda.Open(0)
//	conformance.Require(t, device.CUDA, err)
func Require(t testing.TB, kind device.Kind, err error) {
	t.Helper()
	switch {
	case err == nil:
	case slices.Contains(strings.Split(os.Getenv(RequireVariable), ","), string(kind)):
		t.Fatalf("%s requires %s: %v", RequireVariable, kind, err)
	case errors.Is(err, device.ErrUnavailable):
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}
