package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sddmmkit/backend"
	"sddmmkit/dataset"
	"sddmmkit/device"
	"sddmmkit/sparse"
)

// infoFlags are the flags of "sddmm info".
type infoFlags struct {
	readFlags
	matrix string
	ks     []int
	typ    string
	device string
}

// elemBytes returns the size of an element of --type.
func (f *infoFlags) elemBytes() (int, error) {
	switch f.typ {
	case "float32":
		return 4, nil
	case "float64":
		return 8, nil
	}
	return 0, usagef("--type %q; want float32 or float64", f.typ)
}

func (a *app) infoCommand() *cobra.Command {
	var f infoFlags
	cmd := &cobra.Command{
		Use:   "info [--matrix FILE|SPEC] [flags]",
		Short: "Describe a matrix, or this machine",
		Long: `info describes a matrix: shape, non-zeros, and how they are spread over rows and columns. Without a
matrix it describes this machine: processor, caches, memory, devices, and the build.

With --k it says how SDDMM and SpMM would be tiled with that many columns of the dense matrices, of elements of --type:
the tile that the model chooses, the seconds and the traffic it predicts, and why.`,
		Example: `  sddmm info
  sddmm info --matrix ratings.csv
  sddmm info --matrix rmat:16:1M --json
  sddmm info --matrix uniform:131kx131k:5M --k 32,128 --device cpu
  sddmm info --matrix uniform:8192x8192:2M --k 256 --type float64`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opt, err := f.readFlags.options()
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("matrix") {
				if cmd.Flags().Changed("k") {
					return usagef("--k says how a matrix would be tiled; add --matrix FILE")
				}
				return machineInfo(a, f.threads)
			}
			if f.matrix == "" {
				return usagef("--matrix is empty; want a file or a spec")
			}
			if err := checkSource("--matrix", f.matrix); err != nil {
				return err
			}
			for _, k := range f.ks {
				if k < 1 {
					return usagef("--k %d; want at least 1", k)
				}
			}
			if _, err := f.elemBytes(); err != nil {
				return err
			}
			return matrixInfo(cmd.Context(), a, &f, opt)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.matrix, "matrix", "", "a file or a spec")
	flags.IntSliceVar(&f.ks, "k", nil, "say how the matrix would be tiled for these K")
	flags.StringVar(&f.typ, "type", "float32", "element type that --k is about: float32 or float64")
	flags.StringVar(&f.device, "device", "auto", "the device that --k is about")
	f.readFlags.register(flags)
	return cmd
}

// matrixEvent is the JSON event of a matrix.
type matrixEvent struct {
	Event      string  `json:"event"` // "matrix"
	Name       string  `json:"name"`
	Format     string  `json:"format"`
	Duplicates int64   `json:"duplicates"` // entries beyond the first of a cell; not in nnz
	Names      bool    `json:"names"`      // rows and columns have names
	Times      bool    `json:"times"`
	Low        number  `json:"low"` // values
	High       number  `json:"high"`
	Mean       number  `json:"mean"`
	Seconds    float64 `json:"seconds"`
	sparse.Stats
	RowHistogram []bin `json:"row_histogram"`
	ColHistogram []bin `json:"col_histogram"`
}

func matrixInfo(ctx context.Context, a *app, f *infoFlags, opt dataset.Options) error {
	source := f.matrix
	bar := newProgress(a.err, false)
	defer bar.clear()
	bar.busy("reading " + source)
	start := time.Now()
	set, err := readSource[float64](ctx, source, opt)
	if err != nil {
		return err
	}
	if err := describable(set.COO.Rows, set.COO.Cols); err != nil {
		return fmt.Errorf("%s: %w", set.Name, err)
	}
	// The values of duplicates do not matter for the structure; counting them does.
	m, err := sparse.FromCOO(set.COO, sparse.BuildOptions{Duplicates: sparse.SumDuplicates, Threads: opt.Threads})
	if err != nil {
		return err
	}
	e := matrixEvent{Event: "matrix", Name: set.Name, Format: string(set.Format), Duplicates: set.COO.NNZ() - m.NNZ(),
		Names: set.Rows != nil, Times: set.Time != nil, Low: unknown, High: unknown, Mean: unknown,
		Stats: sparse.Summarize(&m.Pattern), RowHistogram: histogram(rowCounts(&m.Pattern)), ColHistogram: histogram(colCounts(&m.Pattern))}
	if v := set.COO.Val; len(v) > 0 {
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		e.Low, e.High, e.Mean = number(slices.Min(v)), number(slices.Max(v)), number(sum/float64(len(v)))
	}
	e.Seconds = time.Since(start).Seconds()
	bar.clear()
	if a.json {
		a.emit(e)
		return explainTiles(ctx, a, f, &m.Pattern)
	}
	a.printf("%s (%s)\n%v\n", printable(e.Name), e.Format, e.Stats)
	a.printf("values:     %s to %s, mean %s\n", e.Low.format("%.6g"), e.High.format("%.6g"), e.Mean.format("%.6g"))
	if e.Duplicates > 0 {
		a.printf("duplicates: %s entries repeat a cell and are counted once\n", count(e.Duplicates))
	}
	var has []string
	if e.Names {
		has = append(has, "names of rows and columns")
	}
	if e.Times {
		has = append(has, "times")
	}
	if len(has) > 0 {
		a.printf("has         %s\n", strings.Join(has, ", "))
	}
	a.printf("\nrows by non-zeros\n%s\ncolumns by non-zeros\n%s", drawHistogram(e.RowHistogram), drawHistogram(e.ColHistogram))
	return explainTiles(ctx, a, f, &m.Pattern)
}

