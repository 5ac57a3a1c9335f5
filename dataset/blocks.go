package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"sddmmkit/internal/parallel"
	"sddmmkit/sparse"
)

const (
	sampleSize     = 64 << 10 // bytes that detection sees, and the longest header line
	defaultBlock   = 1 << 20
	defaultMaxLine = 16 << 20
	maxThreads     = 256 // more parse nothing faster than one goroutine can read
)

// text reads a file in two ways: a header line by line, then the body in blocks of whole lines.
type text struct {
	name    string
	br      *bufio.Reader // of sampleSize
	line    int64         // lines read so far
	maxLine int
	block   int

	tail []byte // start of a line that the last block cut off
	err  error  // what ended the reading: io.EOF, or a failure
}

func newText(name string, r io.Reader, opt Options) *text {
	in := &text{name: name, br: bufio.NewReaderSize(&stickyReader{r: r}, sampleSize), maxLine: opt.MaxLine, block: opt.block}
	if in.maxLine <= 0 {
		in.maxLine = defaultMaxLine
	}
	if in.block <= 0 {
		in.block = defaultBlock
	}
	in.block = min(in.block, in.maxLine+1)
	return in
}

// stickyReader repeats a failure, which some readers report only once.
type stickyReader struct {
	r   io.Reader
	err error
}

func (s *stickyReader) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	s.err = err
	return n, err
}

// sample returns the first bytes without taking them, whether they are the whole file, and the
// failure that ended them early.
func (in *text) sample() (head []byte, whole bool, err error) {
	head, err = in.br.Peek(sampleSize)
	if err == io.EOF {
		return head, true, nil
	}
	if err != nil {
		return head, false, in.readError(err)
	}
	return head, false, nil
}

// headerLine takes one line, without its end; io.EOF says that there is none. The slice is
// valid until the next call.
func (in *text) headerLine() ([]byte, error) {
	b, err := in.br.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull:
		return nil, &ParseError{File: in.name, Line: in.line + 1, Got: "a header line longer than 64 KiB", Want: "a short one"}
	case err != nil && err != io.EOF:
		return nil, in.readError(err)
	case len(b) == 0:
		return nil, io.EOF
	}
	in.line++
	return trimEnd(b), nil
}

// trimEnd cuts "\n" or "\r\n" off a line.
func trimEnd(b []byte) []byte {
	b = bytes.TrimSuffix(b, []byte{'\n'})
	return bytes.TrimSuffix(b, []byte{'\r'})
}

// readError turns a failure of the reader below into one that names file and line.
func (in *text) readError(err error) error { return in.readErrorAt(in.line+1, err) }

func (in *text) readErrorAt(line int64, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &ParseError{File: in.name, Line: line, Got: "a read error", Want: "a readable file", Err: err}
	var c *compressionError
	if errors.As(err, &c) {
		e.Err = c.err
		switch {
		case errors.Is(err, zstd.ErrWindowSizeExceeded):
			e.Got, e.Want = "zstd data that need more memory to unpack than a file of this size should", "a file packed without --long and --ultra"
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
			e.Got, e.Want = "the end of the "+c.kind+" data in the middle", "a complete file: this one is cut off"
		default:
			e.Got, e.Want = "damaged "+c.kind+" data", "a file that "+c.kind+" can unpack"
		}
	}
	return e
}

