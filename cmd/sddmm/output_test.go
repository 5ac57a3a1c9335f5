package main

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{math.NaN(): "null", math.Inf(1): "null", math.Inf(-1): "null", 0: "0", 0.1: "0.1", -3: "-3", 1e300: "1e+300"} {
		got, err := json.Marshal(number(v))
		if err != nil || string(got) != want {
			t.Errorf("%v is %s, %v; want %s", v, got, err, want)
		}
		var back number
		if err := json.Unmarshal(got, &back); err != nil || back.known() != (want != "null") || back.known() && float64(back) != v {
			t.Errorf("%s comes back as %v, %v", got, back, err)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1 000", 12345: "12 345", 1234567: "1 234 567", -5: "-5"} {
		if got := count(n); got != want {
			t.Errorf("%d is %q; want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 3 << 30: "3 GiB", 1 << 62: "4 EiB"} {
		if got := byteSize(n); got != want {
			t.Errorf("%d bytes are %q; want %q", n, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	if got := printable("Amélie\x1b[2J\x00\n\x9b1m✓"); strings.ContainsAny(got, "\x1b\x00\n") || !strings.Contains(got, "Amélie") || !strings.Contains(got, "✓") {
		t.Errorf("%q", got)
	}
	if got := oneLine(errors.Join(errors.New("a\n  b"), errors.New("c"))); got != "a; b; c" {
		t.Errorf("%q", got)
	}
}

func iterations(train, test []float64) []iterationEvent {
	out := make([]iterationEvent, len(train))
	for k := range out {
		out[k] = iterationEvent{Iteration: k + 1, TrainRMSE: number(train[k]), TestRMSE: number(test[k])}
	}
	return out
}

func TestCurve(t *testing.T) {
	got := curve(iterations([]float64{4, 3, 2, 1}, []float64{math.NaN(), 4, 3.5, 3}), 0)
	want := `
   4.000 ┤  ○   ●
         ┤          ●
         ┤      ○       ●
         ┤
   2.222 ┤
         ┤          ○
         ┤
         ┤              ○
         ┤
   0.000 ┤┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
    RMSE └────────────────
          iteration 1 to 4   ○ train   ┄ best possible test
`
	if got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
	nan := math.NaN()
	for name, past := range map[string][]iterationEvent{
		"nothing":      nil,
		"too short":    iterations([]float64{1, 2}, []float64{1, 2}),
		"flat":         iterations([]float64{1, 1, 1}, []float64{1, 1, 1}),
		"no figures":   iterations([]float64{nan, nan, nan}, []float64{nan, nan, nan}),
		"a ranking":    {{ValidationNDCG: new(number)}, {ValidationNDCG: new(number)}, {ValidationNDCG: new(number)}},
		"one outlier":  iterations([]float64{1e300, 1, 1, 2}, []float64{1, 2, 3, 4}),
		"many of them": iterations(make([]float64, 1000), append(make([]float64, 999), 1)),
	} {
		s := curve(past, unknown)
		if empty := name != "one outlier" && name != "many of them"; (s == "") != empty {
			t.Errorf("%s:\n%s", name, s)
		}
		for _, line := range strings.Split(s, "\n") {
			if n := len([]rune(line)); n > 100 {
				t.Errorf("%s: a line of %d characters", name, n)
			}
		}
	}
}
