package bench

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sddmmkit/bench/record"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/errbound"
	"sddmmkit/sddmm"
)

func TestExport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.bin")
	m := small[float64](t)
	if err := Export(path, m, 42); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := 304 + 8*5 + 4*6 + 4*6; len(b) != want || string(b[:8]) != exportMagic {
		t.Fatalf("%d bytes, want %d", len(b), want)
	}
	le := binary.LittleEndian
	for at, want := range map[int]uint64{8: 4, 16: 5, 24: 6, 32: patternHash(&m.S.Pattern), 40: 42, 304: 0, 312: 2, 336: 6} {
		if got := le.Uint64(b[at:]); got != want {
			t.Errorf("at %d: %d, want %d", at, got, want)
		}
	}
	if name := strings.TrimRight(string(b[48:304]), "\x00"); name != "small" {
		t.Errorf("name %q", name)
	}
	for z, j := range m.S.ColIdx {
		if got := le.Uint32(b[344+4*z:]); got != uint32(j) {
			t.Errorf("column %d is %d, want %d", z, got, j)
		}
		if got := math.Float32frombits(le.Uint32(b[368+4*z:])); float64(got) != m.S.Val[z] {
			t.Errorf("value %d is %v, want %v", z, got, m.S.Val[z])
		}
	}
	m.Name = strings.Repeat("x", exportName)
	if err := Export(path, m, 42); err == nil {
		t.Error("a name that does not fit: no error")
	}
}

// The C program computes what we compute. It is not part of the build: SDDMMKIT_CC names a C compiler
// to test it with, on a machine with AVX-512.
func TestSimpleC(t *testing.T) {
	cc := os.Getenv("SDDMMKIT_CC")
	if cc == "" {
		t.Skip("SDDMMKIT_CC is not set")
	}
	dir := t.TempDir()
	program, file, out := filepath.Join(dir, "simple_avx512"), filepath.Join(dir, "m.bin"), filepath.Join(dir, "out.jsonl")
	if text, err := exec.Command(cc, "-O3", "-march=native", "-fopenmp", "-Wall", "-Wextra", "-Werror", "peers/simple_avx512.c", "-o", program, "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	m := random[float32](t, 300, 200)
	m.Name = `a "name"`
	if err := Export(file, m, 5); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(program, file, "16,32,48,64,128,256,272", "2", "0.001").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, text, 0o666); err != nil {
		t.Fatal(err)
	}
	records, err := record.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 14 {
		t.Fatalf("%d records, want 14", len(records))
	}
	opt := brief
	opt.Seed = 5
	var ours []record.Record
	for _, r := range records {
		c := Case{Op: r.Op, K: r.K}
		if c.Op == SDDMM {
			c.Epilogue = sddmm.Scale
		}
		own, err := Run(ctxb, cpu.New(2), m, c, opt)
		if err != nil {
			t.Fatal(err)
		}
		ours = append(ours, *own)
		what := fmt.Sprintf("%s, K = %d", r.Op, r.K)
		if r.Flops != own.Flops || r.Bytes != own.Bytes || r.Matrix != m.Name || r.DataHash != own.DataHash || r.Epilogue != own.Epilogue || r.Checked == 0 {
			t.Errorf("%s: %+v, want what ours says: %+v", what, r, own)
		}
		// Values and operands are positive here, so that a sum is as wrong as its terms at most.
		bound := 2 * errbound.Gamma(max(r.K, 200)+4, errbound.Unit[float32]()) * own.Sum
		if !(math.Abs(r.Sum-own.Sum) <= bound) {
			t.Errorf("%s: the sum of the result is %v, ours %v within %.3g", what, r.Sum, own.Sum, bound)
		}
	}
	if rep := record.Compare(records, ours, record.CompareOptions{}); len(rep.Cases) != 14 || len(rep.OnlyA)+len(rep.OnlyB) > 0 {
		t.Errorf("%d cases can be compared, want 14", len(rep.Cases))
	}
	if err := exec.Command(program, filepath.Join(dir, "none"), "16", "1").Run(); err == nil {
		t.Error("no error for a file that is not there")
	}
}
