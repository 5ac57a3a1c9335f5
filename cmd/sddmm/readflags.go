package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"sddmmkit/dataset"
	"sddmmkit/sparse"
)

// readFlags say how a file is read.
type readFlags struct {
	format    string
	columns   string
	header    string
	symmetric bool
	threads   int
}

func (f *readFlags) register(flags *pflag.FlagSet) {
	f.registerFile(flags)
	f.registerThreads(flags)
}

// registerFile registers what a file is, and not how many threads read it.
func (f *readFlags) registerFile(flags *pflag.FlagSet) {
	flags.StringVar(&f.format, "format", "auto", "format of the file: auto, or one of "+strings.Join(formatNames(), ", "))
	flags.StringVar(&f.columns, "columns", "", `columns of ratings by name or position from 0: user=NAME,item=NAME,rating=NAME,time=NAME; "-" for none`)
	flags.StringVar(&f.header, "header", "auto", "whether the first line of ratings names the columns: auto, yes or no")
	flags.BoolVar(&f.symmetric, "symmetric", false, "store each edge of an edge list in both directions")
}

func (f *readFlags) registerThreads(flags *pflag.FlagSet) {
	flags.IntVar(&f.threads, "threads", 0, "CPU threads, 0 for all; results do not depend on it")
}

// options turns the flags into what dataset.Read takes.
func (f *readFlags) options() (dataset.Options, error) {
	o := dataset.Options{Threads: f.threads, Symmetric: f.symmetric}
	if f.threads < 0 {
		return o, usagef("--threads %d; want 0 (all) or more", f.threads)
	}
	if f.format != "" && f.format != string(dataset.Auto) {
		if !slices.Contains(formatNames(), f.format) {
			return o, usagef("--format %q; want auto or one of %s", f.format, strings.Join(formatNames(), ", "))
		}
		o.Format = dataset.Format(f.format)
	}
	switch f.header {
	case "", "auto":
	case "yes":
		o.Header = dataset.HeaderPresent
	case "no":
		o.Header = dataset.HeaderAbsent
	default:
		return o, usagef("--header %q; want auto, yes or no", f.header)
	}
	return o, parseColumns(f.columns, &o.Columns)
}

func formatNames() []string {
	formats := []dataset.Format{dataset.MatrixMarket, dataset.Ratings, dataset.Edges, dataset.Docword, dataset.SVMlight,
		dataset.LDAC, dataset.Adjacency, dataset.SMTX, dataset.NPZ, dataset.Parquet}
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return names
}

// parseColumns reads user=a,item=b,rating=c,time=d.
func parseColumns(text string, c *dataset.Columns) error {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		role, name, ok := strings.Cut(part, "=")
		var to *string
		switch strings.TrimSpace(role) {
		case "user":
			to = &c.User
		case "item":
			to = &c.Item
		case "rating":
			to = &c.Rating
		case "time":
			to = &c.Time
		}
		if name = strings.TrimSpace(name); !ok || to == nil || name == "" {
			return usagef("--columns %q: %q is not user=NAME, item=NAME, rating=NAME or time=NAME", text, part)
		}
		*to = name
	}
	return nil
}

// parseDuplicates reads the value of --duplicates.
func parseDuplicates(text string) (sparse.Duplicates, error) {
	switch text {
	case "error":
		return sparse.ErrorOnDuplicates, nil
	case "sum":
		return sparse.SumDuplicates, nil
	case "last":
		return sparse.LastDuplicate, nil
	}
	return 0, usagef("--duplicates %q; want error, sum or last", text)
}
