package record

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A record that cannot be written leaves what stood there.
func TestWriteFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []Record{{GFLOPS: math.NaN()}}); err == nil {
		t.Fatal("NaN was written")
	}
	if b, _ := os.ReadFile(path); string(b) != "before" {
		t.Errorf("the file holds %q", b)
	}
}

// The names of fields are what other programs read.
func TestRecordFields(t *testing.T) {
	b, err := json.Marshal(&Record{Event: "result"})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(`event implementation op matrix rows cols nnz data_hash seed k type device threads tile tile_by cache operand_sets gflops gb_per_s
		roofline_share predicted_seconds seconds_median seconds_low seconds_high seconds_mad seconds_min samples warmups calls_per_sample timing
		seconds error error_bound_share error_checked checksum flops bytes compulsory_bytes commit time`) {
		if _, ok := got[f]; !ok {
			t.Errorf("no field %q in %s", f, b)
		}
	}
	if got["roofline_share"] != nil || got["predicted_seconds"] != nil {
		t.Error("what is not known is not null")
	}
}

func TestReadErrors(t *testing.T) {
	const good = `{"event":"result","op":"spmm","matrix":"m","k":1,"nnz":3,"seconds":[1]}`
	for text, want := range map[string]string{
		"":                                            "no results",
		`{"event":"done"}`:                            "no results",
		good + "\nhello\n":                            "f:2: ",
		good + "\n[1]\n":                              "f:2: ",
		good + "\n" + good[:20] + "\n":                "f:2: ",
		`{"event":"result"}`:                          "f:1: op",
		`{"event":"result","k":"three"}`:              "f:1: ",
		strings.Replace(good, "[1]", "[]", 1):         "no samples",
		strings.Replace(good, "[1]", "[1,0]", 1):      "sample 1 is 0",
		strings.Replace(good, "[1]", "[-1]", 1):       "sample 0 is -1",
		strings.Replace(good, "[1]", "[1e999]", 1):    "f:1: ",
		strings.Replace(good, `"k":1`, `"k":0`, 1):    "k 0",
		good + "\n" + strings.Repeat(" ", maxLine+10): "f:2: a line of more than",
	} {
		if _, err := read("f", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: error %v, want %q in it", text, err, want)
		}
	}
	records, err := read("f", strings.NewReader("\n"+good+"\r\n\n"+`{"event":"cliff","k":"other"}`+"\n"+good))
	if err != nil || len(records) != 2 {
		t.Errorf("%d records, %v; want 2", len(records), err)
	}
	if _, err := Read("no-such-file"); err == nil {
		t.Error("no error for a file that is not there")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"event":"result","op":"spmm","matrix":"m","k":1,"nnz":3,"seconds":[1,2]}`))
	f.Add([]byte(`{"event":"result","op":"sddmm","epilogue":"dot","matrix":"m","k":8,"threads":2,"roofline_seconds":1,"seconds":[1e-9]}` + "\n{}\n"))
	f.Add([]byte("{\"event\":\"result\"}\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := read("f", strings.NewReader(string(data)))
		if err != nil {
			if records != nil || !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error %v with %d records", err, len(records))
			}
			return
		}
		rep := Compare(records, records, CompareOptions{Resamples: 40})
		if len(rep.OnlyA)+len(rep.OnlyB) > 0 {
			t.Errorf("a file has what it has not: %+v", rep)
		}
		for _, c := range rep.Cases {
			if c.Ratio.Ratio != 1 {
				t.Errorf("a file is %v times as fast as itself", c.Ratio)
			}
		}
		Cliffs(records)
	})
}
