package main

import (
	"fmt"

	"sddmmkit/bench"
	"sddmmkit/bench/record"
)

// benchTable writes records for people, a row each as they come.
type benchTable struct {
	a     *app
	begun bool
}

// benchColumns are the columns: name, width (negative: to the left) and contents.
var benchColumns = []struct {
	name  string
	width int
	cell  func(r *record.Record) string
}{
	{"operation", -10, func(r *record.Record) string { return operationName(r) }},
	{"matrix", -26, func(r *record.Record) string { return shorten(printable(r.Matrix), 26) }},
	{"K", 5, func(r *record.Record) string { return fmt.Sprint(r.K) }},
	{"type", -7, func(r *record.Record) string { return r.Type }},
	{"thr", 3, func(r *record.Record) string { return fmt.Sprint(r.Threads) }},
	{"tile", -12, func(r *record.Record) string { return r.Tile }},
	{"time", 9, func(r *record.Record) string { return duration(r.Median) }},
	{"±", 5, func(r *record.Record) string { return spread(r) }},
	{"GFLOP/s", 8, func(r *record.Record) string { return significant(r.GFLOPS) }},
	{"GB/s", 7, func(r *record.Record) string { return significant(r.GBPerSecond) }},
	{"share", 6, func(r *record.Record) string { return percent(r.RooflineShare) }},
	{"of", -6, func(r *record.Record) string { return r.RooflineLimit }},
	{"predicted", 9, func(r *record.Record) string {
		if r.PredictedSeconds == nil {
			return "–"
		}
		return duration(*r.PredictedSeconds)
	}},
	{"error", 8, func(r *record.Record) string { return fmt.Sprintf("%.1e", r.Error) }},
	{"by", -1, func(r *record.Record) string { return r.Implementation }},
}

// row writes a record.
func (t *benchTable) row(r *record.Record) {
	if !t.begun {
		t.begun = true
		t.line(func(c int) string { return benchColumns[c].name })
	}
	t.line(func(c int) string { return benchColumns[c].cell(r) })
	if s := r.Search; s != nil {
		t.a.printf("%11s%d tiles tried, the best predicted at %s\n", "", len(s.Tiles), duration(s.Tiles[0].Predicted))
		for _, held := range []struct {
			name string
			record.Held
		}{{"the model's", s.Model}, {"the plan's", s.Plan}} {
			t.a.printf("%11s%-11s  %-12s  %9s: %.1f%% more than the best, predicted at %s\n", "", held.name, held.Tile, duration(held.Seconds), 100*held.Loss, duration(held.Predicted))
		}
		t.a.printf("%11splanning     %.1f calls\n", "", s.Planning)
	}
}

func (t *benchTable) line(cell func(c int) string) {
	t.a.printf("%s\n", tableLine(len(benchColumns), func(c int) (string, int) { return cell(c), benchColumns[c].width }))
}

// ceilings says what a machine was measured to do.
func (t *benchTable) ceilings(what string, r bench.Roofline) {
	t.a.printf("ceilings of %s: %s GFLOP/s", what, significant(r.Flops/1e9))
	for i, l := range r.Memory.Levels {
		t.a.printf("; %s %s GB/s", l.Name, significant(gatherRate(r, i)))
	}
	t.a.printf("\n")
	t.begun = false // what follows gets a heading again
}

// gatherRate is the rate in GB/s at which all threads gather rows of 512 bytes from a level.
func gatherRate(r bench.Roofline, level int) float64 {
	const row = 512
	return row * float64(r.Threads) / r.Memory.GatherSeconds(level, row, r.Threads) / 1e9
}

// streamRate is the rate in GB/s at which all threads read arrays from a level.
func streamRate(r bench.Roofline, level int) float64 {
	return float64(r.Threads) / r.Memory.StreamSeconds(level, 1e9, r.Threads)
}

// searched sums up the searches.
func (t *benchTable) searched(s record.Searched) {
	t.a.printf("\n%d searches: the model's tiles take %.1f%% more than the best on average and %.1f%% at worst, the plans' %.1f%% and %.1f%%;\n"+
		"planning takes %.1f calls on average and %.1f at worst\n", s.Cases, 100*s.ModelMean, 100*s.ModelWorst, 100*s.PlanMean, 100*s.PlanWorst, s.PlanningMean, s.PlanningWorst)
}

