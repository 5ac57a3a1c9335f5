package cuda

import (
	"runtime"
	"sync"
	"unsafe"

	"sddmmkit/internal/parallel"
)

// Large copies go through two chunks of page-locked memory, from and to which the GPU copies by itself: while it
// works on one, goroutines fill or empty the other. One core copies more slowly than the bus does, so there are
// several.
const (
	chunkBytes  = 16 << 20
	copiers     = 8
	directBytes = 1 << 20
)

// staging is the page-locked memory of a device, allocated when it is first needed. One copy uses it at a time.
type staging struct {
	size   int // of a chunk in bytes
	direct int // up to how many bytes a copy is handed to the driver as it is, which costs less to begin with

	mu     sync.Mutex
	chunks [2]chunk
}

type chunk struct {
	raw  []byte // nil before it is allocated
	done event  // after the GPU's last work on raw; 0 where the bindings have no events
	busy bool   // the work has not been waited for
}

// upload copies src to dst. It returns before the GPU has the last chunks, and false, having done nothing, where
// there is no page-locked memory to be had.
func (s *staging) upload(d *Device, dst address, src []byte) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.alloc(d); err != nil {
		return false, nil
	}
	for i := 0; len(src) > 0; i++ {
		c := &s.chunks[i%len(s.chunks)]
		if err := c.wait(d); err != nil {
			return true, err
		}
		n := min(len(src), len(c.raw))
		move(c.raw[:n], src[:n])
		err := c.start(d, func() error {
			return d.drv.copyToDevice(dst, unsafe.Pointer(unsafe.SliceData(c.raw)), int64(n), d.stream)
		})
		if err != nil {
			return true, err
		}
		src, dst = src[n:], dst+address(n)
	}
	return true, nil
}

// download copies src to dst. It returns false, having done nothing, where there is no page-locked memory to be had.
func (s *staging) download(d *Device, dst []byte, src address) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.alloc(d); err != nil {
		return false, nil
	}
	start := func(at int) error {
		if at >= len(dst) {
			return nil
		}
		c := &s.chunks[at/s.size%len(s.chunks)]
		return c.start(d, func() error {
			return d.drv.copyToHost(unsafe.Pointer(unsafe.SliceData(c.raw)), src+address(at), int64(min(s.size, len(dst)-at)), d.stream)
		})
	}
	// What an earlier upload still reads from the chunks it has read when the stream gets to these copies.
	if err := start(0); err != nil {
		return true, err
	}
	for at := 0; at < len(dst); at += s.size {
		if err := start(at + s.size); err != nil {
			return true, err
		}
		c := &s.chunks[at/s.size%len(s.chunks)]
		if err := c.wait(d); err != nil {
			return true, err
		}
		n := min(s.size, len(dst)-at)
		move(dst[at:at+n], c.raw[:n])
	}
	return true, nil
}

// start puts a copy from or to the chunk on the stream, and the event after it.
func (c *chunk) start(d *Device, put func() error) error {
	return d.do(func() error {
		c.busy = true
		if err := put(); err != nil || c.done == 0 {
			return err
		}
		if err := d.drv.eventRecord(c.done, d.stream); err != nil {
			return firstError(err, d.drv.streamSynchronize(d.stream)) // nothing else tells when the copy has run
		}
		return nil
	})
}

// wait waits until the GPU has done its work on the chunk.
func (c *chunk) wait(d *Device) error {
	if !c.busy {
		return nil
	}
	err := d.do(func() error {
		if c.done == 0 {
			return d.drv.streamSynchronize(d.stream)
		}
		return d.drv.eventSynchronize(c.done)
	})
	c.busy = err != nil
	return err
}

// alloc makes the chunks unless they are there.
func (s *staging) alloc(d *Device) error {
	if s.chunks[len(s.chunks)-1].raw != nil {
		return nil
	}
	return d.do(func() error {
		for i := range s.chunks {
			c := &s.chunks[i]
			if c.raw != nil {
				continue
			}
			p, err := d.drv.hostAlloc(int64(s.size))
			if err != nil {
				return err
			}
			c.raw = unsafe.Slice((*byte)(p), s.size)
			if e, err := d.drv.eventCreate(); err == nil {
				c.done = e
			}
		}
		return nil
	})
}

// free gives the chunks back; the stream must be idle and the context current.
func (s *staging) free(drv driver) error {
	var first error
	for i := range s.chunks {
		c := &s.chunks[i]
		if c.done != 0 {
			first = firstError(first, drv.eventDestroy(c.done))
		}
		if c.raw != nil {
			first = firstError(first, drv.hostFree(unsafe.Pointer(unsafe.SliceData(c.raw))))
		}
		*c = chunk{}
	}
	return first
}

// move copies src to dst, which are equally long, with several goroutines.
func move(dst, src []byte) {
	parallel.Ranges(min(copiers, runtime.GOMAXPROCS(0)), int64(len(src)), func(_ int, lo, hi int64) {
		copy(dst[lo:hi], src[lo:hi])
	})
}
