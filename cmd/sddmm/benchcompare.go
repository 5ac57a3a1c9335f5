package main

import (
	"github.com/spf13/cobra"

	"sddmmkit/bench"
	"sddmmkit/bench/record"
)

func (a *app) benchCompareCommand() *cobra.Command {
	var opt record.CompareOptions
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two files of records",
		Long: `compare says, case by case and in the geometric mean, how many times as fast B is as A: the ratio of median
times with a 95 % interval by the bootstrap. "faster" and "slower" mean that the whole interval lies beyond
the margin, "same" that it lies within, "unsure" anything else: measure longer.

A and B are what "bench --out" or "bench --json" wrote. A case is an operation, a pattern, K, a type, a
device and a number of threads; implementations may differ, unless a file has several of a case.`,
		Example: `  sddmm bench compare before.jsonl after.jsonl
  sddmm bench compare yardstick.jsonl ours.jsonl --margin 0.01 --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(opt.Margin > 0 && opt.Margin < 1) {
				return usagef("--margin %v; want more than 0 and less than 1", opt.Margin)
			}
			before, err := record.Read(args[0])
			if err != nil {
				return err
			}
			after, err := record.Read(args[1])
			if err != nil {
				return err
			}
			return printComparison(a, record.Compare(before, after, opt), args)
		},
	}
	cmd.Flags().Float64Var(&opt.Margin, "margin", 0.02, "differences up to this share are none")
	return cmd
}

// ratioEvent is the JSON event of a case, or of the geometric mean of all.
type ratioEvent struct {
	Event    string   `json:"event"` // "comparison" or "mean"
	Op       bench.Op `json:"op,omitempty"`
	Matrix   string   `json:"matrix,omitempty"`
	K        int      `json:"k,omitempty"`
	Type     string   `json:"type,omitempty"`
	Threads  int      `json:"threads,omitempty"`
	Cases    int      `json:"cases"`
	SecondsA float64  `json:"seconds_a,omitempty"`
	SecondsB float64  `json:"seconds_b,omitempty"`
	record.Ratio
}

func printComparison(a *app, rep record.Report, files []string) error {
	a.printf("%-10s  %-26s  %5s  %-7s  %3s  %9s  %9s  %s\n", "operation", "matrix", "K", "type", "thr", "A", "B", "speed of B over A")
	for _, c := range rep.Cases {
		if a.json {
			a.emit(ratioEvent{"comparison", c.A.Op, c.A.Matrix, c.A.K, c.A.Type, c.A.Threads, 1, c.A.Median, c.B.Median, c.Ratio})
			continue
		}
		a.printf("%-10s  %-26s  %5d  %-7s  %3d  %9s  %9s  %v\n", operationName(&c.A), shorten(printable(c.A.Matrix), 26), c.A.K, c.A.Type, c.A.Threads,
			duration(c.A.Median), duration(c.B.Median), c.Ratio)
	}
	switch {
	case len(rep.Cases) == 0:
		a.printf("no case is in both files\n")
	case a.json:
		a.emit(ratioEvent{Event: "mean", Cases: len(rep.Cases), Ratio: rep.Mean})
	default:
		a.printf("\ngeometric mean of %d: %v\n", len(rep.Cases), rep.Mean)
	}
	if len(rep.OnlyA)+len(rep.OnlyB) > 0 {
		a.notef("cases without a counterpart: %d in %s, %d in %s", len(rep.OnlyA), files[0], len(rep.OnlyB), files[1])
	}
	return nil
}
