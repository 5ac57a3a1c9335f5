package main

import (
	"context"
	"fmt"
	"regexp"
	"time"
	"unsafe"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sddmmkit/algos/fit"
	"sddmmkit/backend"
	"sddmmkit/device"
	"sddmmkit/sparse"
)

// trainFlags are what every factorisation takes.
type trainFlags struct {
	dataFlags
	rank           int
	lambda         float64
	iters          int
	seed           uint64
	regularization string
	patience       int
	device         string
	precision      int
	out            string
	quiet          bool
	biases, mean   bool
	biasLambda     float64
}

// register adds the flags to a command whose solver needs about so many iterations.
func (f *trainFlags) register(flags *pflag.FlagSet, iters int) {
	f.dataFlags.register(flags)
	flags.IntVar(&f.rank, "rank", 32, "number of factors K")
	flags.Float64Var(&f.lambda, "lambda", 0.1, "regularization λ")
	flags.IntVar(&f.iters, "iters", iters, "iterations at most")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first factors and of what is split off; the same seed gives the same bits")
	flags.StringVar(&f.regularization, "regularization", "", "what λ is multiplied with: weighted (the number of ratings of the user or item) or plain (1); default weighted, for implicit feedback plain")
	flags.IntVar(&f.patience, "patience", 0, "stop when validation has not improved for so many iterations, and keep the best; needs --validation")
	flags.StringVar(&f.device, "device", "auto", "where to compute: auto, cpu, cuda:N, opencl:N")
	flags.IntVar(&f.precision, "precision", 32, "bits of the factors, 32 or 64")
	flags.StringVar(&f.out, "out", "", "directory to save the model and its metrics to")
	flags.BoolVar(&f.quiet, "quiet", false, "no table and no progress bar, only the result")
	flags.BoolVar(&f.biases, "biases", false, "user and item biases, solved with the factors")
	flags.Float64Var(&f.biasLambda, "bias-lambda", 0, "λ of the biases; 0 means half of --lambda")
	flags.BoolVar(&f.mean, "mean", false, "subtract the mean rating first: best where test users or items may have no training ratings")
}

var deviceName = regexp.MustCompile(`^(auto|cpu|cuda(:\d+)?|opencl(:\d+)?)$`)

func (f *trainFlags) check(changed func(string) bool) error {
	switch {
	case f.rank < 1:
		return usagef("--rank %d; want at least 1", f.rank)
	case !(f.lambda >= 0 && number(f.lambda).known()):
		return usagef("--lambda %v; want a finite number of at least 0", f.lambda)
	case f.iters < 1:
		return usagef("--iters %d; want at least 1", f.iters)
	case f.patience < 0:
		return usagef("--patience %d; want 0 (off) or more", f.patience)
	case f.patience > 0 && f.validation == 0:
		return usagef("--patience needs --validation FRACTION to judge by")
	case f.precision != 32 && f.precision != 64:
		return usagef("--precision %d; want 32 or 64", f.precision)
	case changed("out") && f.out == "":
		return usagef("--out is empty; want the name of a directory")
	case !deviceName.MatchString(f.device):
		return usagef("--device %q; want auto, cpu, cuda:N or opencl:N", f.device)
	case changed("bias-lambda") && !f.biases:
		return usagef("--bias-lambda is for biases; add --biases")
	case !(f.biasLambda >= 0 && number(f.biasLambda).known()):
		return usagef("--bias-lambda %v; want a finite number of at least 0", f.biasLambda)
	}
	_, err := f.kind()
	return err
}

// kind returns the kind of regularization.
func (f *trainFlags) kind() (fit.Regularization, error) {
	switch f.regularization {
	case "":
		return fit.ByFeedback, nil
	case "weighted":
		return fit.Weighted, nil
	case "plain":
		return fit.Plain, nil
	}
	return 0, usagef("--regularization %q; want weighted or plain", f.regularization)
}

// algorithm is a solver as the command sees it.
type algorithm[T sparse.Float] struct {
	name     string
	implicit bool
	train    func(ctx context.Context, dev device.Device, train *sparse.CSR[T], opt fit.Options[T]) (*fit.Result[T], error)
}

// trainBy trains with the algorithm in the precision that the flags ask for.
func trainBy(cmd *cobra.Command, a *app, f *trainFlags, p plan, single algorithm[float32], double algorithm[float64]) error {
	given := map[string]string{}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { given[flag.Name] = flag.Value.String() })
	delete(given, "help")
	if f.precision == 64 {
		return trainRun(cmd.Context(), a, f, p, double, given)
	}
	return trainRun(cmd.Context(), a, f, p, single, given)
}

