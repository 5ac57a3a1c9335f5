package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// checkFloat compares parseFloat with strconv in both widths, bit for bit.
func checkFloat(t *testing.T, s string) {
	t.Helper()
	w64, err := strconv.ParseFloat(s, 64)
	ok64 := err == nil && !math.IsNaN(w64) && !math.IsInf(w64, 0)
	g64, ok := parseFloat[float64]([]byte(s))
	if ok != ok64 || ok && math.Float64bits(g64) != math.Float64bits(w64) {
		t.Errorf("%q: float64 %v, %v; strconv %v, %v", s, g64, ok, w64, err)
	}
	w32, err := strconv.ParseFloat(s, 32)
	ok32 := err == nil && !math.IsNaN(w32) && !math.IsInf(w32, 0)
	g32, ok := parseFloat[float32]([]byte(s))
	if ok != ok32 || ok && math.Float32bits(g32) != math.Float32bits(float32(w32)) {
		t.Errorf("%q: float32 %v, %v; strconv %v, %v", s, g32, ok, w32, err)
	}
}

var floats = []string{
	"", "+", "-", ".", "-.", "e5", "1e", "1e+", "1.e3", ".5", "5.", "-0", "+0.0", "0", "00012", "1.5", "-2e3", "1E-3",
	"123456789012345678", "1234567890123456789", "0.000000000000000000001", "9007199254740993", "9007199254740992",
	"1e22", "1e23", "1e-22", "1e-23", "1e308", "1e309", "-1e400", "4.9e-324", "1e-400", "3.4028235e38", "3.4028236e38",
	"1e39", "1.1754943508222875e-38", "1e-45", "7e-46", "1.4e-45", "16777217", "16777217.0", "16777219", "1.00000005960464477539",
	"1.000000059604644775390625", "1.0000000596046448", "0x1p-2", "0x1.8", "1_000", "NaN", "nan", "Inf", "-inf", "infinity",
	"1 ", " 1", "1,5", "1..2", "1.2.3", "--1", "1e5.0", "1e1001", "0e5000", "0.1", "0.3", "2.5", "881250949", "1e-5",
	"340282356779733661637539395458142568447", "340282356779733661637539395458142568448",
}

func TestParseFloat(t *testing.T) {
	for _, s := range floats {
		checkFloat(t, s)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 50000 {
		switch r.IntN(4) {
		case 0:
			checkFloat(t, strconv.FormatFloat(math.Float64frombits(r.Uint64()), 'g', r.IntN(20)-1, 64))
		case 1:
			checkFloat(t, strconv.FormatFloat(float64(math.Float32frombits(r.Uint32())), 'g', -1, 32))
		case 2:
			checkFloat(t, fmt.Sprintf("%d.%de%d", r.IntN(1000), r.IntN(100000), r.IntN(50)-25))
		case 3: // near the midpoint of two float32
			f := math.Float32frombits(r.Uint32N(1 << 30))
			mid := float64(f) + (float64(math.Nextafter32(f, math.MaxFloat32))-float64(f))/2
			checkFloat(t, strconv.FormatFloat(mid, 'g', 10+r.IntN(12), 64))
		}
	}
}

func FuzzParseFloat(f *testing.F) {
	for _, s := range floats {
		f.Add(s)
	}
	f.Fuzz(checkFloat)
}

func TestDigits(t *testing.T) {
	tests := []struct {
		s   string
		v   int64
		end int
	}{
		{"", 0, 0}, {"x", 0, 0}, {"0", 0, 1}, {"12 3", 12, 2}, {"007", 7, 3}, {"-1", 0, 0},
		{"999999999999999999", 999999999999999999, 18},
		{"9223372036854775807", math.MaxInt64, 19}, {"9223372036854775808", math.MaxInt64, 19},
		{"18446744073709551617", math.MaxInt64, 20}, {"0000000000000000000000001", 1, 25},
	}
	for _, tt := range tests {
		if v, end := digits([]byte(tt.s), 0); v != tt.v || end != tt.end {
			t.Errorf("digits(%q) = %d, %d; want %d, %d", tt.s, v, end, tt.v, tt.end)
		}
	}
}
