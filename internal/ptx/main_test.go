package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sddmmkit/internal/dialect"
	"sddmmkit/internal/dl"
)

var kernelNAME = regexp.MustCompile(`(?m)^KERNEL(_AT_LEAST)?\((\w+, )+NAME\)\s*\(`)

// Every variant has its PTX for each of its targets, and there is no other. That it is what NVRTC makes of
// the sources of today, CI checks by making it again.
func TestCommitted(t *testing.T) {
	for _, p := range packages {
		wanted := map[string]bool{}
		for _, v := range p.variants {
			source, err := v.Source()
			if err != nil {
				t.Error(err)
				continue
			}
			if !strings.HasPrefix(source, "#define NAME "+v.Name+"\n") || len(kernelNAME.FindAllString(source[len(source)-bodySize(t, v):], -1)) != 1 {
				t.Errorf("%s: %s: the source has not the one kernel with the name NAME", p.folder, v.Name)
			}
			if len(v.BuiltFor()) == 0 {
				t.Errorf("%s: %s is built for no target", p.folder, v.Name)
			}
			for _, target := range v.BuiltFor() {
				if !slices.Contains(dialect.Targets, target) {
					t.Errorf("%s: %s: sm_%s is no target", p.folder, v.Name, target)
				}
				wanted[v.PTXFile(target)] = true
				ptx, err := fs.ReadFile(v.Files, v.PTXFile(target))
				if err != nil {
					t.Errorf("%s: %v", p.folder, err)
					continue
				}
				text := string(ptx)
				if !strings.HasPrefix(text, generated+".version ") || !strings.Contains(text, "\n.target sm_"+strings.TrimPrefix(filepath.Dir(v.PTXFile(target)), "ptx/sm_")+"\n") {
					t.Errorf("%s: %s for sm_%s starts with %.100q", p.folder, v.Name, target, text)
				}
				if !strings.Contains(text, ".visible .entry "+v.Name+"(") || strings.Count(text, ".entry ") != 1 {
					t.Errorf("%s: %s for sm_%s has not the one entry point of that name", p.folder, v.Name, target)
				}
			}
		}
		if len(wanted) == 0 {
			t.Errorf("%s has no kernels", p.folder)
		}
		root := os.DirFS(filepath.Join("../..", p.folder))
		err := fs.WalkDir(root, "ptx", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !wanted[path] {
				t.Errorf("%s/%s belongs to no variant", p.folder, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func bodySize(t *testing.T, v *dialect.Variant) int {
	t.Helper()
	body, err := fs.ReadFile(v.Files, v.File)
	if err != nil {
		t.Fatal(err)
	}
	return len(body)
}

const madePTX = "//\n// Compiler Build ID: CL-1\n//\n\n.version 8.0\n.target sm_60\n" +
	".global .align 8 .u64 _ZN5_a_2nv6target6detail5sm_35E = 35;\n.global .align 8 .b8 _ZN5_a_2nv6target9no_targetE[8];\n" +
	".global .align 8 .u64 mine = 1;\n// kept\n"

func TestGenerate(t *testing.T) {
	folder := t.TempDir()
	stale := filepath.Join(folder, "ptx", "sm_60", "stale.ptx")
	if err := os.MkdirAll(filepath.Dir(stale), 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(folder, "ptx", "readme")
	for _, f := range []string{stale, other} {
		if err := os.WriteFile(f, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files := fstest.MapFS{"k.h": {Data: []byte("KERNEL(1, NAME)() {}\n")}}
	p := kernels{folder, []*dialect.Variant{
		{Name: "a", File: "k.h", Files: files, Targets: []dialect.Target{"60", "90"}},
		{Name: "b", File: "k.h", Files: files},
	}}
	broken := ""
	compile := func(name, source string, target dialect.Target) ([]byte, string, error) {
		if name == broken {
			return nil, "error: line 7", errors.New("nvrtcResult 6")
		}
		return []byte(madePTX), map[bool]string{true: "careful"}[name == "b"], nil
	}

	broken = "a"
	if _, err := generate(p, compile, io.Discard); err == nil || !strings.Contains(err.Error(), "a for sm_90: nvrtcResult 6\nerror: line 7") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(stale); err != nil {
		t.Error("a failed run removed files")
	}

	broken = ""
	var warnings strings.Builder
	r, err := generate(p, compile, &warnings)
	const text = generated + ".version 8.0\n.target sm_60\n.global .align 8 .u64 mine = 1;\n// kept\n"
	if want := (result{files: 3, changed: 2, removed: 1, bytes: 3 * len(text)}); err != nil || r != want {
		t.Errorf("result %+v, error %v, want %+v", r, err, want)
	}
	if warnings.String() != "b for sm_60: careful\n" {
		t.Errorf("warnings %q", &warnings)
	}
	for _, name := range []string{"sm_60/a", "sm_90/a", "sm_60/b"} {
		if got, err := os.ReadFile(filepath.Join(folder, "ptx", name+".ptx")); err != nil || string(got) != text {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("a file that is not PTX was removed")
	}
	if r, err := generate(p, compile, io.Discard); err != nil || r.changed != 0 || r.removed != 0 {
		t.Errorf("the second time: %+v, %v", r, err)
	}

	p.variants = append(p.variants, p.variants[1])
	if _, err := generate(p, compile, io.Discard); err == nil || !strings.Contains(err.Error(), "two variants are named b") {
		t.Errorf("two of one name: %v", err)
	}
}

type fakeLibrary struct{ missing string }

func (f fakeLibrary) Sym(name string) (uintptr, error) {
	if name == f.missing {
		return 0, dl.ErrNotFound
	}
	return 1, nil
}
func (fakeLibrary) Close() error { return nil }

func TestOpenNVRTC(t *testing.T) {
	none := func(...string) (dl.Library, error) { return nil, dl.ErrNotFound }
	if _, err := openNVRTC(none, "libnvrtc.so.12"); !errors.Is(err, dl.ErrNotFound) || !strings.Contains(err.Error(), "set NVRTC") {
		t.Errorf("no library: %v", err)
	}
	old := func(...string) (dl.Library, error) { return fakeLibrary{"nvrtcGetPTX"}, nil }
	if _, err := openNVRTC(old, "libnvrtc.so.12"); !errors.Is(err, dl.ErrNotFound) {
		t.Errorf("no function: %v", err)
	}
}