// trainRun loads, trains, evaluates, reports and saves: all that solvers have in common.
func trainRun[T sparse.Float](ctx context.Context, a *app, f *trainFlags, p plan, alg algorithm[T], flags map[string]string) error {
	started := time.Now()
	dev, err := backend.Open(f.device, backend.Options{Threads: f.threads})
	if err != nil {
		return err
	}
	defer dev.Close()
	var dir *runDir
	if f.out != "" {
		// Before the work and not after it: an hour's training must not end in "permission denied".
		if dir, err = openRunDir(f.out); err != nil {
			return err
		}
		defer dir.close()
	}
	bar := newProgress(a.err, f.quiet)
	defer bar.clear()

	bar.busy("reading " + sourceName(p.source))
	data, err := load[T](ctx, p, f.seed, func(rows, cols int) error {
		return fits[T](rows, cols, f.rank, dev.Props().MemoryBytes)
	})
	bar.clear()
	if err != nil {
		return err
	}
	r := newReport(a, f, data.event(), bar)
	record := runRecord{Version: version(), Started: started.UTC().Format(time.RFC3339), Algo: alg.name,
		Options: flags, Device: dev.Props(), Data: data.event()}

	opt := fit.Options[T]{Rank: f.rank, Lambda: f.lambda, Iterations: f.iters, Seed: f.seed, Patience: f.patience,
		Mean: f.mean, Biases: f.biases, BiasLambda: f.biasLambda, Validation: data.validation}
	if opt.Regularization, err = f.kind(); err != nil {
		return err
	}
	if opt.Validation == nil && !alg.implicit {
		// Looked at and not learnt from: without patience the score decides nothing. A ranking
		// of all items for every user costs more than an iteration, and waits for the end.
		opt.Validation = data.test
	}
	opt.OnIteration = func(it fit.Iteration) error {
		e := newIteration(alg.name, it, data.validation != nil)
		record.Iterations = append(record.Iterations, e)
		r.iteration(e)
		return a.out.failure()
	}
	r.begin()
	res, err := alg.train(ctx, dev, data.train, opt)
	bar.clear()
	if err != nil && (res == nil || ctx.Err() == nil) {
		return err
	}
	if res.Stopped == fit.Interrupted && len(res.History) == 0 {
		return fmt.Errorf("%w before the first iteration was complete; there is nothing to keep", errInterrupted)
	}
	done, err := finish(ctx, a, data, res, alg, f.threads)
	if err != nil {
		return err
	}
	res.Model.UserNames, res.Model.ItemNames = data.users, data.items
	if dir != nil {
		setMeta(res.Model, data.name, done)
		done.Model = dir.modelPath()
		record.Result = done
		if err := saveRun(dir, res.Model, record); err != nil {
			return err
		}
	}
	r.done(done)
	if f := done.rankingFigures; f != nil && f.NDCG < f.PopularityNDCG {
		a.notef("the model ranks worse than popularity does; try a smaller --alpha or a larger --lambda")
	}
	if done.Interrupted {
		kept := "was not saved, for there is no --out"
		if dir != nil {
			kept = "is saved to " + dir.path
		}
		return fmt.Errorf("%w after %d iterations; the model so far %s", errInterrupted, done.Iterations, kept)
	}
	if p.source == "" && !f.quiet {
		return showExample(ctx, a, data, res.Model)
	}
	return nil
}

// fits reports a matrix whose factors, two of each as solvers hold them at least, and row
// pointers do not fit the memory of the machine, before anything is allocated for them. A memory
// of 0 is unknown.
func fits[T sparse.Float](rows, cols, rank int, memory int64) error {
	perRow := 8 + 2*float64(rank)*float64(unsafe.Sizeof(T(0)))
	if need := (float64(rows) + float64(cols)) * perRow; memory > 0 && need > float64(memory) {
		return fmt.Errorf("%s × %s with %d factors needs at least %s of memory, and there are %s; if the indices are ids with gaps, read them as names with --format ratings",
			count(rows), count(cols), rank, byteSize(int64(need)), byteSize(memory))
	}
	return nil
}

// graceful is how long the evaluation of an interrupted run may take.
const graceful = 500 * time.Millisecond

// finish evaluates a trained model. After an interruption it takes no more than a moment, and
// figures that would need longer stay unknown.
func finish[T sparse.Float](ctx context.Context, a *app, data *problem[T], res *fit.Result[T], alg algorithm[T], threads int) (doneEvent, error) {
	e := doneEvent{Event: "done", Algo: alg.name, TestRMSE: unknown, TestMAE: unknown, TestRMSEWarm: unknown, TrainRMSE: number(res.BestRecord.TrainRMSE),
		Loss: number(res.BestRecord.Loss), Iterations: len(res.History), BestIteration: res.Best, Stopped: res.Stopped,
		Interrupted: res.Stopped == fit.Interrupted, Seconds: res.Seconds}
	if data.test == nil || data.test.NNZ() == 0 {
		return e, nil
	}
	within := ctx
	if e.Interrupted {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(context.WithoutCancel(ctx), graceful)
		defer cancel()
	}
	err := evaluate(within, &e, data, res.Model, alg.implicit, threads)
	if err != nil && within.Err() != nil {
		e.Interrupted, err = true, nil // the model is good all the same
	}
	return e, err
}

func sourceName(source string) string {
	if source == "" {
		return "the built-in set"
	}
	return source
}
