package model

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sddmmkit/device"
	"sddmmkit/sparse"
)

// testMachine is a machine with caches of 48 KB, 1 MB and 16 MB and ordinary rates.
func testMachine(threads int) *Machine {
	p := device.Props{L1Bytes: 48 << 10, L2Bytes: 1 << 20, L3Bytes: 32 << 20}
	return NewMachine(p, device.Measured{}, threads)
}

// exactMachine is testMachine with caches as they are simulated: nothing is there that was not asked for, and what was not read for the longest
// time is replaced.
func exactMachine(threads int) *Machine {
	m := testMachine(threads)
	m.Beside, m.AtRandom = 0, false
	return m
}

// Of a shared cache that was measured three quarters of its size count, and 48 MB for each thread; of private ones all.
func TestSharedCacheThatCounts(t *testing.T) {
	for _, c := range []struct {
		nominal, measured, want int64 // MB; a nominal size of 0 is not known
		threads                 int
	}{{32, 30, 24, 2}, {32, 16, 16, 2}, {260, 146, 96, 2}, {260, 146, 48, 1}, {260, 146, 146, 8}, {0, 146, 96, 2}} {
		m := testMachine(c.threads).Measured
		m.Levels[1].Bytes, m.Levels[2].Bytes = 2<<20, c.measured<<20
		p := device.Props{L1Bytes: 48 << 10, L2Bytes: 2 << 20, L3Bytes: c.nominal << 20}
		machine := NewMachine(p, m, c.threads)
		got := machine.Measured.Levels
		filled := full // of a cache of which all counts, or of unknown size
		if c.nominal > 0 {
			filled = max(full*float64(c.want)/(0.75*float64(c.nominal)), fullLeast)
		}
		if machine.Full != filled {
			t.Errorf("%+v: a row takes longer by %v from it where it is full, want %v", c, machine.Full, filled)
		}
		if got[2].Bytes != c.want<<20 || got[1].Bytes != 2<<20 {
			t.Errorf("%+v: %d MB count, and %d of L2", c, got[2].Bytes>>20, got[1].Bytes>>20)
		}
		if m.Levels[2].Bytes != c.measured<<20 {
			t.Errorf("%+v: the measurement was written over", c)
		}
	}
}

// checkPrediction: positive, finite, and made of its parts.
func checkPrediction(t *testing.T, p Prediction) {
	t.Helper()
	bad := func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) || x < 0 }
	if bad(p.Seconds) || bad(p.Segments) || p.Panels < 1 {
		t.Fatalf("prediction %+v", p)
	}
	for _, l := range p.Levels {
		if bad(l.Bytes) || l.Name == "" {
			t.Fatalf("prediction %+v", p)
		}
	}
}

// checkChoice: a tile that the operations take, no slower than none, with a reason.
func checkChoice(t *testing.T, op Op, f *Profile, k, elem int, c Choice) {
	t.Helper()
	checkPrediction(t, c.Prediction)
	none := c.Alternatives[0]
	if none.Tile != (Tile{}) || none.Panels != 1 {
		t.Fatalf("the first alternative is %+v", none)
	}
	fastest := none.Seconds
	for _, p := range c.Alternatives {
		checkPrediction(t, p)
		fastest = min(fastest, p.Seconds)
	}
	tile := c.Tile
	if tile.Ti != 0 || tile.Tj < 0 || tile.Tj >= max(f.Cols, 1) && !(tile.Tj == f.Cols && lists(op, f, k)) || tile.Tk != 0 && !slices.Contains(Depths(k, elem), tile.Tk) || tile.Tj > 0 && tile.Tj < minWidth ||
		tile.Tj > 0 && f.Segments == nil {
		t.Fatalf("%v of %d×%d with K = %d: tile %+v", op, f.Rows, f.Cols, k, tile)
	}
	if c.Seconds > none.Seconds || c.Seconds > equal*fastest || tile != (Tile{}) && none.Seconds <= equal*fastest {
		t.Fatalf("tile %+v takes %v, none %v, the fastest %v", tile, c.Seconds, none.Seconds, fastest)
	}
	for _, p := range c.Alternatives {
		if tile.Tj > 0 && p.Seconds <= alike*fastest && p.touched(k) < c.touched(k) {
			t.Fatalf("tile %+v touches %v segments in %v s, %+v %v in %v", tile, c.touched(k), c.Seconds, p.Tile, p.touched(k), p.Seconds)
		}
	}
	if c.Reason == "" || strings.Contains(c.Reason, "%!") || strings.Contains(c.Reason, "NaN") || strings.Contains(c.Reason, "Inf") {
		t.Fatalf("reason %q", c.Reason)
	}
}

// Whatever the shape, depth and machine, predictions are numbers and choices valid.
func TestOddInputs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	unsorted := &sparse.Pattern{Rows: 1, Cols: 3000, RowPtr: []int64{0, 2}, ColIdx: []int32{2999, 0}}
	profiles := []*Profile{
		NewProfile(&sparse.Pattern{RowPtr: []int64{0}}, 1),
		NewProfile(&sparse.Pattern{Rows: 5, RowPtr: make([]int64, 6)}, 1),
		NewProfile(&sparse.Pattern{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{0}}, 1),
		NewProfile(&sparse.Pattern{Rows: 3, Cols: 1 << 30, RowPtr: []int64{0, 1, 1, 2}, ColIdx: []int32{0, 1 << 29}}, 1),
		NewProfile(unsorted, 1),
		NewProfile(uniform(rng, 500, 3000, 100), 1),
		NewProfile(skewed(rng, 5000, 300, 10), 1),
	}
	machines := []*Machine{testMachine(1), testMachine(64), NewMachine(device.Props{}, device.Measured{}, 0),
		NewMachine(device.Props{L1Bytes: -5, L2Bytes: 1 << 50, L3Bytes: 3, LineBytes: 128}, device.Measured{Threads: 4}, -3)}
	own := testMachine(2) // memory too, as a file may say
	for l := range own.Measured.Levels {
		own.Measured.Levels[l].Shared = false
	}
	machines = append(machines, own)
	for _, f := range profiles {
		for _, m := range machines {
			for _, op := range []Op{SDDMM, SpMM, SpMMT} {
				for _, k := range []int{-1, 0, 1, 2, 31, 128, 129, 512, 100_000} {
					for _, elem := range []int{4, 8} {
						checkChoice(t, op, f, k, elem, m.Choose(op, f, k, elem))
					}
				}
			}
		}
	}
	for _, p := range machines[0].Choose(SDDMM, profiles[4], 512, 4).Alternatives {
		if p.Tile.Tj > 0 {
			t.Errorf("rows that are not sorted are cut into panels: %v", p.Tile)
		}
	}
	if c := machines[0].Choose(SDDMM, profiles[4], 128, 4); !strings.Contains(c.Reason, "not in order") {
		t.Errorf("unsorted rows: %q", c.Reason)
	}
}

