package dataset

import (
	"math"
	"strconv"

	"sddmmkit/sparse"
)

// maxIndex is the largest 0-based index: a dimension, one more, must fit an int32.
const maxIndex = math.MaxInt32 - 1

// digits reads the decimal digits of s from i on and returns their value and where they end;
// end == i means that there are none. A value beyond int64 comes back as MaxInt64.
func digits(s []byte, i int) (v int64, end int) {
	end = i
	var u uint64
	for end < len(s) {
		d := s[end] - '0'
		if d > 9 {
			break
		}
		u = u*10 + uint64(d)
		end++
	}
	// 18 digits fit; of more, leading zeros aside, the sum above may have wrapped.
	if end-i > 18 {
		return slowDigits(s[i:end]), end
	}
	return int64(u), end
}

func slowDigits(s []byte) int64 {
	v, err := strconv.ParseInt(string(s), 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return v
}

// powers of ten that float64 holds exactly.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseFloat parses a number of any form that strconv.ParseFloat takes and returns the nearest
// T, exactly as strconv does. It reports false for what is no number, for NaN and infinities,
// and for numbers beyond T.
//
// Short decimals, the common case, take a path of one exact product or quotient: an integer
// below 2^53 and a power of ten up to 10^22 are both exact, so the one rounding is the right one
// (Clinger 1990).
func parseFloat[T sparse.Float](s []byte) (T, bool) {
	i := 0
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		i = 1
	}
	var m uint64
	start, exp, point := i, 0, 0
	for ; i < len(s); i++ {
		c := s[i]
		if d := c - '0'; d <= 9 {
			m = m*10 + uint64(d)
			continue
		}
		if c != '.' || point != 0 {
			break
		}
		point = i + 1
	}
	n := i - start // digits, and the point
	if point != 0 {
		n--
		exp = point - i
	}
	if n == 0 || n > 18 {
		return slowFloat[T](s)
	}
	if i < len(s) {
		if s[i] != 'e' && s[i] != 'E' {
			return slowFloat[T](s)
		}
		i++
		eneg := false
		if i < len(s) && (s[i] == '-' || s[i] == '+') {
			eneg = s[i] == '-'
			i++
		}
		e, end := digits(s, i)
		if end == i || end != len(s) || e > 1000 {
			return slowFloat[T](s)
		}
		if eneg {
			e = -e
		}
		exp += int(e)
	}
	if m >= 1<<53 || exp > 22 || exp < -22 {
		return slowFloat[T](s)
	}
	f := float64(m)
	if exp < 0 {
		f /= pow10[-exp]
	} else {
		f *= pow10[exp]
	}
	if neg {
		f = -f
	}
	t := T(f)
	if float64(t) != f && !roundsOnce(f) {
		return slowFloat[T](s)
	}
	return t, true
}

// roundsOnce reports whether rounding the float64 f to float32 gives what rounding the decimal
// behind f to float32 gives. It does unless f lies on a midpoint of two float32, where the
// decimal may lie to either side; outside the normal range of float32 we do not look closely.
func roundsOnce(f float64) bool {
	a := math.Abs(f)
	return a >= 0x1p-126 && a < 0x1p127 && math.Float64bits(f)&(1<<29-1) != 1<<28
}

func slowFloat[T sparse.Float](s []byte) (T, bool) {
	size := 64
	if isFloat32[T]() {
		size = 32
	}
	f, err := strconv.ParseFloat(string(s), size)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	return T(f), true
}

// isFloat32 reports whether T is the smaller type: adding half an ulp of float32 to 1 is lost.
func isFloat32[T sparse.Float]() bool {
	one, small := T(1), T(0x1p-30)
	return one+small == one
}
