package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"sddmmkit/device"
	"sddmmkit/factors"
	"sddmmkit/internal/atomicfile"
	"sddmmkit/sparse"
)

// The files of a run.
const (
	modelFile   = "model.npz"
	metricsFile = "metrics.json"
)

// runDir is the directory of --out.
type runDir struct {
	path string
	made []string // directories that were made for it, the deepest first
}

// openRunDir makes the directory and checks that files can be written there.
func openRunDir(path string) (*runDir, error) {
	d := &runDir{path: path}
	for p := filepath.Clean(path); ; p = filepath.Dir(p) {
		if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) || p == filepath.Dir(p) {
			break
		}
		d.made = append(d.made, p)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		d.close()
		return nil, fmt.Errorf("--out: %w; name a directory that can be written to", err)
	}
	f, err := os.CreateTemp(path, ".writable-*")
	if err != nil {
		d.close()
		return nil, fmt.Errorf("--out: %w; name a directory that can be written to", err)
	}
	return d, errors.Join(f.Close(), os.Remove(f.Name()))
}

// close removes directories that were made and into which nothing was written.
func (d *runDir) close() {
	for _, p := range d.made {
		if os.Remove(p) != nil {
			return // not empty
		}
	}
}

func (d *runDir) modelPath() string   { return filepath.Join(d.path, modelFile) }
func (d *runDir) metricsPath() string { return filepath.Join(d.path, metricsFile) }

// runRecord is what metrics.json holds.
type runRecord struct {
	Version    string            `json:"version"`
	Started    string            `json:"started"` // RFC 3339
	Algo       string            `json:"algo"`
	Options    map[string]string `json:"options"` // flags and their values
	Device     device.Props      `json:"device"`
	Data       dataEvent         `json:"data"`
	Iterations []iterationEvent  `json:"iterations"`
	Result     doneEvent         `json:"result"`
}

// saveRun writes model and record. The record of an earlier run in the same directory goes first,
// so that a record never stands beside a model it is not of.
func saveRun[T sparse.Float](d *runDir, m *factors.Model[T], record runRecord) error {
	fail := func(err error) error {
		return fmt.Errorf("the trained model could not be saved to %s: %w", d.path, err)
	}
	text, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return fail(err)
	}
	if err := os.Remove(d.metricsPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	if err := m.Save(d.modelPath()); err != nil {
		return fail(err)
	}
	err = atomicfile.Write(d.metricsPath(), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("the model was saved to %s, its metrics could not be: %w", d.modelPath(), err)
	}
	return nil
}

// setMeta adds to a model what it should remember beside the solver's options.
func setMeta[T sparse.Float](m *factors.Model[T], data string, done doneEvent) {
	if m.Meta == nil {
		m.Meta = map[string]string{}
	}
	m.Meta["data"] = printable(data)
	m.Meta["iterations"] = strconv.Itoa(done.Iterations)
	m.Meta["version"] = version()
	if done.TestRMSE.known() {
		m.Meta["test_rmse"] = strconv.FormatFloat(float64(done.TestRMSE), 'g', -1, 64)
	}
}