// wide has rows of perRow non-zeros in cols columns, by shape alone: large patterns without their
// non-zeros. Columns are as if drawn at random.
func wide(rows, cols, perRow int) *Profile {
	nnz := int64(rows) * int64(perRow)
	f := &Profile{Rows: rows, Cols: cols, NNZ: nnz, ActiveRows: int64(rows), ActiveCols: int64(cols)}
	for s := 0; ; s++ {
		panels := math.Ceil(float64(cols) / float64(int(1)<<s))
		empty := math.Pow(1-1/panels, float64(perRow))
		f.Segments = append(f.Segments, int64(float64(rows)*panels*(1-empty)))
		if 1<<s >= cols {
			break
		}
	}
	// A column comes again after cols references on average, with exponentially spread times.
	longest := max(nnz, 16*int64(cols))
	one := region{refs: float64(nnz), columns: float64(cols), reuse: newHistogram(longest), gaps: newHistogram(longest)}
	const parts = 1000
	for k := range parts {
		x := uint64(-math.Log(1-(float64(k)+0.5)/parts)*float64(cols)) + 1
		each := (nnz - int64(cols)) / parts
		one.reuse[bin(x)].count += each
		one.reuse[bin(x)].sum += each * int64(x)
	}
	one.gaps.merge(one.reuse)
	one.sumUp(1, 1)
	f.all = &references{region: one, number: nnz, each: 1}
	return f
}

func TestLimits(t *testing.T) {
	m := testMachine(2)
	for _, test := range []struct {
		name  string
		f     *Profile
		k     int
		tiled bool
		says  string
	}{
		{"B in L1", wide(100_000, 300, 50), 32, false, "fits in L1"},
		{"B in L2", wide(100_000, 1500, 50), 128, false, "L2"},
		{"few non-zeros in a row", wide(1_000_000, 1_000_000, 5), 128, false, "per active row"},
		{"dense rows, B of 150 MB", wide(4_000, 300_000, 1500), 128, true, "B (146 MB) is larger than L3"},
		{"dense rows, B of 600 MB", wide(4_000, 300_000, 1500), 512, true, "B (586 MB) is larger than L3"},
	} {
		for _, op := range []Op{SDDMM, SpMM} {
			c := m.Choose(op, test.f, test.k, 4)
			checkChoice(t, op, test.f, test.k, 4, c)
			if (c.Tile != (Tile{})) != test.tiled || !strings.Contains(c.Reason, test.says) {
				t.Errorf("%s, %v: tile %+v, %s", test.name, op, c.Tile, c.Reason)
			}
			columns, depth := cmp.Or(c.Tile.Tj, test.f.Cols), cmp.Or(c.Tile.Tk, test.k)
			if test.tiled && float64(columns)*float64(depth)*4 > 4*float64(m.Measured.Levels[2].Bytes) {
				t.Errorf("%s, %v: a panel of %d columns is far larger than L3", test.name, op, c.Tile.Tj)
			}
		}
	}
}

// Where rows have few non-zeros in a panel and many in the matrix, slices of K stay in the cache.
func TestSlices(t *testing.T) {
	if got, want := Depths(512, 4), []int{256, 128}; !slices.Equal(got, want) {
		t.Errorf("slices of %v, want %v", got, want)
	}
	if got, want := Depths(512, 8), []int{256, 128, 64}; !slices.Equal(got, want) {
		t.Errorf("slices of %v in double precision, want %v", got, want)
	}
	if got := Depths(144, 4); got != nil {
		t.Errorf("K = 144 is cut into slices of %v, which leave 16 over", got)
	}
	m, f := testMachine(2), wide(500_000, 20_000, 20)
	for _, op := range []Op{SDDMM, SpMM} {
		c := m.Choose(op, f, 512, 4)
		checkChoice(t, op, f, 512, 4, c)
		if c.Tile != (Tile{Tk: 128}) || !strings.Contains(c.Reason, "slices of 128 of K take 9.77 MB each") {
			t.Errorf("%v: tile %+v, %s", op, c.Tile, c.Reason)
		}
		if c.Making != 0 {
			t.Errorf("%v: slices without panels take %v to make", op, c.Making)
		}
	}
	// Of a matrix that is read once a copy does not pay.
	if c := m.Choose(SpMM, wide(1_000_000, 1_000_000, 1), 512, 4); c.Tile != (Tile{}) {
		t.Errorf("B is read once: tile %+v, %s", c.Tile, c.Reason)
	}
}

// Where most rows are empty, SDDMM goes over a list of the others.
func TestActiveRows(t *testing.T) {
	m, f := testMachine(2), wide(200_000, 400_000, 5)
	all := m.Choose(SDDMM, f, 32, 4)
	if all.Tile != (Tile{}) || slices.ContainsFunc(all.Alternatives, func(p Prediction) bool { return p.Tile.Tj == f.Cols }) {
		t.Errorf("no row is empty: tile %+v of %d", all.Tile, len(all.Alternatives))
	}
	f.Rows *= 3
	for _, test := range []struct {
		op   Op
		k    int
		want Tile
	}{{SDDMM, 32, Tile{Tj: f.Cols}}, {SDDMM, narrow, Tile{}}, {SpMM, 32, Tile{}}} {
		c := m.Choose(test.op, f, test.k, 4)
		checkChoice(t, test.op, f, test.k, 4, c)
		if c.Tile != test.want || c.Tile.Tj > 0 && !strings.Contains(c.Reason, "a list of the 200000 active rows passes over 400000 others") {
			t.Errorf("%v, K = %d: tile %+v, want %+v: %s", test.op, test.k, c.Tile, test.want, c.Reason)
		}
	}
}

