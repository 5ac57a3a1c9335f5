package pattern

import (
	"errors"
	"math"
	"math/bits"

	"sddmmkit/device"
	"sddmmkit/internal/dialect"
	"sddmmkit/pattern/kernels"
)

// How a GPU cuts what it sorts and sums.
const (
	wantChunks = 1024 // of keys, each with a warp, and with a count of each digit; with more, L2 does not hold all places at which they write
	wantShares = 1024 // of a running sum, each with a block
)

// sum returns the running sum of x: element i is x[0] + … + x[i-1], up to the sum of all.
func (p *planner) sum(x *device.Buffer[int32]) (y *device.Buffer[int64], err error) {
	if y, err = device.Alloc[int64](p.dev, x.Len()+1); err != nil {
		return nil, err
	}
	sums, err := device.Alloc[int64](p.dev, wantShares)
	if err == nil {
		err = errors.Join(p.sumInto(y, x, sums), sums.Close())
	}
	if err != nil {
		return nil, errors.Join(err, y.Close())
	}
	return y, nil
}

// sumInto is sum with y for the result and room for wantShares partial sums.
func (p *planner) sumInto(y *device.Buffer[int64], x *device.Buffer[int32], sums *device.Buffer[int64]) error {
	n := x.Len()
	share := dialect.Blocks(dialect.Blocks(n+1, wantShares), kernels.ScanTile) * kernels.ScanTile
	shares := dialect.Blocks(n+1, share)
	if err := p.launchBlocks(kernels.PartSums(), shares, device.Value(n), device.Value(share), x.Arg(), sums.Arg()); err != nil {
		return err
	}
	return p.launchBlocks(kernels.Scan(), shares, device.Value(n), device.Value(share), x.Arg(), sums.Arg(), y.Arg())
}

// order is the direction of sortKeys.
type order bool

const (
	rising  order = false
	falling order = true
)

// sorted are keys in order, and where each of them stood.
type sorted[V int32 | int64] struct {
	keys *device.Buffer[int32]
	from *device.Buffer[V]
}

func (s *sorted[V]) close() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.keys.Close(), s.from.Close())
}

// sortBytes returns the memory that sortKeys takes at most for n keys, that of its result included.
func sortBytes[V int32 | int64](n int64) int64 {
	const table = wantChunks << kernels.DigitBits * (4 + 8)
	way := 4
	if n > math.MaxInt32 {
		way = 8
	}
	return n*int64(2*4+2*way+integer[V]().bytes) + table
}

// sortKeys sorts keys from 0 to most in passes over digits, the lowest first; in either direction equal ones keep their order.
// V must hold their number.
func sortKeys[V int32 | int64](p *planner, keys *device.Buffer[int32], most int, o order) (*sorted[V], error) {
	if keys.Len() > math.MaxInt32 {
		return sortThrough[V, V](p, keys, most, o)
	}
	return sortThrough[int32, V](p, keys, most, o)
}

// sortThrough is sortKeys with numbers of type M on the way, which move in all passes but the last.
func sortThrough[M, V int32 | int64](p *planner, keys *device.Buffer[int32], most int, o order) (result *sorted[V], err error) {
	n := keys.Len()
	width := max(bits.Len(uint(max(most, 0))), 1)
	passes := (width + kernels.DigitBits - 1) / kernels.DigitBits
	last := passes - 1
	out := &sorted[V]{}
	var way scratch
	defer func() {
		if way.close(&err); err != nil {
			result, err = nil, errors.Join(err, out.close())
		}
	}()
	var turns [2]sorted[M] // passes take turns
	for k := range min(last, 2) {
		if turns[k].from, err = temporary[M](p.dev, &way, n); err != nil {
			return nil, err
		}
	}
	if out.keys, err = device.Alloc[int32](p.dev, n); err != nil {
		return nil, err
	}
	turns[last%2].keys = out.keys
	if last > 0 {
		if turns[1-last%2].keys, err = temporary[int32](p.dev, &way, n); err != nil {
			return nil, err
		}
	}
	cut := newDigits(n)
	if o == falling {
		cut.flip = 1<<width - 1
	}
	widest := (width + passes - 1) / passes
	counted, err := newCounted(p, &way, cut.chunks<<widest)
	if err != nil {
		return nil, err
	}
	from := sorted[M]{keys: keys}
	for pass := range passes {
		cut.width = (width - cut.shift + passes - pass - 1) / (passes - pass)
		if pass == last {
			break
		}
		if err := place(p, cut, counted, from, turns[pass%2]); err != nil {
			return nil, err
		}
		from = turns[pass%2]
		cut.shift += cut.width
	}
	if out.from, err = device.Alloc[V](p.dev, n); err != nil {
		return nil, err
	}
	return out, place(p, cut, counted, from, *out)
}

