package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// module is the path that imports within the tree start with.
const module = "sddmmkit"

// rule is a line of the import table.
type rule struct {
	// pkg is a package, relative to the module: "." is its root, "algos/*" every package in algos.
	pkg string
	// may are the packages of the module it may import, as above; "..." is all of them.
	may string
	// external are the packages outside the module and the standard library, or folders of such.
	external string
}

// table is the import law. The first rule whose pkg matches counts.
var table = []rule{
	// The package map. Its tests show the library as a user sees it.
	{".", "", ""},

	// Host matrices.
	{"sparse", "internal/parallel", "gonum.org/v1/gonum/mat"},
	{"sparse/interop", "sparse", "gonum.org/v1/gonum github.com/james-bowman/sparse"},
	{"dense", "device dense/kernels internal/asm internal/dialect internal/parallel", "gonum.org/v1/gonum"},
	{"dataset", "sparse internal/parallel internal/atomicfile internal/npz", "github.com/klauspost/compress github.com/parquet-go/parquet-go"},

	// Pure functions of a pattern, and of a device's properties.
	{"tiling", "sparse internal/parallel", ""},
	{"model", "sparse tiling device internal/parallel", ""},

	// Devices. Drivers know no operation; only backend names them.
	{"device", "", ""},
	{"device/cuda", "device internal/parallel internal/dl", "github.com/barnex/cuda5"},
	{"device/*", "device internal/parallel internal/remember internal/dl", "github.com/klauspost/cpuid/v2"},
	{"backend", "device device/*", ""},
	{"pattern", "sparse tiling model device internal/parallel internal/asm internal/dialect internal/remember pattern/kernels", ""},

	// The two primitives: never a driver.
	{"sddmm", "sparse dense tiling pattern model device internal/asm internal/dialect sddmm/kernels", ""},
	{"spmm", "sparse dense tiling pattern model device internal/asm internal/dialect spmm/kernels", ""},

	// Solvers: never each other, a kernel, a driver or backend. algos/fit is what they share.
	{"factors", "sparse dense internal/npz internal/atomicfile internal/parallel", ""},
	{"algos/*", "sddmm spmm sparse dense pattern device factors algos/fit internal/parallel", ""},

	// Measuring the primitives, and others beside them: knows no driver, and no file formats but its own.
	{"bench", "bench/record bench/kernels internal/dialect sddmm spmm sparse sparse/interop dense tiling pattern model device internal/parallel internal/atomicfile internal/cputime internal/errbound", "gonum.org/v1/gonum/mat github.com/james-bowman/sparse"},
	{"bench/record", "device internal/atomicfile", ""},

	// A peer that needs a driver, and a device of its kind.
	{"bench/cusparse", "bench bench/record sddmm spmm pattern device device/cuda internal/dl", ""},

	{"cmd/*", "...", "github.com/spf13/cobra github.com/spf13/pflag github.com/schollz/progressbar/v3 github.com/klauspost/cpuid/v2 golang.org/x/term"},

	{"internal/asm", "device tiling", "github.com/klauspost/cpuid/v2"},
	{"internal/dl", "", "github.com/ebitengine/purego"},
	{"internal/dialect", "device", ""},
	{"internal/ptx", "internal/dl internal/dialect internal/atomicfile bench/kernels sddmm/kernels spmm/kernels dense/kernels pattern/kernels internal/conformance/kernels", ""},

	// Kernels of operations, in the dialect, and the PTX made of them.
	{"sddmm/kernels", "device internal/dialect", ""},
	{"spmm/kernels", "device internal/dialect", ""},
	{"bench/kernels", "device internal/dialect", ""},
	{"dense/kernels", "device internal/dialect", ""},
	{"pattern/kernels", "device internal/dialect", ""},
	{"internal/conformance/kernels", "device internal/dialect", ""},
	{"internal/conformance", "internal/conformance/kernels internal/dialect sparse dense tiling pattern model device sddmm spmm internal/parallel internal/cputime internal/errbound", "gonum.org/v1/gonum/mat"},
	{"internal/errbound", "sddmm", ""},
	{"internal/npz", "", "github.com/klauspost/compress github.com/sbinet/npyio"},
	{"internal/atomicfile", "", ""},
	{"internal/remember", "internal/atomicfile", ""},
	{"internal/parallel", "", ""},
	{"internal/shape", "", ""},
	{"internal/cputime", "", ""},
	{"internal/archtest", "", ""},
	{"internal/realdata", "", ""}, // for tests: where the real data sets are
}

// everywhere are packages without imports of their own that every package may use.
const everywhere = "internal/shape"

// Tests may import more: oracles, suites, data and a device to run on.
const (
	testsMay      = "model internal/conformance internal/errbound internal/realdata internal/parallel backend device device/cpu dataset sparse dense"
	testsExternal = "gonum.org/v1/gonum github.com/james-bowman/sparse"
)

// ruleFor returns the rule of a package.
func ruleFor(pkg string) (rule, bool) {
	for _, r := range table {
		if matches(r.pkg, pkg) {
			return r, true
		}
	}
	return rule{}, false
}

// check returns an error when a package, or a test in its folder, may not import what it does.
func check(pkg, imported string, test bool) error {
	r, ok := ruleFor(pkg)
	if !ok {
		return fmt.Errorf("package %q has no line in the import table (internal/archtest/table.go); add one", pkg)
	}
	may, external := r.may+" "+everywhere, r.external
	if test {
		may, external = may+" "+testsMay, external+" "+testsExternal
		if pkg == "." {
			may = "..."
		}
	}
	kind := "package"
	if test {
		kind = "a test of"
	}
	if inner, ok := within(imported); ok {
		// A test in another package of the folder imports the folder's own package.
		if test && inner == pkg || slices.ContainsFunc(strings.Fields(may), func(p string) bool { return p == "..." || matches(p, inner) }) {
			return nil
		}
		return fmt.Errorf("wrong arrow: %s %q → %q; it may import {%s} (internal/archtest/table.go)", kind, pkg, inner, strings.TrimSpace(may))
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return nil // the standard library
	}
	if slices.ContainsFunc(strings.Fields(external), func(p string) bool { return imported == p || strings.HasPrefix(imported, p+"/") }) {
		return nil
	}
	return fmt.Errorf("wrong arrow: %s %q → %s; from outside the module it may import {%s} (internal/archtest/table.go)", kind, pkg, imported, strings.TrimSpace(external))
}

// within returns an import of the module relative to its root.
func within(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

func matches(pattern, pkg string) bool {
	ok, err := path.Match(pattern, pkg)
	return ok && err == nil
}
