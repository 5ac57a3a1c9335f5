package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sddmmkit/backend"
	"sddmmkit/bench"
	"sddmmkit/bench/record"
	"sddmmkit/device"
	"sddmmkit/internal/conformance"
)

// quick are flags that keep a measurement short.
var quick = []string{"--seconds", "0.001", "--samples", "3", "--roofline=false"}

func TestBenchJSON(t *testing.T) {
	out := filepath.Join(t.TempDir(), "records.jsonl")
	args := append([]string{"bench", "--json", "--op", "sddmm,spmm,spmm-t", "--matrix", "uniform:300x200:5k,rmat:6:300", "--k", "1,33",
		"--threads", "1,2", "--type", "float32,float64", "--out", out}, quick...)
	o := good(t, args...)
	all := events(t, o.stdout)
	if len(all) != 2*2*2*3*2 {
		t.Fatalf("%d events, want one for each of 48 cases", len(all))
	}
	seen := map[string]bool{}
	for _, e := range all {
		if e["event"] != "result" {
			t.Errorf("event %v", e["event"])
		}
		for _, field := range []string{"gflops", "gb_per_s", "seconds_median", "samples", "k", "threads", "nnz", "flops", "bytes"} {
			if !(num(t, e, field) > 0) {
				t.Errorf("%s is %v, want a positive number", field, e[field])
			}
		}
		if x := num(t, e, "error_bound_share"); !(x >= 0 && x <= 1) {
			t.Errorf("the error is %v of its bound", x)
		}
		for _, field := range []string{"error", "roofline_share", "predicted_seconds", "tile", "commit", "time", "data_hash", "device_props", "seconds"} {
			if _, ok := e[field]; !ok {
				t.Errorf("no field %q", field)
			}
		}
		if num(t, e, "flops") != 2*num(t, e, "nnz")*num(t, e, "k") {
			t.Errorf("%v flops for %v non-zeros and K = %v", e["flops"], e["nnz"], e["k"])
		}
		key, _ := json.Marshal([]any{e["op"], e["matrix"], e["k"], e["type"], e["threads"]})
		seen[string(key)] = true
	}
	if len(seen) != len(all) {
		t.Errorf("%d different cases of %d", len(seen), len(all))
	}
	records, err := record.Read(out)
	if err != nil || len(records) != len(all) {
		t.Fatalf("--out has %d records, error %v; want %d", len(records), err, len(all))
	}
	// What was printed can be compared too, and a file is as fast as itself.
	printed := write(t, "printed.jsonl", o.stdout)
	cmp := events(t, good(t, "bench", "compare", out, printed, "--json").stdout)
	if len(cmp) != len(all)+1 || cmp[len(cmp)-1]["event"] != "mean" || num(t, cmp[len(cmp)-1], "ratio") != 1 {
		t.Errorf("%d events, the last %v; want one for each case and a mean of 1", len(cmp), cmp[len(cmp)-1])
	}
}

func TestBenchRoofline(t *testing.T) {
	t.Setenv("SDDMMKIT_CACHE", t.TempDir())
	o := good(t, "bench", "--json", "--matrix", "uniform:300x200:5k", "--k", "32", "--op", "spmm", "--samples", "3", "--seconds", "0.001")
	e := events(t, o.stdout)[0]
	if x := num(t, e, "roofline_share"); !(x > 0) || e["roofline_limit"] == nil {
		t.Errorf("share %v of the roofline, limited by %v", x, e["roofline_limit"])
	}
}

func TestBenchTable(t *testing.T) {
	common := append([]string{"bench", "--matrix", "uniform:300x200:5k", "--k", "32", "--threads", "1"}, quick...)
	for _, peers := range [][]string{{"--peers"}, {"--peers=all"}, {"--peers", "--json"}} {
		if o := good(t, append(common, peers...)...); strings.Count(o.stdout, "gonum") != 2 {
			t.Errorf("%v: want gonum twice in\n%s", peers, o.stdout)
		}
	}
	o := good(t, append(common, "--peers", "go")...)
	for _, want := range []string{"operation", "GFLOP/s", "sddmmkit", "james-bowman/sparse", "gonum", "sddmm ", "spmm "} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("%q is not in\n%s", want, o.stdout)
		}
	}
	if n := strings.Count(o.stdout, "uniform:300x200:5k"); n != 5 {
		t.Errorf("%d rows, want 5: two of ours, one of james-bowman/sparse, two of gonum\n%s", n, o.stdout)
	}
}

