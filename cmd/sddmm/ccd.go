package main

import (
	"context"

	"github.com/spf13/cobra"

	"sddmmkit/algos/ccd"
	"sddmmkit/algos/fit"
	"sddmmkit/device"
	"sddmmkit/sparse"
)

// ccdFlags are the flags of "sddmm ccd".
type ccdFlags struct {
	trainFlags
	innerSteps int
}

func (a *app) ccdCommand() *cobra.Command {
	var f ccdFlags
	cmd := &cobra.Command{
		Use:   "ccd [flags]",
		Short: "Train a recommender by cyclic coordinate descent (CCD++)",
		Long: `ccd factorises a matrix of ratings by CCD++: one factor after the other is solved for, with the
others fixed. The loss is that of als, which gets there in less time; ccd needs less memory, for
beside the factors themselves what it works on does not grow with the rank.
Without --train it trains on a built-in set of made-up ratings whose best possible RMSE is known.

With --json each line of standard output is an object: {"event":"data",…}, one {"event":"iteration",…}
per iteration, and last {"event":"done","algo":"ccd","test_rmse":…,"train_rmse":…,"iterations":…,"seconds":…}.

Ctrl-C ends training within a second; the model of the iterations so far is evaluated, saved to
--out, and the exit status is 130. A second Ctrl-C ends the program at once.`,
		Example: `  sddmm ccd
  sddmm ccd --train ratings.csv --split 0.1 --rank 32 --lambda 0.1 --iters 20 --biases --out model
  sddmm ccd --train train.mtx --test test.mtx --json
  sddmm ccd --train ratings:100kx20k:5M:8:0.5 --split 0.1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			changed := cmd.Flags().Changed
			if err := f.check(changed); err != nil {
				return err
			}
			if f.innerSteps < 1 {
				return usagef("--inner-steps %d; want at least 1", f.innerSteps)
			}
			p, err := f.parse(changed, false)
			if err != nil {
				return err
			}
			return trainBy(cmd, a, &f.trainFlags, p, ccdAlgorithm[float32](f), ccdAlgorithm[float64](f))
		},
	}
	opt := ccd.DefaultOptions[float32]()
	flags := cmd.Flags()
	flags.SortFlags = false
	f.register(flags, opt.Iterations)
	flags.IntVar(&f.innerSteps, "inner-steps", opt.InnerSteps, "times that a factor's users and items are solved in turn before the next factor")
	return cmd
}

// ccdAlgorithm is CCD++ with the options of the flags.
func ccdAlgorithm[T sparse.Float](f ccdFlags) algorithm[T] {
	return algorithm[T]{name: "ccd",
		train: func(ctx context.Context, dev device.Device, train *sparse.CSR[T], shared fit.Options[T]) (*fit.Result[T], error) {
			return ccd.Train(ctx, dev, train, ccd.Options[T]{Options: shared, InnerSteps: f.innerSteps})
		}}
}
