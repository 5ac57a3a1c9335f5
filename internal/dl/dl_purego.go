//go:build (linux || darwin) && (amd64 || arm64)

package dl

import (
	"fmt"
	"runtime"

	"github.com/ebitengine/purego"
)

// Open opens the first of names that the system's loader finds. The error wraps ErrNotFound and says
// what the loader said of each.
func Open(names ...string) (Library, error) {
	defer onOneThread()()
	err := fmt.Errorf("no library: %w", ErrNotFound)
	for i, name := range names {
		handle, e := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if e == nil {
			return &library{name: name, handle: handle}, nil
		}
		if i == 0 {
			err = fmt.Errorf("library %w: %v", ErrNotFound, e)
		} else {
			err = fmt.Errorf("%w; %v", err, e)
		}
	}
	return nil, err
}

// onOneThread keeps a call on its thread until the function that it returns is called: what the loader says of the call's failure
// is kept for the thread that made it.
func onOneThread() func() {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

type library struct {
	name   string
	handle uintptr
}

func (l *library) Sym(name string) (uintptr, error) {
	defer onOneThread()()
	address, err := purego.Dlsym(l.handle, name)
	if err != nil || address == 0 {
		return 0, fmt.Errorf("%s: function %s %w", l.name, name, ErrNotFound)
	}
	return address, nil
}

func (l *library) Close() error {
	defer onOneThread()()
	if err := purego.Dlclose(l.handle); err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	return nil
}

// Call calls a C function with arguments that are integers or pointers, and returns its result.
// Results narrower than a word have undefined upper bits: the caller cuts them off. Memory that
// arguments point to must stay in place for the call, which Go's stacks and heap do where the
// conversion to uintptr stands in the call itself.
//
//go:uintptrescapes
func Call(function uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(function, args...)
	return result
}
