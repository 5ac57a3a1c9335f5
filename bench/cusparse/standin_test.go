package cusparse

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/dl"
	"sddmmkit/sddmm"
)

// includes names the folders of cusparse.h and of CUDA's own headers, with a colon between, as the wheels
// nvidia-cusparse-cu12, nvidia-cuda-runtime-cu12 and nvidia-cuda-nvcc-cu12 have them.
const includes = "SDDMMKIT_CUSPARSE_INCLUDE"

// TestStandIn checks the bindings without a GPU: a library in C, compiled against NVIDIA's header, computes on memory of
// the host. It needs gcc and the headers.
func TestStandIn(t *testing.T) {
	folders := os.Getenv(includes)
	if folders == "" {
		t.Skip(includes + " names no headers")
	}
	so := filepath.Join(t.TempDir(), "libcusparse.so.12")
	args := []string{"-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", so, "testdata/libcusparse.c"}
	for _, folder := range strings.Split(folders, ":") {
		args = append(args, "-isystem", folder)
	}
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lib, err := openLibrary(func(...string) (dl.Library, error) { return dl.Open(so) })
	if err != nil {
		t.Fatal(err)
	}
	t.Run("float32", func(t *testing.T) { standIn[float32](t, lib) })
	t.Run("float64", func(t *testing.T) { standIn[float64](t, lib) })
}

func standIn[T sddmm.Float](t *testing.T, lib api) {
	dev := cpu.New(1)
	l, err := open(lib, newGPU(dev), func(m device.Memory) (uintptr, bool) {
		return uintptr(unsafe.Pointer(unsafe.SliceData(m.HostBytes()))), !m.Closed()
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(l.Version(), "12.") {
		t.Errorf("version %s", l.Version())
	}
	computes[T](t, dev, l)
	// What the library says is what the error says.
	_, err = lib.createDense(2, 3, 1, 0, real32, rowMajor)
	if err == nil || !strings.Contains(err.Error(), "cusparseCreateDnMat: CUSPARSE_STATUS_INVALID_VALUE (3)") {
		t.Errorf("error %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
