package cpu

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/internal/parallel"
)

var _ device.Measurer = (*Device)(nil)

// Measure implements device.Measurer: the bandwidth of each cache and of the memory, for one thread
// and for all of them, and how much of the caches can be used. The first call on a machine takes
// about two seconds, up to three times as long where other programs disturb it; the result is kept in the user's
// cache folder, for each model of processor, number of threads and loop (see the environment variable SDDMMKIT_CACHE). A call that
// finds one looks for some milliseconds whether the machine is faster now, at most every ten seconds, and measures again if it is; of
// both measurements the better rates of caches are kept.
func (d *Device) Measure(ctx context.Context, g device.Gather) (device.Measured, error) {
	if g.Read == nil {
		g = device.Gather{Name: "go", Read: readRows}
	}
	d.measuring.Lock()
	defer d.measuring.Unlock()
	known, ok := d.measured[g.Name]
	if ok && time.Since(known.at) < lookEvery {
		return known.Measured, nil
	}
	store, m := newStore(d.props, g.Name), known.Measured
	if !ok {
		m, ok = store.load()
	}
	if ok {
		slow, err := measuredSlow(ctx, d.props, g, m)
		if err != nil {
			return device.Measured{}, err
		}
		ok = !slow
	}
	if !ok {
		again, err := calmest(func() (device.Measured, float64, error) { return measure(ctx, d.props, g) })
		if err != nil {
			return device.Measured{}, err
		}
		m = bestOf(m, again)
		store.save(m)
	}
	if d.measured == nil {
		d.measured = map[string]looked{}
	}
	d.measured[g.Name] = looked{m, time.Now()}
	return m, nil
}

// readRows reads one element of each cache line of each row: what counts is how fast lines come.
func readRows(data []float32, row int, idx []int32) {
	const line = 64 / 4
	var s0, s1 float32
	for _, i := range idx {
		x := data[int(i)*row:][:row]
		for len(x) > line {
			s0 += x[0]
			s1 += x[line]
			x = x[min(2*line, len(x)):]
		}
		if len(x) > 0 {
			s0 += x[0]
		}
	}
	if s0+s1 == 1 { // keeps the loads: the data are zeros
		panic("cpu: the memory under measurement changed")
	}
}

// Sizes of the measurement.
const (
	sweepRow   = 512      // bytes of a row in the search for capacities, as for K = 128
	sampleRead = 2 << 20  // bytes that each thread reads in one sample
	smallest   = 64 << 20 // memory to read at least, and at most
	largest    = 1 << 30

	// Each thread reads so many samples without a pause, the first half of them untimed: an operation runs all the time too, and
	// what it finds in a shared cache is what it brought there faster than others drive it out.
	samples = 32
	repeats = 3 // of all that is measured, one after the other; ofRounds picks
)

// rowSizes are the lengths of rows in bytes at which rates are measured.
var rowSizes = []int{64, 128, 512, 2048}

// bench is a measurement in progress.
type bench struct {
	ctx     context.Context
	gather  device.Gather
	threads int
	data    []float32
	idx     [][]int32 // per thread
	seed    uint64
}

// newBench returns a bench of size bytes for rows of at least row bytes, and what gives the memory back.
func newBench(ctx context.Context, g device.Gather, threads, row int, size int64) (b *bench, free func(), err error) {
	raw, free := untouched(size)
	makeHuge(raw) // as Alloc does
	b = &bench{ctx: ctx, gather: g, threads: threads, idx: make([][]int32, threads), seed: 1,
		data: unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(raw))), size/4)}
	for t := range b.idx {
		b.idx[t] = make([]int32, samples/2*sampleRead/row)
	}
	return b, free, b.touch()
}

