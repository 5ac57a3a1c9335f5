package main

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"sddmmkit/factors"
	"sddmmkit/internal/realdata"
)

// The built-in set, to the noise floor, for people and as events.
func TestCCDBuiltIn(t *testing.T) {
	o := good(t, "ccd")
	for _, want := range []string{"built-in", "   20  ", "● test", "after 20 iterations", "For example user"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("want %q in\n%s", want, o.stdout)
		}
	}
	out := good(t, "ccd", "--json", "--iters", "6").stdout
	all, done := events(t, out), last(t, out)
	if len(all) != 8 || done["algo"] != "ccd" || num(t, done, "iterations") != 6 || done["stopped"] != "iterations" {
		t.Fatalf("%s", out)
	}
	floor, before := num(t, all[0], "noise_floor"), math.Inf(1)
	for k, e := range all[1:7] {
		if e["event"] != "iteration" || e["algo"] != "ccd" || num(t, e, "iteration") != float64(k+1) {
			t.Errorf("event %d is %v", k+1, e)
		}
		if l := num(t, e, "loss"); !(l < before) {
			t.Errorf("iteration %d: loss %v after %v", k+1, l, before)
		} else {
			before = l
		}
	}
	if r := num(t, done, "test_rmse"); !(r > floor && r < floor*1.25) || math.IsNaN(num(t, done, "train_rmse")) || num(t, done, "seconds") <= 0 {
		t.Errorf("%v; want a test RMSE near the noise floor %v", done, floor)
	}
}

func TestCCDUsage(t *testing.T) {
	for args, want := range map[string]string{
		"ccd --inner-steps 0":   "--inner-steps 0",
		"ccd --rank 0":          "--rank 0",
		"ccd --bias-lambda 0.1": "--biases",
		"ccd --implicit":        "--implicit",
		"ccd --cg-steps 3":      "--cg-steps",
		"ccd extra":             `"extra"`,
		"ccd --patience 2":      "--validation",
	} {
		bad(t, exitUsage, []string{want, `see "sddmm ccd --help"`}, strings.Fields(args)...)
	}
	bad(t, exitFailed, []string{"no-such-file"}, "ccd", "--train", "no-such-file")
}

func TestCCDFlagsReachTheSolver(t *testing.T) {
	base := []string{"ccd", "--train", "ratings:80x60:1k:2:0.5", "--split", "0.2", "--rank", "3", "--iters", "3", "--json"}
	want := num(t, last(t, good(t, base...).stdout), "loss")
	if again := num(t, last(t, good(t, append(base, "--threads", "1")...).stdout), "loss"); again != want {
		t.Errorf("loss %v with one thread, %v with all", again, want)
	}
	for _, args := range []string{"--rank 4", "--lambda 0.2", "--iters 4", "--seed 9", "--regularization plain", "--biases", "--mean", "--inner-steps 1", "--precision 64", "--split 0.3"} {
		got := num(t, last(t, good(t, append(base, strings.Fields(args)...)...).stdout), "loss")
		if got == want {
			t.Errorf("%s changes nothing", args)
		}
		if args == "--precision 64" && math.Abs(got-want) > 1e-4*want {
			t.Errorf("loss %v in 64 bits and %v in 32", got, want)
		}
	}
	with := num(t, last(t, good(t, append(base, "--biases")...).stdout), "loss")
	if got := num(t, last(t, good(t, append(base, "--biases", "--bias-lambda", "0.7")...).stdout), "loss"); got == with {
		t.Error("--bias-lambda changes nothing")
	}
}

// A model of ccd serves all that a model of als does, new users included: the one whose ratings are
// folded in is near the user that was trained with them.
func TestCCDModel(t *testing.T) {
	ratings, dir := write(t, "r.csv", ratingsCSV(40, 30)), t.TempDir()
	good(t, "ccd", "--train", ratings, "--rank", "2", "--iters", "300", "--biases", "--mean", "--out", dir, "--quiet")
	m, err := factors.Load[float32](filepath.Join(dir, modelFile))
	if err != nil {
		t.Fatal(err)
	}
	if m.Algo != "ccd" || m.Rank != 2 || m.UserBias == nil || m.Mean == 0 || m.Meta["inner_steps"] != "2" || m.Meta["lambda"] != "0.1" || len(m.UserNames) != 40 {
		t.Errorf("%s of rank %d, meta %v", m.Algo, m.Rank, m.Meta)
	}
	_, known := lists(t, good(t, "recommend", "--model", dir, "--user", "u3", "-n", "5", "--json").stdout, "recommendation", "items")
	_, folded := lists(t, good(t, "recommend", "--model", dir, "--ratings", ratings, "--user", "u3", "-n", "5", "--json").stdout, "recommendation", "items")
	for p, s := range known[0] {
		if math.Abs(s-folded[0][p]) > 0.01 {
			t.Errorf("scores %v, folded in %v", known[0], folded[0])
			break
		}
	}
	good(t, "ccd", "--train", "ratings:80x60:1k:2:0.5", "--rank", "3", "--iters", "3", "--out", dir, "--quiet")
	if o := good(t, "similar", "--model", dir, "--item", "4", "-n", "3"); strings.Count(o.stdout, "\n") < 4 {
		t.Errorf("%s", o.stdout)
	}
}

// Ctrl-C in the middle of training keeps what there is.
func TestCCDInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout, stderr bytes.Buffer
	watched := writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte(`"iteration":2,`)) {
			cancel()
		}
		return stdout.Write(p)
	})
	dir := t.TempDir()
	code := run(ctx, []string{"ccd", "--iters", "100000", "--json", "--out", dir}, watched, &stderr)
	done := last(t, stdout.String())
	if code != exitInterrupted || done["interrupted"] != true || num(t, done, "iterations") < 2 || !strings.Contains(stderr.String(), "is saved to") {
		t.Errorf("exit %d, %v, stderr %q", code, done, stderr.String())
	}
	if m, err := factors.Load[float32](filepath.Join(dir, modelFile)); err != nil || m.Validate() != nil || m.Algo != "ccd" {
		t.Errorf("the saved model: %v", err)
	}
}

func TestCCDMovieLens100K(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	base := []string{"ccd", "--train", realdata.Path(t, "movielens-100k", "u.data.gz"), "--split", "0.1", "--rank", "32", "--lambda", "0.1", "--iters", "20", "--json"}
	for _, seed := range []string{"1", "2"} {
		if r := num(t, last(t, good(t, append(base, "--seed", seed)...).stdout), "test_rmse"); !(r > 0.85 && r <= 0.945) {
			t.Errorf("seed %s: test RMSE %.4f; want at most 0.945", seed, r)
		}
	}
}
