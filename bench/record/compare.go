package record

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Verdict says whether B is faster than A.
type Verdict string

// The verdicts.
const (
	Faster Verdict = "faster" // the whole interval lies beyond the margin
	Slower Verdict = "slower"
	Same   Verdict = "same" // the whole interval lies within the margin
	Unsure Verdict = "unsure"
)

// Ratio is how many times as fast B is as A: the median time of A over that of B, with a 95 % interval by
// the bootstrap.
type Ratio struct {
	Ratio   float64 `json:"ratio"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Verdict Verdict `json:"verdict"`
}

// Comparison is a case that both files have.
type Comparison struct {
	A, B Record // of several records of a case in one file, the first, with the samples of all
	Ratio
}

// Report is the comparison of two files of records.
type Report struct {
	Cases        []Comparison // in the order of A
	Mean         Ratio        // the geometric mean of the ratios
	OnlyA, OnlyB []Record     // that have no counterpart
}

// CompareOptions say how to compare. The zero value has defaults.
type CompareOptions struct {
	Margin    float64 // differences up to this share are none; 0.02
	Resamples int     // of the bootstrap; 2000
	Seed      uint64
}

// key is what two records must share to be compared.
type key struct {
	op             Op
	epilogue, hash string
	k              int
	typ, device    string
	threads        int
	implementation string
	cold           bool
	by             TileBy
	algorithm      string
}

// keyOf returns the key of a record; only a full one tells implementations and tiles apart.
func keyOf(r Record, full bool) key {
	id := r.DataHash
	if id == "" {
		id = r.Matrix
	}
	k := key{op: r.Op, epilogue: r.Epilogue, hash: id, k: r.K, typ: r.Type, device: r.Device, threads: r.Threads, cold: r.Cache == Cold}
	if full {
		k.implementation, k.by, k.algorithm = r.Implementation, r.TileBy, r.Algorithm
	}
	return k
}

// Compare compares the records of two files, case by case. A case is an operation, a pattern, K, a type, a
// device and a number of threads. Where a file has a case from several implementations or
// with several ways to choose tiles, those too must agree; otherwise they may differ, which is how
// two implementations are compared.
func Compare(a, b []Record, opt CompareOptions) Report {
	if opt.Margin == 0 {
		opt.Margin = 0.02
	}
	if opt.Resamples == 0 {
		opt.Resamples = 2000
	}
	a, b = Pool(a), Pool(b)
	several := map[key]bool{}
	for _, records := range [][]Record{a, b} {
		seen := map[key]bool{}
		for _, r := range records {
			k := keyOf(r, false)
			several[k] = several[k] || seen[k]
			seen[k] = true
		}
	}
	of := func(r Record) key { return keyOf(r, several[keyOf(r, false)]) }
	inB := map[key]int{}
	for i, r := range b {
		inB[of(r)] = i
	}
	var rep Report
	met := make([]bool, len(b))
	rng := rand.New(rand.NewPCG(opt.Seed, 2))
	logs := make([]float64, opt.Resamples) // of the product of the resampled ratios
	sum := 0.0
	for _, r := range a {
		i, ok := inB[of(r)]
		if !ok {
			rep.OnlyA = append(rep.OnlyA, r)
			continue
		}
		met[i] = true
		resampled := make([]float64, opt.Resamples)
		for n := range resampled {
			resampled[n] = math.Log(resampledMedian(rng, r.Seconds)) - math.Log(resampledMedian(rng, b[i].Seconds))
			logs[n] += resampled[n]
		}
		log := math.Log(r.Median) - math.Log(b[i].Median)
		sum += log
		rep.Cases = append(rep.Cases, Comparison{A: r, B: b[i], Ratio: newRatio(log, resampled, opt.Margin)})
	}
	for i, r := range b {
		if !met[i] {
			rep.OnlyB = append(rep.OnlyB, r)
		}
	}
	if n := float64(len(rep.Cases)); n > 0 {
		for i := range logs {
			logs[i] /= n
		}
		rep.Mean = newRatio(sum/n, logs, opt.Margin)
	}
	return rep
}

// resampledMedian is the median of as many samples, drawn with replacement.
func resampledMedian(rng *rand.Rand, x []float64) float64 {
	y := make([]float64, len(x))
	for i := range y {
		y[i] = x[rng.IntN(len(x))]
	}
	slices.Sort(y)
	return median(y)
}

// newRatio makes a ratio of its logarithm and those of the resamples.
func newRatio(log float64, resampled []float64, margin float64) Ratio {
	slices.Sort(resampled)
	n := len(resampled)
	cut := n / 40 // 2.5 % on either side
	r := Ratio{Ratio: math.Exp(log), Low: math.Exp(resampled[cut]), High: math.Exp(resampled[n-1-cut])}
	upper := 1 + margin
	switch lower := 1 / upper; {
	case r.Low > upper:
		r.Verdict = Faster
	case r.High < lower:
		r.Verdict = Slower
	case r.Low >= lower && r.High <= upper:
		r.Verdict = Same
	default:
		r.Verdict = Unsure
	}
	return r
}

// String returns the ratio for people: 1.25× (1.21–1.30) faster.
func (r Ratio) String() string {
	return fmt.Sprintf("%.3f× (%.3f–%.3f) %s", r.Ratio, r.Low, r.High, r.Verdict)
}
