//go:build cuda5

package cuda

import "testing"

// A device says no more shared memory than package cu lets a launch have.
func TestSharedMemoryOfCuda5(t *testing.T) {
	d := closing(t, openGPU(t))
	most, err := cuda5{}.deviceAttribute(maxSharedPerBlock, 0)
	if err != nil || d.Props().SharedBytes != int64(most) {
		t.Errorf("%d bytes of shared memory, and a block may have %d without asking (%v)", d.Props().SharedBytes, most, err)
	}
}
