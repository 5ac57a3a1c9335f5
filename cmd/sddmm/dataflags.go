package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"sddmmkit/dataset"
	"sddmmkit/sparse"
)

// dataFlags say what a solver is trained and tested on.
type dataFlags struct {
	readFlags
	train, test string
	split       float64
	splitBy     string
	validation  float64
	duplicates  string
}

const defaultSplit = 0.1 // of the built-in set

func (f *dataFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.train, "train", "", "training matrix, a file or a spec (default: a built-in set of ratings)")
	flags.StringVar(&f.test, "test", "", "test matrix, a file with the ids of --train")
	flags.Float64Var(&f.split, "split", 0, "fraction of --train to take away for testing (built-in set: 0.1)")
	flags.StringVar(&f.splitBy, "split-by", "random", "what to take away: random entries, the latest in time, or leave:N, N random ones of every user")
	flags.Float64Var(&f.validation, "validation", 0, "fraction of what is left for training to take away for validation after every iteration")
	flags.StringVar(&f.duplicates, "duplicates", "", "a cell given more than once: error, sum or last (default: last, for implicit feedback sum)")
	f.readFlags.register(flags)
}

// split is what becomes of the training matrix.
type split struct {
	by       string  // "", "random", "time", "leave"
	fraction float64 // random, time
	leave    int     // leave
}

func (s split) String() string {
	switch s.by {
	case "leave":
		return "leave:" + strconv.Itoa(s.leave)
	case "":
		return "none"
	}
	return s.by + " " + strconv.FormatFloat(s.fraction, 'g', -1, 64)
}

// plan is the checked form of dataFlags.
type plan struct {
	source, test string
	split        split
	validation   float64
	duplicates   sparse.Duplicates
	read         dataset.Options
}

// parse checks the flags. changed says whether a flag was given.
func (f *dataFlags) parse(changed func(string) bool, implicit bool) (plan, error) {
	p := plan{source: f.train, test: f.test, validation: f.validation}
	var err error
	if p.read, err = f.readFlags.options(); err != nil {
		return p, err
	}
	if err := checkSource("--train", f.train); err != nil {
		return p, err
	}
	if err := checkSource("--test", f.test); err != nil {
		return p, err
	}
	fraction := func(flag string, v float64) error {
		if changed(flag) && !(v > 0 && v < 1) {
			return usagef("--%s %v; want a fraction between 0 and 1", flag, v)
		}
		return nil
	}
	if err := fraction("split", f.split); err != nil {
		return p, err
	}
	if err := fraction("validation", f.validation); err != nil {
		return p, err
	}
	if p.duplicates = sparse.LastDuplicate; implicit {
		p.duplicates = sparse.SumDuplicates
	}
	if f.duplicates != "" {
		if p.duplicates, err = parseDuplicates(f.duplicates); err != nil {
			return p, err
		}
	}
	if f.test != "" && f.train == "" {
		return p, usagef("--test needs --train")
	}
	if f.test != "" && (changed("split") || changed("split-by")) {
		return p, usagef("--test and --split both say what to test on; leave one out")
	}
	p.split, err = f.parseSplit(changed)
	return p, err
}

func (f *dataFlags) parseSplit(changed func(string) bool) (split, error) {
	s := split{by: f.splitBy, fraction: f.split}
	left, leave := strings.CutPrefix(f.splitBy, "leave:")
	switch {
	case leave:
		n, err := strconv.Atoi(left)
		if err != nil || n < 1 || n > math.MaxInt32 {
			return s, usagef("--split-by %q; want leave:N with N at least 1", f.splitBy)
		}
		if changed("split") {
			return s, usagef("--split-by %s takes a number and not --split %v; leave one out", f.splitBy, f.split)
		}
		return split{by: "leave", leave: n}, nil
	case f.splitBy != "random" && f.splitBy != "time":
		return s, usagef("--split-by %q; want random, time or leave:N", f.splitBy)
	case changed("split"):
		return s, nil
	case changed("split-by"):
		return s, usagef("--split-by %s needs --split FRACTION", f.splitBy)
	case f.train == "":
		s.fraction = defaultSplit
		return s, nil
	}
	return split{}, nil
}
