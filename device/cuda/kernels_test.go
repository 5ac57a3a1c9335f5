package cuda

import (
	_ "embed"
	"unsafe"

	"sddmmkit/device"
)

// testPTX holds the kernels of these tests, written by hand.
//
//go:embed testdata/kernels.ptx
var testPTX []byte

// earlyPTX holds a kernel that may start before the one before it has ended, "early", from compute capability 9.0 on.
//
//go:embed testdata/early.ptx
var earlyPTX []byte

// testProgram returns a kernel of testPTX.
func testProgram(name string) *device.Program {
	return &device.Program{Name: name, PTX: func(int) ([]byte, error) { return testPTX, nil }}
}

// fakeKernels do what the kernels of testPTX do, in one go for all threads.
var fakeKernels = map[string]func(f *fake, threads int64, words []uint64) result{
	"scale_f32": fakeScale,
	"early":     fakeScale,
	"reverse_u32": func(f *fake, threads int64, words []uint64) result {
		n := int64(uint32(words[4]))
		for b := range threads / 128 {
			x, y := fakeSlice[uint32](f, words[0], words[1]+uint64(b*n), n), fakeSlice[uint32](f, words[2], words[3]+uint64(b*n), n)
			for i := range x {
				y[len(y)-1-i] = x[i]
			}
		}
		return success
	},
	"fault": func(*fake, int64, []uint64) result { return 700 },
}

func fakeScale(f *fake, threads int64, words []uint64) result {
	n := min(threads, int64(words[5]))
	x, y := fakeSlice[float32](f, words[0], words[1], n), fakeSlice[float32](f, words[2], words[3], n)
	low := uint32(words[4])
	a := *(*float32)(unsafe.Pointer(&low))
	for i := range x {
		y[i] = a * x[i]
	}
	return success
}

func fakeSlice[T device.Elem](f *fake, base, first uint64, n int64) []T {
	size := int64(unsafe.Sizeof(*new(T)))
	b := f.bytes(address(base)+address(first)*address(size), n*size)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
