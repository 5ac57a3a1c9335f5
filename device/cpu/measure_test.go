package cpu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sddmmkit/device"
)

// small is a machine whose caches are so small that measuring takes no time.
var small = device.Props{Name: "cpu", Model: "small", Threads: 2, L1Bytes: 4 << 10, L2Bytes: 16 << 10, L3Bytes: 64 << 10, MemoryBytes: 8 << 20}

// A measurement is valid and about the machine that was asked for; its speeds are not checked.
func TestMeasure(t *testing.T) {
	for _, threads := range []int{1, 2, 3} {
		p := small
		p.Threads = threads
		m, _, err := measure(t.Context(), p, device.Gather{Name: "go", Read: readRows})
		if err != nil {
			t.Fatal(err)
		}
		if !m.Valid() || m.Threads != threads || m.Loop != "go" || len(m.Levels) != 4 {
			t.Errorf("%d threads: measured %+v", threads, m)
		}
		for i, l := range m.Levels[:3] {
			if nominal := []int64{p.L1Bytes, p.L2Bytes, p.L3Bytes}[i]; l.Bytes > nominal || l.Bytes < nominal/8 {
				t.Errorf("%s of %d bytes is said to hold %d", l.Name, nominal, l.Bytes)
			}
		}
	}
	p := small
	p.L1Bytes, p.L2Bytes, p.L3Bytes, p.MemoryBytes = 0, 0, 0, 0
	m, _, err := measure(t.Context(), p, device.Gather{Name: "go", Read: readRows})
	if err != nil || !m.Valid() || len(m.Levels) != 3 {
		t.Errorf("a machine with unknown caches: %+v, %v", m, err)
	}
}

// A disturbed measurement is taken again, and the best of a few is kept.
func TestMeasureAgain(t *testing.T) {
	failure := errors.New("cancelled")
	for _, c := range []struct {
		name string
		runs []float64 // scaling
		want int       // of runs
		err  error
	}{
		{"quiet", []float64{0.97}, 0, nil},
		{"at first", []float64{0.5, 0.76}, 1, nil},
		{"all the time", []float64{0.25, 0.55, 0.5}, 1, nil},
		{"cancelled", []float64{0.5}, 0, failure},
	} {
		n := 0
		m, err := calmest(func() (device.Measured, float64, error) {
			if n == len(c.runs) {
				if c.err == nil {
					t.Fatalf("%s: measured more than %d times", c.name, n)
				}
				return device.Measured{}, 0, c.err
			}
			n++
			return device.Measured{Threads: n}, c.runs[n-1], nil
		})
		if !errors.Is(err, c.err) || err == nil && (n != len(c.runs) || m.Threads != c.want+1) {
			t.Errorf("%s: %d measurements, %+v, %v", c.name, n, m, err)
		}
	}
}

// The slowest cache of a thread counts, in the median of rounds.
func TestScaling(t *testing.T) {
	levels := func(l1, l2 float64) []device.Level {
		level := func(all float64, shared bool) device.Level {
			return device.Level{Shared: shared, Gather: []device.Rate{{RowBytes: 64, One: 1, All: 1}, {RowBytes: 2048, One: 10, All: 10 * all}}}
		}
		return []device.Level{level(l1, false), level(l2, false), level(1, true)}
	}
	for _, c := range []struct {
		threads int
		rounds  [][]device.Level
		want    float64
	}{
		{4, [][]device.Level{levels(4, 2)}, 0.5},
		{4, [][]device.Level{levels(4, 4), levels(1, 4), levels(3, 4)}, 0.75},
		{4, [][]device.Level{levels(4, 4), levels(4, 2), levels(2, 4)}, 0.5},
		{1, [][]device.Level{levels(1, 1), levels(1, 1), levels(1, 1)}, 1},
		{2, [][]device.Level{levels(3, 3)}, 1}, // one thread was disturbed
	} {
		if got := scaling(c.threads, c.rounds); got != c.want {
			t.Errorf("%d threads, %v: %v, want %v", c.threads, c.rounds, got, c.want)
		}
	}
}