// More work takes longer: deeper, more non-zeros, wider elements; more threads take less.
func TestMonotonicity(t *testing.T) {
	m := testMachine(1)
	at := func(m *Machine, f *Profile, k, elem int) float64 { return m.Predict(SDDMM, f, k, elem, Tile{}).Seconds }
	f := wide(50_000, 100_000, 40)
	last := 0.0
	for _, k := range []int{1, 8, 16, 32, 64, 128, 256, 512, 1024} {
		s := at(m, f, k, 4)
		if s < last {
			t.Errorf("K = %d takes %v, less than a smaller K with %v", k, s, last)
		}
		if d := at(m, f, k, 8); d < s {
			t.Errorf("K = %d takes %v in double and %v in single precision", k, d, s)
		}
		last = s
	}
	last = 0
	for _, perRow := range []int{5, 10, 20, 40, 80} {
		s := at(m, wide(50_000, 100_000, perRow), 128, 4)
		if s < last {
			t.Errorf("%d non-zeros a row take %v, less than fewer with %v", perRow, s, last)
		}
		last = s
	}
	if one, two := at(m, f, 128, 4), at(testMachine(2), f, 128, 4); two > one {
		t.Errorf("two threads take %v, one %v", two, one)
	}
	// Each read of a row of B is in one level.
	p := m.Predict(SpMM, f, 128, 4, Tile{})
	total := 0.0
	for _, l := range p.Levels {
		total += l.Bytes
	}
	if least := float64(f.NNZ) * 512; total < least {
		t.Errorf("%v bytes in all levels, want at least %v", total, least)
	}
}

// found returns how many reads of rows of B find them in a level.
func found(w *work, l int) float64 {
	hits, _ := w.hits(l)
	return hits
}

// A larger cache never makes hits rarer, and a narrower panel neither.
func TestHitsGrow(t *testing.T) {
	f := NewProfile(skewed(rand.New(rand.NewPCG(9, 10)), 5000, 4000, 20), 1)
	m := testMachine(1)
	hits := func(bytes int64, tj int) float64 {
		m.Measured.Levels[1].Bytes = bytes
		w := newWork(m, SDDMM, f, 128, 4, Tile{Tj: tj})
		return found(w, 1)
	}
	last := 0.0
	for bytes := int64(1 << 14); bytes < 1<<24; bytes *= 2 {
		h := hits(bytes, 0)
		if h < last {
			t.Errorf("%d bytes hit %v times, fewer than %v", bytes, h, last)
		}
		last = h
	}
	if all := float64(f.NNZ - f.ActiveCols); math.Abs(last-all) > 1e-9*all {
		t.Errorf("a cache that holds all hits %v times of %v", last, all)
	}
	if a, b := hits(1<<17, 0), hits(1<<17, 1000); b < a {
		t.Errorf("panels hit %v times, no panels %v", b, a)
	}
}

// Rows of A or C that do not follow each other are gathered, which takes longer than a stream of as many bytes.
func TestRowsApart(t *testing.T) {
	m, f := testMachine(2), wide(200_000, 400_000, 5)
	for _, op := range []Op{SDDMM, SpMM} {
		apart := *f
		apart.Rows *= 4
		near, far := m.Predict(op, f, 128, 4, Tile{Tj: f.Cols}), m.Predict(op, &apart, 128, 4, Tile{Tj: f.Cols})
		if far.Seconds <= near.Seconds {
			t.Errorf("%v: %v seconds where three of four rows are empty, %v where none is", op, far.Seconds, near.Seconds)
		}
		for l := range near.Levels {
			if a, b := near.Levels[l].Bytes, far.Levels[l].Bytes; math.Abs(a-b) > 1e-9*a {
				t.Errorf("%v: %v bytes of %s, want %v", op, b, near.Levels[l].Name, a)
			}
		}
		// In slices no row follows another; but from memory those of rows that do take what a stream takes, in SDDMM long ones, and
		// in SpMM some of that is hidden.
		for _, depth := range []int{128, 256} {
			slices := Tile{Tj: f.Cols, Tk: depth}
			near, far = m.Predict(op, f, 512, 4, slices), m.Predict(op, &apart, 512, 4, slices)
			const memory = 3
			row := float64(4 * depth)
			left := survive(newWork(m, op, f, 512, 4, slices).call() / float64(m.Measured.Levels[memory-1].Bytes)) // in the cache before
			rows := (1 - left) * (1 - 1./4) * float64(512/depth) * float64(f.ActiveRows)
			seen := map[Op]float64{SDDMM: 1, SpMM: overlap}[op]
			want := rows * (m.Measured.GatherSeconds(memory, row, 2) - seen*m.Measured.StreamSeconds(memory, row, 2)) / 2
			if want <= 0 {
				t.Fatalf("rows of %v bytes: gathers and streams take as long", row)
			}
			if op == SDDMM && depth == 128 {
				want = 0
			}
			if got := far.Seconds - near.Seconds; math.Abs(got-want) > 1e-9*far.Seconds {
				t.Errorf("%v in slices of %d: %v seconds more where three of four rows are empty, want %v", op, depth, got, want)
			}
			for l := range near.Levels {
				if a, b := near.Levels[l].Bytes, far.Levels[l].Bytes; math.Abs(a-b) > 1e-9*a {
					t.Errorf("%v in slices of %d: %v bytes of %s, want %v", op, depth, b, near.Levels[l].Name, a)
				}
			}
		}
		slices, small := Tile{Tj: f.Cols, Tk: 128}, wide(2000, 4000, 5)
		apart = *small
		apart.Rows *= 4
		if a, b := m.Predict(op, small, 512, 4, slices).Seconds, m.Predict(op, &apart, 512, 4, slices).Seconds; math.Abs(a-b) > 1e-9*a {
			t.Errorf("%v in slices, in a cache: %v seconds where three of four rows are empty, %v where none is", op, b, a)
		}
	}
}

