// Command sddmm trains factor models on sparse matrices, recommends with them, and converts and
// describes matrices. It parses flags and presents results; the work is done by the packages of
// this module. "sddmm help" lists the commands.
//
// Exit status: 0 good, 1 bad input or a failed run, 2 bad usage, 130 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from then on a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitGood        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// app is one run of the command.
type app struct {
	out     *sink // standard output
	err     io.Writer
	json    bool // standard output carries JSON objects only
	done    bool // a result was reported: no event may follow it
	started bool // flags and arguments were good, and a command has begun
}

// run runs the command with the given arguments and returns its exit code. When ctx is done it
// ends what it does, as for Ctrl-C.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{out: &sink{w: stdout}, err: stderr, json: asksForJSON(args)}
	cmd, err := a.execute(ctx, args)
	if err == nil {
		err = a.out.failure()
	}
	if err == nil {
		return exitGood
	}
	var usage *usageError
	code, message := exitFailed, oneLine(err)
	switch {
	case errors.As(err, &usage) || !a.started:
		code = exitUsage
		message += fmt.Sprintf("; see \"%s --help\"", cmd)
	case errors.Is(err, errInterrupted) || ctx.Err() != nil && errors.Is(err, ctx.Err()):
		code = exitInterrupted
		if !errors.Is(err, errInterrupted) {
			message = "interrupted"
		}
	}
	switch {
	case !a.json || a.done:
	case code == exitInterrupted:
		a.emit(errorEvent{Event: "interrupted", Message: message})
	default:
		a.emit(errorEvent{Event: "error", Message: message})
	}
	fmt.Fprintf(a.err, "sddmm: %s\n", message)
	return code
}

// execute runs the command line and returns the name of the command that was meant. A panic is an
// error like any other: nobody but us can do anything with a stack.
func (a *app) execute(ctx context.Context, args []string) (name string, err error) {
	name = "sddmm"
	defer func() {
		if r := recover(); r != nil {
			a.started = true
			err = fmt.Errorf("this is a bug, please report it: %v (%s)", r, panicSite())
		}
	}()
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
	if cmd != nil {
		name = cmd.CommandPath()
	}
	return name, err
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "sddmm",
		Short: "Sparse matrix factorisation: train, recommend, convert, describe",
		Long: `sddmm trains factor models on sparse matrices with algorithms built from two primitives,
SDDMM and SpMM, and uses what it trained.

Wherever a matrix is wanted, give a file (ratings as CSV, TSV or "::", MatrixMarket, edge lists,
docword, SVMlight, LDA-C, adjacency lists, .smtx, .npz, .parquet; also .gz and .zst) or a spec:

  uniform:ROWSxCOLS:NNZ            rmat:SCALE:NNZ
  zipf:ROWSxCOLS:NNZ:EXPONENT      ratings:ROWSxCOLS:NNZ:RANK:NOISE
  skewed:ROWSxCOLS:NNZ:rows=SIGMA:cols=EXPONENT

each with an optional :seed=N at the end; counts may end in k, M or G.

Exit status: 0 good, 1 bad input or a failed run, 2 bad usage, 130 interrupted.`,
		Example: `  sddmm als                                    # the built-in set: watch it learn
  sddmm als --train ratings.csv --split 0.1 --out model
  sddmm ccd --train ratings.csv --split 0.1
  sddmm recommend --model model --user 196 --titles movies.csv
  sddmm similar --model model --item 50 --titles movies.csv
  sddmm info --matrix ratings.csv
  sddmm convert ratings.csv ratings.parquet
  sddmm bench --op sddmm --matrix rmat:17:4.4M --k 32,128`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fmt.Errorf("there is no command %q%s", args[0], didYouMean(cmd.SuggestionsFor(args[0])))
		},
		RunE:             func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(*cobra.Command, []string) { a.started = true },
	}
	root.SuggestionsMinimumDistance = 2
	// The default is what asksForJSON saw, so that a mistake in an earlier flag is an event too.
	root.PersistentFlags().BoolVar(&a.json, "json", a.json, "standard output carries one JSON object per line and nothing else")
	root.PersistentFlags().Lookup("json").DefValue = "false"
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usagef("%s", parsing.ReplaceAllString(err.Error(), ""))
	})
	root.AddCommand(a.alsCommand(), a.ccdCommand(), a.recommendCommand(), a.similarCommand(), a.convertCommand(), a.infoCommand(), a.benchCommand())
	return root
}

// parsing is what strconv adds to its errors.
var parsing = regexp.MustCompile(`strconv\.\w+: parsing "(?:[^"\\]|\\.)*": `)

// asksForJSON looks for --json where flags may not have been parsed.
func asksForJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// didYouMean turns suggestions into the end of a sentence.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// panicSite says where the code was that panicked.
func panicSite() string {
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") || !more {
			return fmt.Sprintf("in %s, %s:%d", f.Function, filepath.Base(f.File), f.Line)
		}
	}
}