// The rates of a shared cache are those of rows that the cache before it does not hold, some of which came between others that it held.
func TestWithoutHits(t *testing.T) {
	mixed := func(hits, near, far float64) float64 {
		return hits*near + (1-hits)*far + device.Mixing*hits*(1-hits)*(far-near)
	}
	rate := func(ns float64) device.Rate { return device.Rate{RowBytes: 512, One: 512 / ns, All: 1024 / ns} }
	near := device.Level{Bytes: 1 << 20, Gather: []device.Rate{rate(5)}}
	for _, c := range []struct {
		set            int64
		measured, want float64
	}{
		{4 << 20, mixed(0.25, 5, 20), 20},
		{1 << 20, mixed(0.5, 5, 20), 20}, // more than half of the hits is not believed
		{1 << 40, 20, 20},
		{4 << 20, 5, 5},
		{4 << 20, 4, 4}, // disturbed
	} {
		got := withoutHits([]device.Rate{rate(c.measured)}, &near, c.set)[0]
		if want := rate(c.want); math.Abs(got.One/want.One-1) > 1e-5 || math.Abs(got.All/want.All-1) > 1e-5 {
			t.Errorf("%v ns in %d bytes: %v ns without hits, want %v", c.measured, c.set, 512/got.One, c.want)
		}
	}
}

// Rows 128 KB apart are read, and it counts whether they take longer than others: as many as fill a quarter of a cache, or also few of them.
func TestSetBytes(t *testing.T) {
	const cache, page, apart = 256 << 10, 4 << 10, 128 << 10
	for _, c := range []struct{ slowFrom, want int64 }{{1 << 20, 0}, {cache / 16, page}, {0, apart}} { // bytes of rows that are slow
		b := &bench{ctx: t.Context(), threads: 1, idx: [][]int32{make([]int32, samples/2*sampleRead/sweepRow)}, seed: 1, data: make([]float32, apart*(cache/4/sweepRow)/4)}
		seen := map[int64]map[int32]bool{page: {}, apart: {}} // rows by how far they are apart
		b.gather.Read = func(_ []float32, row int, idx []int32) {
			gap, rows := int64(page), int64(0)
			if !slices.ContainsFunc(idx, func(i int32) bool { return int64(i)*int64(row)*4%apart != 0 }) {
				gap = apart
			}
			for _, i := range idx[:min(len(idx), 2048)] {
				seen[gap][i] = true
				rows = max(rows, int64(i)*int64(row)*4/gap+1)
				if int64(i)*int64(row)*4%gap != 0 {
					t.Errorf("row %d is not a multiple of 4 KB from the first", i)
				}
			}
			took := 150 * time.Nanosecond
			if gap == apart && rows*sweepRow > c.slowFrom {
				took *= 4
			}
			for start := time.Now(); time.Since(start) < time.Duration(len(idx))*took; {
			}
		}
		got, err := b.setBytes(cache)
		if near, far := len(seen[page]), len(seen[apart]); err != nil || got != c.want || near != 32 || far != 128 {
			t.Errorf("rows far apart are slow from %d bytes on: sets every %d bytes, %v, of %d and %d rows, want %d", c.slowFrom, got, err, near, far, c.want)
		}
	}
	if got, err := (&bench{ctx: t.Context()}).setBytes(cache); got != 0 || err != nil {
		t.Errorf("without memory: %v, %v", got, err)
	}
}

func TestMeasureEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	t.Setenv(CacheVariable, "off")
	if _, err := New(2).Measure(ctx, device.Gather{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled measurement: error %v", err)
	}
}

func TestCapacity(t *testing.T) {
	// A cache of 1000 bytes, hits in 1 and misses in 11 seconds.
	var curve []curvePoint
	for set := int64(250); set <= 16000; set *= 2 {
		hits := min(1, 1000/float64(set))
		curve = append(curve, curvePoint{set, hits + 11*(1-hits)})
	}
	const all = 1 << 40 // a set of which the cache has nothing
	for _, test := range []struct {
		nominal, want int64
		hit           float64
		miss          curvePoint
	}{
		{2000, 1000, 1, curvePoint{all, 11}},
		{1000, 1000, 1, curvePoint{all, 11}},
		{900, 900, 1, curvePoint{all, 11}},      // no more than there is
		{16000, 2000, 1, curvePoint{all, 11}},   // no less than an eighth
		{1500, 1500, 11, curvePoint{all, 1}},    // upside down
		{1500, 1500, 100, curvePoint{all, 200}}, // nothing between
		{2000, 1000, 1, at(curve, 4000)},        // the cache has a quarter of the set that misses
		{2000, 1000, 1, at(curve, 16000)},
	} {
		if got := capacity(curve, test.hit, test.miss, test.nominal); got < test.want-1 || got > test.want+1 {
			t.Errorf("capacity of %+v is %d", test, got)
		}
	}
	if got := at(curve, 3500); got != curve[4] {
		t.Errorf("the point nearest to 3500 is %v", got)
	}
}

