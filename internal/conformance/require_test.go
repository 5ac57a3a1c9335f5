package conformance

import (
	"errors"
	"fmt"
	"testing"

	"sddmmkit/device"
)

// ends notes how a test ends, and goes on.
type ends struct {
	testing.TB
	how string
}

func (e *ends) Helper()               {}
func (e *ends) Skip(...any)           { e.how = "skipped" }
func (e *ends) Fatal(...any)          { e.how = "failed" }
func (e *ends) Fatalf(string, ...any) { e.how = "failed" }

func TestRequire(t *testing.T) {
	missing, broken := fmt.Errorf("no library: %w", device.ErrUnavailable), errors.New("broken")
	for _, test := range []struct {
		variable string
		err      error
		want     string
	}{
		{"", nil, ""}, {"cuda", nil, ""},
		{"", missing, "skipped"}, {"opencl", missing, "skipped"}, {"cudas", missing, "skipped"},
		{"cuda", missing, "failed"}, {"opencl,cuda", missing, "failed"},
		{"", broken, "failed"}, {"cuda", broken, "failed"},
	} {
		t.Setenv(RequireVariable, test.variable)
		e := &ends{TB: t}
		if Require(e, device.CUDA, test.err); e.how != test.want {
			t.Errorf("%+v: %q", test, e.how)
		}
	}
}
