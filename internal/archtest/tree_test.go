package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the module's folder, from this package's.
const root = "../.."

// source is a Go file of the module.
type source struct {
	name    string // relative to the module, with slashes
	pkg     string // its folder, "." for the root
	text    []byte
	imports []string
	build   constraint.Expr // its //go:build line, or nil
}

// sources returns all Go files of the module, whatever their build tags.
func sources(t *testing.T) []source {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("the module's root: %v", err)
	}
	var all []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path == root {
				return nil
			}
			if name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir // a module of its own
			}
			return nil
		}
		if filepath.Ext(name) != ".go" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(rel), text)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// parse reads what the laws are about.
func parse(name string, text []byte) (source, error) {
	s := source{name: name, pkg: ".", text: text}
	if k := strings.LastIndexByte(name, '/'); k >= 0 {
		s.pkg = name[:k]
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return s, err
	}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return s, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		s.imports = append(s.imports, path)
	}
	s.build, err = buildLine(file)
	return s, err
}

func buildLine(file *ast.File) (constraint.Expr, error) {
	for _, group := range file.Comments {
		if group.Pos() > file.Package {
			break
		}
		for _, c := range group.List {
			if constraint.IsGoBuild(c.Text) {
				return constraint.Parse(c.Text)
			}
		}
	}
	return nil, nil
}

func (s source) test() bool { return strings.HasSuffix(s.name, "_test.go") }

func TestImports(t *testing.T) {
	said := map[string]bool{}
	for _, s := range sources(t) {
		if _, ok := ruleFor(s.pkg); !ok && !said[s.pkg] {
			said[s.pkg] = true
			t.Error(check(s.pkg, "", false))
		}
		for _, imported := range s.imports {
			if err := check(s.pkg, imported, s.test()); err != nil && !said[s.pkg] {
				t.Errorf("%s: %v", s.name, err)
			}
		}
	}
}

// The tree is what the walk says it is: a law over no files would hold always.
func TestSourcesSeesTheTree(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		seen[s.pkg] = true
	}
	for _, pkg := range []string{"sparse", "sparse/interop", "dense", "device", "device/cpu", "internal/archtest"} {
		if !seen[pkg] {
			t.Errorf("no source of package %s was found", pkg)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		pkg, imported string
		test          bool
		want          string // part of the error, "" for none
	}{
		{"sparse", "fmt", false, ""},
		{"sparse", "go/ast", false, ""},
		{"sparse", "sddmmkit/internal/shape", false, ""},
		{"sparse", "gonum.org/v1/gonum/mat", false, ""},
		{"sparse", "gonum.org/v1/gonum/blas/blas64", false, "may import {gonum.org/v1/gonum/mat}"},
		{"sparse", "gonum.org/v1/gonum/blas/blas64", true, ""},
		{"sparse", "github.com/james-bowman/sparse", false, "wrong arrow"},
		{"sparse", "github.com/james-bowman/sparse", true, ""},
		{"sparse", "sddmmkit/sparse", true, ""},
		{"sparse", "sddmmkit/sparse/interop", true, `a test of "sparse" → "sparse/interop"`},
		{"sparse", "sddmmkit/tiling", false, `"sparse" → "tiling"`},
		{"sparse/interop", "github.com/james-bowman/sparse/blas", false, ""},
		{"sparse/interop", "github.com/james-bowman/sparseness", false, "wrong arrow"},
		{"sddmm", "sddmmkit/device", false, ""},
		{"sddmm", "sddmmkit/device/cpu", false, `"sddmm" → "device/cpu"`},
		{"sddmm", "sddmmkit/device/cpu", true, ""},
		{"sddmm", "sddmmkit/spmm", false, "wrong arrow"},
		{"sddmm", "sddmmkit/backend", true, ""},
		{"device", "sddmmkit/internal/parallel", false, "wrong arrow"},
		{"device/cpu", "sddmmkit/device", false, ""},
		{"device/cuda", "sddmmkit/device/cpu", false, "wrong arrow"},
		{"device/cuda", "sddmmkit/sddmm", false, "wrong arrow"},
		{"backend", "sddmmkit/device/opencl", false, ""},
		{"algos/als", "sddmmkit/sddmm", false, ""},
		{"algos/als", "sddmmkit/algos/fit", false, ""},
		{"algos/als", "sddmmkit/algos/ccd", false, "wrong arrow"},
		{"algos/als", "sddmmkit/sddmm/kernels", false, "wrong arrow"},
		{"algos/als", "sddmmkit/backend", false, "wrong arrow"},
		{"cmd/sddmm", "sddmmkit/algos/als", false, ""},
		{"cmd/sddmm", "sddmmkit", false, ""},
		{"cmd/sddmm", "gonum.org/v1/gonum/mat", false, "wrong arrow"},
		{".", "sddmmkit/sparse", false, `"." → "sparse"`},
		{".", "sddmmkit/sparse", true, ""},
		{"helpers", "fmt", false, `"helpers" has no line`},
		{"device/cpu/deeper", "fmt", false, "has no line"},
	} {
		err := check(test.pkg, test.imported, test.test)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s imports %s (test %v): got %v, want %q", test.pkg, test.imported, test.test, err, test.want)
		}
	}
}

