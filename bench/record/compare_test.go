package record

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func rec(impl string, k int, seconds ...float64) Record {
	r := Record{Op: SpMM, Implementation: impl, Matrix: "m", DataHash: "h", K: k, Type: "float32", Device: "cpu", Threads: 2, Counts: Counts{Flops: int64(1000 * k), Bytes: int64(4000 * k)}, Seconds: seconds}
	r.Summarize()
	return r
}

func TestCompareVerdicts(t *testing.T) {
	for _, c := range []struct {
		b    []float64
		want Verdict
	}{
		{[]float64{1, 1, 1, 1}, Same},
		{[]float64{0.5, 0.5, 0.5, 0.51}, Faster},
		{[]float64{2, 2, 2.1, 2}, Slower},
		{[]float64{0.5, 2, 1, 0.9}, Unsure},
		{[]float64{0.99, 0.99, 0.99}, Same}, // within the margin
		{[]float64{0.97, 0.97, 0.97}, Faster},
	} {
		rep := Compare([]Record{rec("x", 1, 1, 1, 1, 1)}, []Record{rec("x", 1, c.b...)}, CompareOptions{})
		if got := rep.Cases[0].Ratio; got.Verdict != c.want || got != rep.Mean || !(got.Low <= got.Ratio && got.Ratio <= got.High) {
			t.Errorf("%v: %v, mean %v, want %s", c.b, got, rep.Mean, c.want)
		}
	}
}

// Implementations are told apart only where a file has several.
func TestCompareMatching(t *testing.T) {
	rep := Compare([]Record{rec("theirs", 1, 2), rec("theirs", 2, 1)}, []Record{rec("ours", 2, 1), rec("ours", 3, 1), rec("ours", 1, 1)}, CompareOptions{})
	if len(rep.Cases) != 2 || rep.Cases[0].Ratio.Ratio != 2 || rep.Cases[1].Ratio.Ratio != 1 || len(rep.OnlyA) != 0 || len(rep.OnlyB) != 1 || rep.OnlyB[0].K != 3 {
		t.Errorf("%+v", rep)
	}
	if want := math.Sqrt2; math.Abs(rep.Mean.Ratio-want) > 1e-12 {
		t.Errorf("mean %v, want %v", rep.Mean.Ratio, want)
	}
	rep = Compare([]Record{rec("ours", 1, 2), rec("theirs", 1, 4)}, []Record{rec("theirs", 1, 1), rec("ours", 1, 1), rec("third", 1, 1)}, CompareOptions{})
	if len(rep.Cases) != 2 || rep.Cases[0].B.Implementation != "ours" || rep.Cases[0].Ratio.Ratio != 2 || rep.Cases[1].Ratio.Ratio != 4 || len(rep.OnlyB) != 1 {
		t.Errorf("%+v", rep)
	}
	for _, change := range []func(r *Record){
		func(r *Record) { r.Op = SDDMM }, func(r *Record) { r.DataHash = "g" }, func(r *Record) { r.Type = "float64" },
		func(r *Record) { r.Threads = 1 }, func(r *Record) { r.Device = "cuda:0" }, func(r *Record) { r.Epilogue = "dot" },
	} {
		other := rec("ours", 1, 1)
		change(&other)
		if rep := Compare([]Record{rec("ours", 1, 1)}, []Record{other}, CompareOptions{}); len(rep.Cases) != 0 || len(rep.OnlyA) != 1 || len(rep.OnlyB) != 1 {
			t.Errorf("%+v was compared with another case", other)
		}
	}
}

// Several records of a case are one, with all samples.
func TestComparePools(t *testing.T) {
	a := []Record{rec("x", 1, 1, 2), rec("x", 1, 3)}
	rep := Compare(a, []Record{rec("x", 1, 2)}, CompareOptions{})
	if len(rep.Cases) != 1 || len(rep.Cases[0].A.Seconds) != 3 || rep.Cases[0].A.Median != 2 || rep.Cases[0].A.Samples != 3 {
		t.Errorf("%+v", rep.Cases)
	}
	if len(a[0].Seconds) != 2 || a[0].Median != 1.5 {
		t.Errorf("the caller's records changed: %+v", a[0])
	}
}

