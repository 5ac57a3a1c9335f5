package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sddmmkit/backend"
)

// TestMain lets the test binary be the command, for tests that need a process of their own.
func TestMain(m *testing.M) {
	if os.Getenv("SDDMM_TEST_COMMAND") == "1" {
		main()
	}
	os.Exit(m.Run())
}

// outcome is what a run of the command left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

func call(t *testing.T, args ...string) outcome {
	t.Helper()
	return callWith(t, context.Background(), args...)
}

func callWith(t *testing.T, ctx context.Context, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// good runs the command and fails the test unless it succeeds.
func good(t *testing.T, args ...string) outcome {
	t.Helper()
	o := call(t, args...)
	if o.code != exitGood {
		t.Fatalf("sddmm %s: exit %d\n%s%s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o
}

// bad runs the command, which must fail with the given code, an empty standard output and one
// line on standard error that holds all the given texts.
func bad(t *testing.T, code int, want []string, args ...string) {
	t.Helper()
	o := call(t, args...)
	line := strings.TrimSuffix(o.stderr, "\n")
	if o.code != code || o.stdout != "" || !strings.HasPrefix(line, "sddmm: ") || strings.Contains(line, "\n") {
		t.Errorf("sddmm %s: exit %d, stdout %q, stderr %q; want exit %d and one line on stderr", strings.Join(args, " "), o.code, o.stdout, o.stderr, code)
	}
	for _, w := range want {
		if !strings.Contains(line, w) {
			t.Errorf("sddmm %s: %q; want %q in it", strings.Join(args, " "), line, w)
		}
	}
}

// events decodes every line of standard output.
func events(t *testing.T, stdout string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for k, line := range strings.Split(strings.TrimSuffix(stdout, "\n"), "\n") {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("line %d is no JSON object: %v\n%s", k+1, err, line)
		}
		if s, ok := e["event"].(string); !ok || s == "" {
			t.Fatalf("line %d has no event: %s", k+1, line)
		}
		out = append(out, e)
	}
	return out
}

// last returns the last event, which must be "done".
func last(t *testing.T, stdout string) map[string]any {
	t.Helper()
	all := events(t, stdout)
	e := all[len(all)-1]
	if e["event"] != "done" {
		t.Fatalf("the last event is %v; want done", e["event"])
	}
	return e
}

// num returns a number of an event, NaN for null. A field that is missing fails the test.
func num(t *testing.T, e map[string]any, field string) float64 {
	t.Helper()
	v, ok := e[field]
	if !ok {
		t.Fatalf("event %v has no field %q", e["event"], field)
	}
	if v == nil {
		return math.NaN()
	}
	f, ok := v.(float64)
	if !ok {
		t.Fatalf("%q of event %v is %T; want a number", field, e["event"], v)
	}
	return f
}

// write makes a file in the test's directory.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUsageErrors(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{"alz", []string{`"alz"`, "did you mean als", `see "sddmm --help"`}},
		{"frobnicate", []string{`"frobnicate"`}},
		{"--nope", []string{"--nope"}},
		{"als --nope", []string{"--nope", `see "sddmm als --help"`}},
		{"als extra", []string{`"extra"`}},
		{"als --rank x", []string{"--rank", `"x"`}},
		{"als --rank 0", []string{"--rank 0", "at least 1"}},
		{"als --rank -3", []string{"--rank"}},
		{"als --lambda -1", []string{"--lambda"}},
		{"als --lambda NaN", []string{"--lambda"}},
		{"als --lambda Inf", []string{"--lambda"}},
		{"als --iters 0", []string{"--iters"}},
		{"als --threads -1", []string{"--threads"}},
		{"als --patience -1", []string{"--patience"}},
		{"als --patience 3", []string{"--patience", "--validation"}},
		{"als --precision 16", []string{"--precision", "32 or 64"}},
		{"als --device tpu", []string{"--device", "cpu"}},
		{"als --device cuda:", []string{"--device"}},
		{"als --format xml", []string{"--format", "ratings"}},
		{"als --header maybe", []string{"--header"}},
		{"als --columns user", []string{"--columns"}},
		{"als --columns who=a", []string{"--columns", "who=a"}},
		{"als --duplicates keep", []string{"--duplicates", "error, sum or last"}},
		{"als --split 0", []string{"--split 0"}},
		{"als --split 1", []string{"--split 1"}},
		{"als --split NaN", []string{"--split"}},
		{"als --validation 2", []string{"--validation"}},
		{"als --split-by chance", []string{"--split-by"}},
		{"als --split-by leave:0", []string{"leave:N"}},
		{"als --split-by leave:x", []string{"leave:N"}},
		{"als --split-by leave:1 --split 0.1", []string{"leave one out"}},
		{"als --split-by time", []string{"--split FRACTION"}},
		{"als --test t.csv", []string{"--train"}},
		{"als --train a --test b --split 0.1", []string{"leave one out"}},
		{"als --train uniform:3", []string{"--train", "ROWSxCOLS"}},
		{"als --regularization heavy", []string{"weighted or plain"}},
		{"als --implicit --biases", []string{"--implicit"}},
		{"als --alpha 3", []string{"--implicit"}},
		{"als --implicit --alpha -3", []string{"--alpha"}},
		{"als --bias-lambda 3", []string{"--biases"}},
		{"als --cg-steps 0", []string{"--cg-steps"}},
		{"als --out=", []string{"--out"}},
		{"recommend", []string{"--model"}},
		{"recommend --model m", []string{"--user"}},
		{"recommend --model m --user u -n 0", []string{"-n 0"}},
		{"recommend --model m --user u --format csv", []string{"--format"}},
		{"recommend --model m --user u --columns user=a", []string{"--ratings"}},
		{"recommend --model m --user u --device tpu", []string{"--device"}},
		{"similar", []string{"--model"}},
		{"similar --model m", []string{"--item"}},
		{"similar --model m --item 1 --user 2", []string{"leave one out"}},
		{"similar --model m --item 1 -n 0", []string{"-n 0"}},
		{"convert", []string{"2 arg"}},
		{"convert a b", []string{".mtx", ".parquet"}},
		{"convert a b.npz --duplicates first", []string{"keep, error, sum or last"}},
		{"convert a b.npz --precision 8", []string{"--precision"}},
		{"convert rmat:99:1 b.npz", []string{"IN", "scale"}},
		{"info --matrix=", []string{"--matrix"}},
		{"info --matrix rmat:x:1", []string{"--matrix"}},
		{"info --threads -2", []string{"--threads"}},
	} {
		bad(t, exitUsage, c.want, strings.Fields(c.args)...)
	}
}