// describable reports a shape whose counts per row and column do not fit the memory.
func describable(rows, cols int) error {
	dev, err := backend.Open("cpu", backend.Options{})
	if err != nil {
		return err
	}
	defer dev.Close()
	need, memory := 24*(int64(rows)+int64(cols)), dev.Props().MemoryBytes
	if memory > 0 && need > memory {
		return fmt.Errorf("counting the non-zeros of %s rows and %s columns needs %s of memory, and there are %s", count(rows), count(cols), byteSize(need), byteSize(memory))
	}
	return nil
}

// machineEvent is the JSON event of this machine.
type machineEvent struct {
	Event   string         `json:"event"` // "machine"
	Version string         `json:"version"`
	Devices []device.Props `json:"devices"`
	Broken  []brokenDevice `json:"broken,omitempty"`
}

// brokenDevice is a device that a driver lists and that does not open.
type brokenDevice struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// telling are the processor features that kernels choose by.
var telling = []string{"SSE4.2", "AVX", "F16C", "FMA3", "AVX2", "AVX512F", "AVX512DQ", "AVX512BW", "AVX512VL", "AVX512VNNI", "AVX512BF16", "AVX512FP16", "AMXTILE", "ASIMD", "SVE", "SVE2"}

func machineInfo(a *app, threads int) error {
	open := func(name string) (device.Device, error) {
		return backend.Open(name, backend.Options{Threads: threads})
	}
	return reportMachine(a, backend.Names(), open)
}

// reportMachine describes the devices with the given names. One that does not open is no reason not to speak of the others.
func reportMachine(a *app, names []string, open func(string) (device.Device, error)) error {
	e := machineEvent{Event: "machine", Version: version()}
	for _, name := range names {
		dev, err := open(name)
		if err != nil {
			e.Broken = append(e.Broken, brokenDevice{name, err.Error()})
			continue
		}
		e.Devices = append(e.Devices, dev.Props())
		if err := dev.Close(); err != nil {
			return err
		}
	}
	if a.json {
		a.emit(e)
		return nil
	}
	a.printf("sddmm %s\n", e.Version)
	for _, p := range e.Devices {
		a.printf("\n%s", describeDevice(p))
	}
	for _, b := range e.Broken {
		a.printf("\ndevice %s\n  does not open: %s\n", b.Name, printable(b.Error))
	}
	return nil
}

// describeDevice says what is known of a device, a line each.
func describeDevice(p device.Props) string {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "  %-9s %s\n", label, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&b, "device %s\n", p.Name)
	if p.Model != "" {
		line("model", "%s (%s)", printable(p.Model), p.Architecture)
	} else {
		line("model", "unknown %s", p.Architecture)
	}
	if p.Threads > 0 {
		line("threads", "%d of %d", p.Threads, p.Units)
	} else {
		line("units", "%d", p.Units)
	}
	if p.MemoryBytes > 0 {
		line("memory", "%s", byteSize(p.MemoryBytes))
	}
	var caches []string
	for _, c := range []struct {
		name  string
		bytes int64
	}{{"L1", p.L1Bytes}, {"L2", p.L2Bytes}, {"L3", p.L3Bytes}} {
		if c.bytes > 0 {
			caches = append(caches, c.name+" "+byteSize(c.bytes))
		}
	}
	if len(caches) > 0 {
		line("caches", "%s; lines of %d B", strings.Join(caches, ", "), p.LineBytes)
	}
	var features []string
	for _, f := range telling {
		if slices.Contains(p.Features, f) {
			features = append(features, f)
		}
	}
	if len(features) > 0 {
		line("features", "%s", strings.Join(features, " "))
	}
	return b.String()
}
