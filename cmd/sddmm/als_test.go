package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sddmmkit/factors"
)

// The first command of a newcomer: a table, a curve, a result near the noise floor, a list.
func TestBuiltInForPeople(t *testing.T) {
	o := good(t, "als")
	for _, want := range []string{
		"built-in", "3 000 × 1 000, 200 000 entries", "train 180 000, test 20 000 (split: random 0.1)", "best possible test RMSE",
		" iter  train RMSE      test RMSE", "   15  ", "○ train   ● test   ┄ best possible test", "after 15 iterations", "For example user", "should like",
	} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("want %q in\n%s", want, o.stdout)
		}
	}
	if o.stderr != "" {
		t.Errorf("stderr %q; want nothing, for it is no terminal", o.stderr)
	}
}

func TestBuiltInEvents(t *testing.T) {
	all := events(t, good(t, "als", "--json", "--iters", "8").stdout)
	if len(all) != 10 {
		t.Fatalf("%d events; want data, 8 iterations, done", len(all))
	}
	data, done := all[0], all[9]
	if data["event"] != "data" || num(t, data, "train") != 180000 || num(t, data, "test") != 20000 || num(t, data, "nnz") != 200000 {
		t.Errorf("data event %v", data)
	}
	floor := num(t, data, "noise_floor")
	before := math.Inf(1)
	for k, e := range all[1:9] {
		if e["event"] != "iteration" || e["algo"] != "als" || num(t, e, "iteration") != float64(k+1) {
			t.Errorf("event %d is %v", k+1, e)
		}
		if l := num(t, e, "loss"); !(l < before) {
			t.Errorf("iteration %d: loss %v after %v", k+1, l, before)
		} else {
			before = l
		}
		if r := num(t, e, "test_rmse"); !(r > floor) {
			t.Errorf("iteration %d: test RMSE %v below the noise floor %v", k+1, r, floor)
		}
		num(t, e, "train_rmse")
		num(t, e, "seconds")
	}
	if r := num(t, done, "test_rmse"); !(r > floor && r < floor*1.25) {
		t.Errorf("test RMSE %v; want it near the noise floor %v", r, floor)
	}
	// The iterations are scored on the device, the result by the saved model.
	if a, b := num(t, done, "test_rmse"), num(t, all[8], "test_rmse"); math.Abs(a-b) > 1e-4 {
		t.Errorf("test RMSE %v at the end and %v in the last iteration", a, b)
	}
	if num(t, done, "iterations") != 8 || num(t, done, "train_rmse") != num(t, all[8], "train_rmse") || done["algo"] != "als" ||
		done["interrupted"] != false || done["stopped"] != "iterations" || num(t, done, "test_cold") != 0 {
		t.Errorf("done event %v", done)
	}
}

var seconds = regexp.MustCompile(`"seconds":[0-9.e-]+`)

