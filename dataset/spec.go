package dataset

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Spec describes a matrix to generate. ParseSpec reads one from text; String writes it.
type Spec struct {
	Kind       string // uniform, rmat, zipf, skewed or ratings
	Rows, Cols int
	NNZ        int64
	Scale      int     // rmat: Rows = Cols = 2^Scale
	Exponent   float64 // zipf, skewed: the column of rank r has weight r^-Exponent, or about that
	Sigma      float64 // skewed: standard deviation of the logarithm of the row lengths
	Rank       int     // ratings: planted factors
	Noise      float64 // ratings: standard deviation of what no model can predict
	Seed       uint64
}

const specForms = "uniform:ROWSxCOLS:NNZ, rmat:SCALE:NNZ, zipf:ROWSxCOLS:NNZ:EXPONENT, skewed:ROWSxCOLS:NNZ:rows=SIGMA:cols=EXPONENT or ratings:ROWSxCOLS:NNZ:RANK:NOISE, each with an optional :seed=N"

// IsSpec says whether a text that may also be a file name means a generated matrix: whether it
// begins with the name of a generator and a colon.
func IsSpec(s string) bool {
	kind, _, ok := strings.Cut(s, ":")
	switch kind {
	case "uniform", "rmat", "zipf", "skewed", "ratings":
		return ok
	}
	return false
}

// ParseSpec reads
//
//	uniform:ROWSxCOLS:NNZ
//	rmat:SCALE:NNZ
//	zipf:ROWSxCOLS:NNZ:EXPONENT
//	skewed:ROWSxCOLS:NNZ:rows=SIGMA:cols=EXPONENT
//	ratings:ROWSxCOLS:NNZ:RANK:NOISE
//
// each with an optional :seed=N at the end (1 without). Counts may end in k, M or G, which
// multiply by 10^3, 10^6 and 10^9: rmat:17:4.4M.
func ParseSpec(text string) (Spec, error) {
	s := Spec{Seed: 1}
	fail := func(format string, args ...any) (Spec, error) {
		return Spec{}, fmt.Errorf("matrix spec %q: %s", text, fmt.Sprintf(format, args...))
	}
	parts := strings.Split(text, ":")
	s.Kind = parts[0]
	parts = parts[1:]
	if n := len(parts); n > 0 {
		if seed, ok := strings.CutPrefix(parts[n-1], "seed="); ok {
			var err error
			if s.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
				return fail("seed %q: want a whole number of at least 0", seed)
			}
			parts = parts[:n-1]
		}
	}
	want, ok := map[string]int{"uniform": 2, "rmat": 2, "zipf": 3, "skewed": 4, "ratings": 4}[s.Kind]
	if !ok || len(parts) != want {
		return fail("want %s", specForms)
	}
	if s.Kind == "rmat" {
		scale, err := strconv.Atoi(parts[0])
		if err != nil || scale < 0 || scale > 30 {
			return fail("scale %q: want a whole number from 0 to 30", parts[0])
		}
		s.Scale, s.Rows, s.Cols = scale, 1<<scale, 1<<scale
	} else {
		rows, cols, _ := strings.Cut(parts[0], "x")
		m, okRows := parseCount(rows, math.MaxInt32)
		n, okCols := parseCount(cols, math.MaxInt32)
		if !okRows || !okCols || m == 0 || n == 0 {
			return fail("shape %q: want ROWSxCOLS, each from 1 to %d", parts[0], math.MaxInt32)
		}
		s.Rows, s.Cols = int(m), int(n)
	}
	cells := int64(s.Rows) * int64(s.Cols)
	if s.NNZ, ok = parseCount(parts[1], math.MaxInt64); !ok {
		return fail("%q non-zeros: want a whole number of at least 0", parts[1])
	}
	if s.NNZ > cells {
		return fail("%d non-zeros do not fit the %d cells of a %d×%d matrix", s.NNZ, cells, s.Rows, s.Cols)
	}
	switch s.Kind {
	case "zipf":
		x, err := strconv.ParseFloat(parts[2], 64)
		if err != nil || !(x >= 0 && x <= 10) {
			return fail("exponent %q: want a number from 0 (no skew) to 10", parts[2])
		}
		s.Exponent = x
	case "skewed":
		sigma, okSigma := parseSkew(parts[2], "rows=")
		x, okExponent := parseSkew(parts[3], "cols=")
		if !okSigma || !okExponent {
			return fail("skew %s:%s; want rows=SIGMA:cols=EXPONENT, numbers from 0 (no skew) to 10", parts[2], parts[3])
		}
		if room := int64(s.Rows) * longestSkewed(s.Cols); s.NNZ > room {
			return fail("%d non-zeros do not fit the %d that rows of at most %d hold", s.NNZ, room, longestSkewed(s.Cols))
		}
		s.Sigma, s.Exponent = sigma, x
	case "ratings":
		rank, err := strconv.Atoi(parts[2])
		if err != nil || rank < 0 || rank > 4096 {
			return fail("rank %q: want a whole number from 0 to 4096", parts[2])
		}
		noise, err := strconv.ParseFloat(parts[3], 64)
		if err != nil || !(noise >= 0 && noise <= 1e6) {
			return fail("noise %q: want a standard deviation, a number of at least 0", parts[3])
		}
		s.Rank, s.Noise = rank, noise
	}
	return s, nil
}

// parseSkew reads a number from 0 to 10 after its name.
func parseSkew(text, name string) (float64, bool) {
	number, ok := strings.CutPrefix(text, name)
	x, err := strconv.ParseFloat(number, 64)
	return x, ok && err == nil && x >= 0 && x <= 10
}

// parseCount reads a whole number in [0, limit], which may be written with a suffix: 5M, 4.4M.
func parseCount(s string, limit int64) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, n >= 0 && n <= limit
	}
	if s == "" {
		return 0, false
	}
	scale := map[byte]float64{'k': 1e3, 'K': 1e3, 'M': 1e6, 'G': 1e9}[s[len(s)-1]]
	x, err := strconv.ParseFloat(s[:len(s)-1], 64)
	if scale == 0 || err != nil || !(x >= 0) {
		return 0, false
	}
	// Beyond 2^53 a float64 no longer holds every whole number.
	x = math.Round(x*scale*1e6) / 1e6 // 4.4 × 10^6 is 4400000.000000001
	if x != math.Trunc(x) || x > 1<<53 || x > float64(limit) {
		return 0, false
	}
	return int64(x), true
}

// String returns the spec as ParseSpec reads it, always with its seed.
func (s Spec) String() string {
	shape := fmt.Sprintf("%dx%d", s.Rows, s.Cols)
	switch s.Kind {
	case "rmat":
		return fmt.Sprintf("rmat:%d:%d:seed=%d", s.Scale, s.NNZ, s.Seed)
	case "zipf":
		return fmt.Sprintf("zipf:%s:%d:%v:seed=%d", shape, s.NNZ, s.Exponent, s.Seed)
	case "skewed":
		return fmt.Sprintf("skewed:%s:%d:rows=%v:cols=%v:seed=%d", shape, s.NNZ, s.Sigma, s.Exponent, s.Seed)
	case "ratings":
		return fmt.Sprintf("ratings:%s:%d:%d:%v:seed=%d", shape, s.NNZ, s.Rank, s.Noise, s.Seed)
	}
	return fmt.Sprintf("%s:%s:%d:seed=%d", s.Kind, shape, s.NNZ, s.Seed)
}
