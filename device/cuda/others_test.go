package cuda

import (
	"errors"
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
)

func TestUse(t *testing.T) {
	f := newFake()
	d := openFake(t, f)
	broken := errors.New("broken")
	err := d.Use(func(on uintptr) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if stream(on) != d.stream || f.current[thread()] != d.ctx {
			t.Errorf("stream %d with context %d, want %d with %d", on, f.current[thread()], d.stream, d.ctx)
		}
		return broken
	})
	if err != broken {
		t.Errorf("error %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Use(func(uintptr) error { t.Error("ran on a closed device"); return nil }); !errors.Is(err, device.ErrClosed) {
		t.Errorf("error %v", err)
	}
}

func TestAddress(t *testing.T) {
	d := closing(t, openFake(t, newFake()))
	m, err := d.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := Address(m); !ok || address(at) != m.(*memory).at || at == 0 {
		t.Errorf("%d, %v", at, ok)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := Address(m); ok {
		t.Error("closed memory has an address")
	}
	none, err := d.Alloc(0)
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := Address(none); !ok || at != 0 {
		t.Errorf("no bytes: %d, %v", at, ok)
	}
	if err := none.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := cpu.New(1).Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, ok := Address(other); ok {
		t.Error("memory of a CPU has an address on a GPU")
	}
}
