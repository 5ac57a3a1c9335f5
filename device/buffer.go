package device

import (
	"fmt"
	"math"
	"unsafe"
)

// Elem is what buffers hold.
type Elem interface {
	float32 | float64 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | BFloat16 | Float16
}

// Buffer is an array of n elements in the memory of a device. Whoever made it closes it.
type Buffer[T Elem] struct {
	mem   Memory
	first int64 // elements into mem
	n     int64
	view  bool // closing a view leaves mem open
}

// Alloc makes a buffer of n elements with unspecified contents.
func Alloc[T Elem](d Device, n int64) (*Buffer[T], error) {
	size := int64(unsafe.Sizeof(*new(T)))
	if n < 0 || n > math.MaxInt64/size {
		return nil, &Error{Device: d.Name(), Call: "Alloc", Err: ErrOutOfMemory,
			Detail: fmt.Sprintf("asked for %d elements of %d bytes; want 0 to %d elements", n, size, math.MaxInt64/size)}
	}
	mem, err := d.Alloc(n * size)
	if err != nil {
		return nil, err
	}
	return &Buffer[T]{mem: mem, n: n}, nil
}

// FromHost makes a buffer that holds a copy of src.
func FromHost[T Elem](d Device, src []T) (*Buffer[T], error) {
	b, err := Alloc[T](d, int64(len(src)))
	if err != nil {
		return nil, err
	}
	if err := b.Upload(src); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Place makes a buffer that holds src: on a Host it is src itself, without a copy, which the
// caller keeps and does not move until the buffer is closed; elsewhere it is a copy.
func Place[T Elem](d Device, src []T) (*Buffer[T], error) {
	if h, ok := d.(Host); ok {
		return &Buffer[T]{mem: h.Borrow(asBytes(src)), n: int64(len(src))}, nil
	}
	return FromHost(d, src)
}

// Device returns where the buffer lives.
func (b *Buffer[T]) Device() Device { return b.mem.Device() }

// Closed reports whether the memory has been freed.
func (b *Buffer[T]) Closed() bool { return b.mem.Closed() }

// Len returns the number of elements.
func (b *Buffer[T]) Len() int64 { return b.n }

// Memory returns the allocation and the element of it at which the buffer starts, for launchers.
func (b *Buffer[T]) Memory() (mem Memory, first int64) { return b.mem, b.first }

// Host returns the elements themselves on a Host and nil on any other device.
func (b *Buffer[T]) Host() []T {
	raw := b.mem.HostBytes()
	if len(raw) == 0 || b.n == 0 {
		return nil
	}
	all := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/int(unsafe.Sizeof(*new(T))))
	return all[b.first : b.first+b.n : b.first+b.n]
}

// Upload copies src, of exactly Len elements, into the buffer.
func (b *Buffer[T]) Upload(src []T) error {
	if err := b.check("Upload", int64(len(src))); err != nil {
		return err
	}
	return b.mem.CopyFrom(b.offset(), asBytes(src))
}

// Download copies the buffer into dst, of exactly Len elements.
func (b *Buffer[T]) Download(dst []T) error {
	if err := b.check("Download", int64(len(dst))); err != nil {
		return err
	}
	return b.mem.CopyTo(asBytes(dst), b.offset())
}

// CopyFrom copies src, on the same device and of the same length, into the buffer.
func (b *Buffer[T]) CopyFrom(src *Buffer[T]) error {
	if err := Check("device.Buffer.CopyFrom", b.Operand("dst"), src.Operand("src")); err != nil {
		return err
	}
	if err := b.check("CopyFrom", src.n); err != nil {
		return err
	}
	return b.mem.CopyOnDevice(b.offset(), src.mem, src.offset(), b.n*int64(unsafe.Sizeof(*new(T))))
}

// Zero sets all elements to zero.
func (b *Buffer[T]) Zero() error {
	if b.mem.Closed() {
		return b.closed("Zero")
	}
	return b.mem.Zero(b.offset(), b.n*int64(unsafe.Sizeof(*new(T))))
}

// Operand names the buffer, which may be nil, for Check.
func (b *Buffer[T]) Operand(name string) Operand {
	if b == nil {
		return Operand{Name: name}
	}
	return Operand{Name: name, On: b.Device(), Closed: b.Closed()}
}

// View returns elements [lo, hi) as a buffer that shares the memory; closing it leaves the
// memory open. It panics unless 0 ≤ lo ≤ hi ≤ Len.
func (b *Buffer[T]) View(lo, hi int64) *Buffer[T] {
	if lo < 0 || hi < lo || hi > b.n {
		panic(fmt.Sprintf("device.Buffer.View: [%d,%d) of %d elements", lo, hi, b.n))
	}
	return &Buffer[T]{mem: b.mem, first: b.first + lo, n: hi - lo, view: true}
}

// Close frees the memory. Closing a nil or closed buffer does nothing.
func (b *Buffer[T]) Close() error {
	if b == nil || b.view {
		return nil
	}
	return b.mem.Close()
}

func (b *Buffer[T]) offset() int64 { return b.first * int64(unsafe.Sizeof(*new(T))) }

func (b *Buffer[T]) check(call string, n int64) error {
	if b.mem.Closed() {
		return b.closed(call)
	}
	if n != b.n {
		return &ShapeError{Op: "device.Buffer." + call, Operands: fmt.Sprintf("buffer of %d and source or destination of %d elements", b.n, n),
			Want: "equal lengths"}
	}
	return nil
}

func (b *Buffer[T]) closed(call string) error {
	return &Error{Device: b.Device().Name(), Call: "Buffer." + call, Err: ErrClosed}
}

func asBytes[T Elem](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
