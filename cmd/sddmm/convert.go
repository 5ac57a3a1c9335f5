package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sddmmkit/dataset"
	"sddmmkit/sparse"
)

// convertFlags are the flags of "sddmm convert".
type convertFlags struct {
	readFlags
	duplicates string
	precision  int
	force      bool
}

func (a *app) convertCommand() *cobra.Command {
	var f convertFlags
	cmd := &cobra.Command{
		Use:   "convert IN OUT [flags]",
		Short: "Convert a matrix from any format, or a spec, to another format",
		Long: `convert reads a matrix from a file, or makes that of a spec, and writes it in the format that the
name of OUT says: .mtx, .csv or .tsv (each also with .gz or .zst), .npz, .parquet.

Ids and times are kept where the format has room for them: .csv, .tsv, .npz and .parquet, but not .mtx.
OUT is complete or absent; a file that stands there is replaced only with --force.`,
		Example: `  sddmm convert ratings.csv ratings.parquet
  sddmm convert docword.kos.txt.gz kos.mtx.zst
  sddmm convert log.tsv plays.npz --duplicates sum
  sddmm convert zipf:100kx20k:5M:1.1 big.npz`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt, err := f.check(args[0], args[1])
			if err != nil {
				return err
			}
			if f.precision == 32 {
				return convert[float32](cmd.Context(), a, &f, args[0], args[1], opt)
			}
			return convert[float64](cmd.Context(), a, &f, args[0], args[1], opt)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.readFlags.register(flags)
	flags.StringVar(&f.duplicates, "duplicates", "keep", "a cell given more than once: keep, error, sum or last")
	flags.IntVar(&f.precision, "precision", 64, "bits of the values, 32 or 64")
	flags.BoolVar(&f.force, "force", false, "replace OUT when it exists")
	return cmd
}

// outputs are the endings of names that dataset.WriteFile knows.
var outputs = []string{".mtx", ".mtx.gz", ".mtx.zst", ".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst", ".npz", ".parquet"}

func (f *convertFlags) check(in, out string) (dataset.Options, error) {
	opt, err := f.readFlags.options()
	if err != nil {
		return opt, err
	}
	if err := checkSource("IN", in); err != nil {
		return opt, err
	}
	if f.duplicates != "keep" {
		if _, err := parseDuplicates(f.duplicates); err != nil {
			return opt, usagef("--duplicates %q; want keep, error, sum or last", f.duplicates)
		}
	}
	if f.precision != 32 && f.precision != 64 {
		return opt, usagef("--precision %d; want 32 or 64", f.precision)
	}
	known := false
	for _, ext := range outputs {
		known = known || strings.HasSuffix(strings.ToLower(out), ext)
	}
	if !known {
		return opt, usagef("OUT %q: the ending says the format; want %s", out, strings.Join(outputs, ", "))
	}
	return opt, nil
}

// convertedEvent is the JSON event of a conversion.
type convertedEvent struct {
	Event        string  `json:"event"` // "done"
	Command      string  `json:"command"`
	From         string  `json:"from"`
	Format       string  `json:"format"`
	To           string  `json:"to"`
	Rows         int     `json:"rows"`
	Cols         int     `json:"cols"`
	NNZ          int64   `json:"nnz"`
	Merged       int64   `json:"merged"`
	BytesIn      int64   `json:"bytes_in"` // 0 for a spec
	BytesOut     int64   `json:"bytes_out"`
	ReadSeconds  float64 `json:"read_seconds"`
	WriteSeconds float64 `json:"write_seconds"`
}

func convert[T sparse.Float](ctx context.Context, a *app, f *convertFlags, in, out string, opt dataset.Options) error {
	if _, err := os.Lstat(out); err == nil && !f.force {
		return fmt.Errorf("%s exists; give --force to replace it", out)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A folder that is not there is an error before the work and not after it.
	if _, err := os.Stat(filepath.Dir(out)); err != nil {
		return err
	}
	bar := newProgress(a.err, false)
	defer bar.clear()
	bar.busy("reading " + in)
	start := time.Now()
	set, err := readSource[T](ctx, in, opt)
	if err != nil {
		return err
	}
	e := convertedEvent{Event: "done", Command: "convert", From: in, Format: string(set.Format), To: out}
	if f.duplicates != "keep" {
		dup, err := parseDuplicates(f.duplicates)
		if err != nil {
			return err
		}
		if set, e.Merged, err = set.Merge(dup, f.threads); err != nil {
			return err
		}
	}
	e.ReadSeconds = time.Since(start).Seconds()
	if err := ctx.Err(); err != nil {
		return err
	}
	bar.busy("writing " + out)
	start = time.Now()
	if err := dataset.WriteFile(out, set); err != nil {
		return err
	}
	e.WriteSeconds = time.Since(start).Seconds()
	bar.clear()
	e.Rows, e.Cols, e.NNZ = set.COO.Rows, set.COO.Cols, set.COO.NNZ()
	e.BytesIn, e.BytesOut = fileSize(in), fileSize(out)
	if a.json {
		a.emit(e)
		return nil
	}
	a.printf("%s (%s): %s × %s, %s entries", printable(in), e.Format, count(e.Rows), count(e.Cols), count(e.NNZ))
	if e.Merged > 0 {
		a.printf(", %s duplicates merged", count(e.Merged))
	}
	a.printf("\nread  %s\nwrote %s to %s\n", speed(e.BytesIn, e.NNZ, e.ReadSeconds), speed(e.BytesOut, e.NNZ, e.WriteSeconds), printable(out))
	return nil
}

// fileSize returns the size of a file, 0 when there is none.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// speed says how much was moved in what time.
func speed(bytes, nnz int64, seconds float64) string {
	rate := fmt.Sprintf("%.3g M entries/s", float64(nnz)/seconds/1e6)
	if bytes == 0 {
		return fmt.Sprintf("%.2f s, %s", seconds, rate)
	}
	return fmt.Sprintf("%s in %.2f s, %.3g MB/s, %s", byteSize(bytes), seconds, float64(bytes)/seconds/1e6, rate)
}
