package model

import "math/bits"

// histogram counts positive whole numbers in bins whose width grows with the number: eight bins to an
// octave, single numbers below 16.
type histogram []tally

// tally is how many numbers are in a bin, and their sum.
type tally struct{ count, sum int64 }

const perOctave = 8

// newHistogram returns one for numbers up to most.
func newHistogram(most int64) histogram { return newHistograms(1, most)[0] }

// newHistograms returns so many, next to each other. They have no bins for larger numbers: for all of 64 bits they would take so much memory that
// to touch it would take longer than to go through a small pattern.
func newHistograms(number int, most int64) []histogram {
	all, bins := make([]histogram, number), bin(uint64(max(most, 0)))+1
	memory := make(histogram, number*bins)
	for n := range all {
		all[n] = memory[n*bins:][:bins:bins]
	}
	return all
}

// bin returns the bin of x ≥ 0.
func bin(x uint64) int {
	e := bits.Len64(x|perOctave) - 4 // 2³ ≤ x>>e < 2⁴, but 0 where x is less; without a branch, which is hard to predict
	return e*perOctave + int(x>>(e&63))
}

// binStart returns the least number of a bin.
func binStart(b int) float64 {
	if b < 2*perOctave {
		return float64(b)
	}
	e := b/perOctave - 1
	return float64(b-e*perOctave) * float64(uint64(1)<<e)
}

func (h histogram) add(x uint64) {
	b := &h[bin(x)]
	b.count++
	b.sum += int64(x)
}

func (h histogram) merge(o histogram) {
	for b, t := range o {
		h[b].count += t.count
		h[b].sum += t.sum
	}
}

// scale multiplies all numbers by 2^shift.
func (h histogram) scale(shift int) {
	if shift == 0 {
		return
	}
	for b := len(h) - 1; b >= 0; b-- {
		t := h[b]
		h[b] = tally{}
		if t.count > 0 {
			to := &h[bin(uint64(t.sum/t.count)<<shift)]
			to.count += t.count
			to.sum += t.sum << shift
		}
	}
}
