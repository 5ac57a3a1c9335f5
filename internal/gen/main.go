// Command gen writes the assembly kernels of internal/asm. It has a module of its own, so that
// users of sddmmkit do not depend on its generator:
//
//	cd internal/gen && go run . ../asm
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gen FOLDER")
	}
	for _, v := range []vec{{avx2, false}, {avx2, true}, {avx512, false}, {avx512, true}} {
		ctx := build.NewContext()
		k := &kernels{Context: ctx, vec: v}
		k.sddmm()
		for depth := 1; depth <= maxNarrow; depth++ {
			for _, packed := range []bool{false, true} {
				k.sddmmNarrow(depth, packed)
				k.spmmNarrow(depth, packed)
			}
		}
		for chunks := 1; chunks <= v.maxChunks(); chunks++ {
			k.spmm(chunks, false)
		}
		if v == (vec{avx512, false}) {
			for chunks := 2; chunks <= mostLast; chunks++ {
				k.spmm(chunks, true)
			}
		}
		k.cgStart()
		k.cgStep()
		if err := write(os.Args[1], v.String(), ctx); err != nil {
			log.Fatal(err)
		}
	}
	ctx := build.NewContext()
	prefetch(ctx)
	if err := write(os.Args[1], "prefetch", ctx); err != nil {
		log.Fatal(err)
	}
}

// write writes the functions of ctx: an assembly file and its Go declarations.
func write(dir, name string, ctx *build.Context) error {
	ctx.ConstraintExpr("amd64,!noasm")
	file, err := ctx.Result()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	config := printer.Config{Name: "gen", Argv: []string{"cd internal/gen && go run . ../asm"}, Pkg: "asm"}
	if err := pass.Compile.Execute(file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for to, p := range map[string]printer.Printer{
		"kernels_" + name + "_amd64.s":       printer.NewGoAsm(config),
		"kernels_" + name + "_decl_amd64.go": printer.NewStubs(config),
	} {
		text, err := p.Print(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
