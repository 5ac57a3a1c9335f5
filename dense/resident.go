package dense

import (
	"fmt"
	"math"
	"unsafe"

	"sddmmkit/device"
)

// Resident is a dense row-major matrix on a device: element (i, j) is element i*Stride+j of Buf.
type Resident[T device.Real] struct {
	Rows, Cols int
	Stride     int
	Buf        *device.Buffer[T]
}

// Alloc makes a rows×cols matrix on dev with unspecified contents and Stride = cols.
func Alloc[T device.Real](dev device.Device, rows, cols int) (*Resident[T], error) {
	if rows < 0 || cols < 0 || cols > 0 && rows > math.MaxInt/cols {
		return nil, &device.ShapeError{Op: "dense.Alloc", Operands: fmt.Sprintf("%d×%d", rows, cols),
			Want: "sizes ≥ 0 and a number of elements that fits an int"}
	}
	buf, err := device.Alloc[T](dev, int64(rows)*int64(cols))
	if err != nil {
		return nil, fmt.Errorf("a %d×%d matrix: %w", rows, cols, err)
	}
	return &Resident[T]{Rows: rows, Cols: cols, Stride: cols, Buf: buf}, nil
}

// Zeros makes a rows×cols matrix of zeros on dev.
func Zeros[T device.Real](dev device.Device, rows, cols int) (*Resident[T], error) {
	m, err := Alloc[T](dev, rows, cols)
	if err != nil {
		return nil, err
	}
	if err := m.Buf.Zero(); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Upload makes a copy of m on dev, with m's stride.
func Upload[T device.Real](dev device.Device, m Matrix[T]) (*Resident[T], error) {
	return wrap(m, func(data []T) (*device.Buffer[T], error) { return device.FromHost(dev, data) })
}

// Place puts m on dev: on the CPU it is m itself, without a copy, which must stay in place until
// Close; elsewhere it is a copy.
func Place[T device.Real](dev device.Device, m Matrix[T]) (*Resident[T], error) {
	return wrap(m, func(data []T) (*device.Buffer[T], error) { return device.Place(dev, data) })
}

func wrap[T device.Real](m Matrix[T], put func([]T) (*device.Buffer[T], error)) (*Resident[T], error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	buf, err := put(m.Data[:m.extent()])
	if err != nil {
		return nil, fmt.Errorf("a %d×%d matrix: %w", m.Rows, m.Cols, err)
	}
	return &Resident[T]{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Buf: buf}, nil
}

// Device returns where the matrix lives.
func (m *Resident[T]) Device() device.Device { return m.Buf.Device() }

// Shape returns "rows×cols".
func (m *Resident[T]) Shape() string { return fmt.Sprintf("%d×%d", m.Rows, m.Cols) }

// Operand names the matrix, which may be nil, for device.Check.
func (m *Resident[T]) Operand(name string) device.Operand {
	if m == nil {
		return device.Operand{Name: name}
	}
	return m.Buf.Operand(name)
}

// Columns returns the first n columns as a matrix that shares the elements. Closing it leaves
// the elements open. It panics unless 0 ≤ n ≤ Cols.
func (m *Resident[T]) Columns(n int) *Resident[T] {
	if n < 0 || n > m.Cols {
		panic(fmt.Sprintf("dense.Resident.Columns: %d of %d columns", n, m.Cols))
	}
	return m.ColumnRange(0, n)
}

// ColumnRange returns columns [lo, hi) as a matrix that shares the elements. Closing it leaves the
// elements open.
func (m *Resident[T]) ColumnRange(lo, hi int) *Resident[T] {
	if lo < 0 || hi < lo || hi > m.Cols {
		panic(fmt.Sprintf("dense.Resident.ColumnRange: [%d,%d) of %d columns", lo, hi, m.Cols))
	}
	first := min(int64(lo), m.Buf.Len()) // a matrix without rows has no elements to skip
	return &Resident[T]{Rows: m.Rows, Cols: hi - lo, Stride: m.Stride, Buf: m.Buf.View(first, m.Buf.Len())}
}

// Aligned reports whether every row starts at a multiple of 16 bytes, the longest load of a GPU.
func (m *Resident[T]) Aligned() bool { return m.AlignedTo(16) }

// AlignedTo reports whether every row starts at a multiple of so many bytes, which is a multiple of an element's.
func (m *Resident[T]) AlignedTo(bytes int) bool {
	_, first := m.Buf.Memory()
	elems := int64(bytes) / int64(unsafe.Sizeof(T(0)))
	return first%elems == 0 && int64(m.Stride)%elems == 0
}

// Host returns the matrix itself where the host can address it, and a matrix without data elsewhere.
func (m *Resident[T]) Host() Matrix[T] {
	return Matrix[T]{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: m.Buf.Host()}
}

// Download copies the matrix to the host, with Stride = Cols.
func (m *Resident[T]) Download() (Matrix[T], error) {
	all := Matrix[T]{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: make([]T, m.Buf.Len())}
	if err := m.Buf.Download(all.Data); err != nil {
		return Matrix[T]{}, err
	}
	if all.Stride == all.Cols {
		return all, nil
	}
	return all.Clone(), nil
}

// Close frees the elements. Closing nil or closing again does nothing.
func (m *Resident[T]) Close() error {
	if m == nil {
		return nil
	}
	return m.Buf.Close()
}

// extent returns the number of elements from the first to the last, gaps included.
func (m Matrix[T]) extent() int {
	if m.Rows == 0 || m.Cols == 0 {
		return 0
	}
	return (m.Rows-1)*m.Stride + m.Cols
}