func TestInputErrors(t *testing.T) {
	words := write(t, "words.csv", "user,item,rating\na,b,five\n")
	twice := write(t, "twice.csv", "user,item,rating\nann,x,1\nann,x,2\nbob,x,3\n")
	file := write(t, "file", "")
	for _, c := range []struct {
		want []string
		args []string
	}{
		{[]string{"no-such-file"}, []string{"als", "--train", "no-such-file"}},
		{[]string{"words.csv", ":2:", "five"}, []string{"als", "--train", words}},
		{[]string{"directory"}, []string{"als", "--train", t.TempDir()}},
		{[]string{"empty"}, []string{"als", "--train", file}},
		{[]string{"ann", "more than once", "last"}, []string{"als", "--train", twice, "--duplicates", "error"}},
		{[]string{"times"}, []string{"als", "--train", twice, "--split", "0.5", "--split-by", "time"}},
		{[]string{"no-such-file"}, []string{"als", "--train", twice, "--test", "no-such-file"}},
		{[]string{"cuda:0", "cpu"}, []string{"als", "--device", "cuda:0"}},
		{[]string{"--out"}, []string{"als", "--out", filepath.Join(file, "sub")}},
		{[]string{"--out"}, []string{"als", "--out", file}},
		{[]string{"train a model first"}, []string{"recommend", "--model", "no-such-model", "--user", "1"}},
		{[]string{"model.npz"}, []string{"recommend", "--model", t.TempDir(), "--user", "1"}},
		{[]string{"words.csv"}, []string{"recommend", "--model", words, "--user", "1"}},
		{[]string{"no-such-model"}, []string{"similar", "--model", "no-such-model", "--item", "1"}},
		{[]string{"no-such-file"}, []string{"convert", "no-such-file", filepath.Join(t.TempDir(), "x.mtx")}},
		{[]string{"no-such-dir"}, []string{"convert", twice, "no-such-dir/x.mtx"}},
		{[]string{"--force"}, []string{"convert", "uniform:3x3:2", write(t, "there.mtx", "")}},
		{[]string{"no-such-file"}, []string{"info", "--matrix", "no-such-file"}},
	} {
		bad(t, exitFailed, c.want, c.args...)
	}
}

