package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sddmmkit/backend"
	"sddmmkit/bench"
	"sddmmkit/bench/cusparse"
	"sddmmkit/bench/record"
	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// benchFlags are the flags of "sddmm bench".
type benchFlags struct {
	readFlags
	suite    string
	matrices []string
	ops      []string
	epilogue string
	k        []int
	device   string
	threads  []int
	types    []string
	tile     string
	samples  int
	seconds  float64
	rounds   int
	warmups  int
	seed     uint64
	peers    []string
	cold     bool
	roofline bool
	out      string
	export   string
}

func (a *app) benchCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [flags]",
		Short: "Measure SDDMM and SpMM, and compare measurements",
		Long: `bench measures SDDMM and SpMM on every combination of matrix, type, threads, operation and K. Each result
is first checked against the formula: one that is off by more than the derived bound ends the run.

Flops are 2·nnz·K. GB/s counts a row of B per non-zero, wherever it comes from, and every other array
once. The ceiling is what this machine was measured to do: flops in the L1 cache, and gathers from each
level of memory; the share is the ceiling's time over the
measured one. "go doc sddmmkit/bench" has the formulas.

What other programs leave of a shared machine drifts. With --rounds N the cases of a matrix take N turns, and types, threads
and the K of a sweep are compared round by round: the median of N ratios says more than the ratio of two times.

On a GPU (--device cuda:0, opencl:0) time is taken by the device's events. Before each case it is measured how fast
the device gathers the rows of B that the matrix asks for and does nothing else: "gather" is that time over ours.
Calls follow each other on the same operands; --cold goes round so many sets of them that none is left in the cache.

With --json each case is a line {"event":"result","op":…,"matrix":…,"k":…,"device":…,"threads":…,"gflops":…,
"gb_per_s":…,"seconds_median":…,"samples":…,"error":…,"roofline_share":…,"tile":…,"predicted_seconds":…}.

Suites: ` + suiteHelp(),
		Example: `  sddmm bench
  sddmm bench --op sddmm --matrix rmat:17:4.4M --k 32,128 --threads 1,2
  sddmm bench --matrix ratings.csv --k 64 --type float32,float64 --peers
  sddmm bench --device cuda:0 --suite gpu --peers cusparse --out gpu.jsonl
  sddmm bench --suite cpu --out before.jsonl
  sddmm bench --suite sweep --type float32,float64 --threads 1,2 --rounds 9 --seconds 0.05
  sddmm bench --matrix uniform:131072x131072:5M --k 128 --tile exhaustive
  sddmm bench compare before.jsonl after.jsonl
  sddmm bench table gpu.jsonl
  sddmm bench ceilings`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Equal(f.peers, []string{allPeers}) { // of --peers, which need not have one
				f.peers = strings.Split(args[0], ",")
				return nil
			}
			return cobra.NoArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := f.plan(cmd.Flags().Changed)
			if err != nil {
				return err
			}
			if f.export != "" {
				return exportMatrix(cmd.Context(), a, p)
			}
			return runBench(cmd.Context(), a, p)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.suite, "suite", "", "a named list of cases: "+strings.Join(suiteNames(), ", ")+"; --op, --matrix (added), --k, --type and --tile change it")
	flags.StringSliceVar(&f.matrices, "matrix", nil, "files and specs (default "+defaultBenchMatrix+")")
	flags.StringSliceVar(&f.ops, "op", []string{"sddmm", "spmm"}, "operations: sddmm, spmm, spmm-t")
	flags.StringVar(&f.epilogue, "epilogue", "scale", "of sddmm: dot, scale, residual or quotient")
	flags.IntSliceVar(&f.k, "k", []int{32, 128}, "columns of the dense matrices")
	flags.StringVar(&f.device, "device", "cpu", "what to measure: auto, cpu, cuda:N, opencl:N")
	flags.IntSliceVar(&f.threads, "threads", []int{0}, "CPU threads, 0 for all")
	flags.StringSliceVar(&f.types, "type", []string{"float32"}, "float32, float64, and on GPUs bfloat16, float16: A and B in 16 bits, everything else in float32")
	flags.StringVar(&f.tile, "tile", "model", "model, none, exhaustive (try a grid, report the best beside the model's), or TixTjxTk such as 0x4096x128 or 0x0x128, 0 for all; on GPUs also TixTjxTkxPANELS, or TixTjxTkxPANELSxDENSE with --type bfloat16 and float16")
	flags.IntVar(&f.samples, "samples", 10, "samples of a case at least")
	flags.Float64Var(&f.seconds, "seconds", 0.5, "seconds of samples of a case at least")
	flags.IntVar(&f.rounds, "rounds", 1, "turns of each case on a CPU, all cases of a matrix one after the other; a record for each")
	flags.IntVar(&f.warmups, "warmups", 2, "calls before the first sample")
	flags.Uint64Var(&f.seed, "seed", 1, "of the dense matrices")
	flags.StringSliceVar(&f.peers, "peers", nil, "measure others too: go (james-bowman/sparse and gonum, in float64, on the CPU), cusparse (on a CUDA device); without a name cusparse with --device cuda:N and go with others")
	flags.Lookup("peers").NoOptDefVal = allPeers
	flags.BoolVar(&f.cold, "cold", false, "on a GPU: operands that are not in the cache when a call begins")
	flags.BoolVar(&f.roofline, "roofline", true, "measure the ceilings of the machine, for shares and predictions")
	flags.StringVar(&f.out, "out", "", "save the records to a file, for \"bench compare\"")
	flags.StringVar(&f.export, "export", "", "write the matrix for programs in other languages (see docs/bench.md), and measure nothing")
	f.readFlags.registerFile(flags)
	cmd.AddCommand(a.benchCompareCommand(), a.benchTableCommand(), a.benchCeilingsCommand())
	return cmd
}

