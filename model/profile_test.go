package model

import (
	"container/list"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"sddmmkit/sparse"
	"sddmmkit/tiling"
)

func TestBins(t *testing.T) {
	last := 0
	for _, x := range []uint64{0, 1, 2, 15, 16, 17, 18, 31, 32, 33, 1000, 1 << 20, 1<<20 + 1<<16, 1<<40 - 1, 1 << 40, 1<<63 - 1, 1 << 63, math.MaxUint64} {
		b := bin(x)
		if b < last || binStart(b) > float64(x) || x < 1<<62 && binStart(b+1) <= float64(x) {
			t.Errorf("%d is in bin %d, which starts at %v and ends at %v", x, b, binStart(b), binStart(b+1))
		}
		last = b
	}
	h := newHistogram(1000 << 4)
	for x := range uint64(1000) {
		h.add(x)
	}
	h.scale(4)
	n, sum := int64(0), int64(0)
	for b := range h {
		n, sum = n+h[b].count, sum+h[b].sum
	}
	if n != 1000 || sum != 16*999*1000/2 {
		t.Errorf("after scaling there are %d numbers with sum %d", n, sum)
	}
}

// pattern builds a valid pattern with sorted rows; draw gives the next column of a row.
func pattern(rows, cols, perRow int, draw func(row int) int) *sparse.Pattern {
	p := &sparse.Pattern{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for i := range rows {
		var row []int32
		for range perRow {
			row = append(row, int32(draw(i)))
		}
		slices.Sort(row)
		p.ColIdx = append(p.ColIdx, slices.Compact(row)...)
		p.RowPtr = append(p.RowPtr, int64(len(p.ColIdx)))
	}
	return p
}

func uniform(rng *rand.Rand, rows, cols, perRow int) *sparse.Pattern {
	return pattern(rows, cols, perRow, func(int) int { return rng.IntN(cols) })
}

// skewed: the column of rank r has weight 1/r.
func skewed(rng *rand.Rand, rows, cols, perRow int) *sparse.Pattern {
	return pattern(rows, cols, perRow, func(int) int { return int(math.Pow(float64(cols), rng.Float64())) - 1 })
}

// local: columns near the diagonal.
func local(rng *rand.Rand, rows, cols, perRow int) *sparse.Pattern {
	return pattern(rows, cols, perRow, func(i int) int {
		return min(max(i*cols/rows+int(rng.NormFloat64()*float64(cols)/50), 0), cols-1)
	})
}

// The footprint is the number of different columns in a window, averaged over all windows.
func TestFootprint(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range []*sparse.Pattern{uniform(rng, 60, 40, 9), skewed(rng, 90, 200, 12), local(rng, 80, 300, 7), uniform(rng, 1, 10, 5)} {
		f := NewProfile(p, 2)
		n := int(p.NNZ())
		for w := 1; w <= n; w += 1 + w/7 {
			sum := 0
			for lo := 0; lo+w <= n; lo++ {
				different := map[int32]bool{}
				for _, j := range p.ColIdx[lo : lo+w] {
					different[j] = true
				}
				sum += len(different)
			}
			want := float64(sum) / float64(n-w+1)
			tolerance := 0.03 // within a bin
			if w < 2*perOctave {
				tolerance = 1e-9
			}
			if got := f.all.footprint(float64(w)); math.Abs(got-want) > tolerance*want {
				t.Errorf("%d non-zeros: footprint of %d is %.4f, want %.4f", n, w, got, want)
			}
		}
	}
}

// Reuse times, segments and totals are those of plain loops, for any number of threads.
func TestProfile(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, p := range []*sparse.Pattern{uniform(rng, 300, 40, 9), skewed(rng, 500, 64, 30), local(rng, 80, 300, 7), {Rows: 3, Cols: 4, RowPtr: make([]int64, 4)}, {RowPtr: []int64{0}}} {
		f := NewProfile(p, 1)
		for _, threads := range []int{2, 3, 16} {
			if got := NewProfile(p, threads); !reflect.DeepEqual(got, f) {
				t.Errorf("%d threads give another profile", threads)
			}
		}
		last := map[int32]int{}
		want := make(histogram, len(f.all.reuse))
		for z, j := range p.ColIdx {
			if before, ok := last[j]; ok {
				want.add(uint64(z - before))
			}
			last[j] = z
		}
		if !reflect.DeepEqual(f.all.reuse, want) {
			t.Errorf("%d×%d: other reuse times than those of a plain loop", p.Rows, p.Cols)
		}
		if f.ActiveCols != int64(len(last)) || f.NNZ != p.NNZ() {
			t.Errorf("%d columns of %d non-zeros, want %d of %d", f.ActiveCols, f.NNZ, len(last), p.NNZ())
		}
		if p.Cols == 0 {
			continue
		}
		for s, n := range f.Segments {
			panels, err := tiling.Columns(p, 1<<s, 1)
			if err != nil {
				t.Fatal(err)
			}
			if n != int64(len(panels.Segments)) || f.segments(float64(int(1)<<s)) != float64(n) {
				t.Errorf("width %d: %d segments, want %d", 1<<s, n, len(panels.Segments))
			}
		}
	}
}

// The profile knows of rows in pieces what units of work do.
func TestInPieces(t *testing.T) {
	for _, n := range []int{0, 2047, 2048, 3000} {
		p := &sparse.Pattern{Rows: 2, Cols: 5000, RowPtr: []int64{0, 0, int64(n)}}
		for j := range int32(n) {
			p.ColIdx = append(p.ColIdx, j)
		}
		if got, want := NewProfile(p, 1).InPieces, tiling.Cut(p, tiling.UnitCost(p)).Slots > 0; got != want || want != (n >= 2048) {
			t.Errorf("a row of %d non-zeros: in pieces %v, want %v", n, got, want)
		}
	}
}

// Between powers of two the number of segments lies between theirs.
func TestSegmentsBetween(t *testing.T) {
	f := NewProfile(uniform(rand.New(rand.NewPCG(5, 6)), 200, 1000, 20), 1)
	for w := 1.0; w < 1200; w *= 1.1 {
		if a, b := f.segments(w), f.segments(w*1.1); a < b || b < float64(f.ActiveRows) {
			t.Errorf("%v segments at width %v, %v at %v", a, w, b, w*1.1)
		}
	}
}

// A matrix of few non-zeros in very many columns needs no table of its columns.
func TestHugeShape(t *testing.T) {
	p := &sparse.Pattern{Rows: 2, Cols: math.MaxInt32, RowPtr: []int64{0, 2, 3}, ColIdx: []int32{4, math.MaxInt32 - 1, 4}}
	f := NewProfile(p, 2)
	if f.ActiveCols != 3 || f.all.footprint(2) != 2 || f.all.footprint(100) != 3 {
		t.Errorf("%d columns, footprints %v and %v", f.ActiveCols, f.all.footprint(2), f.all.footprint(100))
	}
}

// cache is one with the least recently used entries driven out.
type cache struct {
	bytes, used float64
	order       *list.List // of entries, the latest first
	at          map[int]*list.Element
}

type entry struct {
	key  int
	size float64
}

func newCache(bytes float64) *cache {
	return &cache{bytes: bytes, order: list.New(), at: map[int]*list.Element{}}
}

// touch reads an entry of so many bytes, and reports whether it was there.
func (c *cache) touch(key int, size float64) bool {
	e, ok := c.at[key]
	if ok {
		c.order.MoveToFront(e)
		return true
	}
	c.at[key] = c.order.PushFront(entry{key, size})
	c.used += size
	for c.used > c.bytes && c.order.Len() > 1 {
		old := c.order.Remove(c.order.Back()).(entry)
		delete(c.at, old.key)
		c.used -= old.size
	}
	return false
}

// lru simulates a cache of bytes bytes that rows of B and A of row bytes each and the arrays of
// non-zeros pass through, panel by panel of width columns, and returns how many reads of rows of B hit, and of rows of A, which are read once
// for each of so many segments. With perNonZero 0 whole lines are touched of the values of S and P, and of columns, which follow each other.
func lru(p *sparse.Pattern, width int, row, perNonZero, bytes float64) (hits, again, segments int) {
	const line = 64
	c, number := newCache(bytes), 0
	arrays := func(z int64) {
		nnz := int(p.NNZ())
		for array, at := range []int{number, int(z), int(z)} {
			c.touch(p.Cols+array*nnz+at*4/line, line)
		}
		number++
	}
	for q := 0; q < p.Cols; q += width {
		for i := range p.Rows {
			begun := false
			for z := p.RowPtr[i]; z < p.RowPtr[i+1]; z++ {
				j := int(p.ColIdx[z])
				if j < q || j >= q+width {
					continue
				}
				if !begun {
					begun = true
					segments++
					if c.touch(-1-i, row) {
						again++
					}
				}
				if c.touch(j, row) {
					hits++
				}
				if perNonZero == 0 {
					arrays(z)
				} else {
					c.touch(p.Cols+int(z), perNonZero)
				}
			}
		}
	}
	return hits, again, segments
}

// popular has few columns that are read most of the time, the first ones as in an R-MAT graph.
func popular(rng *rand.Rand, rows, cols, perRow int) *sparse.Pattern {
	return pattern(rows, cols, perRow, func(int) int {
		j := 0
		for bit := cols / 2; bit > 0; bit /= 2 {
			if rng.Float64() < 0.24 {
				j += bit
			}
		}
		return j
	})
}

// A row of A that is read again in a later panel is where a simulation finds it.
func TestRowsOfAAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const k, cols = 32, 8192
	sum, unlike, n := 0.0, 0.0, 0.0
	for name, p := range map[string]*sparse.Pattern{
		"uniform": uniform(rng, 2000, cols, 40), "short rows": uniform(rng, 16_000, cols, 5),
		"skewed": skewed(rng, 2000, cols, 40), "popular": popular(rng, 2000, cols, 40),
	} {
		f := NewProfile(p, 2)
		for _, width := range []int{2048, 512, 128} {
			for _, kb := range []int64{128, 512, 2048} {
				_, again, segments := lru(p, width, 4*k, 12, float64(kb<<10))
				m := exactMachine(1)
				m.Measured.Levels[2].Bytes = kb << 10
				w := newWork(m, SDDMM, f, k, 4, Tile{Tj: width})
				level, got := w.near, w.againIn(w.capacity(w.near))
				want := float64(again) / float64(segments)
				if level != 2 || math.Abs(got-want) > 0.2 {
					t.Errorf("%s, panels of %d, %d KB: %.3f expected in level %d, %.3f simulated", name, width, kb, got, level, want)
				}
				sum, unlike, n = sum+math.Abs(got-want), unlike+math.Min(want, 1-want), n+1
			}
		}
	}
	// unlike: by how much the better one of all and none would be off.
	if sum > 0.04*n || unlike < 0.08*n {
		t.Errorf("off by %.3f on average, where all or none are by %.3f", sum/n, unlike/n)
	}
}

