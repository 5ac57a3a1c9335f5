package model

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"sddmmkit/sparse"
)

// Slots are different for all columns, and a sample has its share of neighbours and of columns with the same low bits.
func TestSample(t *testing.T) {
	for _, cols := range []int{1, 2, 3, 2048, 2049, 5000, 1 << 16, 100_003} {
		s := newSample(cols)
		seen := map[uint32]bool{}
		in, inClass := 0, 0
		for j := range int32(cols) {
			slot := s.slot(j)
			if seen[slot] || slot > s.mask {
				t.Fatalf("%d columns: slot %d of %d", cols, slot, j)
			}
			seen[slot] = true
			if slot < s.slots {
				in++
				if j%64 == 0 {
					inClass++
				}
			}
		}
		each := each(s.columns(), cols)
		if want := float64(cols) / float64(in); math.Abs(each-want) > 1e-12*want {
			t.Errorf("%d columns: one stands for %v, want %v", cols, each, want)
		}
		if cols <= leastSlots && each != 1 || each > 1<<mostSkipped*1.01 || in < min(cols, leastSlots*2/5) {
			t.Errorf("of %d columns %d are looked at", cols, in)
		}
		if share := float64(inClass) * each * 64 / float64(cols); cols > 10_000 && (share < 0.9 || share > 1.1) {
			t.Errorf("%d columns: multiples of 64 are in the sample %.2f times as often as others", cols, share)
		}
	}
}

// whole looks at all columns, where NewProfile has a sample. References are drawn from those in the order of drawnFrom.
func whole(p *sparse.Pattern, drawnFrom []int32) *references { return wholeInSteps(p, drawnFrom, 0) }

// wholeInSteps is whole with time in steps of 2^shift references.
func wholeInSteps(p *sparse.Pattern, drawnFrom []int32, shift int) *references {
	s := newSample(p.Cols)
	s.slots = s.mask + 1
	position := func(from int64, _ []int32, of []uint16, now *[stretch]uint32) {
		for _, z := range of {
			now[z] = uint32((from+int64(z))>>shift) + 1
		}
	}
	inRegion := make([]int64, regionsOf(p.Cols))
	for z := 0; z < len(drawnFrom); z += drawn {
		inRegion[drawnFrom[z]>>regionOf(p.Cols)]++
	}
	r, _ := s.countReferences(p.ColIdx, p.Cols, shift, 2, position, draws{inRegion: inRegion})
	return r
}

// What a sample of 4000 to 8000 columns says is what all of them say, nearly: within three standard errors of a sum of as many.
func TestSampled(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for name, p := range map[string]*sparse.Pattern{
		"uniform": uniform(rng, 8000, 60_000, 30), "skewed": skewed(rng, 8000, 60_000, 30), "local": local(rng, 8000, 60_000, 30),
	} {
		f, all := NewProfile(p, 2), whole(p, p.ColIdx)
		if f.all.each < 7 || all.each != 1 {
			t.Fatalf("%s: one of %v columns, and one of %v", name, f.all.each, all.each)
		}
		const tolerance = 0.05
		near := func(what string, at, got, want, of float64) {
			if math.Abs(got-want) > tolerance*of {
				t.Errorf("%s: %s %.0f is %.0f, want %.0f", name, what, at, got, want)
			}
		}
		near("columns", 0, float64(f.ActiveCols), all.columns, all.columns)
		for refs := 16.0; refs < float64(p.NNZ()); refs *= 1.7 {
			near("footprint of", refs, f.all.footprint(refs), all.footprint(refs), all.footprint(refs))
			near("references within", refs, f.all.reused(refs, p.NNZ(), 1), all.reused(refs, p.NNZ(), 1), float64(p.NNZ()))
		}
		near("all references", 0, f.all.reused(1e12, p.NNZ(), 1), float64(p.NNZ()-f.ActiveCols), 1)
		if got := NewProfile(p, 7); !reflect.DeepEqual(got, f) {
			t.Errorf("%s: 7 threads give another profile", name)
		}
	}
}

