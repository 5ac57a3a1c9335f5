package dialect

import (
	_ "embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"sddmmkit/device"
)

// Header is what precedes every kernel file.
//
//go:embed dialect.h
var Header string

// vectors is what precedes kernels that load rows in vectors.
//
//go:embed vector.h
var vectors string

// Types are the element types of dense operands that kernels gather: those that they compute with, and those of 16 bits, with
// which they compute as floats.
var Types = []string{"float", "double", "bfloat16", "float16"}

// VectorOf returns the number of elements of a type, one of Types, in 16 bytes: the longest load.
func VectorOf(t string) int {
	switch t {
	case "double":
		return 2
	case "bfloat16", "float16":
		return 8
	}
	return 4
}

// Target is a compute capability that PTX is made for, ten times as a number. Newer devices run it, too, but where it ends with an a:
// such code has instructions that others do not have.
type Target string

// Targets are those that there are, by rising number: the base, and those for which some kernels have code of their own.
var Targets = []Target{"60", "80", "90", "90a"}

// cc returns the compute capability.
func (t Target) cc() int {
	n, _ := strconv.Atoi(strings.TrimSuffix(string(t), "a"))
	return n
}

// Runs reports whether devices of compute capability cc run code for the target.
func (t Target) Runs(cc int) bool {
	return t.cc() == cc || t.cc() < cc && !strings.HasSuffix(string(t), "a")
}

// TypeOf returns the one of Types that T is.
func TypeOf[T device.Real]() string {
	switch any(T(0)).(type) {
	case float64:
		return "double"
	case device.BFloat16:
		return "bfloat16"
	case device.Float16:
		return "float16"
	}
	return "float"
}

// SumType returns the type that kernels compute with for elements of type t.
func SumType(t string) string {
	if t == "double" {
		return t
	}
	return "float"
}

// TypeDefines returns the macros for dense operands of a type: T, which kernels compute with, and for types of 16 bits
// which it is that vector.h loads.
func TypeDefines(t string) []Define {
	all := []Define{{"T", SumType(t)}}
	switch t {
	case "bfloat16":
		all = append(all, Define{"BFLOAT16", 1})
	case "float16":
		all = append(all, Define{"FLOAT16", 1})
	}
	return all
}

// Variant is one specialisation of a kernel file.
type Variant struct {
	Name    string   // of the kernel; in the file it is the macro NAME
	File    string   // in Files
	Files   fs.FS    // the file, and ptx/sm_60/NAME.ptx beside it for each target
	Defines []Define // the macros that specialise it
	Vectors bool     // whether it loads rows as vector.h says
	Before  []string // files in Files that precede it
	Targets []Target // of Targets, by rising number, for which the code differs; nil is the base alone

	program atomic.Pointer[device.Program] // nil before Program
}

// Define is a macro.
type Define struct {
	Name  string
	Value any // printed with %v
}

// Source returns the complete source.
func (v *Variant) Source() (string, error) {
	var s strings.Builder
	fmt.Fprintf(&s, "#define NAME %s\n", v.Name)
	for _, d := range v.Defines {
		fmt.Fprintf(&s, "#define %s %v\n", d.Name, d.Value)
	}
	s.WriteString(Header)
	if v.Vectors {
		s.WriteString(vectors)
	}
	for _, file := range append(slices.Clone(v.Before), v.File) {
		body, err := fs.ReadFile(v.Files, file)
		if err != nil {
			return "", fmt.Errorf("kernel %s: %w", v.Name, err)
		}
		fmt.Fprintf(&s, "#line 1 \"%s\"\n", file) // so that a compiler's messages count the file's lines
		s.Write(body)
	}
	return s.String(), nil
}

// BuiltFor returns the targets that the variant has PTX for.
func (v *Variant) BuiltFor() []Target {
	if v.Targets == nil {
		return Targets[:1]
	}
	return v.Targets
}

// PTXFile returns the file that holds the variant's PTX for a target.
func (v *Variant) PTXFile(target Target) string {
	return fmt.Sprintf("ptx/sm_%s/%s.ptx", target, v.Name)
}

// PTX returns the PTX for the newest target that compute capability cc runs.
func (v *Variant) PTX(cc int) ([]byte, error) {
	var best Target
	for _, t := range v.BuiltFor() {
		if t.Runs(cc) {
			best = t
		}
	}
	if best == "" {
		least := v.BuiltFor()[0].cc()
		return nil, fmt.Errorf("kernel %s: compute capability %d.%d: %w; it needs %d.%d", v.Name, cc/10, cc%10, device.ErrUnsupported, least/10, least%10)
	}
	ptx, err := fs.ReadFile(v.Files, v.PTXFile(best))
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w; run go run ./internal/ptx", v.Name, err)
	}
	return ptx, nil
}

// Program returns the variant for a device, the same each time: to put its source together takes longer than a launch. The variant
// may not be changed after it.
func (v *Variant) Program() (*device.Program, error) {
	if p := v.program.Load(); p != nil {
		return p, nil
	}
	source, err := v.Source()
	if err != nil {
		return nil, err
	}
	v.program.CompareAndSwap(nil, &device.Program{Name: v.Name, Source: source, PTX: v.PTX})
	return v.program.Load(), nil
}