// Segments of few non-zeros find lines of values that the panel before has touched, as far as rows of A are found again.
func TestLinesOfValuesAgain(t *testing.T) {
	m, f := testMachine(2), wide(20_000, 100_000, 50)
	level := len(m.Measured.Levels) - 2
	values := func(width int, again float64) (near, far float64) {
		w := newWork(m, SDDMM, f, 32, 4, Tile{Tj: width})
		w.again = again
		w.streams()
		return w.bytes[level], w.bytes[level+1]
	}
	for _, width := range []int{1000, 50_000} {
		near, far := values(width, 0)
		again := newWork(m, SDDMM, f, 32, 4, Tile{Tj: width})
		left := survive(again.call() / again.capacity(level)) // from the call before
		nearAll, farAll := values(width, 1-again.first())
		if all := near + far; left < 0.01 || math.Abs(near-left*all) > 1e-9*all || math.Abs(nearAll+farAll-all) > 1e-9*all {
			t.Errorf("panels of %d: %v bytes near and %v far where no row comes again, %v and %v where all do", width, near, far, nearAll, farAll)
		}
		// What comes from memory is touched for the first time, and nothing of it is left: each array once, and columns and segments.
		lines := math.Ceil(float64(f.NNZ) * 4 / 64)
		want := (1 - left) * (3*lines*64 + float64(f.NNZ)*4 + again.segs*16)
		if math.Abs(farAll-want) > 1e-3*want {
			t.Errorf("panels of %d: %v bytes from memory where all rows come again, want %v", width, farAll, want)
		}
	}
}

// A row takes no longer from a nearer cache, also where they are as fast alone.
func TestNearerIsNoSlower(t *testing.T) {
	m, f := testMachine(2), wide(20_000, 100_000, 50)
	for l := range m.Measured.Levels {
		m.Measured.Levels[l].Gather = m.Measured.Levels[0].Gather
	}
	for _, k := range []int{16, 32, 128, 512} {
		last := 0.0
		for l := range len(m.Measured.Levels) - 1 { // without memory
			w := newWork(m, SDDMM, f, k, 4, Tile{})
			w.gather(l, 1)
			if w.thread < last {
				t.Errorf("K = %d: %v seconds from %s, %v from the level before", k, w.thread, m.Measured.Levels[l].Name, last)
			}
			last = w.thread
		}
	}
}

// A row takes longer from a shared cache the more of it rows of B fill, by Full and less where it is short, by larger where a panel has wideBytes, and if it is short,
// by scattered where it has manyBytes. From a thread's own and from memory it takes as long as ever.
func TestFilledCaches(t *testing.T) {
	m := testMachine(2)
	m.Full = 0 // for the ends of scattered and larger
	seconds := func(l, columns, k int) float64 {
		w := newWork(m, SDDMM, wide(columns, columns, 4), k, 4, Tile{})
		w.f.ActiveCols = int64(columns)
		w.gather(l, 1)
		return w.thread
	}
	alone := func(l, k int) float64 { return m.Measured.GatherSeconds(l, float64(4*k), 2) }
	const private, shared, memory = 1, 2, 3
	fits := int(m.Measured.Levels[private].Bytes) / 512 // rows of K = 128
	more := 1 + larger*math.Log2(9./8)/2                // manyBytes are more than fitBytes
	for _, c := range []struct {
		l, columns, k int
		want          float64 // times what a row alone takes
	}{
		{private, fits, 128, 1},
		{shared, fewBytes / 128, 32, 1},
		{shared, manyBytes / 128, 32, more * (1 + scattered)},
		{shared, 2 * manyBytes / 128, 32, (more + larger/2) * (1 + scattered)},
		{shared, fitBytes / 512, 128, 1},
		{shared, 2 * fitBytes / 512, 128, 1 + larger/2},
		{shared, wideBytes / 512, 128, 1 + larger},
		{shared, 2 * wideBytes / 512, 128, 1 + larger},
		{shared, manyBytes / 320, 80, more * (1 + scattered/2)},
		{memory, wideBytes / 128, 32, 1},
	} {
		if got := seconds(c.l, c.columns, c.k) / alone(c.l, c.k); math.Abs(got-c.want) > 1e-3*c.want {
			t.Errorf("%d rows of K = %d from %s: %v times one alone, want %v", c.columns, c.k, m.Measured.Levels[c.l].Name, got, c.want)
		}
	}
	capacity := int(m.Measured.Levels[shared].Bytes)
	short := seconds(shared, capacity/2/128, 32)
	m.Full = 0.3
	if got, want := seconds(shared, capacity/2/128, 32)/short, 1+0.15*(fullShort+(1-fullShort)/4); math.Abs(got-want) > 1e-3 {
		t.Errorf("half of %s in rows of 128 bytes: %v times as long as where nothing fills, want %v", m.Measured.Levels[shared].Name, got, want)
	}
	if got := seconds(shared, capacity/2/512, 128) / alone(shared, 128); math.Abs(got-1.15) > 1e-3 {
		t.Errorf("half of %s: %v times a row alone, want 1.15", m.Measured.Levels[shared].Name, got)
	}
}

// Near reads between far ones take longer than both by themselves, most where there are as many of each; all near or all far ones do not.
func TestMixing(t *testing.T) {
	m := testMachine(2)
	m.Full = 0 // a read takes as long as one alone
	private, shared := 1, m.firstShared()
	const reads, k = 1000.0, 128
	seconds := func(near, beside float64) float64 {
		w := newWork(m, SDDMM, wide(1000, 1000, 4), k, 4, Tile{})
		w.gather(private, near)
		w.gather(shared, reads-near)
		before := w.thread
		w.mix(near, reads-near, beside)
		if w.gathers != w.thread {
			t.Errorf("%v near reads: gathers take %v of %v seconds", near, w.gathers, w.thread)
		}
		return w.thread - before
	}
	for _, c := range []struct{ near, want float64 }{{0, 0}, {reads / 4, 0.1875}, {reads / 2, 0.25}, {reads, 0}} {
		longer := m.Measured.GatherSeconds(shared, 4*k, 2) - m.Measured.GatherSeconds(private, 4*k, 2)
		beside := c.near * (1 - c.near/reads)
		if got, want := seconds(c.near, beside), device.Mixing*c.want*reads*longer; math.Abs(got-want) > 1e-9*longer*reads {
			t.Errorf("%v near reads of %v take %v seconds longer, want %v", c.near, reads, got, want)
		}
	}
	// With popular columns, hits come beside others as the share of those that is not found says, and what rows of B take is more than the sum of
	// their levels by that.
	f := NewProfile(popular(rand.New(rand.NewPCG(9, 10)), 4000, 8192, 40), 2)
	for _, kb := range []int64{64, 256, 64 << 10} {
		m.Measured.Levels[private].Bytes = kb << 10
		w := newWork(m, SDDMM, f, k, 4, Tile{})
		hits, beside := w.hits(private)
		reused := float64(f.NNZ - f.ActiveCols)
		if want := hits * (1 - hits/reused); math.Abs(beside-want) > 0.01*float64(f.NNZ) {
			t.Errorf("%d KB: %.0f of %.0f hits beside others, want %.0f", kb, beside, hits, want)
		}
		w.readB()
		sum := 0.0
		for l, bytes := range w.bytes {
			sum += bytes / w.row * m.Measured.GatherSeconds(l, w.row, 2)
		}
		most := device.Mixing * beside * m.Measured.GatherSeconds(shared+1, w.row, 2)
		if more := w.thread - sum; beside > 0.01*reused && !(more > most/100 && more < most) || more < -1e-9*sum {
			t.Errorf("%d KB: rows of B take %v seconds, %v more than the sum of their levels; want up to %v for %.0f of %.0f hits", kb, w.thread, more, most, beside, hits)
		}
	}
}