// Time in coarse steps, as patterns with more than 2³¹ non-zeros have it, says the same of windows of many of them.
func TestCoarseSteps(t *testing.T) {
	const shift = 4
	rng := rand.New(rand.NewPCG(13, 14))
	for name, p := range map[string]*sparse.Pattern{
		"uniform": uniform(rng, 500, 1000, 30), "skewed": skewed(rng, 500, 1000, 30), "local": local(rng, 500, 1000, 30), "one column": uniform(rng, 500, 1, 1),
	} {
		fine, coarse := whole(p, p.ColIdx), wholeInSteps(p, p.ColIdx, shift)
		if fine.columns != coarse.columns {
			t.Errorf("%s: %v columns, want %v", name, coarse.columns, fine.columns)
		}
		for refs := 64.0 * (1 << shift); refs < float64(p.NNZ()); refs *= 1.7 {
			if got, want := coarse.footprint(refs), fine.footprint(refs); math.Abs(got-want) > 0.05*want {
				t.Errorf("%s: footprint of %.0f is %.0f, want %.0f", name, refs, got, want)
			}
			if got, want := coarse.reused(refs, p.NNZ(), 1), fine.reused(refs, p.NNZ(), 1); math.Abs(got-want) > 0.05*float64(p.NNZ()) {
				t.Errorf("%s: %.0f references within %.0f, want %.0f", name, got, refs, want)
			}
		}
	}
}

// Where none of the few columns with a non-zero is in the sample, there is one at least.
func TestNoneSampled(t *testing.T) {
	for j := range int32(50) {
		f := NewProfile(&sparse.Pattern{Rows: 1, Cols: 1 << 20, RowPtr: []int64{0, 2}, ColIdx: []int32{j * 1000, j*1000 + 1}}, 2)
		if f.ActiveCols < 1 || f.ActiveCols > 2 || f.all.footprint(1) != 1 {
			t.Fatalf("columns %d and the next: %d with non-zeros, footprint %v", j*1000, f.ActiveCols, f.all.footprint(1))
		}
		checkPrediction(t, testMachine(1).Predict(SDDMM, f, 32, 4, Tile{}))
	}
}

// evenBits: columns whose low bits are mostly zero, as those of R-MAT are.
func evenBits(rng *rand.Rand, rows, bits, perRow int) *sparse.Pattern {
	return pattern(rows, 1<<bits, perRow, func(int) int {
		j := 0
		for range bits {
			j *= 2
			if rng.IntN(4) == 0 {
				j++
			}
		}
		return j
	})
}

// Classes are looked at where some are read more often, and then as if the non-zeros were sorted by them, nearly: references of a class are taken to
// come at even distances.
func TestClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	if f := NewProfile(uniform(rng, 3000, 5000, 20), 2); f.classes != nil {
		t.Error("classes of columns at random are looked at")
	}
	p := evenBits(rng, 20_000, 11, 20)
	f := NewProfile(p, 1)
	if f.classes == nil {
		t.Fatal("classes are not looked at")
	}
	for _, number := range []int{8, 64, 2048} {
		sorted := slices.Clone(p.ColIdx)
		slices.SortStableFunc(sorted, func(a, b int32) int { return int(a)&(number-1) - int(b)&(number-1) })
		want := whole(&sparse.Pattern{Rows: 1, Cols: p.Cols, RowPtr: []int64{0, p.NNZ()}, ColIdx: sorted}, p.ColIdx)
		got := f.classes.of(number, 1)
		near := func(what string, at, got, want, of float64) {
			if math.Abs(got-want) > 0.02*of {
				t.Errorf("%d classes: %s %.0f is %.1f, want %.1f", number, what, at, got, want)
			}
		}
		near("columns", 0, got.columns, want.columns, 0)
		for refs := 16.0; refs < float64(p.NNZ()); refs *= 1.7 {
			near("footprint of", refs, got.footprint(refs), want.footprint(refs), want.columns)
			near("references within", refs, got.reused(refs, p.NNZ(), 1), want.reused(refs, p.NNZ(), 1), float64(p.NNZ()))
		}
		for _, threads := range []int{2, 5} {
			if again := NewProfile(p, threads).classes.of(number, threads); !reflect.DeepEqual(again, got) {
				t.Errorf("%d classes: %d threads give others", number, threads)
			}
		}
	}
}