// A shape beyond the memory is an error before anything is allocated for it.
func TestHugeShape(t *testing.T) {
	dev, err := backend.Open("cpu", backend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if m := dev.Props().MemoryBytes; m == 0 || m > 64<<30 {
		t.Skip("the memory of this machine is unknown, or enough")
	}
	bad(t, exitFailed, []string{"memory", "--format ratings"}, "als", "--train", "uniform:2000000000x2000000000:10")
	bad(t, exitFailed, []string{"memory"}, "info", "--matrix", "uniform:2000000000x2000000000:10")
}

// With --json a failure is an event, and standard output holds nothing else.
func TestErrorEvent(t *testing.T) {
	for code, args := range map[int][]string{
		exitFailed: {"als", "--json", "--train", "no-such-file"},
		exitUsage:  {"als", "--rank", "x", "--json"},
	} {
		o := call(t, args...)
		all := events(t, o.stdout)
		if o.code != code || len(all) != 1 || all[0]["event"] != "error" || all[0]["message"] == "" {
			t.Errorf("sddmm %v: exit %d, %v; want exit %d and one error event", args, o.code, all, code)
		}
		if !strings.Contains(o.stderr, all[0]["message"].(string)) {
			t.Errorf("stderr %q does not say what the event says: %v", o.stderr, all[0])
		}
	}
}

func TestHelpHasExamples(t *testing.T) {
	for _, args := range [][]string{{}, {"als"}, {"recommend"}, {"similar"}, {"convert"}, {"info"}} {
		o := good(t, append(args, "--help")...)
		if !strings.Contains(o.stdout, "Examples:\n") || o.stderr != "" {
			t.Errorf("help of %v has no examples, or writes to stderr %q", args, o.stderr)
		}
	}
	if o := good(t); !strings.Contains(o.stdout, "als") {
		t.Errorf("sddmm alone says %q", o.stdout)
	}
	if o := good(t, "--version"); !strings.Contains(o.stdout, "go1.") {
		t.Errorf("--version says %q", o.stdout)
	}
	if o := good(t, "completion", "bash"); !strings.Contains(o.stdout, "sddmm") {
		t.Error("no completion for bash")
	}
}

// panicky is a standard output that panics.
type panicky struct{}

func (panicky) Write([]byte) (int, error) { panic("boom") }

func TestPanicIsAnError(t *testing.T) {
	var stderr bytes.Buffer
	code := run(context.Background(), []string{"info"}, panicky{}, &stderr)
	if s := stderr.String(); code != exitFailed || strings.Count(s, "\n") != 1 || !strings.Contains(s, "boom") || !strings.Contains(s, "main_test.go") {
		t.Errorf("exit %d, stderr %q; want exit 1 and one line that says where it was", code, s)
	}
}

// full is a standard output on a full disk.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

func TestFullStandardOutput(t *testing.T) {
	const small = "ratings:30x20:200:2:0.3"
	for _, room := range []int{0, 100, 500} {
		for _, args := range [][]string{{"als", "--train", small, "--iters", "9"}, {"als", "--train", small, "--iters", "9", "--json"}, {"info", "--json", "--matrix", "uniform:50x40:100"}} {
			var stderr bytes.Buffer
			code := run(context.Background(), args, &full{room}, &stderr)
			if s := stderr.String(); code != exitFailed || !strings.Contains(s, "standard output") {
				t.Errorf("%v with room for %d bytes: exit %d, stderr %q", args, room, code, s)
			}
		}
	}
}