// The interval holds the true ratio about as often as it says, for skewed noise.
func TestCompareCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	draw := func(scale float64) []float64 {
		x := make([]float64, 25)
		for i := range x {
			x[i] = scale * (1 + 0.1*rng.ExpFloat64())
		}
		return x
	}
	const trials = 300
	held := 0
	for range trials {
		rep := Compare([]Record{rec("x", 1, draw(3)...)}, []Record{rec("x", 1, draw(2)...)}, CompareOptions{Resamples: 400, Seed: rng.Uint64()})
		if r := rep.Mean; r.Low <= 1.5 && 1.5 <= r.High {
			held++
		}
	}
	if share := float64(held) / trials; share < 0.9 || share > 1 {
		t.Errorf("the interval holds the truth in %.0f %% of trials, want about 95 %%", 100*share)
	}
}

func TestCompareSameBits(t *testing.T) {
	a, b := []Record{rec("x", 1, 1, 2, 3), rec("x", 2, 4, 5, 6)}, []Record{rec("x", 1, 2, 3, 4), rec("x", 2, 1, 2, 3)}
	if x, y := Compare(a, b, CompareOptions{Seed: 3}), Compare(a, b, CompareOptions{Seed: 3}); !reflect.DeepEqual(x, y) {
		t.Errorf("%+v and %+v", x, y)
	}
}

func TestCliffs(t *testing.T) {
	// 1 ms per round K and step: seconds per flop fall as 1/K... the curve is level here.
	records := []Record{rec("x", 8, 8e-3), rec("x", 32, 32e-3), rec("x", 16, 2*16e-3), rec("x", 9, 9e-3), rec("x", 33, 2*33e-3), rec("x", 2, 4e-3), rec("y", 9, 1)}
	got := Cliffs(records)
	// K = 9 lies between 1 (at 8) and 2 (at 16) on a scale of log K; 33 beyond the last; 2 by bytes of K = 8.
	want := map[int]float64{9: 1 / (1 + math.Log2(9.0/8)), 33: 2, 2: 2}
	if len(got) != len(want) {
		t.Fatalf("%d of %d", len(got), len(want))
	}
	for _, c := range got {
		if math.Abs(c.Slowdown-want[c.Record.K]) > 1e-9 {
			t.Errorf("K = %d: %v, want %v", c.Record.K, c.Slowdown, want[c.Record.K])
		}
	}
}

// Rounds are compared each for itself, though the machine is twice as slow in one of them.
func TestRounds(t *testing.T) {
	in := func(round int, k int, seconds float64, change func(*Record)) Record {
		r := rec("x", k, seconds)
		if r.Round = round; change != nil {
			change(&r)
		}
		return r
	}
	double := func(r *Record) { r.Type = "float64" }
	single := func(r *Record) { r.Threads = 1 }
	var records []Record
	for round, slow := range []float64{1, 2, 1.1} {
		off := []float64{1, 1.2, 0.9}[round] // of what is compared
		records = append(records, in(round+1, 8, 8e-3*slow, nil), in(round+1, 16, 16e-3*slow, nil), in(round+1, 9, 9e-3*1.25*slow*off, nil),
			in(round+1, 8, 16e-3*slow*off, double), in(round+1, 8, 12e-3*slow*off, single))
	}
	cliffs := Cliffs(records)
	if len(cliffs) != 1 || cliffs[0].Record.K != 9 || math.Abs(cliffs[0].Slowdown-1.25) > 1e-9 {
		t.Errorf("cliffs %+v, want 1.25 at K = 9", cliffs)
	}
	scalings := Scalings(records)
	if len(scalings) != 2 || scalings[0].Record.Type != "float64" || scalings[0].Base.Type != "float32" || math.Abs(scalings[0].Ratio-0.5) > 1e-9 ||
		scalings[1].Record.Threads != 1 || scalings[1].Base.Threads != 2 || math.Abs(scalings[1].Ratio-8.0/12) > 1e-9 {
		t.Errorf("scalings %+v, want 0.5 for float64 and 0.67 for one thread", scalings)
	}
	if all := Pool(records); len(all) != 5 || all[0].Samples != 3 || all[0].Round != 1 || all[0].Median != 8.8e-3 {
		t.Errorf("%d cases, the first %+v", len(all), all[0])
	}
	if got := Scalings(append(records[:2:2], records[0])); len(got) != 0 {
		t.Errorf("a case compared with itself: %+v", got)
	}
}