// The rows and headings of the table are golden: the numbers are made up.
func TestBenchTableGolden(t *testing.T) {
	var b strings.Builder
	a := &app{out: &sink{w: &b}, err: &strings.Builder{}}
	share, predicted := 0.756, 0.0021
	table := &benchTable{a: a}
	table.ceilings("float32 on 2 threads", bench.Roofline{Threads: 2, Flops: 312e9, Memory: device.Measured{Threads: 2,
		Levels: []device.Level{{Name: "memory", Gather: []device.Rate{{RowBytes: 512, One: 20e9, All: 36.6e9}}}}}})
	table.row(&record.Record{Op: bench.SDDMM, Epilogue: "residual", Implementation: record.Own, Matrix: "a-rather-long-name-of-a-matrix.mtx.gz", K: 128, Type: "float32", Threads: 2,
		Tile: "0x4096x128", GFLOPS: 123.4, GBPerSecond: 9.876, RooflineShare: &share, RooflineLimit: "memory", PredictedSeconds: &predicted,
		Summary: record.Summary{Median: 2e-3, Low: 1.9e-3, High: 2.1e-3}, Accuracy: record.Accuracy{Error: 1.25e-7},
		Search: &record.Search{Tiles: []record.Trial{{Tile: "0x4096x128", Predicted: 1.9e-3}, {}}, Model: record.Held{Trial: record.Trial{Tile: "none", Seconds: 2.1e-3, Predicted: 1.8e-3}, Loss: 0.05},
			Plan: record.Held{Trial: record.Trial{Tile: "0x4096x0", Seconds: 2e-3, Predicted: 2.2e-3}}, Planning: 3.21}})
	table.row(&record.Record{Op: bench.SpMM, Implementation: bench.Gonum, Matrix: "m", K: 1, Type: "float64", Threads: 1, Tile: "none", GFLOPS: 0.5,
		GBPerSecond: 12.34, Summary: record.Summary{Median: 12.5, Low: 12.5, High: 12.5}})
	const want = `
ceilings of float32 on 2 threads: 312 GFLOP/s; memory 36.6 GB/s
operation   matrix                          K  type     thr  tile               time      ±   GFLOP/s     GB/s   share  of      predicted     error  by
sddmm resi  a-rather-long…atrix.mtx.gz    128  float32    2  0x4096x128      2.00 ms   5.0%       123     9.88     76%  memory    2.10 ms   1.2e-07  sddmmkit
           2 tiles tried, the best predicted at 1.90 ms
           the model's  none            2.10 ms: 5.0% more than the best, predicted at 1.80 ms
           the plan's   0x4096x0        2.00 ms: 0.0% more than the best, predicted at 2.20 ms
           planning     3.2 calls
spmm        m                               1  float64    1  none             12.5 s   0.0%      0.50     12.3       –                  –   0.0e+00  gonum
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
}

// On a GPU there is a row for each case, and records say what is particular to it. PoCL makes one of a CPU.
func TestBenchOnGPU(t *testing.T) {
	dev, err := backend.Open("opencl", backend.Options{})
	conformance.Require(t, device.OpenCL, err)
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	args := []string{"bench", "--device", "opencl:0", "--matrix", "uniform:300x200:5k", "--k", "8", "--op", "sddmm,spmm", "--epilogue", "dot", "--samples", "3", "--seconds", "0.001", "--peers", "cusparse"}
	out := filepath.Join(t.TempDir(), "gpu.jsonl")
	o := good(t, append(args, "--json", "--out", out)...)
	all := events(t, o.stdout)
	if len(all) != 3 || all[0]["event"] != "ceilings" || !(num(t, all[0], "read") > 0 && num(t, all[0], "copy") > 0) || all[0]["model"] == "" {
		t.Fatalf("events %v", all)
	}
	if !strings.Contains(o.stderr, "cusparse is left out") || !strings.Contains(o.stderr, "cuda:0") {
		t.Errorf("stderr %q", o.stderr)
	}
	for _, e := range all[1:] {
		if e["timing"] != "device events" || e["cache"] != "warm" || num(t, e, "operand_sets") != 1 || !(num(t, e, "gather_share") > 0) || e["roofline_limit"] == nil ||
			!strings.HasPrefix(e["kernel"].(string), e["op"].(string)+"_") || e["device"] != "opencl:0" {
			t.Errorf("%v", e)
		}
	}
	table := good(t, "bench", "table", out).stdout
	o = good(t, append(args, "--roofline=false")...)
	for _, text := range []string{table, o.stdout} {
		if n := strings.Count(text, "uniform:300x200:5k"); n != 2 || !strings.Contains(text, "gather") || strings.Contains(text, "operation   matrix") {
			t.Errorf("%d rows, want 2:\n%s", n, text)
		}
	}
}

func TestBesideTableGolden(t *testing.T) {
	var b strings.Builder
	a := &app{out: &sink{w: &b}, err: &strings.Builder{}}
	share := 0.873
	table := &besideTable{a: a}
	rec := record.Record{Op: bench.SDDMM, Epilogue: "dot", Implementation: record.Own, Matrix: "skewed:300000x102660:69.6M:rows=0.8:cols=0.9", K: 128, Type: "float32", Device: "cuda:0",
		GFLOPS: 5332, Cache: record.Warm, GatherShare: &share, Kernel: "sddmm_gather_float_v4_l16_c2", Summary: record.Summary{Median: 3.34e-3, Low: 3.33e-3, High: 3.36e-3}}
	peer := rec
	peer.Implementation, peer.Algorithm, peer.GFLOPS, peer.Median = "cusparse", "default, B transposed", 3885, 4.58e-3
	alone := rec
	alone.Op, alone.Epilogue, alone.Kernel, alone.GatherShare = bench.SpMM, "", "spmm_gather_float_v4_l32_c1", nil
	table.rows(record.PairUp([]record.Record{rec, peer, alone}))
	table.end()
	const want = `
matrix                         K  operation   type     cache       time      ±   GFLOP/s      peer  ratio  gather  kernel                        fastest of the peer
NYTimes-like                 128  sddmm dot   float32  warm     3.34 ms   0.4%      5332      3885   1.37     87%  sddmm_gather_float_v4_l16_c2  cusparse default, B transposed
NYTimes-like                 128  spmm        float32  warm     3.34 ms   0.4%      5332         –      –       –  spmm_gather_float_v4_l32_c1   –

1.371 times as fast as cusparse in the geometric mean of 1 cases (sddmm)
1.371 times as fast as cusparse in the geometric mean of 1 cases (all)
ratio: the peer's median time over ours · gather: the time in which the device only gathers the rows of B, over ours
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
}