// defaultBenchMatrix makes "sddmm bench" work on a bare machine.
const defaultBenchMatrix = "uniform:8192x8192:2M"

func suiteNames() []string {
	var names []string
	for _, s := range bench.Suites() {
		names = append(names, s.Name)
	}
	return names
}

func suiteHelp() string {
	var b strings.Builder
	for _, s := range bench.Suites() {
		fmt.Fprintf(&b, "\n  %-7s %s:\n          %s", s.Name, s.About, strings.Join(s.Matrices, ", "))
	}
	return b.String()
}

// benchPlan is what the flags ask for.
type benchPlan struct {
	flags   *benchFlags
	suite   bench.Suite
	cases   []bench.Case
	threads []int
	opt     bench.Options
	peers   []string // names of groups: go, cusparse

	// in32 and in64 are the types to measure with values in float32 and float64, as bench.Case.Stored has them.
	in32, in64 []string
}

// The groups of peers.
const (
	goPeers       = "go"
	cusparsePeers = "cusparse"
	allPeers      = "all"
)

// parsePeers returns the groups of peers that are asked for. All stands for those that compare with the device: cuSPARSE with a CUDA
// device, and the peers of Go, which run on the CPU, with any other.
func (f *benchFlags) parsePeers() ([]string, error) {
	var groups []string
	for _, name := range f.peers {
		switch name {
		case goPeers, cusparsePeers:
			groups = append(groups, name)
		case allPeers:
			if strings.HasPrefix(f.device, "cuda") {
				groups = append(groups, cusparsePeers)
			} else {
				groups = append(groups, goPeers)
			}
		default:
			return nil, usagef("--peers %q; want go, cusparse or all", name)
		}
	}
	return groups, nil
}