// The same seed gives the same bits for any number of threads, in events and in the saved model.
func TestSameForAnyThreads(t *testing.T) {
	var want, wantModel string
	for _, threads := range []string{"1", "2", "5"} {
		dir := filepath.Join(t.TempDir(), "run")
		o := good(t, "als", "--train", "ratings:300x200:6k:3:0.3", "--split", "0.2", "--iters", "4", "--rank", "5", "--biases", "--mean", "--json", "--threads", threads, "--out", dir)
		got := strings.ReplaceAll(seconds.ReplaceAllString(o.stdout, `"seconds":0`), dir, "")
		model, err := os.ReadFile(filepath.Join(dir, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want, wantModel = got, string(model)
		}
		if got != want || string(model) != wantModel {
			t.Errorf("with %s threads the run differs\n%s\n%s", threads, got, want)
		}
	}
	o := good(t, "als", "--train", "ratings:300x200:6k:3:0.3", "--split", "0.2", "--iters", "4", "--rank", "5", "--json", "--seed", "2")
	if num(t, last(t, o.stdout), "test_rmse") == num(t, last(t, want), "test_rmse") {
		t.Error("another seed gives the same result")
	}
}

// --out holds a model that loads and a record of the run.
func TestOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "run")
	ratings := write(t, "r.csv", ratingsCSV(40, 30))
	o := good(t, "als", "--train", ratings, "--split", "0.2", "--rank", "3", "--iters", "3", "--biases", "--mean", "--out", dir, "--json")
	done := last(t, o.stdout)
	path := filepath.Join(dir, modelFile)
	if done["model"] != path {
		t.Errorf("the done event names %v; want %s", done["model"], path)
	}
	m, err := factors.Load[float32](path)
	if err != nil {
		t.Fatal(err)
	}
	if m.Algo != "als" || m.Rank != 3 || len(m.UserNames) != 40 || len(m.ItemNames) != 30 || m.Seen == nil || m.UserBias == nil || m.Mean == 0 ||
		m.Meta["data"] != ratings || m.Meta["iterations"] != "3" || m.Low != 1 || m.High != 5 {
		t.Errorf("model of %d users and %d items, seen %v, mean %v, scale %v to %v, meta %v", len(m.UserNames), len(m.ItemNames), m.Seen != nil, m.Mean, m.Low, m.High, m.Meta)
	}
	text, err := os.ReadFile(filepath.Join(dir, metricsFile))
	if err != nil {
		t.Fatal(err)
	}
	var record struct {
		Algo       string
		Options    map[string]string
		Data       map[string]any
		Iterations []map[string]any
		Result     map[string]any
	}
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	if record.Algo != "als" || record.Options["rank"] != "3" || len(record.Iterations) != 3 || record.Result["test_rmse"] != done["test_rmse"] ||
		record.Data["rows"] != 40.0 {
		t.Errorf("record %s", text)
	}
	wantFiles(t, dir, modelFile, metricsFile)
}

// wantFiles fails the test unless a directory holds these files and nothing else.
func wantFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, e := range list {
		have = append(have, e.Name())
	}
	if len(have) != len(names) {
		t.Errorf("%s holds %v; want %v", dir, have, names)
	}
}