// Allowed arrows have no cycle: what a package may import may not lead back to it.
func TestTableHasNoCycle(t *testing.T) {
	reaches := func(from, to string) bool {
		todo, done := []string{from}, map[string]bool{}
		for len(todo) > 0 {
			at := todo[0]
			todo = todo[1:]
			r, ok := ruleFor(at)
			if !ok || done[at] {
				continue
			}
			done[at] = true
			for _, p := range strings.Fields(r.may) {
				if p == to {
					return true
				}
				todo = append(todo, p)
			}
		}
		return false
	}
	for _, r := range table {
		if !strings.Contains(r.pkg, "*") && reaches(r.pkg, r.pkg) {
			t.Errorf("the table lets %q import itself by way of others", r.pkg)
		}
	}
}

// cgoTag is the one build tag under which files may use cgo.
const cgoTag = "cuda5"

func TestCgoOnlyBehindItsTag(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains(s.imports, "C") && !requires(s.build, cgoTag) {
			t.Errorf(`%s imports "C" without //go:build %s: the default build has no cgo`, s.name, cgoTag)
		}
	}
}

func TestRequires(t *testing.T) {
	for line, want := range map[string]bool{
		"":                                 false,
		"//go:build linux":                 false,
		"//go:build !linux":                false,
		"//go:build cuda5":                 true,
		"//go:build !cuda5":                false,
		"//go:build linux && cuda5":        true,
		"//go:build linux || cuda5":        false,
		"//go:build (a || b) && cuda5":     true,
		"//go:build cuda5 && a || cuda5":   true,
		"//go:build cuda5 || (a && !a)":    true,
		"//go:build cuda5 && a || b && !a": false,
	} {
		s, err := parse("x/y.go", []byte(line+"\n\npackage y\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := requires(s.build, cgoTag); got != want {
			t.Errorf("%q requires %s: %v, want %v", line, cgoTag, got, want)
		}
	}
}

// requires reports whether a build line can hold only where tag does.
func requires(line constraint.Expr, tag string) bool {
	if line == nil {
		return false
	}
	var others []string
	collect(line, func(name string) {
		if name != tag && !slices.Contains(others, name) {
			others = append(others, name)
		}
	})
	for set := range 1 << len(others) {
		if line.Eval(func(name string) bool {
			k := slices.Index(others, name)
			return k >= 0 && set>>k&1 == 1
		}) {
			return false
		}
	}
	return true
}

func collect(e constraint.Expr, see func(tag string)) {
	switch e := e.(type) {
	case *constraint.TagExpr:
		see(e.Tag)
	case *constraint.NotExpr:
		collect(e.X, see)
	case *constraint.AndExpr:
		collect(e.X, see)
		collect(e.Y, see)
	case *constraint.OrExpr:
		collect(e.X, see)
		collect(e.Y, see)
	}
}

func TestFormatted(t *testing.T) {
	for _, s := range sources(t) {
		want, err := format.Source(s.text)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
		} else if !bytes.Equal(s.text, want) {
			t.Errorf("%s is not formatted; run gofmt -w %s", s.name, s.name)
		}
	}
}
