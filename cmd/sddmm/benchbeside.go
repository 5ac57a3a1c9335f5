package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"sddmmkit/bench"
	"sddmmkit/bench/cusparse"
	"sddmmkit/bench/record"
	"sddmmkit/device"
)

// besideTable writes cases of a GPU for people, a row each: ours, the fastest of a peer, and how they compare.
type besideTable struct {
	a     *app
	begun bool
	all   []record.Beside
}

// besideColumns are the columns: name, width (negative: to the left) and contents.
var besideColumns = []struct {
	name  string
	width int
	cell  func(b *record.Beside) string
}{
	{"matrix", -26, func(b *record.Beside) string { return shorten(printable(bench.Title(b.Ours.Matrix)), 26) }},
	{"K", 4, func(b *record.Beside) string { return fmt.Sprint(b.Ours.K) }},
	{"operation", -10, func(b *record.Beside) string { return operationName(&b.Ours) }},
	{"type", -7, func(b *record.Beside) string { return b.Ours.Type }},
	{"cache", -5, func(b *record.Beside) string { return b.Ours.Cache }},
	{"time", 9, func(b *record.Beside) string { return duration(b.Ours.Median) }},
	{"±", 5, func(b *record.Beside) string { return spread(&b.Ours) }},
	{"GFLOP/s", 8, func(b *record.Beside) string { return significant(b.Ours.GFLOPS) }},
	{"peer", 8, func(b *record.Beside) string {
		if b.Peer == nil {
			return "–"
		}
		return significant(b.Peer.GFLOPS)
	}},
	{"ratio", 5, func(b *record.Beside) string {
		if b.Peer == nil {
			return "–"
		}
		return fmt.Sprintf("%.2f", b.Ratio())
	}},
	{"gather", 6, func(b *record.Beside) string { return percent(b.Ours.GatherShare) }},
	{"kernel", -28, func(b *record.Beside) string { return b.Ours.Kernel }},
	{"fastest of the peer", -1, func(b *record.Beside) string {
		if b.Peer == nil {
			return "–"
		}
		return b.Peer.Implementation + " " + b.Peer.Algorithm
	}},
}

// rows writes cases.
func (t *besideTable) rows(all []record.Beside) {
	if !t.begun {
		t.begun = true
		t.line(func(c int) string { return besideColumns[c].name })
	}
	for i := range all {
		t.line(func(c int) string { return besideColumns[c].cell(&all[i]) })
	}
	t.all = append(t.all, all...)
}

func (t *besideTable) line(cell func(c int) string) {
	t.a.printf("%s\n", tableLine(len(besideColumns), func(c int) (string, int) { return cell(c), besideColumns[c].width }))
}

// ceilings says what a GPU was measured to do, and what is measured beside.
func (t *besideTable) ceilings(dev device.Device, r bench.Roofline, peer *cusparse.Library) {
	p := dev.Props()
	if t.a.json {
		e := ceilingsEvent{Event: "ceilings", Device: p.Name, Roofline: r, Model: p.Model}
		if peer != nil {
			e.Peer = cusparse.Name + " " + peer.Version()
		}
		t.a.emit(e)
		return
	}
	t.a.printf("%s, %s: reads %s GB/s and copies %s GB/s of memory", p.Name, printable(p.Model), significant(r.Read/1e9), significant(r.Copy/1e9))
	if peer != nil {
		t.a.printf("; %s %s beside", cusparse.Name, peer.Version())
	}
	t.a.printf("\n")
}

// meanEvent is the JSON event of a geometric mean.
type meanEvent struct {
	Event string `json:"event"` // "mean"
	record.Mean
}

// end writes the means and explains the columns.
func (t *besideTable) end() {
	if !t.begun {
		return
	}
	means := record.Means(t.all)
	if t.a.json {
		for _, m := range means {
			t.a.emit(meanEvent{"mean", m})
		}
		return
	}
	t.a.printf("\n")
	for _, m := range means {
		what := string(m.Op)
		if what == "" {
			what = "all"
		}
		t.a.printf("%.3f times as fast as %s in the geometric mean of %d cases (%s)\n", m.Ratio, m.Peer, m.Cases, what)
	}
	t.a.printf("ratio: the peer's median time over ours · gather: the time in which the device only gathers the rows of B, over ours\n")
}

// tableLine joins cells, each with its width, negative for text on the left.
func tableLine(columns int, cell func(c int) (text string, width int)) string {
	var b strings.Builder
	for c := range columns {
		text, width := cell(c)
		pad := strings.Repeat(" ", max(max(width, -width)-utf8.RuneCountInString(text), 0))
		if width < 0 {
			text += pad
		} else {
			text = pad + text
		}
		b.WriteString(text)
		b.WriteString("  ")
	}
	return strings.TrimRight(b.String(), " ")
}

// spread is half of the interval of the median, relative to it.
func spread(r *record.Record) string { return fmt.Sprintf("%.1f%%", 50*(r.High-r.Low)/r.Median) }

func (a *app) benchTableCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "table FILE...",
		Short: "Print records, each of ours beside the fastest of a peer",
		Long: `table reads records that "sddmm bench --out" wrote, or that "sddmm bench --json" printed, and prints a row for each
of ours: with the fastest record of a peer for the same case, their ratio, and the geometric means of the ratios.`,
		Example: `  sddmm bench --device cuda:0 --suite gpu --peers cusparse --json > gpu.jsonl
  sddmm bench table gpu.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			var records []record.Record
			for _, name := range files {
				more, err := record.Read(name)
				if err != nil {
					return err
				}
				records = append(records, more...)
			}
			t := &besideTable{a: a}
			t.rows(record.PairUp(records))
			t.end()
			return nil
		},
	}
}