func TestBenchCompareGolden(t *testing.T) {
	record := func(op, k, seconds string) string {
		return `{"event":"result","op":"` + op + `","matrix":"m","k":` + k + `,"type":"float32","threads":2,"nnz":1000,"flops":64000,"seconds":` + seconds + "}\n"
	}
	before := write(t, "before.jsonl", `{"event":"ceilings"}`+"\n"+record("spmm", "32", "[0.004,0.0041,0.0042,0.0041]")+record("spmm", "64", "[0.002,0.002,0.002]")+record("spmm", "7", "[1]"))
	after := write(t, "after.jsonl", record("spmm", "64", "[0.002,0.002,0.00201]")+record("spmm", "32", "[0.002,0.00205,0.0021,0.00205]"))
	o := good(t, "bench", "compare", before, after)
	const want = `
operation   matrix                          K  type     thr          A          B  speed of B over A
spmm        m                              32  float32    2    4.10 ms    2.05 ms  2.000× (1.951–2.050) faster
spmm        m                              64  float32    2    2.00 ms    2.00 ms  1.000× (0.995–1.000) same

geometric mean of 2: 1.414× (1.393–1.432) faster
`
	if got := "\n" + o.stdout; got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
	if !strings.Contains(o.stderr, "cases without a counterpart: 1 in "+before+", 0 in "+after) {
		t.Errorf("stderr %q", o.stderr)
	}
}

func TestBenchSweepSaysCliffs(t *testing.T) {
	o := good(t, append([]string{"bench", "--suite", "sweep", "--json", "--op", "spmm", "--threads", "1", "--k", "7,8,16"}, quick...)...)
	all := events(t, o.stdout)
	if len(all) != 4 || all[3]["event"] != "cliff" || !(num(t, all[3], "slowdown") > 0) || num(t, all[3], "k") != 7 {
		t.Errorf("events %v", all)
	}
}

// In rounds each case has a record a round, a row together, and types and threads are compared.
func TestBenchRounds(t *testing.T) {
	out := filepath.Join(t.TempDir(), "records.jsonl")
	args := append([]string{"bench", "--op", "spmm", "--matrix", "uniform:300x200:5k", "--k", "8,9", "--threads", "1,2", "--type", "float32,float64", "--rounds", "3", "--out", out}, quick...)
	o := good(t, args...)
	if lines := strings.Count(o.stdout, "uniform:300x200:5k"); lines != 8+8 {
		t.Errorf("%d lines of the matrix, want 8 cases and 8 scalings:\n%s", lines, o.stdout)
	}
	for _, want := range []string{"float64 over float32, 1 thread:", "2 threads over 1, float64:"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no line with %q in\n%s", want, o.stdout)
		}
	}
	records, err := record.Read(out)
	rounds := map[int]int{}
	for _, r := range records {
		rounds[r.Round]++
	}
	if err != nil || len(rounds) != 3 || rounds[1] != 8 || rounds[2] != 8 || rounds[3] != 8 {
		t.Errorf("records by round: %v, error %v; want 8 in each of 3", rounds, err)
	}
	counts := map[any]int{}
	for _, e := range events(t, good(t, append(args, "--json")...).stdout) {
		counts[e["event"]]++
		if e["event"] == "scaling" && (!(num(t, e, "ratio") > 0) || e["type"] == e["base_type"] && e["threads"] == e["base_threads"]) {
			t.Errorf("event %v", e)
		}
	}
	if counts["result"] != 24 || counts["scaling"] != 8 {
		t.Errorf("events %v, want 24 results and 8 scalings", counts)
	}
}

