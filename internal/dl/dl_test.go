package dl_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"sddmmkit/internal/dl"
)

func libc(t *testing.T) dl.Library {
	t.Helper()
	name := map[string]string{"linux": "libc.so.6", "darwin": "/usr/lib/libSystem.B.dylib"}[runtime.GOOS]
	if name == "" {
		t.Skip("no C library with a known name")
	}
	lib, err := dl.Open("libnobody-has-this.so.9", name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lib.Close(); err != nil {
			t.Error(err)
		}
	})
	return lib
}

func TestCall(t *testing.T) {
	strlen, err := libc(t).Sym("strlen")
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("seven c\x00")
	if n := dl.Call(strlen, uintptr(unsafe.Pointer(&text[0]))); n != 7 {
		t.Errorf("strlen is %d", n)
	}
}

func TestMissing(t *testing.T) {
	_, err := dl.Open("libnobody-has-this.so.9", "libnor-this.so")
	if !errors.Is(err, dl.ErrNotFound) || !strings.Contains(err.Error(), "nobody") || !strings.Contains(err.Error(), "libnor") {
		t.Errorf("error %v", err)
	}
	if _, err := dl.Open(); !errors.Is(err, dl.ErrNotFound) {
		t.Errorf("no names: %v", err)
	}
	if _, err := libc(t).Sym("no_such_function_anywhere"); !errors.Is(err, dl.ErrNotFound) || !strings.Contains(err.Error(), "no_such_function_anywhere") {
		t.Errorf("error %v", err)
	}
}
