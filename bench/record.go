package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"sddmmkit/device"
	"sddmmkit/internal/atomicfile"
)

// What the caches hold when a call begins: what the call before it left, with the same operands or with others.
const (
	Warm = "warm"
	Cold = "cold"
)

// Own is the implementation that this module is, in records.
const Own = "sddmmkit"

// Record is one measurement. As JSON it is one object on one line.
type Record struct {
	Event          string `json:"event"` // "result"
	Implementation string `json:"implementation"`
	Version        string `json:"version,omitempty"` // of a peer's library
	Op             Op     `json:"op"`
	Epilogue       string `json:"epilogue,omitempty"`
	Matrix         string `json:"matrix"`
	Rows           int    `json:"rows"`
	Cols           int    `json:"cols"`
	NNZ            int64  `json:"nnz"`
	DataHash       string `json:"data_hash"` // of the pattern
	Seed           uint64 `json:"seed"`      // of the dense operands
	K              int    `json:"k"`
	Type           string `json:"type"` // float32, float64; bfloat16, float16: Case.Stored
	Device         string `json:"device"`
	Threads        int    `json:"threads"`             // 0 where the device has none
	Tile           string `json:"tile"`                // in use: none, or TixTjxTk with 0 for all
	TileBy         TileBy `json:"tile_by"`             // what chose it: none, model, exhaustive or given
	Algorithm      string `json:"algorithm,omitempty"` // of a peer that has several
	Kernel         string `json:"kernel,omitempty"`    // of ours on a GPU
	Cache          string `json:"cache"`               // warm or cold, see Options.Cold
	OperandSets    int    `json:"operand_sets"`        // that calls go to in turn

	GFLOPS           float64  `json:"gflops"`
	GBPerSecond      float64  `json:"gb_per_s"`                   // of Bytes
	RooflineShare    *float64 `json:"roofline_share"`             // RooflineSeconds over the median
	RooflineSeconds  *float64 `json:"roofline_seconds,omitempty"` // the least time by what was measured of the machine
	RooflineLimit    string   `json:"roofline_limit,omitempty"`   // flops, gather, or a level of memory
	GatherSeconds    *float64 `json:"gather_seconds,omitempty"`   // in which the device did nothing but gather the rows of B (GPU)
	GatherShare      *float64 `json:"gather_share,omitempty"`     // GatherSeconds over the median
	PredictedSeconds *float64 `json:"predicted_seconds"`          // by the model, for this tile

	Search *Search `json:"search,omitempty"` // where the tile was searched for

	Summary
	Samples        int       `json:"samples"`
	Warmups        int       `json:"warmups"`
	CallsPerSample int       `json:"calls_per_sample"`
	Timing         string    `json:"timing"`  // host or device events
	Seconds        []float64 `json:"seconds"` // per call, a sample each

	Accuracy
	Counts

	Props  *device.Props `json:"device_props,omitempty"`
	Commit string        `json:"commit"`
	Go     string        `json:"go,omitempty"`
	Time   time.Time     `json:"time"`
}

// fill completes a record from its samples, before which there were so many calls besides the warm-ups, and
// says what built and ran it.
func (r *Record) fill(t timed, calls int, clock string) {
	r.Event = "result"
	r.Seconds, r.CallsPerSample, r.Timing, r.Warmups = t.samples, t.calls, clock, t.warmups+calls
	r.summarize()
	r.Commit, r.Go, r.Time = commit(), runtime.Version(), time.Now().UTC().Truncate(time.Second)
}

// summarize fills in what follows from the samples.
func (r *Record) summarize() {
	r.Samples, r.Summary = len(r.Seconds), Summarize(r.Seconds)
	r.GFLOPS = float64(r.Flops) / r.Median / 1e9
	r.GBPerSecond = float64(r.Bytes) / r.Median / 1e9
	if r.RooflineSeconds != nil {
		share := *r.RooflineSeconds / r.Median
		r.RooflineShare = &share
	}
	if r.GatherSeconds != nil {
		share := *r.GatherSeconds / r.Median
		r.GatherShare = &share
	}
}

// add adds the samples of another measurement of the same.
func (r *Record) add(other *Record) {
	r.Seconds = append(r.Seconds, other.Seconds...)
	r.Warmups += other.Warmups
	r.summarize()
}

// commit is the version that was built: the commit where the build knows it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return revision + dirty
}

// Write writes records to a file, an object a line. The file is complete or absent.
func Write(path string, records []Record) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for i := range records {
			if err := e.Encode(&records[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxLine is the longest line of a file of records.
const maxLine = 16 << 20

// Read reads records from a file: those that Write wrote, or the standard output of
// "sddmm bench --json", whose other events are passed over. The error names file and line.
func Read(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(path, f)
}

func read(name string, r io.Reader) ([]Record, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	var out []Record
	line := 0
	for in.Scan() {
		line++
		text := bytes.TrimSpace(in.Bytes())
		if len(text) == 0 {
			continue
		}
		var kind struct {
			Event string `json:"event"`
		}
		if err := json.Unmarshal(text, &kind); err != nil {
			return nil, fmt.Errorf("%s:%d: %v; want a JSON object as sddmm bench --json and --out write", name, line, err)
		}
		if kind.Event != "result" {
			continue
		}
		var rec Record
		if err := json.Unmarshal(text, &rec); err != nil {
			return nil, fmt.Errorf("%s:%d: %v; want a record of sddmm bench", name, line, err)
		}
		if err := rec.check(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		out = append(out, rec)
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s:%d: a line of more than %d bytes; want a record of sddmm bench on each line", name, line+1, maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no results; want what sddmm bench --json or --out writes", name)
	}
	return out, nil
}

// check says what is wrong with a record that was read.
func (r *Record) check() error {
	if r.Op == "" || r.Matrix == "" || r.K < 1 || r.NNZ < 0 {
		return fmt.Errorf("op %q, matrix %q, k %d, nnz %d; want all of them", r.Op, r.Matrix, r.K, r.NNZ)
	}
	if len(r.Seconds) == 0 {
		return errors.New("no samples (seconds); want at least one")
	}
	for i, s := range r.Seconds {
		if !(s > 0) || math.IsInf(s, 0) {
			return fmt.Errorf("sample %d is %v seconds; want positive numbers", i, s)
		}
	}
	return nil
}
