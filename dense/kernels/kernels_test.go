package kernels

import (
	"strings"
	"testing"
)

// Every kernel that a launch can name is there, once, and a name is all that tells them apart.
func TestPrograms(t *testing.T) {
	names := []string{Square, ExpDigamma, Quotient, Diagonal, CopyColumn, SwapColumns, Dot, Dot3, WeightedNorm, ColumnSums, SumParts,
		RowCGStart, RowCGStartWide, RowCGStep, RowCGStepWide, RowCGStepLong, AddMul, AddMulWide}
	for _, tile := range GramTiles {
		names = append(names, Gram(tile))
	}
	wanted := map[string]bool{Name(Total, 8): true}
	for _, name := range names {
		wanted[Name(name, 4)], wanted[Name(name, 8)] = true, true
	}
	for _, s := range shorts {
		wanted[Round(s.name)], wanted[Widen(s.name)] = true, true
	}
	for _, v := range Variants() {
		if !wanted[v.Name] {
			t.Errorf("%s is there twice, or not wanted", v.Name)
		}
		delete(wanted, v.Name)
		p, err := Program(v.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		ptx, err := p.PTX(60)
		if err != nil || !strings.Contains(string(ptx), ".entry "+v.Name+"(") || !strings.Contains(p.Source, "#define NAME "+v.Name+"\n") {
			t.Errorf("%s: source and PTX have no kernel of this name: %v", v.Name, err)
		}
	}
	for name := range wanted {
		t.Errorf("there is no %s", name)
	}
	if p, err := Program("dense_nothing_f32"); err == nil {
		t.Errorf("an unknown name is %s", p.Name)
	}
}