// Panels in which most of the non-zeros are have fewer hits than those of their share, and the others more.
func TestHitsInPanels(t *testing.T) {
	const k, cols = 128, 8192
	p := popular(rand.New(rand.NewPCG(9, 10)), 4000, cols, 40)
	f := NewProfile(p, 2)
	even := *f
	one := *f.all
	one.regions, even.all = nil, &one
	worst := 0.0
	widths := []int{4096, 1024, 512, 256, 128}
	if testing.Short() {
		widths = widths[2:3]
	}
	for _, width := range widths {
		for _, kb := range []int64{32, 128, 512} {
			reads, _, _ := lru(p, width, 4*k, 0, float64(kb<<10))
			want := float64(reads)
			m := exactMachine(1)
			m.Measured.Levels[1].Bytes = kb << 10
			hits := func(f *Profile) float64 {
				w := newWork(m, SDDMM, f, k, 4, Tile{Tj: width})
				return math.Min(found(w, 1), float64(f.NNZ-f.ActiveCols))
			}
			if got := hits(f); math.Abs(got-want) > 0.025*float64(f.NNZ) {
				t.Errorf("panels of %d, %d KB: %.0f hits expected, %.0f simulated, of %d", width, kb, got, want, f.NNZ)
			}
			worst = math.Max(worst, math.Abs(hits(&even)-want)/float64(f.NNZ))
		}
	}
	if worst < 0.1 {
		t.Errorf("without regions as well all are within %.3f: the test shows nothing", worst)
	}
}

