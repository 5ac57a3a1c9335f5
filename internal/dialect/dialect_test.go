package dialect_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"sddmmkit/device"
	"sddmmkit/internal/dialect"
)

func variant() *dialect.Variant {
	return &dialect.Variant{
		Name: "fill_f32_k4", File: "fill.h",
		Files: fstest.MapFS{
			"fill.h":                    {Data: []byte("KERNEL(THREADS_, NAME)(OUT(T, p)) {}\n")},
			"ptx/sm_60/fill_f32_k4.ptx": {Data: []byte("sixty")},
			"ptx/sm_80/fill_f32_k4.ptx": {Data: []byte("eighty")},
		},
		Defines: []dialect.Define{{"T", "float"}, {"K", 4}},
		Targets: []dialect.Target{"60", "80"},
	}
}

func TestSource(t *testing.T) {
	p, err := variant().Program()
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(p.Source, "// The dialect")
	if want := "#define NAME fill_f32_k4\n#define T float\n#define K 4\n"; !ok || head != want || !strings.HasSuffix(rest, "\n#line 1 \"fill.h\"\nKERNEL(THREADS_, NAME)(OUT(T, p)) {}\n") || p.Name != "fill_f32_k4" {
		t.Errorf("program %s starts with %q", p.Name, head)
	}
	v := variant()
	v.Files = fstest.MapFS{"a.h": {Data: []byte("first\n")}, "fill.h": {Data: []byte("second\n")}}
	v.Before = []string{"a.h"}
	if source, err := v.Source(); err != nil || !strings.HasSuffix(source, "\n#line 1 \"a.h\"\nfirst\n#line 1 \"fill.h\"\nsecond\n") {
		t.Errorf("with a file before it, error %v:\n%s", err, source)
	}
	v.Before = []string{"missing.h"}
	if _, err := v.Program(); err == nil || !strings.Contains(err.Error(), "missing.h") {
		t.Errorf("a missing file before it: %v", err)
	}
	v = variant()
	v.File = "missing.h"
	if _, err := v.Program(); err == nil || !strings.Contains(err.Error(), "missing.h") {
		t.Errorf("a missing file: %v", err)
	}
}

// A device gets the newest PTX that it can run.
func TestPTX(t *testing.T) {
	v := variant()
	for cc, want := range map[int]string{60: "sixty", 75: "sixty", 80: "eighty", 90: "eighty", 120: "eighty"} {
		if got, err := v.PTX(cc); string(got) != want {
			t.Errorf("%d: %q, %v; want %q", cc, got, err, want)
		}
	}
	if _, err := v.PTX(52); !errors.Is(err, device.ErrUnsupported) || !strings.Contains(err.Error(), "5.2") {
		t.Errorf("too old: %v", err)
	}
	v.Targets = []dialect.Target{"60", "90a"}
	if got, err := v.PTX(100); string(got) != "sixty" {
		t.Errorf("10.0 runs %q, %v: code for 9.0 alone?", got, err)
	}
	if _, err := v.PTX(90); err == nil || !strings.Contains(err.Error(), "internal/ptx") {
		t.Errorf("not generated: %v", err)
	}
	if v.Targets = nil; len(v.BuiltFor()) != 1 || v.BuiltFor()[0] != dialect.Targets[0] {
		t.Errorf("without targets it is built for %v", v.BuiltFor())
	}
}