// digits are what a pass of sortKeys goes by: width bits of key ^ flip, from shift on, of keys in chunks.
type digits struct {
	n, chunk, chunks   int64
	flip, shift, width int
}

func newDigits(n int64) digits {
	chunk := dialect.Blocks(dialect.Blocks(n, wantChunks), kernels.Step) * kernels.Step
	return digits{n: n, chunk: chunk, chunks: dialect.Blocks(n, max(chunk, 1))}
}

// args are the digits as arguments of kernels, and what follows.
func (d digits) args(more ...device.Arg) []device.Arg {
	return append([]device.Arg{device.Value(d.n), device.Value(d.chunk), device.Value(d.chunks),
		device.Value(int32(d.flip)), device.Value(int32(d.shift)), device.Value(int32(d.width))}, more...)
}

// counted is room for the digits of a pass, counted by chunk, and for where they go. All passes of a sort use the same, for to
// allocate memory takes as long as to sort a million keys.
type counted struct {
	table        *device.Buffer[int32]
	places, sums *device.Buffer[int64]
}

func newCounted(p *planner, s *scratch, n int64) (c counted, err error) {
	if c.table, err = temporary[int32](p.dev, s, n); err != nil {
		return c, err
	}
	if c.places, err = temporary[int64](p.dev, s, n+1); err != nil {
		return c, err
	}
	c.sums, err = temporary[int64](p.dev, s, wantShares)
	return c, err
}

// place is one pass of sortKeys.
func place[M, V int32 | int64](p *planner, d digits, c counted, from sorted[M], to sorted[V]) error {
	n := d.chunks << d.width
	table, places := c.table.View(0, n), c.places.View(0, n+1)
	blocks := dialect.Blocks(d.chunks, kernels.Warps)
	if err := p.launchBlocks(kernels.Digits(), blocks, d.args(from.keys.Arg(), table.Arg())...); err != nil {
		return err
	}
	if err := p.sumInto(places, table, c.sums); err != nil {
		return err
	}
	return p.launchBlocks(kernels.Place(integer[M]().name, integer[V]().name), blocks,
		d.args(from.keys.Arg(), from.from.Arg(), places.Arg(), to.keys.Arg(), to.from.Arg())...)
}

// cType is a type in kernels.
type cType struct {
	name  string
	bytes int
}

func integer[V int32 | int64]() cType {
	var v any = V(0)
	if _, ok := v.(int64); ok {
		return cType{"long", 8}
	}
	return cType{"int", 4}
}

// counts returns how often each number below n stands among the keys.
func (p *planner) counts(keys *device.Buffer[int32], n int) (*device.Buffer[int32], error) {
	counts, err := device.Alloc[int32](p.dev, int64(n))
	if err != nil {
		return nil, err
	}
	if err = counts.Zero(); err == nil {
		const each = 16 // keys of a thread
		err = p.launch(kernels.Count(), dialect.Blocks(keys.Len(), each), device.Value(keys.Len()), keys.Arg(), counts.Arg())
	}
	if err != nil {
		return nil, errors.Join(err, counts.Close())
	}
	return counts, nil
}

// lower returns how many of the sorted numbers x are less than each of n bounds, or than 0, 1, … n-1 where bounds is nil.
func lower[V int32 | int64](p *planner, x *device.Buffer[V], bounds *device.Buffer[int64], n int64) (*device.Buffer[int64], error) {
	first, err := device.Alloc[int64](p.dev, n)
	if err != nil {
		return nil, err
	}
	if err := p.launch(kernels.Lower(integer[V]().name), n, device.Value(x.Len()), device.Value(n), x.Arg(), bounds.Arg(), first.Arg()); err != nil {
		return nil, errors.Join(err, first.Close())
	}
	return first, nil
}