// end explains the columns.
func (t *benchTable) end() {
	if !t.begun {
		return
	}
	t.a.printf("\n± half of the 95%% interval of the median · GB/s a row of B per non-zero · share of the time that the ceilings allow\n" +
		"without tiles, and what limits it · error relative to the sum of absolute terms, within its bound\n")
}

// threadCount writes a number of threads.
func threadCount(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

// operationName names what was computed.
func operationName(r *record.Record) string {
	if r.Epilogue == "" || r.Epilogue == "scale" {
		return string(r.Op)
	}
	return fmt.Sprintf("%s %.4s", r.Op, r.Epilogue)
}

// shorten cuts the middle out of a long text.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	half := (n - 1) / 2
	return string(r[:n-1-half]) + "…" + string(r[len(r)-half:])
}

// significant writes a number with three significant digits.
func significant(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// duration writes seconds for people.
func duration(s float64) string {
	switch {
	case s >= 1:
		return significant(s) + " s"
	case s >= 1e-3:
		return significant(s*1e3) + " ms"
	}
	return significant(s*1e6) + " µs"
}

// percent writes a share, a dash when there is none.
func percent(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100**x)
}

// caseFields are those of a case in the JSON events about it.
type caseFields struct {
	Op      bench.Op `json:"op"`
	Matrix  string   `json:"matrix"`
	Type    string   `json:"type"`
	Threads int      `json:"threads"`
	K       int      `json:"k"`
}

func caseOf(r *record.Record) caseFields { return caseFields{r.Op, r.Matrix, r.Type, r.Threads, r.K} }

// cliffEvent is the JSON event of a K beside the curve.
type cliffEvent struct {
	Event string `json:"event"` // "cliff"
	caseFields
	Slowdown float64 `json:"slowdown"` // time over the curve through the round K
}

// cliff is a slowdown that a person should look at.
const cliff = 1.3

func printCliffs(a *app, cliffs []record.Cliff) {
	if len(cliffs) == 0 {
		return
	}
	a.printf("\ntime over the curve through K = 8, 16, 32, 64, 128, 256, 1024 (per flop; K ≤ 4 per byte)\n")
	for _, c := range cliffs {
		r := c.Record
		if a.json {
			a.emit(cliffEvent{"cliff", caseOf(r), c.Slowdown})
			continue
		}
		mark := ""
		if c.Slowdown > cliff {
			mark = "  a cliff"
		}
		a.printf("  %-7s %-26s %s, %s, K = %4d: %.2f%s\n", r.Op, shorten(printable(r.Matrix), 26), r.Type, threadCount(r.Threads), r.K, c.Slowdown, mark)
	}
}

// scalingEvent is the JSON event of a case beside the same one in another type or with another number of threads.
type scalingEvent struct {
	Event string `json:"event"` // "scaling"
	caseFields
	BaseType    string  `json:"base_type"`
	BaseThreads int     `json:"base_threads"`
	Ratio       float64 `json:"ratio"` // of flops per second
}

func printScalings(a *app, scalings []record.Scaling) {
	if len(scalings) == 0 {
		return
	}
	a.printf("\nflops per second over those of another type or number of threads in the same round, medians\n")
	for _, s := range scalings {
		r, base := s.Record, s.Base
		if a.json {
			a.emit(scalingEvent{"scaling", caseOf(&r), base.Type, base.Threads, s.Ratio})
			continue
		}
		what := fmt.Sprintf("%s over %s, %s", r.Type, base.Type, threadCount(r.Threads))
		if r.Type == base.Type {
			what = fmt.Sprintf("%s over %d, %s", threadCount(r.Threads), base.Threads, r.Type)
		}
		a.printf("  %-7s %-26s K = %4d, %s: %.2f\n", r.Op, shorten(printable(r.Matrix), 26), r.K, what, s.Ratio)
	}
}
