package main

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"sddmmkit/internal/dialect"
	"sddmmkit/internal/dl"
)

// nvrtcVersion is the NVRTC that the committed PTX is made with. 12.0 writes PTX ISA 8.0, which drivers from 525
// on compile, and knows every target from sm_50 to sm_90; later versions write later ISAs, which demand later
// drivers (12.4: 550, 12.9: 575), and nothing in the dialect needs those.
var nvrtcVersion = [2]int32{12, 0}

// nvrtc is the run-time compiler. Its functions return an nvrtcResult, an int.
type nvrtc struct {
	lib dl.Library

	// nvrtcResult nvrtcVersion(int *major, int *minor)
	version uintptr
	// nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name,
	//	int numHeaders, const char *const *headers, const char *const *includeNames)
	createProgram uintptr
	// nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog)
	destroyProgram uintptr
	// nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char *const *options)
	compileProgram uintptr
	// nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t *logSizeRet)
	getProgramLogSize uintptr
	// nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char *log)
	getProgramLog uintptr
	// nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet)
	getPTXSize uintptr
	// nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx)
	getPTX uintptr
}

// openNVRTC opens the library, which must have the pinned version.
func openNVRTC(open dl.Opener, name string) (*nvrtc, error) {
	lib, err := open(name)
	if err != nil {
		return nil, fmt.Errorf("%w; set NVRTC to the path of libnvrtc.so.12", err)
	}
	n := &nvrtc{lib: lib}
	for _, f := range []struct {
		name string
		to   *uintptr
	}{
		{"nvrtcVersion", &n.version},
		{"nvrtcCreateProgram", &n.createProgram},
		{"nvrtcDestroyProgram", &n.destroyProgram},
		{"nvrtcCompileProgram", &n.compileProgram},
		{"nvrtcGetProgramLogSize", &n.getProgramLogSize},
		{"nvrtcGetProgramLog", &n.getProgramLog},
		{"nvrtcGetPTXSize", &n.getPTXSize},
		{"nvrtcGetPTX", &n.getPTX},
	} {
		if *f.to, err = lib.Sym(f.name); err != nil {
			lib.Close()
			return nil, err
		}
	}
	var got [2]int32
	if err := n.call("nvrtcVersion", n.version, uintptr(unsafe.Pointer(&got[0])), uintptr(unsafe.Pointer(&got[1]))); err != nil {
		lib.Close()
		return nil, err
	}
	if got != nvrtcVersion {
		lib.Close()
		return nil, fmt.Errorf("%s is NVRTC %d.%d; the PTX is made with %d.%d (Python package nvidia-cuda-nvrtc-cu12, see .ci/run)",
			name, got[0], got[1], nvrtcVersion[0], nvrtcVersion[1])
	}
	return n, nil
}

// call calls a function that returns an nvrtcResult.
//
//go:uintptrescapes
func (n *nvrtc) call(name string, function uintptr, args ...uintptr) error {
	if code := int32(dl.Call(function, args...)); code != 0 {
		return fmt.Errorf("%s: nvrtcResult %d", name, code)
	}
	return nil
}

// compile compiles a kernel for a target. The log holds errors and warnings.
func (n *nvrtc) compile(name, source string, target dialect.Target) (ptx []byte, log string, err error) {
	var program uintptr
	src, file := cString(source), cString(name+".cu")
	if err := n.call("nvrtcCreateProgram", n.createProgram, uintptr(unsafe.Pointer(&program)),
		uintptr(unsafe.Pointer(&src[0])), uintptr(unsafe.Pointer(&file[0])), 0, 0, 0); err != nil {
		return nil, "", err
	}
	defer func() { dl.Call(n.destroyProgram, uintptr(unsafe.Pointer(&program))) }()

	architecture, fma := cString(fmt.Sprintf("--gpu-architecture=compute_%s", target)), cString("--fmad=true")
	options := []*byte{&architecture[0], &fma[0]}
	var pinned runtime.Pinner // options holds pointers, which the call alone does not keep in place
	defer pinned.Unpin()
	for _, o := range options {
		pinned.Pin(o)
	}
	compiled := n.call("nvrtcCompileProgram", n.compileProgram, program, uintptr(len(options)), uintptr(unsafe.Pointer(&options[0])))
	raw, err := n.text(program, "nvrtcGetProgramLog", n.getProgramLogSize, n.getProgramLog)
	if log = strings.TrimSpace(string(raw)); err != nil || compiled != nil {
		if compiled != nil {
			err = compiled
		}
		return nil, log, err
	}
	ptx, err = n.text(program, "nvrtcGetPTX", n.getPTXSize, n.getPTX)
	return ptx, log, err
}

// text returns a string of a program, without the zero byte at its end.
func (n *nvrtc) text(program uintptr, name string, size, get uintptr) ([]byte, error) {
	var bytes uintptr
	if err := n.call(name+"Size", size, program, uintptr(unsafe.Pointer(&bytes))); err != nil || bytes == 0 {
		return nil, err
	}
	text := make([]byte, bytes)
	if err := n.call(name, get, program, uintptr(unsafe.Pointer(&text[0]))); err != nil {
		return nil, err
	}
	return text[:bytes-1], nil
}

func cString(s string) []byte { return append([]byte(s), 0) }
