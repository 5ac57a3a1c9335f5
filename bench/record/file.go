package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"sddmmkit/internal/atomicfile"
)

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
		if err := rec.Check(); err != nil {
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

// Check says what is wrong with a record: an operation, matrix, K or sample that is missing or cannot be.
func (r *Record) Check() error {
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