// Rows of B are near in a panel of at most twice a cache, long ones six times, and in SpMM very long ones a quarter of a shared one, if a call reads
// enough of each.
func TestNear(t *testing.T) {
	const l2, l3, all, reads = 1 << 20, 40 << 20, 100_000, 48 // 24 KB of rows of 512 bytes
	for _, c := range []struct {
		op         Op
		nnz        int64
		rows, size int
		want       bool
	}{
		{SDDMM, reads * all, l2 / 512, 512, true},
		{SDDMM, reads * all, 2 * l2 / 512, 512, true},
		{SDDMM, reads * all, 2*l2/512 + 1, 512, false},
		{SDDMM, reads * all, 6 * l2 / 1024, 1024, true},
		{SDDMM, reads * all, 6*l2/1024 + 1, 1024, false},
		{SDDMM, reads*all - 1, l2 / 512, 512, false},
		{SDDMM, reads / 4 * all, l2 / 2048, 2048, true},
		{SDDMM, 1 << 40, 1 << 30, 2048, false}, // 2 TB
		{SpMM, reads * all, 2*l2/512 + 1, 512, false},
		{SpMM, reads * all, 6*l2/1024 + 1, 1024, false},
		{SpMM, reads * all, l3 / 4 / 2048, 2048, true},
		{SpMMT, reads * all, l3 / 4 / 2048, 2048, true},
		{SpMM, reads * all, l3/4/2048 + 1, 2048, false},
		{SDDMM, reads * all, l3 / 4 / 2048, 2048, false},
		{SpMM, reads/4*all - 1, l3 / 4 / 2048, 2048, false},
		{SDDMM, 1 << 40, 0, 512, true},
	} {
		if got := Near(c.op, c.nnz, all, c.rows, c.size, l2, l3); got != c.want {
			t.Errorf("%v, %d non-zeros, %d rows of %d bytes: %v", c.op, c.nnz, c.rows, c.size, got)
		}
	}

	// With long vectors near ones take less time, in SDDMM from a thread's own cache, in SpMM very long ones from a shared one too.
	const private, shared, block = 1, 2, 1024
	f := wide(10_000, 10_000, 500)
	for _, c := range []struct {
		level, k, tj, block int
		sddmm, spmm         float64
	}{
		{private, 128, 2000, block, nearSDDMM, nearSpMM}, {private, 128, 2500, block, nearSDDMM, nearSpMM}, {private, 128, 5000, block, 1, 1}, {private, 128, 0, block, 1, 1},
		{private, 512, 500, block, nearSDDMM, nearSpMM}, {private, 512, 3000, block, nearSDDMM, nearSpMM}, {private, 512, 4000, block, 1, nearSpMM}, {private, 512, 5000, block, 1, 1},
		{private, 256, 1000, block, nearSDDMM, nearOneBlock}, {private, 272, 1000, block, nearSDDMM, nearSpMM},
		{private, 64, 2000, block, 1, 1}, {private, 128, 2000, 512, nearSDDMM, nearSpMM}, {private, 128, 2000, 0, 1, 1},
		{shared, 128, 2000, block, 1, 1}, {shared, 256, 5000, block, 1, 1}, {shared, 512, 4000, block, 1, 1 - nearBlock}, {shared, 512, 5000, block, 1, 1},
		{shared, 640, 2000, block, 1, 1 - 1.5*nearBlock}, {shared, 1024, 2000, block, 1, 1 - 3*nearBlock}, {shared, 2048, 500, block, 1, 1 - 3*nearBlock},
		{shared + 1, 512, 4000, block, 1, 1},
	} {
		for op, want := range map[Op]float64{SDDMM: c.sddmm, SpMM: c.spmm, SpMMT: c.spmm} {
			seconds := func(nearBytes, nearShared int64) float64 {
				m := testMachine(2)
				m.Block, m.NearBytes, m.NearShared = c.block, nearBytes, nearShared
				w := newWork(m, op, f, c.k, 4, Tile{Tj: c.tj})
				w.gather(c.level, 1)
				return w.thread
			}
			if got := seconds(l2, 32<<20) / seconds(0, 0); math.Abs(got-want) > 1e-9 {
				t.Errorf("%v, K = %d, panels of %d, blocks of %d bytes, level %d: %v times as long, want %v", op, c.k, c.tj, c.block, c.level, got, want)
			}
		}
	}
}