// A run that fails leaves nothing behind, not even the directory it made.
func TestFailedRunLeavesNothing(t *testing.T) {
	base := t.TempDir()
	bad(t, exitFailed, []string{"no-such-file"}, "als", "--train", "no-such-file", "--out", filepath.Join(base, "a", "b"))
	wantFiles(t, base)

	// A directory in the place of the model: the last step of saving fails.
	dir := filepath.Join(base, "run")
	if err := os.MkdirAll(filepath.Join(dir, modelFile, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	o := call(t, "als", "--train", "ratings:30x20:200:2:0.3", "--iters", "2", "--rank", "2", "--out", dir, "--json")
	all := events(t, o.stdout)
	if o.code != exitFailed || all[len(all)-1]["event"] != "error" || !strings.Contains(o.stderr, "could not be saved") {
		t.Errorf("exit %d, %s%s", o.code, o.stdout, o.stderr)
	}
	wantFiles(t, dir, modelFile)
}

// ratingsCSV is a table of ratings 1 to 5 with times, by a rule that factors can learn.
func ratingsCSV(users, items int) string {
	var b strings.Builder
	b.WriteString("user,item,rating,time\n")
	for u := range users {
		for i := range items {
			if (u*7+i*3)%4 == 0 {
				fmt.Fprintf(&b, "u%d,i%d,%d,%d\n", u, i, 1+(u%2*4+i%2*4+u%3)%5, 1000*u+i)
			}
		}
	}
	return b.String()
}

func TestSplits(t *testing.T) {
	ratings := write(t, "r.csv", ratingsCSV(40, 40)) // 400 entries, 10 per user
	for _, c := range []struct {
		args        []string
		train, test float64
		split       string
	}{
		{nil, 400, 0, "none"},
		{[]string{"--split", "0.25"}, 300, 100, "random 0.25"},
		{[]string{"--split", "0.25", "--split-by", "time"}, 300, 100, "time 0.25"},
		{[]string{"--split-by", "leave:2"}, 320, 80, "leave:2"},
		{[]string{"--test", ratings}, 400, 400, "files"},
		{[]string{"--split", "0.25", "--validation", "0.1"}, 270, 100, "random 0.25"},
	} {
		args := append([]string{"als", "--train", ratings, "--rank", "2", "--iters", "2", "--json"}, c.args...)
		out := good(t, args...).stdout
		data, done := events(t, out)[0], last(t, out)
		if num(t, data, "train") != c.train || num(t, data, "test") != c.test || data["split"] != c.split {
			t.Errorf("%v: train %v, test %v, split %v; want %v, %v, %s", c.args, data["train"], data["test"], data["split"], c.train, c.test, c.split)
		}
		if r := num(t, done, "test_rmse"); math.IsNaN(r) != (c.test == 0) {
			t.Errorf("%v: test RMSE %v", c.args, r)
		}
	}
}

// A test file of its own: names lead to the rows of the training file, and users and items that
// training does not know are counted.
func TestTestFile(t *testing.T) {
	train := write(t, "train.csv", "user,item,rating\nann,x,5\nann,y,3\nbob,x,4\nbob,z,1\neve,y,2\n")
	test := write(t, "test.csv", "user,item,rating\nbob,y,3\nzoe,x,3\neve,new,2\n")
	out := good(t, "als", "--train", train, "--test", test, "--rank", "1", "--iters", "3", "--mean", "--json").stdout
	data, done := events(t, out)[0], last(t, out)
	if num(t, data, "rows") != 4 || num(t, data, "cols") != 4 || num(t, done, "test_cold") != 2 {
		t.Errorf("%v\n%v", data, done)
	}
	all, warm := num(t, done, "test_rmse"), num(t, done, "test_rmse_warm")
	// Of zoe and of the new item the model says the mean, 3.
	if want := math.Sqrt((warm*warm + 0 + 1) / 3); math.Abs(all-want) > 1e-6 {
		t.Errorf("test RMSE %v, of the warm one %v; want %v", all, warm, want)
	}
	matrix := write(t, "test.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 3\n")
	bad(t, exitFailed, []string{"names"}, "als", "--train", train, "--test", matrix)
	// Matrices without names are made as large as the larger one.
	out = good(t, "als", "--train", "uniform:5x4:12", "--test", "uniform:7x3:9", "--rank", "1", "--iters", "1", "--json").stdout
	if data := events(t, out)[0]; num(t, data, "rows") != 7 || num(t, data, "cols") != 4 {
		t.Errorf("%v", data)
	}
}

func TestDuplicates(t *testing.T) {
	file := write(t, "d.csv", "user,item,rating\na,x,1\na,x,2\nb,x,4\nb,y,1\na,y,2\na,y,5\n")
	for args, want := range map[string]float64{"": 3, "--duplicates sum": 3.75, "--duplicates last": 3} {
		dir := t.TempDir()
		out := good(t, append([]string{"als", "--train", file, "--rank", "1", "--iters", "1", "--mean", "--json", "--out", dir}, strings.Fields(args)...)...).stdout
		m, err := factors.Load[float32](filepath.Join(dir, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		if data := events(t, out)[0]; m.Mean != want || num(t, data, "merged") != 2 || num(t, data, "nnz") != 4 {
			t.Errorf("%q: mean %v, %v; want %v", args, m.Mean, data, want)
		}
	}
}

// With --patience the model is the best by validation, and the record says which that is.
func TestPatience(t *testing.T) {
	out := good(t, "als", "--train", "ratings:60x50:900:2:1.5", "--split", "0.2", "--validation", "0.2", "--patience", "2", "--iters", "60", "--lambda", "0.5", "--rank", "8", "--json").stdout
	all, done := events(t, out), last(t, out)
	if done["stopped"] != "patience" || num(t, done, "iterations") >= 60 {
		t.Fatalf("%v; want it to stop early", done)
	}
	best, at := math.Inf(1), 0.0
	for _, e := range all[1 : len(all)-1] {
		if v := num(t, e, "validation_rmse"); v < best {
			best, at = v, num(t, e, "iteration")
		}
		if e["test_rmse"] != nil {
			t.Errorf("%v has a test RMSE; want only validation to be looked at", e)
		}
	}
	if num(t, done, "best_iteration") != at || num(t, done, "iterations") != at+2 {
		t.Errorf("best iteration %v of %v; want %v", done["best_iteration"], done["iterations"], at)
	}
}

func TestImplicit(t *testing.T) {
	for _, args := range []string{"", "--validation 0.1"} {
		out := good(t, append([]string{"als", "--train", "zipf:200x150:4k:1.0", "--implicit", "--alpha", "5", "--split", "0.2", "--rank", "4", "--iters", "3", "--json"}, strings.Fields(args)...)...).stdout
		all, done := events(t, out), last(t, out)
		for _, f := range []string{"recall@20", "ndcg@20", "popularity_recall@20", "popularity_ndcg@20"} {
			if v := num(t, done, f); !(v > 0 && v < 1) {
				t.Errorf("%s is %v", f, v)
			}
		}
		if done["test_rmse"] != nil || done["train_rmse"] != nil || num(t, done, "users") < 100 {
			t.Errorf("%v", done)
		}
		if _, ok := all[1]["validation_ndcg@20"]; ok != (args != "") {
			t.Errorf("%q: iteration event %v", args, all[1])
		}
	}
	// People get one line, without a curve of errors that there are not.
	o := good(t, "als", "--train", "zipf:200x150:4k:1.0", "--implicit", "--split", "0.2", "--rank", "4", "--iters", "3")
	if !strings.Contains(o.stdout, "Recall@20") || strings.Contains(o.stdout, "RMSE") {
		t.Errorf("%s", o.stdout)
	}
}

func TestPrecisionAndFlagsReachTheSolver(t *testing.T) {
	base := []string{"als", "--train", "ratings:80x60:1k:2:0.5", "--split", "0.2", "--rank", "3", "--iters", "3", "--json"}
	want := num(t, last(t, good(t, base...).stdout), "loss")
	for _, args := range []string{"--rank 4", "--lambda 0.2", "--iters 4", "--seed 9", "--regularization plain", "--biases", "--mean", "--cg-steps 1", "--precision 64", "--implicit", "--split 0.3"} {
		got := num(t, last(t, good(t, append(base, strings.Fields(args)...)...).stdout), "loss")
		if got == want {
			t.Errorf("%s changes nothing", args)
		}
		if args == "--precision 64" && math.Abs(got-want) > 1e-4*want {
			t.Errorf("loss %v in 64 bits and %v in 32", got, want)
		}
	}
	dir := t.TempDir()
	good(t, append(base, "--precision", "64", "--out", dir)...)
	if typ, err := factors.ElementType(filepath.Join(dir, modelFile)); err != nil || typ != "float64" {
		t.Errorf("the model holds %s, %v", typ, err)
	}
	if o := good(t, "recommend", "--model", dir, "--user", "3"); !strings.Contains(o.stdout, "user 3") {
		t.Errorf("%s", o.stdout)
	}
}

func TestQuiet(t *testing.T) {
	o := good(t, "als", "--train", "ratings:80x60:1k:2:0.5", "--split", "0.2", "--rank", "3", "--iters", "3", "--quiet")
	if strings.Contains(o.stdout, "iter ") || strings.Contains(o.stdout, "┤") || !strings.Contains(o.stdout, "test RMSE") {
		t.Errorf("%s", o.stdout)
	}
}

// Names come from files; what they hold must not reach a terminal as commands.
func TestNamesAreHarmless(t *testing.T) {
	dir := t.TempDir()
	file := write(t, "evil.csv", "user,item,rating\nann,\"\x1b]0;evil\x07\",5\nann,b,3\nbob,b,4\nbob,c,2\n")
	o := call(t, "als", "--train", file, "--rank", "1", "--iters", "1", "--out", dir)
	if o.code == exitGood {
		o2 := good(t, "recommend", "--model", dir, "--user", "bob")
		o.stdout += o2.stdout
	}
	if strings.ContainsAny(o.stdout+o.stderr, "\x1b\x07") {
		t.Errorf("%q", o.stdout+o.stderr)
	}
}

func TestNoTestRatingsForPeople(t *testing.T) {
	var out bytes.Buffer
	if code := run(t.Context(), []string{"als", "--train", "ratings:30x20:200:2:0.3", "--iters", "4", "--rank", "2"}, &out, &out); code != exitGood {
		t.Fatal(out.String())
	}
	if strings.Contains(out.String(), "●") || strings.Contains(out.String(), "test RMSE 0") || !strings.Contains(out.String(), "○ train") {
		t.Errorf("%s", out.String())
	}
}