// plan checks the flags.
func (f *benchFlags) plan(changed func(string) bool) (*benchPlan, error) {
	_, err := f.readFlags.options()
	if err != nil {
		return nil, err
	}
	p := &benchPlan{flags: f, threads: f.threads}
	if f.suite != "" {
		s, err := bench.SuiteByName(f.suite)
		if err != nil {
			return nil, usagef("--suite: %v", err)
		}
		p.suite = s
	}
	given := func(flag string) bool { return f.suite == "" || changed(flag) }
	p.suite.Matrices = append(slices.Clone(p.suite.Matrices), f.matrices...)
	if changed("matrix") && len(f.matrices) == 0 {
		return nil, usagef("--matrix is empty; want files and specs")
	}
	if len(p.suite.Matrices) == 0 {
		p.suite.Matrices = []string{defaultBenchMatrix}
	}
	for _, m := range p.suite.Matrices {
		if m == "" {
			return nil, usagef("--matrix is empty; want files and specs")
		}
		if err := checkSource("--matrix", m); err != nil {
			return nil, err
		}
	}
	if given("op") {
		p.suite.Ops = nil
		for _, op := range f.ops {
			if !slices.Contains(bench.Ops, bench.Op(op)) {
				return nil, usagef("--op %q; want sddmm, spmm or spmm-t", op)
			}
			p.suite.Ops = append(p.suite.Ops, bench.Op(op))
		}
	}
	if given("k") {
		p.suite.K = f.k
	}
	if given("type") {
		p.suite.Types = f.types
	}
	for _, t := range p.suite.Types {
		switch t {
		case "float32":
			p.in32 = append(p.in32, "")
		case "float64":
			p.in64 = append(p.in64, "")
		case "bfloat16", "float16":
			if f.device == "cpu" {
				return nil, usagef("--type %s is for GPUs; want --device cuda:N or opencl:N with it", t)
			}
			p.in32 = append(p.in32, t)
		default:
			return nil, usagef("--type %q; want float32, float64, bfloat16 or float16", t)
		}
	}
	if given("tile") {
		tiling, err := bench.ParseTiling(f.tile)
		if err != nil {
			return nil, usagef("--%v", err)
		}
		p.suite.Tiling = tiling
	}
	if given("epilogue") {
		if p.suite.Epilogue, err = parseEpilogue(f.epilogue); err != nil {
			return nil, err
		}
	}
	if p.peers, err = f.parsePeers(); err != nil {
		return nil, err
	}
	onCPU := f.device == "cpu" || f.device == "auto"
	elemBytes := 8
	if len(p.in32) > 0 {
		elemBytes = 4
	}
	if onCPU && !p.suite.Tiling.OnCPU(elemBytes) {
		return nil, usagef("--tile %s: on a CPU want 0 rows, a multiple of %d of K and no panels with --type float%d", f.tile, model.SliceBytes/elemBytes, 8*elemBytes)
	}
	p.cases = p.suite.Cases()
	for i := range p.cases {
		if err := p.cases[i].Check(); err != nil {
			return nil, usagef("%v", err)
		}
	}
	for _, n := range f.threads {
		if n < 0 {
			return nil, usagef("--threads %d; want 0 (all) or more", n)
		}
	}
	if !deviceName.MatchString(f.device) {
		return nil, usagef("--device %q; want auto, cpu, cuda:N or opencl:N", f.device)
	}
	seconds := f.seconds
	if p.suite.Seconds > 0 && !changed("seconds") {
		seconds = p.suite.Seconds
	}
	if !onCPU {
		p.threads = []int{0} // of a CPU
	}
	p.opt = bench.Options{Seed: f.seed, Cold: f.cold, Gather: f.roofline, Sampling: bench.Sampling{Warmups: f.warmups, Samples: f.samples, Seconds: seconds}}
	switch {
	case f.samples < 1 || f.warmups < 1:
		return nil, usagef("--samples %d, --warmups %d; want at least 1 of each", f.samples, f.warmups)
	case !(f.seconds > 0 && f.seconds <= 3600):
		return nil, usagef("--seconds %v; want more than 0 and at most 3600", f.seconds)
	case len(p.cases) == 0 || len(f.threads) == 0 || len(p.suite.Types) == 0:
		return nil, usagef("there is nothing to measure; want at least one of --op, --k, --threads and --type")
	case f.rounds < 1:
		return nil, usagef("--rounds %d; want at least 1", f.rounds)
	case f.rounds > 1 && !onCPU:
		return nil, roundsOnGPU(f.rounds)
	case f.rounds > 1 && p.suite.Tiling.By == bench.TileBySearch:
		return nil, usagef("--rounds %d with --tile exhaustive; a search has rounds of its own", f.rounds)
	case f.cold && onCPU:
		return nil, usagef("--cold is for GPUs; want --device cuda:N or opencl:N with it")
	case changed("out") && f.out == "", changed("export") && f.export == "":
		return nil, usagef("--out and --export want the name of a file")
	case f.export != "" && len(p.suite.Matrices) != 1:
		return nil, usagef("--export writes one matrix, and there are %d; name one with --matrix", len(p.suite.Matrices))
	}
	return p, nil
}