// Long rows from caches that threads share, and from memory, take less in SDDMM where all columns are together.
func TestLongRows(t *testing.T) {
	m := testMachine(2)
	m.Full = 0
	shared := m.firstShared()
	for _, c := range []struct {
		op    Op
		level int
		k     int
		tile  Tile
		want  float64
	}{
		{SDDMM, shared, 128, Tile{}, 1}, {SDDMM, shared, 320, Tile{}, 1 - longWhole/2}, {SDDMM, shared, 512, Tile{}, 1 - longWhole}, {SDDMM, shared, 1024, Tile{}, 1 - longWhole},
		{SDDMM, shared, 512, Tile{Tj: 100_000}, 1 - longWhole}, {SDDMM, shared + 1, 512, Tile{}, 1 - longWhole},
		{SDDMM, shared - 1, 512, Tile{}, 1}, {SDDMM, shared, 512, Tile{Tj: 50_000}, 1}, {SDDMM, shared, 1024, Tile{Tk: 512}, 1},
		{SpMM, shared, 128, Tile{}, 1}, {SpMM, shared, 320, Tile{}, 1}, {SpMM, shared, 512, Tile{}, 1}, {SpMM, shared + 1, 1024, Tile{}, 1}, {SpMMT, shared, 512, Tile{Tj: 50_000}, 1},
	} {
		w := newWork(m, c.op, wide(1000, 100_000, 4), c.k, 4, c.tile)
		w.gather(c.level, 1)
		rate := m.Measured.GatherSeconds(c.level, w.row, m.Threads)
		if c.op != SDDMM {
			rate = min(rate, w.row/SliceBytes*m.Measured.GatherSeconds(c.level, SliceBytes, m.Threads))
		}
		if c.level == shared { // all are panels of wideBytes and more
			c.want *= 1 + larger
		}
		if got := w.thread / rate; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v, K = %d, tile %v, level %d: %v times what rates say, want %v", c.op, c.k, c.tile, c.level, got, c.want)
		}
	}
}

// A copy in slices costs threads what they last read of the slice before, as far as their caches hold it, once to write and once to read it;
// for one thread there is nothing. Slices of rows that are copied from memory take longer than gathers, whole rows do not. What is copied goes through
// a cache with its copy: one that holds either of them, of 20000 rows here, has neither for the first reads.
func TestCopies(t *testing.T) {
	const k, depth = 512, 128
	const private = 1 << 20 * 3 / 4 // of testMachine, of each thread
	for _, c := range []struct {
		threads, cols int
		sliced        bool
		held          float64 // bytes
	}{{1, 100_000, true, 0}, {2, 1000, true, 1000 * depth * 4}, {2, 100_000, true, 2 * private}, {4, 100_000, true, 4 * private}, {2, 100_000, false, 2 * private}, {2, 20_000, true, 2 * private}} {
		tile, slices, longer := Tile{}, 1.0, 0.0
		if c.sliced {
			tile, slices, longer = Tile{Tk: depth}, k/depth, copyLonger
		}
		w := newWork(testMachine(c.threads), SpMM, wide(1000, c.cols, 4), k, 4, tile)
		w.last = !c.sliced // whole rows are copied, too, where their last column is apart
		w.copies()
		rows := float64(c.cols) * slices
		copied := float64(c.cols) * w.row
		want := rows*2*w.Measured.StreamSeconds(w.holding(2*copied), w.row, c.threads) + slices*c.held/64*2*handOver
		if between := c.cols == 20_000; between != (w.holding(copied) != w.holding(2*copied)) {
			t.Errorf("%d rows of %v bytes: that a level holds them and not their copy beside them is %v", c.cols, w.row, !between)
		}
		w.held(w.call(), func(l int, share float64) {
			seconds := share * rows * w.Measured.GatherSeconds(l, w.row, c.threads)
			if want += seconds; l == w.memory() {
				want += longer * seconds
			}
		})
		if math.Abs(w.thread-want) > 1e-6*want {
			t.Errorf("%d threads, %d rows, slices %v: %v seconds, want %v", c.threads, c.cols, c.sliced, w.thread, want)
		}
		if w.AtRandom = false; c.sliced {
			w.f.NNZ = w.f.ActiveCols // first reads alone
			w.bytes = make([]float64, len(w.bytes))
			if w.readB(); w.bytes[w.holding(2*copied)] != float64(w.f.ActiveCols)*slices*w.row {
				t.Errorf("%d threads, %d rows: first reads of the copy by level: %v", c.threads, c.cols, w.bytes)
			}
		}
	}
}

// Rows of A and C are packed in slices whose panels read each twice and more. They are read and written once for that; after it panels find them
// where a slice stays, be all of A or C farther away, and as streams.
func TestPacks(t *testing.T) {
	const rows, cols, k, elem = 100_000, 4096, 512, 4 // all of A is in memory, a slice and its copy in L3 for two threads
	for _, op := range []Op{SDDMM, SpMM, SpMMT} {
		for _, c := range []struct {
			tile   Tile
			packed bool
		}{{Tile{}, false}, {Tile{Tk: 128}, false}, {Tile{Tj: 512}, false}, {Tile{Tj: 4096, Tk: 128}, false}, {Tile{Tj: 512, Tk: 128}, true}} {
			m := testMachine(2)
			m.Measured.Levels[2].Bytes = 128 << 20
			f := wide(rows, cols, 64)
			w := newWork(m, op, f, k, elem, c.tile)
			if w.packed != c.packed {
				t.Fatalf("%v, %+v: packed is %v with %.1f segments a row", op, c.tile, w.packed, w.segs/rows)
			}
			if w.packing(); !c.packed {
				if w.thread != 0 {
					t.Errorf("%v, %+v: packing nothing takes %v seconds", op, c.tile, w.thread)
				}
				continue
			}
			all := float64(rows * k * elem)
			want := k / 128 * w.privateBytes() / 64 * 2 * handOver // a slice is larger than what threads have in their caches
			w.held(w.call(), func(l int, share float64) {
				if op == SDDMM {
					want += share * all / w.row * w.Measured.GatherSeconds(l, w.row, 2)
				} else {
					want += 2 * w.Measured.StreamSeconds(l, share*all, 2)
				}
			})
			w.held(2*rows*w.row, func(l int, share float64) {
				times := map[bool]float64{true: 2, false: 1}[op == SDDMM]
				want += times * w.Measured.StreamSeconds(l, share*all, 2)
			})
			if math.Abs(w.thread-want) > 1e-6*want {
				t.Errorf("%v: packing takes %v seconds, want %v", op, w.thread, want)
			}
			far, near := 2*all, all // SpMM: C is fetched and written back, its copy read
			if op == SDDMM {        // A is read, its copy fetched and written back
				far, near = all, 2*all
			}
			if got := w.bytes[2] + w.bytes[3]; math.Abs(got-far-near) > 1e-6*got || w.bytes[3] < 0.7*far || w.bytes[2] < near {
				t.Errorf("%v: packing moves %v in L3 and %v in memory of %v and %v", op, w.bytes[2], w.bytes[3], near, far)
			}
			w.bytes = make([]float64, len(w.bytes))
			if w.rows(); w.bytes[3] > 0 {
				t.Errorf("%v: %v of packed rows come from memory", op, w.bytes[3])
			}
			packed := m.Predict(op, f, k, elem, c.tile).Seconds
			w = newWork(m, op, f, k, elem, c.tile)
			w.packed = false
			if w.rows(); w.bytes[3] == 0 {
				t.Errorf("%v: no rows that lie apart come from memory", op)
			}
			f.Rows *= 8 // of the same non-zeros, so that rows are read too seldom
			if apart := m.Predict(op, f, k, elem, c.tile).Seconds; apart < packed {
				t.Errorf("%v: %v seconds packed, %v apart", op, packed, apart)
			}
		}
	}
	for _, c := range []struct {
		segments int64
		want     bool
	}{{0, false}, {199, false}, {200, true}, {1 << 40, true}} {
		if got := Packs(c.segments, 100); got != c.want {
			t.Errorf("%d segments of 100 rows are packed: %v", c.segments, got)
		}
	}
	if Packs(0, 0) {
		t.Error("no rows are packed")
	}
}