// Several goroutines may predict from one profile, whose classes are counted meanwhile, and all see the same.
func TestClassesAtOnce(t *testing.T) {
	p := evenBits(rand.New(rand.NewPCG(19, 20)), 3000, 11, 20)
	m := exactMachine(2)
	m.Measured.Levels[1].Bytes, m.Measured.Levels[1].SetBytes = 1<<18, 1<<17
	predict := func(f *Profile, k int) Prediction { return m.Predict(SpMM, f, k, 4, Tile{Tj: 512}) }
	shared := NewProfile(p, 2)
	var all sync.WaitGroup
	for _, k := range []int{32, 128, 512} {
		want := predict(NewProfile(p, 1), k)
		for range 3 {
			all.Go(func() {
				if got := predict(shared, k); !reflect.DeepEqual(got, want) {
					t.Errorf("K = %d: predicted %+v by one of many, %+v alone", k, got, want)
				}
			})
		}
	}
	all.Wait()
}

// Rows of B that lie as far apart as sets are chosen by are in one class.
func TestClassesOf(t *testing.T) {
	for _, c := range []struct {
		row      float64
		setBytes int64
		want     int
	}{{512, 1 << 17, 256}, {128, 1 << 17, 1024}, {2048, 1 << 17, 64}, {400, 1 << 17, 256}, {640, 1 << 17, 128}, {64, 4096, 64}, {512, 4096, 8}, {576, 4096, 0}, {64, 1 << 20, 2048}, {512, 0, 0}, {0, 0, 0}} {
		if got := classesOf(c.row, c.setBytes); got != c.want {
			t.Errorf("rows of %v bytes, sets %d apart: %d classes, want %d", c.row, c.setBytes, got, c.want)
		}
	}
}

// The hits that the model expects of a cache whose sets are picked by address bits are those of an exact simulation.
func TestHitsAgainstSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	p := evenBits(rng, 4000, 13, 20)
	f := NewProfile(p, 1)
	const setBytes = 1 << 17
	for _, c := range []struct{ k, ways int }{{64, 8}, {128, 4}, {128, 8}, {128, 16}, {512, 8}, {512, 16}} {
		number := setBytes / 4 / c.k
		m := exactMachine(1)
		m.Measured.Levels[1].Bytes = int64(c.ways) * setBytes
		w := newWork(m, SDDMM, f, c.k, 4, Tile{})
		anywhere := found(w, 1)
		m.Measured.Levels[1].SetBytes = setBytes
		got := found(w, 1)
		// Rows of B of a whole set each; rows of A go through all sets, and so do columns and values.
		sets, want := make([][]int32, number), 0
		passed := 0 // bytes of columns and values
		touch := func(set int32, key int32) bool {
			at := slices.Index(sets[set], key)
			if at >= 0 {
				sets[set] = slices.Delete(sets[set], at, at+1)
			}
			sets[set] = append(sets[set], key)
			if len(sets[set]) > c.ways {
				sets[set] = sets[set][1:]
			}
			return at >= 0
		}
		for i := range p.Rows {
			touch(int32(i)&int32(number-1), -1-int32(i))
			for _, j := range p.Row(i) {
				if touch(j&int32(number-1), j) {
					want++
				}
				if passed += int(w.perNonZero()); passed%(4*c.k) < int(w.perNonZero()) {
					touch(int32(passed/(4*c.k))&int32(number-1), -1-int32(p.Rows+passed))
				}
			}
		}
		if math.Abs(got-float64(want)) > 0.05*float64(f.NNZ) {
			t.Errorf("K = %d, %d ways: %.0f hits expected, %d simulated, of %d", c.k, c.ways, got, want, f.NNZ)
		}
		if math.Abs(anywhere-float64(want)) < 0.1*float64(f.NNZ) {
			t.Errorf("K = %d, %d ways: without sets %.0f hits are expected, as good as %d: the test shows nothing", c.k, c.ways, anywhere, want)
		}
	}
}
