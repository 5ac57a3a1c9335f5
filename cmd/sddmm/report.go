package main

import (
	"fmt"
	"strings"
)

// report presents a training run as it goes: JSON events, or a table for people.
type report struct {
	a    *app
	f    *trainFlags
	data dataEvent
	bar  *progress
	past []iterationEvent // for the curve
}

// newReport begins a report with what was read.
func newReport(a *app, f *trainFlags, data dataEvent, bar *progress) *report {
	r := &report{a: a, f: f, data: data, bar: bar}
	if a.json {
		a.emit(data)
		return r
	}
	a.printf("%s\n", describe(data))
	return r
}

// describe says in two lines what a solver is given.
func describe(d dataEvent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s × %s, %s entries", printable(d.Name), d.Format, count(d.Rows), count(d.Cols), count(d.NNZ))
	if d.Merged > 0 {
		fmt.Fprintf(&b, ", %s duplicates merged", count(d.Merged))
	}
	fmt.Fprintf(&b, "\ntrain %s", count(d.Train))
	if d.Validation > 0 {
		fmt.Fprintf(&b, ", validation %s", count(d.Validation))
	}
	if d.Test > 0 {
		fmt.Fprintf(&b, ", test %s (split: %s)", count(d.Test), d.Split)
	}
	if d.NoiseFloor.known() {
		fmt.Fprintf(&b, "; the best possible test RMSE is %.4f", float64(d.NoiseFloor))
	}
	return b.String()
}

// begin announces the iterations.
func (r *report) begin() {
	r.bar.start("training", r.f.iters)
}

// iteration reports one iteration.
func (r *report) iteration(e iterationEvent) {
	r.past = append(r.past, e)
	r.bar.step(func() {
		switch {
		case r.a.json:
			r.a.emit(e)
		case !r.f.quiet:
			if len(r.past) == 1 {
				r.heading(e)
			}
			r.row(e)
		}
	})
}

// scored returns the column of held-out figures: its heading and the figure of an iteration.
func (e *iterationEvent) scored() (heading string, v number) {
	switch {
	case e.ValidationRMSE != nil:
		return "valid RMSE", *e.ValidationRMSE
	case e.ValidationNDCG != nil:
		return "valid NDCG@20", *e.ValidationNDCG
	}
	return "test RMSE", e.TestRMSE
}

func (r *report) heading(e iterationEvent) {
	score, v := e.scored()
	line := "\n" + fmt.Sprintf("%5s", "iter")
	if e.TrainRMSE.known() {
		line += fmt.Sprintf("  %10s", "train RMSE")
	}
	if v.known() {
		line += fmt.Sprintf("  %13s", score)
	}
	r.a.printf("%s  %12s  %8s\n", line, "loss", "seconds")
}

func (r *report) row(e iterationEvent) {
	_, v := e.scored()
	line := fmt.Sprintf("%5d", e.Iteration)
	if e.TrainRMSE.known() {
		line += fmt.Sprintf("  %10.4f", float64(e.TrainRMSE))
	}
	if v.known() {
		line += fmt.Sprintf("  %13.4f", float64(v))
	}
	r.a.printf("%s  %12.6g  %8.2f\n", line, float64(e.Loss), e.Seconds)
}

// done reports the result.
func (r *report) done(e doneEvent) {
	r.bar.clear()
	r.a.done = true
	if r.a.json {
		r.a.emit(e)
		return
	}
	if !r.f.quiet {
		r.a.printf("%s", curve(r.past, r.data.NoiseFloor))
	}
	r.a.printf("\n%s\n", summary(e))
	if e.Model != "" {
		r.a.printf("saved to %s\n", e.Model)
	}
}

// summary is the result in one or two lines.
func summary(e doneEvent) string {
	var figures []string
	if e.TestRMSE.known() {
		figures = append(figures, fmt.Sprintf("test RMSE %.4f, MAE %.4f", float64(e.TestRMSE), float64(e.TestMAE)))
	}
	if e.TrainRMSE.known() {
		figures = append(figures, fmt.Sprintf("train RMSE %.4f", float64(e.TrainRMSE)))
	}
	if r := e.rankingFigures; r != nil {
		figures = append(figures, fmt.Sprintf("Recall@20 %.4f, NDCG@20 %.4f of %s users (the most popular items: %.4f, %.4f)",
			float64(r.Recall), float64(r.NDCG), count(r.Users), float64(r.PopularityRecall), float64(r.PopularityNDCG)))
	}
	if len(figures) == 0 {
		figures = append(figures, fmt.Sprintf("loss %.6g", float64(e.Loss)))
	}
	s := fmt.Sprintf("%s after %d iterations in %.2f s", strings.Join(figures, "; "), e.Iterations, e.Seconds)
	if e.BestIteration != e.Iterations {
		s += fmt.Sprintf(", the best of which was %d", e.BestIteration)
	}
	if e.TestCold > 0 && e.TestRMSE.known() {
		s += fmt.Sprintf("\n%s test ratings are of users or items without training ratings; test RMSE of the others %s", count(e.TestCold), e.TestRMSEWarm.format("%.4f"))
	}
	return s
}
