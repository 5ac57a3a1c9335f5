package main

import (
	"errors"
	"strings"
	"testing"

	"sddmmkit/backend"
	"sddmmkit/device"
)

func TestMatrixInfo(t *testing.T) {
	file := write(t, "m.csv", "user,item,rating,time\na,x,5,1\na,y,3,2\na,x,4,3\nb,x,1,4\n")
	e := events(t, good(t, "info", "--matrix", file, "--json").stdout)[0]
	if e["event"] != "matrix" || num(t, e, "rows") != 2 || num(t, e, "cols") != 2 || num(t, e, "nnz") != 3 || num(t, e, "duplicates") != 1 ||
		num(t, e, "low") != 1 || num(t, e, "high") != 5 || num(t, e, "mean") != 3.25 || e["names"] != true || e["times"] != true || num(t, e, "density") != 0.75 {
		t.Errorf("%v", e)
	}
	bins := e["row_histogram"].([]any)
	if len(bins) != 2 || num(t, bins[0].(map[string]any), "count") != 1 || num(t, bins[1].(map[string]any), "from") != 2 {
		t.Errorf("%v", bins)
	}
	o := good(t, "info", "--matrix", file)
	for _, want := range []string{"2 × 2, 3 non-zeros", "values:     1 to 5, mean 3.25", "1 entries repeat", "rows by non-zeros", "█"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("want %q in\n%s", want, o.stdout)
		}
	}
	good(t, "info", "--matrix", "uniform:3x4:0")
}

func TestMachineInfo(t *testing.T) {
	e := events(t, good(t, "info", "--json", "--threads", "3").stdout)[0]
	devices := e["devices"].([]any)
	if e["event"] != "machine" || len(devices) != len(backend.Names()) || !strings.Contains(e["version"].(string), "go1.") {
		t.Errorf("%v", e)
	}
	for k, name := range backend.Names() {
		d := devices[k].(map[string]any)
		if d["name"] != name {
			t.Errorf("device %d is %v; want %s", k, d["name"], name)
		}
		if name == "cpu" && num(t, d, "threads") != 3 {
			t.Errorf("%v", d)
		}
	}
	if o := good(t, "info"); !strings.Contains(o.stdout, "device cpu") || !strings.Contains(o.stdout, "threads") {
		t.Errorf("%s", o.stdout)
	}
}

// A device that does not open is named with the reason, and the others are described.
func TestMachineInfoBroken(t *testing.T) {
	open := func(name string) (device.Device, error) {
		if name == "cuda:0" {
			return nil, errors.New("the driver is too old")
		}
		return backend.Open(name, backend.Options{Threads: 1})
	}
	for _, json := range []bool{false, true} {
		var out strings.Builder
		a := &app{out: &sink{w: &out}, err: &strings.Builder{}, json: json}
		if err := reportMachine(a, []string{"cpu", "cuda:0"}, open); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"cpu", "cuda:0", "the driver is too old"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("want %q in\n%s", want, out.String())
			}
		}
	}
}

func TestHistogram(t *testing.T) {
	if h := histogram(nil); h != nil {
		t.Errorf("of nothing: %v", h)
	}
	h := histogram([]int64{0, 0, 1, 2, 3, 9, 1 << 40})
	want := map[int64]bin{0: {0, 0, 2}, 1: {1, 1, 1}, 2: {2, 3, 2}, 8: {8, 15, 1}, 1 << 40: {1 << 40, 1<<41 - 1, 1}}
	sum := int64(0)
	for _, b := range h {
		sum += b.Rows
		if w, ok := want[b.From]; b != w && (ok || b.Rows != 0) {
			t.Errorf("%v; want %v", b, w)
		}
	}
	if sum != 7 || len(h) != 42 {
		t.Errorf("%d counts in %d bins", sum, len(h))
	}
	if s := drawHistogram([]bin{{0, 0, 1}, {1, 1, 80}, {2, 3, 0}, {4, 7, 40}}); s != ""+
		"                0         1 ▌\n"+
		"                1        80 ████████████████████████████████████████\n"+
		"              2–3         0 \n"+
		"              4–7        40 ████████████████████\n" {
		t.Errorf("\n%s", s)
	}
}

// --k says for each operation which tile the model takes, and why.
func TestInfoTiles(t *testing.T) {
	all := events(t, good(t, "info", "--matrix", "uniform:20kx20k:200k", "--k", "1,64", "--device", "cpu", "--json").stdout)
	if len(all) != 7 {
		t.Fatalf("%d events, want the matrix and three operations for each K", len(all))
	}
	for _, e := range all[1:] {
		if e["event"] != "tile" || e["device"] != "cpu" || e["type"] != "float32" || e["reason"] == "" || !(num(t, e, "predicted_seconds") > 0) || e["tile"] == "" {
			t.Errorf("got %v", e)
		}
	}
	if out := good(t, "info", "--matrix", "uniform:20kx20k:200k", "--k", "64").stdout; !strings.Contains(out, "predicted") {
		t.Errorf("no prediction in\n%s", out)
	}
	double := events(t, good(t, "info", "--matrix", "uniform:20kx20k:200k", "--k", "64", "--type", "float64", "--device", "cpu", "--json").stdout)
	if e, single := double[1], all[4]; e["type"] != "float64" || single["k"] != 64.0 || e["op"] != single["op"] || !(num(t, e, "predicted_seconds") > num(t, single, "predicted_seconds")) {
		t.Errorf("float64: %v; want more seconds than of %v", e, single)
	}
	bad(t, exitUsage, []string{"--type", "float16", "float64"}, "info", "--matrix", "uniform:30x30:100", "--k", "8", "--type", "float16")
}