// Threads copy panels of slices for themselves where these leave room in their caches and are read often. Then all rows of B come from there,
// each thread has read all of them, and nothing goes from one to the other.
func TestOwnCopies(t *testing.T) {
	for _, c := range []struct {
		nnz                     int64
		rows, rowBytes, threads int
		pieces, want            bool
	}{
		{16 * 2 * 1000, 1536, 512, 2, false, true},
		{16 * 2 * 1000, 1536, 512, 2, true, false},
		{16*2*1000 - 1, 1536, 512, 2, false, false},
		{16 * 2 * 1000, 1537, 512, 2, false, false},
		{16 * 2 * 1000, 1536, 512, 3, false, false},
		{16 * 1000, 1536, 512, 1, false, true},
	} {
		if got := OwnCopies(c.nnz, 1000, c.rows, c.rowBytes, c.threads, 1<<20, c.pieces); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}

	const k, depth, cols = 512, 128, 4000
	f := wide(2000, cols, 200)
	for _, threads := range []int{1, 2, 4} {
		for _, width := range []int{1000, 4000} { // the second does not fit
			m := testMachine(threads)
			m.NearBytes = 1 << 20
			w := newWork(m, SpMM, f, k, 4, Tile{Tj: width, Tk: depth})
			if want := width == 1000; w.own != want {
				t.Fatalf("%d threads, panels of %d: own copies %v", threads, width, w.own)
			}
			if !w.own {
				continue
			}
			w.readB()
			shared := w.firstShared()
			for l := shared; l < len(w.bytes); l++ {
				if w.bytes[l] != 0 {
					t.Errorf("%d threads: %v bytes of rows of B come from level %d", threads, w.bytes[l], l)
				}
			}
			w.thread = 0
			w.copies()
			rows := float64(cols) * k / depth
			others := rows * float64(threads-1)
			want := others*m.Measured.GatherSeconds(shared, w.row, threads) + m.Measured.StreamSeconds(shared-1, (rows+others)*w.row, threads)
			want += (rows + others) * w.row / 64 * ownLine
			w.held(w.call(), func(l int, share float64) {
				seconds := share * rows * m.Measured.GatherSeconds(l, w.row, threads)
				if want += seconds; l == w.memory() {
					want += copyLonger * seconds
				}
			})
			if math.Abs(w.thread-want) > 1e-6*want {
				t.Errorf("%d threads: copies take %v seconds, want %v", threads, w.thread, want)
			}
		}
	}
}

// Long rows hide more of streams in SDDMM, and less in SpMM, within bounds; all do where all columns are together, without slices. Slices
// hide nothing, but those of SpMM some of what comes from memory.
func TestStreamsThatAreSeen(t *testing.T) {
	const shared, memory = 2, 3 // levels
	in := func(op Op, k int, tile Tile) float64 {
		return newWork(testMachine(2), op, wide(1000, 1000, 4), k, 4, tile).seen(shared)
	}
	seen := func(op Op, k int) float64 { return in(op, k, Tile{Tj: 500}) }
	for _, op := range []Op{SDDMM, SpMM} {
		for _, k := range []int{1, 32, 128} {
			if got := seen(op, k); got != overlap {
				t.Errorf("%v, K = %d: %v of streams are seen, want %v", op, k, got, overlap)
			}
		}
	}
	if a, b, c := seen(SDDMM, 256), seen(SDDMM, 512), seen(SDDMM, 1<<14); !(overlap > a && a > b && b > c && c == overlapLeast) {
		t.Errorf("SDDMM: %v, %v and %v of streams are seen, want less of longer rows and %v at the end", a, b, c, overlapLeast)
	}
	if a, b, c := seen(SpMM, 256), seen(SpMM, 512), seen(SpMM, 1<<14); !(overlap < a && a < b && b < c && c == 1) {
		t.Errorf("SpMM: %v, %v and %v of streams are seen, want more of longer rows and all at the end", a, b, c)
	}
	for _, op := range []Op{SDDMM, SpMM} {
		for _, k := range []int{32, 128, 512} {
			for _, tile := range []Tile{{}, {Tj: 1000}} {
				if got, want := in(op, k, tile), overlapInOrder*seen(op, k); got != want {
					t.Errorf("%v, K = %d, tile %v: %v of streams are seen, want %v", op, k, tile, got, want)
				}
			}
		}
		for _, tile := range []Tile{{Tk: 128}, {Tj: 500, Tk: 128}} {
			if got := in(op, 512, tile); got != 1 {
				t.Errorf("%v, tile %v: %v of streams are seen, want all", op, tile, got)
			}
			want := map[Op]float64{SDDMM: 1, SpMM: overlap}[op]
			if got := newWork(testMachine(2), op, wide(1000, 1000, 4), 512, 4, tile).seen(memory); got != want {
				t.Errorf("%v, tile %v: %v of streams from memory are seen, want %v", op, tile, got, want)
			}
		}
	}
}