// The hits that the model expects of a cache are those of an exact simulation.
func TestHitsAgainstLRU(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const k = 128
	for name, p := range map[string]*sparse.Pattern{
		"uniform": uniform(rng, 2000, 1500, 20), "skewed": skewed(rng, 2000, 3000, 20), "local": local(rng, 2000, 3000, 15),
	} {
		f := NewProfile(p, 1)
		for _, kb := range []int64{32, 64, 128, 256, 512, 1024} {
			m := exactMachine(1)
			m.Measured.Levels[1].Bytes = kb << 10
			w := newWork(m, SDDMM, f, k, 4, Tile{})
			got := math.Min(found(w, 1), float64(f.NNZ-f.ActiveCols))
			reads, _, _ := lru(p, p.Cols, 4*k, 0, float64(kb<<10))
			want := float64(reads)
			if math.Abs(got-want) > 0.02*float64(f.NNZ) {
				t.Errorf("%s, %d KB: %.0f hits expected, %.0f simulated, of %d", name, kb, got, want, f.NNZ)
			}
		}
	}
}

// With a cache for each of several threads, the hits are those of as many exact simulations, each of its part of the rows.
func TestHitsOfThreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	const k, width = 128, 512
	for name, p := range map[string]*sparse.Pattern{"uniform": uniform(rng, 512, 4096, 30), "popular": popular(rng, 512, 4096, 30)} {
		f := NewProfile(p, 2)
		for _, threads := range []int{2, 8} {
			worst := 0.0
			for _, kb := range []int64{64, 128, 512} {
				want := 0
				for n := range threads {
					part := *p
					part.Rows /= threads
					part.RowPtr = p.RowPtr[n*part.Rows:][:part.Rows+1]
					reads, _, _ := lru(&part, width, 4*k, 0, float64(kb<<10))
					want += reads
				}
				m := exactMachine(threads)
				m.Measured.Levels[1].Bytes = kb << 10
				w := newWork(m, SDDMM, f, k, 4, Tile{Tj: width})
				if got := found(w, 1); math.Abs(got-float64(want)) > 0.03*float64(f.NNZ) {
					t.Errorf("%s, %d threads, %d KB: %.0f hits expected, %d simulated, of %d", name, threads, kb, got, want, f.NNZ)
				}
				m.Measured.Levels[1].Shared = true
				worst = math.Max(worst, math.Abs(found(w, 1)-float64(want))/float64(f.NNZ))
			}
			if worst < 0.05 {
				t.Errorf("%s, %d threads: as one thread all are within %.3f: the test shows nothing", name, threads, worst)
			}
		}
	}
}

func BenchmarkNewProfile(b *testing.B) {
	p := uniform(rand.New(rand.NewPCG(1, 2)), 50_000, 100_000, 40)
	for b.Loop() {
		NewProfile(p, 0)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(p.NNZ()), "ns/nnz")
}

// The share goes on between powers of two, and for all columns it is that of the rows.
func TestNext(t *testing.T) {
	f := &Profile{Rows: 10, Cols: 6, ActiveRows: 5, following: []float64{0.1, 0.2, 0.4, 0.8}}
	for width, want := range map[float64]float64{1: 0.1, 2: 0.2, math.Sqrt(8): 0.3, 4: 0.4, 6: 0.8, 100: 0.8} {
		if got := f.next(width); math.Abs(got-want) > 1e-12 {
			t.Errorf("panels of %v columns: %v, want %v", width, got, want)
		}
	}
	f.following = nil
	if got := f.next(2); got != 0.5 {
		t.Errorf("rows that are not sorted: %v, want the share of rows that are not empty", got)
	}
}