func parseEpilogue(text string) (sddmm.Epilogue, error) {
	for _, e := range []sddmm.Epilogue{sddmm.Dot, sddmm.Scale, sddmm.Residual, sddmm.Quotient} {
		if e.String() == text {
			return e, nil
		}
	}
	return 0, usagef("--epilogue %q; want dot, scale, residual or quotient", text)
}

// searchedEvent is the JSON event after searches for tiles.
type searchedEvent struct {
	Event string `json:"event"` // "searched"
	record.Searched
}

// benchRun is a run of "sddmm bench".
type benchRun struct {
	*benchPlan
	a        *app
	bar      *progress
	table    *benchTable
	besides  *besideTable
	records  []record.Record
	round    int                   // from 1, or 0 where there is but one
	ceilings map[string]ceiling    // by type and threads
	devices  map[int]device.Device // by threads, once opened
	cusparse *cusparse.Library     // nil unless asked for and there
}

func runBench(ctx context.Context, a *app, p *benchPlan) error {
	if p.flags.out != "" {
		// A folder that is not there is an error before the work and not after it.
		if _, err := os.Stat(filepath.Dir(p.flags.out)); err != nil {
			return err
		}
	}
	r := &benchRun{benchPlan: p, a: a, bar: newProgress(a.err, false), table: &benchTable{a: a}, besides: &besideTable{a: a},
		ceilings: map[string]ceiling{}, devices: map[int]device.Device{}}
	defer r.bar.clear()
	err := r.all(ctx)
	err = errors.Join(err, r.close())
	r.bar.clear()
	if p.flags.out != "" && len(r.records) > 0 {
		// What was measured before a failure is as good as ever.
		if err := errors.Join(err, record.Write(p.flags.out, r.records)); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	r.table.end()
	r.besides.end()
	if s := record.SumUp(r.records); s.Cases > 0 {
		if a.json {
			a.emit(searchedEvent{"searched", s})
		} else {
			r.table.searched(s)
		}
	}
	if p.flags.rounds > 1 {
		printScalings(a, record.Scalings(r.records))
	}
	if p.suite.Name == "sweep" {
		printCliffs(a, record.Cliffs(r.records))
	}
	return nil
}

// all measures matrix after matrix.
func (r *benchRun) all(ctx context.Context) error {
	for _, source := range r.suite.Matrices {
		in32, err := loadFor[float32](ctx, r, source, len(r.in32) > 0)
		if err != nil {
			return err
		}
		peers := slices.Contains(r.peers, goPeers)
		in64, err := loadFor[float64](ctx, r, source, len(r.in64) > 0 || peers)
		if err != nil {
			return err
		}
		before := len(r.records)
		err = r.rounds(ctx, in32, in64, peers)
		if r.round > 0 && !r.a.json {
			r.bar.clear()
			for _, rec := range record.Pool(r.records[before:]) { // also of an interrupted run
				r.table.row(&rec)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rounds measures all cases on a matrix, in as many rounds as are asked for.
func (r *benchRun) rounds(ctx context.Context, in32 *bench.Matrix[float32], in64 *bench.Matrix[float64], peers bool) error {
	for round := range r.flags.rounds {
		if r.flags.rounds > 1 {
			r.round = round + 1
		}
		if err := measureMatrix(ctx, r, in32, r.in32); err != nil {
			return err
		}
		if err := measureMatrix(ctx, r, in64, r.in64); err != nil {
			return err
		}
		if peers {
			if err := measurePeers(ctx, r, in64); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadFor loads a matrix if it is wanted.
func loadFor[T sparse.Float](ctx context.Context, r *benchRun, source string, wanted bool) (*bench.Matrix[T], error) {
	if !wanted {
		return nil, nil
	}
	r.bar.busy("reading " + source)
	return loadBenchMatrix[T](ctx, r.flags, source)
}

// loadBenchMatrix reads or makes a matrix. Cells given more than once are added up.
func loadBenchMatrix[T sparse.Float](ctx context.Context, f *benchFlags, source string) (*bench.Matrix[T], error) {
	opt, err := f.readFlags.options()
	if err != nil {
		return nil, err
	}
	set, err := readSource[T](ctx, source, opt)
	if err != nil {
		return nil, err
	}
	if err := describable(set.COO.Rows, set.COO.Cols); err != nil {
		return nil, fmt.Errorf("%s: %w", set.Name, err)
	}
	s, err := sparse.FromCOO(set.COO, sparse.BuildOptions{Duplicates: sparse.SumDuplicates})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", set.Name, err)
	}
	return bench.NewMatrix(source, s)
}

// measureMatrix measures all cases on one matrix with one type of values, and A and B stored as each of types.
func measureMatrix[T sparse.Float](ctx context.Context, r *benchRun, m *bench.Matrix[T], types []string) error {
	if len(types) == 0 {
		return nil
	}
	for _, threads := range r.threads {
		dev, err := r.device(threads)
		if err != nil {
			return err
		}
		if err := measureOn(ctx, r, dev, m, types); err != nil {
			return err
		}
	}
	return nil
}

// device returns the device with a number of threads, which stays open until the end of the run, and opens the
// library of peers on it. A library that is not there is left out, with a note.
func (r *benchRun) device(threads int) (device.Device, error) {
	if dev, ok := r.devices[threads]; ok {
		return dev, nil
	}
	dev, err := backend.Open(r.flags.device, backend.Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	r.devices[threads] = dev
	if _, gpu := dev.(device.Launcher); gpu && r.flags.rounds > 1 { // of --device auto
		return nil, roundsOnGPU(r.flags.rounds)
	}
	if slices.Contains(r.peers, cusparsePeers) {
		if r.cusparse, err = cusparse.Open(dev); err != nil {
			r.bar.clear()
			r.a.notef("cusparse is left out: %v", err)
		}
	}
	return dev, nil
}

func roundsOnGPU(rounds int) error {
	return usagef("--rounds %d is for CPUs; on a GPU take --samples or --seconds, or --device cpu", rounds)
}

// close closes what device opened.
func (r *benchRun) close() error {
	var errs []error
	if r.cusparse != nil {
		errs = append(errs, r.cusparse.Close())
	}
	for _, dev := range r.devices {
		errs = append(errs, dev.Close())
	}
	return errors.Join(errs...)
}

// measureOn measures all cases on one device, and on a GPU the peers there.
func measureOn[T sparse.Float](ctx context.Context, r *benchRun, dev device.Device, m *bench.Matrix[T], types []string) error {
	opt := r.opt
	if err := prepare[T](ctx, r, dev, &opt); err != nil {
		return err
	}
	s, err := bench.NewSession(dev, m, opt)
	if err != nil {
		return err
	}
	var peers []bench.DevicePeer[T]
	if r.cusparse != nil {
		peers = append(peers, cusparse.Peer[T](r.cusparse))
	}
	_, gpu := dev.(device.Launcher)
	for _, stored := range types {
		if stored != "" {
			peers = nil
		}
		for _, c := range r.cases {
			c.Stored = stored
			r.busy(fmt.Sprintf("%s of %s, K = %d", c.Op, m.Name, c.K))
			records, failed, err := s.RunBeside(ctx, c, peers...)
			if err != nil {
				return errors.Join(err, s.Close())
			}
			r.bar.clear()
			for _, err := range failed {
				r.a.notef("%v", err)
			}
			r.add(!gpu, records...)
			if gpu {
				r.besides.rows(record.PairUp(r.records[len(r.records)-len(records):]))
			}
		}
	}
	return s.Close()
}

// ceiling is what is measured of a device before anything else.
type ceiling struct {
	roofline bench.Roofline
	machine  *model.Machine
}

// prepare measures the ceilings of a device, once, and notes them in the options.
func prepare[T sparse.Float](ctx context.Context, r *benchRun, dev device.Device, opt *bench.Options) error {
	if !r.flags.roofline {
		return nil
	}
	_, gpu := dev.(device.Launcher)
	key := fmt.Sprintf("%T on %s", T(0), threadCount(dev.Props().Threads))
	if gpu {
		key = dev.Name()
	}
	c, ok := r.ceilings[key]
	if !ok {
		r.bar.busy("measuring the ceilings of " + key)
		var err error
		if c.roofline, err = bench.MeasureRoofline[T](ctx, dev); err != nil {
			return err
		}
		r.bar.clear()
		if gpu {
			r.besides.ceilings(dev, c.roofline, r.cusparse)
		} else if c.machine, err = bench.Machine(ctx, dev); err != nil {
			return err
		} else {
			r.table.ceilings(key, c.roofline)
		}
		r.ceilings[key] = c
	}
	opt.Roofline, opt.Machine = c.roofline, c.machine
	return nil
}

// busy says what is measured.
func (r *benchRun) busy(what string) {
	if r.round > 0 {
		what = fmt.Sprintf("round %d of %d: %s", r.round, r.flags.rounds, what)
	}
	r.bar.busy(what)
}

// add reports records, in the table too if they are to have a row each, and keeps them. Those of rounds have a row
// together when all of them have come.
func (r *benchRun) add(row bool, records ...*record.Record) {
	r.bar.clear()
	for _, rec := range records {
		rec.Round = r.round
		r.records = append(r.records, *rec)
		switch {
		case r.a.json:
			r.a.emit(rec)
		case row && r.round == 0:
			r.table.row(rec)
		}
	}
}

// measurePeers measures the peers of Go on one matrix, each case once for every number of threads.
func measurePeers(ctx context.Context, r *benchRun, m *bench.Matrix[float64]) error {
	for _, threads := range r.threads {
		dev, err := backend.Open("cpu", backend.Options{Threads: threads})
		if err != nil {
			return err
		}
		err = measurePeersOn(ctx, r, dev, m, threads == r.threads[0])
		if err = errors.Join(err, dev.Close()); err != nil {
			return err
		}
	}
	return nil
}

func measurePeersOn(ctx context.Context, r *benchRun, dev device.Device, m *bench.Matrix[float64], first bool) error {
	opt := r.opt
	if err := prepare[float64](ctx, r, dev, &opt); err != nil {
		return err
	}
	props := dev.Props()
	for _, c := range r.cases {
		for _, peer := range bench.Peers(c.Op) {
			if peer == bench.Bowman && !first {
				continue // it has one thread
			}
			r.busy(fmt.Sprintf("%s: %s of %s, K = %d", peer, c.Op, m.Name, c.K))
			rec, err := bench.RunPeer(ctx, peer, props.Threads, props.MemoryBytes, m, c, opt)
			var skipped *bench.SkipError
			if errors.As(err, &skipped) {
				r.bar.clear()
				r.a.notef("%s of %s with K = %d: %v", c.Op, m.Name, c.K, skipped)
				continue
			}
			if err != nil {
				return err
			}
			rec.Props = &props
			r.add(true, rec)
		}
	}
	return nil
}

// exportedEvent is the JSON event of an export.
type exportedEvent struct {
	Event    string `json:"event"` // "exported"
	Matrix   string `json:"matrix"`
	DataHash string `json:"data_hash"`
	To       string `json:"to"`
	Bytes    int64  `json:"bytes"`
}

func exportMatrix(ctx context.Context, a *app, p *benchPlan) error {
	m, err := loadBenchMatrix[float32](ctx, p.flags, p.suite.Matrices[0])
	if err != nil {
		return err
	}
	if err := bench.Export(p.flags.export, m, p.flags.seed); err != nil {
		return err
	}
	e := exportedEvent{Event: "exported", Matrix: m.Name, DataHash: m.Hash, To: p.flags.export, Bytes: fileSize(p.flags.export)}
	if a.json {
		a.emit(e)
		return nil
	}
	a.printf("wrote %s to %s: %s\n", printable(e.Matrix), printable(e.To), byteSize(e.Bytes))
	return nil
}