// SpMM that does rows of C in blocks of less than a slice gathers blocks, from a cache that threads share those that are not done together. Rows of one block, and SDDMM, know nothing of it.
func TestBlocks(t *testing.T) {
	const own, shared = 1, 2 // levels
	f := wide(20_000, 100_000, 50)
	for _, test := range []struct {
		op              Op
		k, block, level int
		longer          bool
	}{
		{SpMM, 256, 256, shared, true}, {SpMM, 256, 256, own, true}, {SpMMT, 512, 256, own, true}, {SpMM, 512, 256, shared, false}, {SpMM, 512, 1024, shared, false}, {SpMM, 512, 1024, own, false},
		{SpMM, 512, 0, shared, false}, {SpMM, 64, 256, own, false}, {SpMM, 256, 1024, shared, false}, {SDDMM, 256, 256, own, false}, {SDDMM, 512, 1024, shared, false},
	} {
		m := testMachine(2)
		seconds := func(block int) float64 {
			m.Block = block
			w := newWork(m, test.op, f, test.k, 4, Tile{})
			w.gather(test.level, 1)
			return w.thread
		}
		if before, after := seconds(0), seconds(test.block); (after > before) != test.longer || after < before {
			t.Errorf("%v, K = %d, blocks of %d bytes from %s: %v seconds, %v without", test.op, test.k, test.block, m.Measured.Levels[test.level].Name, after, before)
		}
	}
}

func TestOpNames(t *testing.T) {
	if SDDMM.String() != "sddmm" || SpMM.String() != "spmm" || SpMMT.String() != "spmm-t" {
		t.Error(SDDMM, SpMM, SpMMT)
	}
}

func TestSizes(t *testing.T) {
	for b, want := range map[float64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1 KB", 1 << 20: "1 MB", 48 << 10: "48 KB", 195.3 * (1 << 20): "195 MB", 1.5 * (1 << 40): "1.5 TB"} {
		if got := bytesText(b); got != want {
			t.Errorf("%v bytes are %q, want %q", b, got, want)
		}
	}
}

// The same choice comes out again, and a measurement that is not valid is not used.
func TestChooseIsAFunction(t *testing.T) {
	f := wide(4_000, 300_000, 1500)
	broken := device.Measured{Threads: 2, Levels: []device.Level{{Name: "memory"}}}
	p := device.Props{L1Bytes: 48 << 10, L2Bytes: 1 << 20, L3Bytes: 32 << 20}
	a, b := NewMachine(p, broken, 2).Choose(SDDMM, f, 128, 4), testMachine(2).Choose(SDDMM, f, 128, 4)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("choices %+v and %+v", a.Prediction, b.Prediction)
	}
}

func FuzzChoose(f *testing.F) {
	f.Add(uint16(100), uint16(1000), uint8(20), uint16(128), uint8(2), uint32(1<<20), uint64(1))
	f.Fuzz(func(t *testing.T, rows, cols uint16, perRow uint8, k uint16, threads uint8, l2 uint32, seed uint64) {
		if cols == 0 {
			return
		}
		p := NewProfile(uniform(rand.New(rand.NewPCG(seed, 1)), int(rows)%512, int(cols), int(perRow)%64), 2)
		m := NewMachine(device.Props{L1Bytes: 32 << 10, L2Bytes: int64(l2), L3Bytes: 8 * int64(l2)}, device.Measured{}, int(threads))
		for _, op := range []Op{SDDMM, SpMM, SpMMT} {
			checkChoice(t, op, p, int(k), 4, m.Choose(op, p, int(k), 4))
		}
	})
}

func BenchmarkChoose(b *testing.B) {
	f, m := wide(4_000, 300_000, 1500), testMachine(2)
	for b.Loop() {
		m.Choose(SDDMM, f, 512, 4)
	}
}

// The last column is apart where it alone would cost each row of B a cache line more.
func TestLastApart(t *testing.T) {
	const often = 128 * 1000
	for _, c := range []struct {
		op      Op
		nnz     int64
		k, elem int
		want    bool
	}{
		{SDDMM, often, 17, 4, true},
		{SDDMM, often, 129, 4, true},
		{SpMM, often, 17, 4, true},
		{SpMM, often, 33, 4, true},
		{SpMM, often, 129, 4, true},
		{SpMM, often, 17, 8, false},   // double precision
		{SpMMT, often, 33, 4, false},  // batches
		{SDDMM, often, 1, 4, false},   // nothing but it
		{SDDMM, often, 18, 4, false},  // two columns
		{SDDMM, often, 32, 4, false},  // whole lines
		{SDDMM, often, 145, 4, false}, // slices
		{SDDMM, often - 1, 17, 4, false},
		{SDDMM, often - 1, 49, 4, false},
		{SDDMM, often - 1, 129, 4, false},
		{SpMM, often - 1, 17, 4, false},
		{SDDMM, 0, 17, 4, false},
	} {
		if got := LastApart(c.op, c.nnz, 1000, c.k, c.elem); got != c.want {
			t.Errorf("%v, %d non-zeros, K = %d, %d bytes: %v", c.op, c.nnz, c.k, c.elem, got)
		}
	}
	if LastApart(SDDMM, 0, 0, 17, 4) {
		t.Error("no rows")
	}
}

// A last column apart takes a pass of its own, which reads indices and values once more after panels; but not where SpMM does it with the others.
func TestLastColumn(t *testing.T) {
	f := wide(1000, 1000, 200)
	for _, c := range []struct {
		op    Op
		block int
		fused bool
	}{{SpMM, 1024, true}, {SpMM, 256, false}, {SpMM, 0, false}, {SDDMM, 1024, false}} {
		for _, tile := range []Tile{{}, {Tj: 500}} {
			m := testMachine(2)
			m.Block = c.block
			w := newWork(m, c.op, f, 33, 4, tile)
			if !w.last {
				t.Fatalf("%+v: the last column is not apart", c)
			}
			w.lastColumn()
			got := w.thread
			misses := math.Exp(-float64(m.Measured.Levels[0].Bytes) / (float64(f.Cols) / w.panels / 16 * (128 + 64 + 8)))
			want := float64(f.NNZ) * (lastFused + lastMissed*misses*m.Measured.GatherSeconds(1, 64, 2))
			if !c.fused {
				w.thread = 0
				if tile.Tj > 0 {
					w.stream(float64(f.NNZ) * w.perNonZero())
				}
				want = float64(f.NNZ)*lastNonZero + w.thread
			}
			if math.Abs(got-want) > 1e-9*want {
				t.Errorf("%+v, tile %v: %v seconds, want %v", c, tile, got, want)
			}
		}
	}
}
