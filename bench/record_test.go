package bench

import (
	"path/filepath"
	"reflect"
	"testing"

	"sddmmkit/bench/record"
	"sddmmkit/device/cpu"
)

// What runs record is read as it was written.
func TestWriteRead(t *testing.T) {
	m := random[float32](t, 40, 30)
	var records []record.Record
	for _, c := range allCases(4) {
		rec, err := Run(ctxb, cpu.New(1), m, c, brief)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, *rec)
	}
	path := filepath.Join(t.TempDir(), "records.jsonl")
	if err := record.Write(path, records); err != nil {
		t.Fatal(err)
	}
	got, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, records) {
		t.Errorf("got %+v\nwant %+v", got, records)
	}
	if err := record.Write(filepath.Join(path, "x"), records); err == nil {
		t.Error("a file as a folder: no error")
	}
}