// measure measures a machine, and returns the scaling of the measurement too.
func measure(ctx context.Context, p device.Props, g device.Gather) (m device.Measured, scaled float64, err error) {
	points := pointsOf(p)
	size := points[len(points)-1].set
	b, free, err := newBench(ctx, g, p.Threads, rowSizes[0], size)
	defer free()
	if err != nil {
		return m, 0, err
	}
	m = device.Measured{Threads: p.Threads, Loop: g.Name}
	rounds := make([][]device.Level, repeats)
	for n := range rounds {
		if rounds[n], err = b.levels(points, size); err != nil {
			return m, 0, err
		}
	}
	m.Levels = ofRounds(rounds)
	curve, least, err := b.sweep(points[1].bytes/2, size)
	if err != nil {
		return m, 0, err
	}
	for i, pt := range points {
		l := &m.Levels[i]
		switch pt.name {
		case "L2":
			l.Bytes = capacity(least, least[0].seconds, at(least, points[i+1].set), pt.bytes)
		case "L3":
			l.Bytes = capacity(curve, at(curve, pt.set).seconds, curve[len(curve)-1], pt.bytes)
			if m.Reach, err = b.reach(pt.set, size); err != nil {
				return m, 0, err
			}
		}
		if i > 0 && l.Bytes > 0 {
			l.Bytes = max(l.Bytes, m.Levels[i-1].Bytes)
		}
	}
	for i := 1; i < len(points); i++ {
		if l := &m.Levels[i]; l.Shared && l.Bytes > 0 {
			l.Gather = withoutHits(l.Gather, &m.Levels[i-1], points[i].set)
		} else if l.Bytes > 0 {
			if l.SetBytes, err = b.setBytes(points[i].bytes); err != nil {
				return m, 0, err
			}
		}
	}
	calm(m.Levels)
	return m, scaling(p.Threads, rounds), nil
}

// withoutHits returns the rates of rows that a shared cache holds, from those of rows in a working set of which the cache before it
// serves what it holds.
func withoutHits(rates []device.Rate, before *device.Level, set int64) []device.Rate {
	all := slices.Clone(rates)
	for k := range all {
		r, hit := &all[k], before.Gather[k]
		r.One, r.All = missed(r.One, hit.One, before, set), missed(r.All, hit.All, before, set)
	}
	return all
}

// missed is withoutHits for one rate; hit is that of the cache before. It solves the equation at device.Mixing for the far reads.
func missed(rate, hit float64, before *device.Level, set int64) float64 {
	hits := min(float64(before.Bytes)/float64(set), 0.5)
	mixed := device.Mixing * hits
	return (1 - hits) * (1 + mixed) / (1/rate - hits*(1-device.Mixing*(1-hits))/max(hit, rate))
}

// setBytes returns the device.Level.SetBytes of a private cache of so many bytes. Rows of sweepRow bytes that lie a power of two apart share few sets
// of it where address bits pick them: those that would fill a quarter of the cache, which is more than the cache before it holds, have to be
// fetched again and again. Where bits within a page pick, they share one set in eight or more, which have room for a thirty-second of the cache; where
// pages follow each other and more bits pick, not for that either.
func (b *bench) setBytes(bytes int64) (int64, error) {
	const (
		apart = 128 << 10 // that is, 8 or 16 ways of 1 or 2 MB
		page  = 4 << 10
		least = 64 // rows apart
	)
	rows := min(bytes/4/sweepRow, int64(len(b.data))*4/apart)
	if rows < least {
		return 0, nil
	}
	// Rows that share only sets of the cache before, whose sets address bits pick in any case: half of the ways of these, for 8 or 12 of 32 or 48 KB.
	near, err := b.secondsApart(bytes/2/page, page)
	if err != nil {
		return 0, err
	}
	for _, part := range []struct{ rows, bytes int64 }{{rows, 0}, {rows / 8, page}} {
		took, err := b.secondsApart(part.rows, apart)
		const slower = 1.6 // 2 to 8 on Xeons, 1.3 on a Zen 4
		if err != nil || took <= slower*near {
			return part.bytes, err
		}
	}
	return apart, nil
}

// secondsApart is secondsAt for rows of sweepRow bytes that lie so many bytes apart: the median of three.
func (b *bench) secondsApart(rows, apart int64) (float64, error) {
	var took [3]float64
	gap := apart / sweepRow
	for n := range took {
		var err error
		if took[n], err = b.secondsAt(sweepRow, rows, gap, 1, true, func(i int64) int32 { return int32(i * gap) }); err != nil {
			return 0, err
		}
	}
	slices.Sort(took[:])
	return took[1], nil
}

// point is where a level is measured: it holds most of what is read, and the level before holds little.
type point struct {
	name   string
	bytes  int64 // nominal
	shared bool
	set    int64 // working set
}

