package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"sddmmkit/factors"
)

// Ctrl-C ends training within a second; what was trained is evaluated, saved and loads.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals to send")
	}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		dir := filepath.Join(t.TempDir(), "run")
		cmd := exec.Command(os.Args[0], "als", "--train", "ratings:2kx1k:200k:4:0.5", "--split", "0.1", "--rank", "32", "--iters", "1000000", "--json", "--out", dir)
		cmd.Env = append(os.Environ(), "SDDMM_TEST_COMMAND=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Process.Kill()
		var text strings.Builder
		var sent time.Time
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			text.WriteString(lines.Text() + "\n")
			if sent.IsZero() && strings.Contains(lines.Text(), `"iteration":2,`) {
				sent = time.Now()
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd.Wait()
		if took := time.Since(sent); took > 2*time.Second {
			t.Errorf("%v: it took %v to end; want about a second at most", sig, took)
		}
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
			t.Fatalf("%v: exit %d\n%s", sig, code, stderr.String())
		}
		done := last(t, text.String())
		if done["interrupted"] != true || done["stopped"] != "interrupted" || num(t, done, "iterations") < 2 || !(num(t, done, "test_rmse") > 0) {
			t.Errorf("%v", done)
		}
		if s := stderr.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, "interrupted") || !strings.Contains(s, dir) {
			t.Errorf("stderr %q", s)
		}
		m, err := factors.Load[float32](filepath.Join(dir, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Users.Data) == 0 || m.Seen == nil {
			t.Error("the saved model is empty")
		}
		wantFiles(t, dir, modelFile, metricsFile)
	}
}

// Before there is anything to keep, nothing is kept and nothing is left behind.
func TestInterruptedAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	base := t.TempDir()
	for _, args := range [][]string{
		{"als", "--out", filepath.Join(base, "run")},
		{"als", "--json", "--out", filepath.Join(base, "run")},
		{"convert", "uniform:100x100:50", filepath.Join(base, "x.mtx")},
		{"info", "--matrix", "uniform:100x100:50"},
	} {
		o := callWith(t, ctx, args...)
		if o.code != exitInterrupted || o.stderr != "sddmm: interrupted\n" {
			t.Errorf("%v: exit %d, stderr %q", args, o.code, o.stderr)
		}
		if args[1] == "--json" {
			if e := events(t, o.stdout); len(e) != 1 || e[0]["event"] != "interrupted" {
				t.Errorf("%v", e)
			}
		}
	}
	wantFiles(t, base)
}

// writerFunc is a writer that sees what is written.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Without --out an interrupted run says that its model is lost.
func TestInterruptedWithoutOut(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stderr bytes.Buffer
	stdout := writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("    3  ")) {
			cancel()
		}
		return len(p), nil
	})
	code := run(ctx, []string{"als", "--iters", "100000"}, stdout, &stderr)
	if s := stderr.String(); code != exitInterrupted || !strings.Contains(s, "not saved") || strings.Count(s, "\n") != 1 {
		t.Errorf("exit %d, stderr %q", code, s)
	}
}
