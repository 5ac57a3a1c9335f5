package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"sddmmkit/backend"
	"sddmmkit/bench"
	"sddmmkit/sparse"
)

func (a *app) benchCeilingsCommand() *cobra.Command {
	var threads []int
	cmd := &cobra.Command{
		Use:   "ceilings",
		Short: "Measure what this machine can do",
		Long: `ceilings measures flops per second in the L1 cache, and bytes per second of rows gathered in random order
and of arrays streamed, from each level of memory: rows of 512 bytes, the better of two loops. "sddmm bench"
does so too, and says of each case what share of it was reached. Bandwidths are kept in the user's cache
folder; with the environment variable SDDMMKIT_CACHE=off they are measured anew.`,
		Example: `  sddmm bench ceilings
  sddmm bench ceilings --threads 1,2 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, n := range threads {
				if n < 0 {
					return usagef("--threads %d; want 0 (all) or more", n)
				}
			}
			for _, n := range threads {
				if err := ceilings[float32](cmd.Context(), a, "float32", n); err != nil {
					return err
				}
				if err := ceilings[float64](cmd.Context(), a, "float64", n); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().IntSliceVar(&threads, "threads", []int{1, 0}, "CPU threads, 0 for all")
	return cmd
}

// ceilingsEvent is the JSON event of what a machine can do.
type ceilingsEvent struct {
	Event  string `json:"event"` // "ceilings"
	Device string `json:"device"`
	Type   string `json:"type,omitempty"`
	bench.Roofline

	Model string `json:"model,omitempty"` // of a GPU
	Peer  string `json:"peer,omitempty"`  // with its version
}

func ceilings[T sparse.Float](ctx context.Context, a *app, typ string, threads int) (err error) {
	dev, err := backend.Open("cpu", backend.Options{Threads: threads})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	bar := newProgress(a.err, false)
	defer bar.clear()
	bar.busy("measuring " + typ)
	r, err := bench.MeasureRoofline[T](ctx, dev)
	if err != nil {
		return err
	}
	bar.clear()
	if a.json {
		a.emit(ceilingsEvent{Event: "ceilings", Device: dev.Name(), Type: typ, Roofline: r})
		return nil
	}
	a.printf("%s, %s: %s GFLOP/s\n", typ, threadCount(r.Threads), significant(r.Flops/1e9))
	for i, l := range r.Memory.Levels {
		size := ""
		if l.Bytes > 0 {
			size = byteSize(l.Bytes)
		}
		a.printf("  %-7s %8s   gathers %6s GB/s   streams %6s GB/s\n", l.Name, size, significant(gatherRate(r, i)), significant(streamRate(r, i)))
	}
	return nil
}
