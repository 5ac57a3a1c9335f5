package main

import (
	"context"

	"github.com/spf13/cobra"

	"sddmmkit/algos/als"
	"sddmmkit/algos/fit"
	"sddmmkit/device"
	"sddmmkit/sparse"
)

// alsFlags are the flags of "sddmm als".
type alsFlags struct {
	trainFlags
	implicit bool
	alpha    float64
	cgSteps  int
	tune     bool
}

func (a *app) alsCommand() *cobra.Command {
	var f alsFlags
	cmd := &cobra.Command{
		Use:   "als [flags]",
		Short: "Train a recommender by alternating least squares",
		Long: `als factorises a matrix of ratings, or of implicit feedback, by alternating least squares.
Without --train it trains on a built-in set of made-up ratings whose best possible RMSE is known.

With --json each line of standard output is an object: {"event":"data",…}, one {"event":"iteration",…}
per iteration, and last {"event":"done","algo":"als","test_rmse":…,"train_rmse":…,"iterations":…,"seconds":…}.

Ctrl-C ends training within a second; the model of the iterations so far is evaluated, saved to
--out, and the exit status is 130. A second Ctrl-C ends the program at once.`,
		Example: `  sddmm als
  sddmm als --train ratings.csv --split 0.1 --rank 32 --lambda 0.1 --iters 15 --biases --mean --out model
  sddmm als --train train.mtx --test test.mtx --json
  sddmm als --train plays.tsv --implicit --alpha 0.02 --lambda 30 --rank 64 --split 0.2
  sddmm als --train ratings.csv --split-by time --split 0.2 --validation 0.1 --patience 3 --iters 100
  sddmm als --train ratings:100kx20k:5M:8:0.5 --split 0.1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := f.plan(cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return trainBy(cmd, a, &f.trainFlags, p, alsAlgorithm[float32](f), alsAlgorithm[float64](f))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.register(flags, als.DefaultOptions[float32]().Iterations)
	flags.BoolVar(&f.implicit, "implicit", false, "values are strengths of implicit feedback (plays, clicks), not ratings")
	flags.Float64Var(&f.alpha, "alpha", 40, "implicit feedback: confidence is 1 + α·|value|; the larger the values, the smaller it should be")
	flags.IntVar(&f.cgSteps, "cg-steps", als.DefaultOptions[float32]().CGSteps, "conjugate-gradient steps per half-iteration at most")
	flags.BoolVar(&f.tune, "tune", false, "on a GPU, try tiles in the first iterations and use the fastest; the clock then decides the last bits of the model")
	return cmd
}

// plan checks the flags.
func (f *alsFlags) plan(changed func(string) bool) (plan, error) {
	if err := f.check(changed); err != nil {
		return plan{}, err
	}
	switch {
	case f.implicit && (f.biases || f.mean):
		return plan{}, usagef("--biases and --mean are for ratings; leave them out with --implicit")
	case changed("alpha") && !f.implicit:
		return plan{}, usagef("--alpha is for implicit feedback; add --implicit")
	case !(f.alpha >= 0 && number(f.alpha).known()):
		return plan{}, usagef("--alpha %v; want a finite number of at least 0", f.alpha)
	case f.cgSteps < 1:
		return plan{}, usagef("--cg-steps %d; want at least 1", f.cgSteps)
	}
	return f.parse(changed, f.implicit)
}

// alsAlgorithm is ALS with the options of the flags.
func alsAlgorithm[T sparse.Float](f alsFlags) algorithm[T] {
	return algorithm[T]{name: "als", implicit: f.implicit,
		train: func(ctx context.Context, dev device.Device, train *sparse.CSR[T], shared fit.Options[T]) (*fit.Result[T], error) {
			opt := als.DefaultOptions[T]()
			opt.Options = shared
			opt.Implicit, opt.Alpha, opt.CGSteps, opt.Tune = f.implicit, f.alpha, f.cgSteps, f.tune
			return als.Train(ctx, dev, train, opt)
		}}
}