// Every line of every row is read, whatever the length of rows.
func TestReadRows(t *testing.T) {
	for row := 1; row < 70; row++ {
		for at := 0; at < row; at += 16 {
			data := make([]float32, 3*row)
			data[row+at] = 1
			hit := false
			func() {
				defer func() { hit = recover() != nil }()
				readRows(data, row, []int32{0, 1, 2})
			}()
			if !hit {
				t.Errorf("element %d of a row of %d was not read", at, row)
			}
		}
	}
}

func measuredOnce() device.Measured {
	r := device.Rate{RowBytes: 512, One: 1e9, All: 2e9}
	return device.Measured{Threads: 2, Loop: "go", Levels: []device.Level{
		{Name: "L2", Bytes: 1 << 20, Gather: []device.Rate{r}, Stream: r}, {Name: "memory", Shared: true, Gather: []device.Rate{r}, Stream: r}}}
}

func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	t.Setenv(CacheVariable, dir)
	s := newStore(small, "go")
	if _, ok := s.load(); ok {
		t.Fatal("a measurement before any was made")
	}
	want := measuredOnce()
	s.save(want)
	got, ok := s.load()
	if a, b := text(t, got), text(t, want); !ok || a != b {
		t.Fatalf("loaded %s, saved %s", a, b)
	}
	good, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}

	// Another machine, thread count or loop is another measurement.
	other := small
	other.Threads = 3
	for _, o := range []store{newStore(other, "go"), newStore(small, "avx512")} {
		if _, ok := o.load(); ok || o.Path == s.Path {
			t.Errorf("%s found the measurement of %s", o.Key, s.Key)
		}
	}

	// Whatever is not a good file is none.
	for name, bad := range map[string]string{
		"empty":         "",
		"cut":           string(good[:len(good)/2]),
		"noise":         "\x00\xff not JSON",
		"null":          "null",
		"other version": strings.Replace(string(good), fmt.Sprintf(`"version": %d`, storeVersion), `"version": 0`, 1),
		"other key":     strings.Replace(string(good), "small", "large", 1),
		"no rate":       strings.ReplaceAll(string(good), "1000000000", "0"),
		"negative rate": strings.ReplaceAll(string(good), "1000000000", "-1"),
		"no levels":     fmt.Sprintf(`{"version":%d,"key":%q,"measured":{"threads":2}}`, storeVersion, s.Key),
	} {
		if bad == string(good) {
			t.Fatalf("%s is no change", name)
		}
		if err := os.WriteFile(s.Path, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if m, ok := s.load(); ok {
			t.Errorf("%s: loaded %+v", name, m)
		}
	}
	s.save(want)
	if _, ok := s.load(); !ok {
		t.Error("a bad file was not replaced")
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What is stored is used and not measured again, also by another Device.
func TestMeasureUsesTheStore(t *testing.T) {
	t.Setenv(CacheVariable, t.TempDir())
	d := New(2)
	want := measuredOnce()
	newStore(d.Props(), "never called").save(want)
	g := device.Gather{Name: "never called", Read: func([]float32, int, []int32) { t.Error("measured again") }}
	for range 2 {
		if got, err := d.Measure(t.Context(), g); err != nil || text(t, got) != text(t, want) {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
}

// A folder that cannot be written costs nothing but the memory of the measurement.
func TestStoreWithoutFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"off", filepath.Join(file, "below")} {
		t.Setenv(CacheVariable, dir)
		s := newStore(small, "go")
		s.save(measuredOnce())
		if _, ok := s.load(); ok {
			t.Errorf("%s: something was kept", dir)
		}
	}
	t.Setenv(CacheVariable, "")
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	s := newStore(small, "go")
	s.save(measuredOnce())
	if _, ok := s.load(); ok && s.Path == "" {
		t.Error("kept without a folder")
	}
}

// BenchmarkMeasure takes the measurement of this machine, with the loop in Go.
func BenchmarkMeasure(b *testing.B) {
	p := New(0).Props()
	for b.Loop() {
		m, _, err := measure(b.Context(), p, device.Gather{Name: "go", Read: readRows})
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%+v", m)
	}
}

// Of the rounds the best counts for caches, and the median for memory.
func TestOfRounds(t *testing.T) {
	rounds := make([][]device.Level, repeats)
	for n, rate := range []float64{2, 9, 5} {
		r := device.Rate{RowBytes: 64, One: rate, All: 10 * rate}
		cache := device.Level{Name: "L3", Bytes: 1 << 20, Shared: true, Gather: []device.Rate{r}, Spread: []device.Rate{r}, Stream: r}
		memory := cache
		memory.Bytes = 0
		rounds[n] = []device.Level{cache, memory}
	}
	for i, want := range []float64{9, 5} {
		l := ofRounds(rounds)[i]
		for _, r := range []device.Rate{l.Gather[0], l.Spread[0], l.Stream} {
			if r.One != want || r.All != 10*want {
				t.Errorf("level %d: %v, want %v", i, r, want)
			}
		}
	}
	if rounds[0][0].Gather[0].One != 2 {
		t.Error("the first round was written over")
	}
}

// What is known to be no slower than something else is as fast at least: rows near each other as rows far apart, threads as one.
func TestCalm(t *testing.T) {
	rates := func(bytesPerSecond float64) (all []device.Rate) {
		for _, row := range rowSizes {
			all = append(all, device.Rate{RowBytes: row, One: bytesPerSecond, All: bytesPerSecond})
		}
		return all
	}
	levels := []device.Level{
		{Name: "L1", Bytes: 1 << 15, Gather: rates(1), Stream: rates(9)[0]},
		{Name: "L3", Bytes: 1 << 25, Shared: true, Gather: rates(5), Spread: rates(6), Stream: rates(9)[0]},
		{Name: "memory", Shared: true, Gather: rates(2), Stream: rates(9)[0]},
	}
	levels[1].Spread[0].One, levels[1].Spread[0].All = 1, 7
	calm(levels)
	for i, want := range []float64{6, 6, 2} {
		for k, r := range levels[i].Gather {
			one, all := want, want
			if k == 0 && i < 2 { // one thread: no slower than a row of twice the length; all of them: as spread
				one, all = 5, 7
			} else if i == 0 { // no slower than shorter ones
				all = 7
			}
			if r.One != one || r.All != all {
				t.Errorf("%s, rows of %d bytes: %v and %v, want %v and %v", levels[i].Name, r.RowBytes, r.One, r.All, one, all)
			}
		}
	}
}

// A program that had a processor while two threads read some rows from caches of their own is not kept: most rows say that they are twice as fast
// as one. Where most say that threads hinder each other, they do.
func TestCalmTogether(t *testing.T) {
	level := func(name string, shared bool, times ...float64) device.Level {
		l := device.Level{Name: name, Bytes: 1 << 20, Shared: shared, Stream: device.Rate{One: 1, All: 1}}
		for k, row := range rowSizes {
			l.Gather = append(l.Gather, device.Rate{RowBytes: row, One: 1, All: times[k]})
		}
		return l
	}
	for _, c := range []struct{ disturbed, most, want float64 }{{1.3, 2, 2}, {1, 1.2, 1.2}} {
		levels := []device.Level{
			level("L1", false, c.most, c.most, c.most, c.most), level("L2", false, c.most, c.most, c.disturbed, c.disturbed),
			level("L3", true, 0.9, 0.9, 0.9, 0.9),
		}
		calm(levels)
		for k, r := range levels[1].Gather {
			if r.All != c.want {
				t.Errorf("most %v, L2, rows of %d bytes: %v, want %v", c.most, rowSizes[k], r.All, c.want)
			}
		}
		if got := levels[2].Gather[0].All; got != 1 {
			t.Errorf("L3: %v, want 1: nothing is known of caches that threads share", got)
		}
	}
}
