package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	curveHeight = 10 // lines
	curveWidth  = 60 // characters, at most, that hold points
)

// curve draws how a run went: train and held-out errors over iterations and the noise floor. For
// other figures, and for runs too short to have a shape, it is empty.
func curve(past []iterationEvent, floor number) string {
	train, held := make([]float64, len(past)), make([]float64, len(past))
	for k := range past {
		train[k] = float64(past[k].TrainRMSE)
		heading, v := past[k].scored()
		if held[k] = float64(v); !strings.HasSuffix(heading, "RMSE") {
			return ""
		}
	}
	low, high := curveRange(append(slices.Clone(train), held...), floor)
	if len(past) < 3 || !(high > low) {
		return ""
	}
	// At least one column per iteration, or some iterations only when there are many.
	step := max(min(curveWidth/len(past), 4), 1)
	shown := min(len(past), curveWidth)
	grid := make([][]rune, curveHeight)
	for y := range grid {
		grid[y] = []rune(strings.Repeat(" ", shown*step))
	}
	line := func(v float64) int {
		y := int(math.Round((high - v) / (high - low) * (curveHeight - 1)))
		return min(max(y, 0), curveHeight-1)
	}
	if floor.known() {
		for x := range grid[0] {
			grid[line(float64(floor))][x] = '┄'
		}
	}
	for k := range shown {
		at := k * (len(past) - 1) / max(shown-1, 1)
		x := k*step + step/2
		for _, p := range []struct {
			v    float64
			mark rune
		}{{train[at], '○'}, {held[at], '●'}} {
			if !math.IsNaN(p.v) {
				grid[line(p.v)][x] = p.mark
			}
		}
	}
	var b strings.Builder
	b.WriteByte('\n')
	for y, row := range grid {
		label := ""
		switch y {
		case 0, curveHeight - 1, (curveHeight - 1) / 2:
			label = fmt.Sprintf("%.3f", high-(high-low)*float64(y)/(curveHeight-1))
		}
		fmt.Fprintf(&b, "%8s ┤%s\n", label, strings.TrimRight(string(row), " "))
	}
	fmt.Fprintf(&b, "%8s └%s\n", "RMSE", strings.Repeat("─", shown*step))
	legend := "○ train"
	if heading, v := past[0].scored(); v.known() {
		legend += "   ● " + strings.TrimSuffix(heading, " RMSE")
	}
	if floor.known() {
		legend += "   ┄ best possible test"
	}
	fmt.Fprintf(&b, "%10siteration 1 to %d   %s\n", "", past[len(past)-1].Iteration, legend)
	return b.String()
}

// curveRange returns the values between which most of the curve happens: the first iterations
// may stand far above the rest, and points beyond the range are drawn at its edge.
func curveRange(values []float64, floor number) (low, high float64) {
	values = slices.DeleteFunc(values, math.IsNaN)
	if len(values) == 0 {
		return 0, 0
	}
	slices.Sort(values)
	low, high = values[0], values[len(values)-1]
	if f := float64(floor); floor.known() && f < low {
		low = f
	}
	if typical := values[len(values)*3/4]; high-low > 3*(typical-low) && typical > low {
		high = low + 3*(typical-low)
	}
	return low, high
}