// pointsOf returns where a machine is measured whose caches have the sizes that p says, or usual ones; the last is all memory that is read.
func pointsOf(p device.Props) []point {
	l1, l2, l3 := l1Bytes(p), p.L2Bytes, p.L3Bytes
	if l2 <= l1 {
		l2 = max(1<<20, 4*l1)
	}
	points := []point{{"L1", l1, false, l1 / 2}, {"L2", l2, false, min(l2/2, 8*l1)}}
	if l3 > l2 {
		points = append(points, point{"L3", l3, true, min(4*l2, l3/2)})
	}
	size := max(8*max(l2, l3), smallest)
	if p.MemoryBytes > 0 {
		size = min(size, p.MemoryBytes/8)
	}
	return append(points, point{"memory", 0, true, max(min(size, largest), 4*l2)})
}

// l1Bytes is the size of the cache nearest to a core, or a usual one.
func l1Bytes(p device.Props) int64 {
	if p.L1Bytes <= 0 {
		return 32 << 10
	}
	return p.L1Bytes
}

// levels measures the rates of all levels, once; size is that of the memory to read.
func (b *bench) levels(points []point, size int64) ([]device.Level, error) {
	var all []device.Level
	for _, pt := range points {
		l := device.Level{Name: pt.name, Bytes: pt.bytes, Shared: pt.shared}
		var err error
		if l.Gather, err = b.rates(pt.set, pt.set); err != nil {
			return nil, err
		}
		if pt.shared && pt.bytes > 0 {
			if l.Spread, err = b.rates(pt.set, size); err != nil {
				return nil, err
			}
		}
		if l.Stream, err = b.rate(sweepRow, pt.set, pt.set, false); err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// touch clears the data, so that the pages are there, each near the thread that reads it first.
func (b *bench) touch() error {
	const block = 1 << 20 // elements; what is cleared between two looks at the context
	parallel.Ranges(b.threads, int64(len(b.data)), func(_ int, lo, hi int64) {
		for ; lo < hi && b.ctx.Err() == nil; lo += block {
			clear(b.data[lo:min(lo+block, hi)])
		}
	})
	return b.ctx.Err()
}

// rates measures rows of all lengths in random order, in a working set spread over span bytes.
func (b *bench) rates(set, span int64) ([]device.Rate, error) {
	var all []device.Rate
	for _, row := range rowSizes {
		r, err := b.rate(row, set, span, true)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// reach measures how far a working set can be spread before pages must be looked up all the time: the
// capacity for addresses, found like that of a cache.
func (b *bench) reach(set, most int64) (int64, error) {
	const row = 128
	var curve []curvePoint
	for span := set; ; span *= 2 {
		span = min(span, most)
		s, err := b.seconds(row, set, span, b.threads, true)
		if err != nil {
			return 0, err
		}
		curve = append(curve, curvePoint{span, s})
		if span == most {
			break
		}
	}
	calmCurve(curve)
	return capacity(curve, curve[0].seconds, curve[len(curve)-1], most), nil
}

// rate measures rows of row bytes within a working set, by one thread and by all.
func (b *bench) rate(row int, set, span int64, random bool) (device.Rate, error) {
	one, err := b.seconds(row, set, span, 1, random)
	if err != nil || b.threads == 1 {
		return device.Rate{RowBytes: row, One: float64(row) / one, All: float64(row) / one}, err
	}
	all, err := b.seconds(row, set, span, b.threads, random)
	return device.Rate{RowBytes: row, One: float64(row) / one, All: float64(row) * float64(b.threads) / all}, err
}

// curvePoint is the time of one row of sweepRow bytes when all threads read within a working set.
type curvePoint struct {
	set     int64
	seconds float64
}

// sweep measures working sets from one size to the most, three to an octave, all of them a few times, for others who use the caches
// come and go. The medians are for caches that others always use, the least times for those of one core, which a neighbour on it uses at moments.
func (b *bench) sweep(from, most int64) (medians, least []curvePoint, err error) {
	var curve []curvePoint
	for x := float64(from); x < float64(most); x *= math.Cbrt(2) {
		curve = append(curve, curvePoint{set: int64(x)})
	}
	curve = append(curve, curvePoint{set: most})
	var took [repeats][]float64
	for n := range took {
		for _, p := range curve {
			s, err := b.seconds(sweepRow, p.set, p.set, b.threads, true)
			if err != nil {
				return nil, nil, err
			}
			took[n] = append(took[n], s)
		}
	}
	for k := range curve {
		var all []float64
		for n := range took {
			all = append(all, took[n][k])
		}
		slices.Sort(all)
		medians = append(medians, curvePoint{curve[k].set, all[repeats/2]})
		least = append(least, curvePoint{curve[k].set, all[0]})
	}
	calmCurve(medians)
	calmCurve(least)
	return medians, least, nil
}

// calmCurve takes out disturbances: a smaller set takes no longer than a larger one.
func calmCurve(curve []curvePoint) {
	for k := len(curve) - 2; k >= 0; k-- {
		curve[k].seconds = min(curve[k].seconds, curve[k+1].seconds)
	}
}

// at returns the point nearest to a working set.
func at(curve []curvePoint, set int64) curvePoint {
	best := curve[0]
	for _, p := range curve {
		if math.Abs(math.Log(float64(p.set)/float64(set))) < math.Abs(math.Log(float64(best.set)/float64(set))) {
			best = p
		}
	}
	return best
}

// capacity returns how much of a cache can be used. Where a working set W of random rows is larger
// than the cache C, a share C/W of the reads hit. So the time t of W lies, from that of sets which fit to that of one, S, which does not,
//
//	missed = (t − hit)/(miss − hit) = (1 − C/W)/(1 − C/S)
//
// of the way: each point in the middle gives a C, and the median counts. The result lies between an eighth of the nominal size and all of it.
func capacity(curve []curvePoint, hit float64, miss curvePoint, nominal int64) int64 {
	var found []float64
	for _, p := range curve {
		if missed := (p.seconds - hit) / (miss.seconds - hit); p.set < miss.set && missed > 0.2 && missed < 0.8 {
			found = append(found, (1-missed)/(1/float64(p.set)-missed/float64(miss.set)))
		}
	}
	if len(found) == 0 || miss.seconds <= hit {
		return nominal
	}
	slices.Sort(found)
	return max(min(int64(found[len(found)/2]), nominal), nominal/8)
}

// seconds returns the time, in the median, in which threads threads each read one row of row bytes, out of a
// working set that all of them use and that is spread over span bytes; in order if not at random, each
// thread in its own part.
func (b *bench) seconds(row int, set, span int64, threads int, random bool) (float64, error) {
	rows := max(set/int64(row), 1)
	gap := max(span/int64(row)/rows, 1) // row i is one of the gap rows from i·gap on
	return b.secondsAt(row, rows, gap, threads, random, func(i int64) int32 {
		if gap == 1 {
			return int32(i)
		}
		return int32(i*gap + int64(mix(uint64(i))%uint64(gap)))
	})
}

// secondsAt is seconds for rows that lie where place says, within gap rows for each.
func (b *bench) secondsAt(row int, rows, gap int64, threads int, random bool, place func(i int64) int32) (float64, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n := max(sampleRead/row, 1) // of a sample
	data := b.data[:min(rows*gap*int64(row)/4, int64(len(b.data)))]
	b.seed++
	parallel.Ranges(threads, int64(threads), func(_ int, lo, hi int64) {
		for t := lo; t < hi; t++ {
			idx := b.idx[t][:samples/2*n]
			x, at := b.seed+uint64(t)<<32, rows*t/int64(threads)
			for i := range idx {
				if random {
					x++
					idx[i] = place(int64((mix(x) >> 32) * uint64(rows) >> 32))
				} else {
					idx[i] = place((at + int64(i)) % rows)
				}
			}
		}
	})
	// Everything once, in order: into the caches as far as it fits.
	all := make([]int32, min(rows, int64(n)))
	for lo := int64(0); lo < rows; lo += int64(len(all)) {
		if err := b.ctx.Err(); err != nil {
			return 0, err
		}
		some := all[:min(int64(len(all)), rows-lo)]
		for i := range some {
			some[i] = place(lo + int64(i))
		}
		b.gather.Read(data, row/4, some)
	}
	took := make([]float64, threads*samples/2)
	var ready, done sync.WaitGroup
	ready.Add(threads)
	done.Add(threads)
	for t := range threads {
		go func() {
			defer done.Done()
			ready.Done()
			ready.Wait()
			for sample := range samples {
				at := sample % (samples / 2)
				start := time.Now()
				b.gather.Read(data, row/4, b.idx[t][at*n:(at+1)*n])
				took[t*samples/2+at] = time.Since(start).Seconds()
			}
		}()
	}
	done.Wait()
	slices.Sort(took)
	return max(took[len(took)/2], 1e-9) / float64(n), nil
}

// mix is the output function of splitmix64: equal steps in, random numbers out.
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