func TestBenchExport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.bin")
	e := events(t, good(t, "bench", "--json", "--matrix", "uniform:30x20:100", "--export", path).stdout)[0]
	if info, err := os.Stat(path); err != nil || e["event"] != "exported" || num(t, e, "bytes") != float64(info.Size()) || info.Size() != 304+31*8+100*8 {
		t.Errorf("event %v, error %v", e, err)
	}
}

func TestBenchCeilings(t *testing.T) {
	t.Setenv("SDDMMKIT_CACHE", t.TempDir())
	all := events(t, good(t, "bench", "ceilings", "--json", "--threads", "1").stdout)
	if len(all) != 2 || !(num(t, all[0], "flops") > 0) || len(all[1]["memory"].(map[string]any)["levels"].([]any)) == 0 {
		t.Errorf("events %v", all)
	}
}

// Records measured before an interruption are kept.
func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if o := callWith(t, ctx, append([]string{"bench", "--matrix", "uniform:30x20:100"}, quick...)...); o.code != exitInterrupted {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	out := filepath.Join(t.TempDir(), "records.jsonl")
	o := call(t, append([]string{"bench", "--matrix", "uniform:30x20:100,no-such-file", "--out", out}, quick...)...)
	if o.code != exitFailed || !strings.Contains(o.stderr, "no-such-file") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if records, err := record.Read(out); err != nil || len(records) != 4 {
		t.Errorf("%d records, error %v; want those of the first matrix", len(records), err)
	}
}

func TestBenchUsageErrors(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{"--op gemm", []string{"--op", "gemm", "spmm-t"}},
		{"--matrix rmat:x:1", []string{"--matrix", "scale"}},
		{"--matrix=", []string{"--matrix is empty"}},
		{"--k 0", []string{"K = 0"}},
		{"--k 99999999", []string{"K = 99999999"}},
		{"--epilogue max", []string{"--epilogue", "quotient"}},
		{"--type float8", []string{"--type", "float64", "float16"}},
		{"--type float16", []string{"--type float16 is for GPUs", "--device"}},
		{"--tile 3x4", []string{"TixTjxTk"}},
		{"--tile 64x64x128", []string{"0 rows"}},
		{"--tile 0x64x100", []string{"multiple of 128"}},
		{"--op spmm --tile 0x0x64", []string{"multiple of 128"}},
		{"--type float64 --tile 0x0x32", []string{"multiple of 64"}},
		{"--type float64,float32 --tile 0x0x64", []string{"multiple of 128", "float32"}},
		{"--threads -1", []string{"--threads -1"}},
		{"--samples 0", []string{"--samples"}},
		{"--rounds 0", []string{"--rounds 0"}},
		{"--rounds 2 --tile exhaustive", []string{"--rounds 2", "exhaustive"}},
		{"--rounds 2 --device cuda:0", []string{"--rounds 2", "CPUs"}},
		{"--seconds NaN", []string{"--seconds"}},
		{"--suite tpu", []string{"--suite", "cpu, sweep, model, gpu"}},
		{"--device tpu", []string{"--device"}},
		{"--peers mkl", []string{"--peers", "mkl", "cusparse"}},
		{"--peers go go", []string{"unknown command", "go"}},
		{"go", []string{"unknown command", "go"}},
		{"--cold", []string{"--cold", "GPUs"}},
		{"table", []string{"1 arg"}},
		{"--out=", []string{"--out"}},
		{"--export x --matrix a,b", []string{"--export", "one matrix"}},
		{"compare a", []string{"2 arg"}},
		{"compare a b --margin 2", []string{"--margin"}},
		{"ceilings --threads -1", []string{"--threads"}},
	} {
		args := append([]string{"bench"}, strings.Fields(c.args)...)
		bad(t, exitUsage, c.want, args...)
	}
	bad(t, exitFailed, []string{"no-such-file"}, "bench", "compare", "no-such-file", "x")
	bad(t, exitFailed, []string{"no-such-file"}, "bench", "table", "no-such-file")
	bad(t, exitFailed, []string{"bad.jsonl:1:", "JSON"}, "bench", "compare", write(t, "bad.jsonl", "hello\n"), "x")
	bad(t, exitFailed, []string{"no-such-dir"}, "bench", "--out", "no-such-dir/x")
	bad(t, exitFailed, []string{"no-such-file"}, "bench", "--matrix", "no-such-file")
}