// next fills buf with whole lines and returns them; where a line is longer than buf, a larger
// buffer. It returns io.EOF after the last line, which may lack its line end. A failure comes
// after all whole lines before it.
func (in *text) next(buf []byte) ([]byte, error) {
	if in.err != nil && len(in.tail) == 0 {
		if in.err == io.EOF {
			return nil, io.EOF
		}
		return nil, in.readError(in.err)
	}
	buf = append(buf[:0], in.tail...)
	in.tail = in.tail[:0]
	seen := 0 // bytes known to hold no line end
	for in.err == nil {
		if cap(buf) < in.block {
			buf = slices.Grow(buf, in.block-len(buf))
		}
		if len(buf) >= in.block {
			if bytes.IndexByte(buf[seen:], '\n') >= 0 {
				break
			}
			if len(buf) > in.maxLine {
				return nil, &ParseError{File: in.name, Line: in.line + 1,
					Got:  fmt.Sprintf("a line longer than %d bytes", in.maxLine),
					Want: "shorter lines, or a larger MaxLine"}
			}
			seen = len(buf)
			if len(buf) == cap(buf) {
				buf = slices.Grow(buf, min(len(buf), in.maxLine+1-len(buf)))
			}
		}
		limit := min(cap(buf), in.maxLine+1)
		if len(buf) < in.block {
			limit = in.block
		}
		n, err := in.br.Read(buf[len(buf):limit])
		buf = buf[:len(buf)+n]
		in.err = err
	}
	if in.err != io.EOF {
		end := bytes.LastIndexByte(buf, '\n') + 1
		if in.err == nil { // of a failed read, the broken last line is dropped
			in.tail = append(in.tail[:0], buf[end:]...)
		}
		buf = buf[:end]
	}
	if len(buf) == 0 {
		return in.next(buf)
	}
	return buf, nil
}

// block is a run of whole lines.
type block struct {
	data []byte
	line int64 // number of the first line, from 1
}

// parser parses a block and adds what it finds to out. What it found before an error counts.
type parser[T sparse.Float] func(b block, out *entries[T]) error

// collect parses the rest of in on several goroutines: one reads (and decompresses) ahead,
// threads parse, and the caller's takes the results in the order of the file, so that nothing
// depends on the number of threads. newParser makes the parser of one goroutine. merge, if not
// nil, sees each block's entries before they are kept, and may change them. The error that
// stands first in the file is the one returned.
func collect[T sparse.Float](ctx context.Context, in *text, threads int, newParser func() parser[T],
	merge func(b block, e *entries[T]) error) ([]entries[T], error) {
	type job struct {
		block
		out  entries[T]
		err  error
		done chan struct{}
	}
	threads = min(parallel.Threads(threads), maxThreads)
	ahead := threads + 2
	work := make(chan *job, ahead)
	order := make(chan *job, ahead)
	free := make(chan []byte, ahead+1)

	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()

	wg.Go(func() {
		defer close(order)
		defer close(work)
		for {
			var buf []byte
			select {
			case buf = <-free:
			default:
			}
			data, err := in.next(buf)
			if err == io.EOF {
				return
			}
			j := &job{block: block{data, in.line + 1}, err: err, done: make(chan struct{})}
			if err != nil {
				close(j.done)
			} else {
				in.line += int64(bytes.Count(data, []byte{'\n'}))
				if data[len(data)-1] != '\n' {
					in.line++
				}
				select {
				case work <- j:
				case <-ctx.Done():
					return
				}
			}
			select {
			case order <- j:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	})
	for range threads {
		wg.Go(func() {
			parse := newParser()
			var scratch entries[T]
			for j := range work {
				if ctx.Err() == nil {
					scratch.reset()
					j.err = parse(j.block, &scratch)
					j.out = scratch.clone()
				}
				close(j.done)
			}
		})
	}

	var parts []entries[T]
	for j := range order {
		select {
		case <-j.done:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if merge != nil && j.data != nil {
			if err := merge(j.block, &j.out); err != nil {
				return nil, err
			}
		}
		if j.err != nil {
			return nil, j.err
		}
		if len(j.out.row) > 0 {
			parts = append(parts, j.out)
		}
		if cap(j.data) <= 2*in.block { // let go of what one long line needed
			select {
			case free <- j.data[:0]:
			default:
			}
		}
	}
	return parts, ctx.Err()
}

// lines walks the lines of a block.
type lines struct {
	data []byte
	line int64 // number of the line that next returned last
}

func newLines(b block) lines { return lines{b.data, b.line - 1} }

// next returns the next line without its end, and false after the last.
func (l *lines) next() ([]byte, bool) {
	if len(l.data) == 0 {
		return nil, false
	}
	l.line++
	i := bytes.IndexByte(l.data, '\n')
	if i < 0 {
		i = len(l.data)
	}
	s := l.data[:i]
	l.data = l.data[min(i+1, len(l.data)):]
	if i > 0 && s[i-1] == '\r' {
		s = s[:i-1]
	}
	return s, true
}
