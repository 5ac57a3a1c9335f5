package tiling

import (
	"math/rand/v2"
	"testing"

	"sddmmkit/sparse"
)

func patternOf(lengths []int) *sparse.Pattern {
	p := &sparse.Pattern{Rows: len(lengths), Cols: 1 << 30, RowPtr: make([]int64, len(lengths)+1)}
	for i, n := range lengths {
		p.RowPtr[i+1] = p.RowPtr[i] + int64(n)
	}
	return p
}

// Every row and every non-zero stands in exactly one unit, in order, and no unit costs too much.
func checkCut(t *testing.T, p *sparse.Pattern, cost int64) {
	t.Helper()
	u := Cut(p, cost)
	row, nz, slot, split := 0, int64(0), 0, 0
	for _, x := range u.Units {
		if x.Lo != nz {
			t.Fatalf("unit %+v starts at non-zero %d, want %d", x, x.Lo, nz)
		}
		nz = x.Hi
		if x.Slot < 0 {
			if x.RowLo != row || x.RowHi <= x.RowLo || p.RowPtr[x.RowLo] != x.Lo || p.RowPtr[x.RowHi] != x.Hi {
				t.Fatalf("unit %+v does not hold whole rows from %d", x, row)
			}
			row = x.RowHi
			if c := x.Hi - x.Lo + int64(x.RowHi-x.RowLo); c > cost {
				t.Fatalf("unit %+v costs %d, want at most %d", x, c, cost)
			}
			continue
		}
		s := u.Split[split]
		if x.Slot != slot || s.Row != row || x.RowLo != row || x.RowHi != row+1 || x.Hi-x.Lo > cost || x.Hi == x.Lo {
			t.Fatalf("piece %+v of split row %+v, want slot %d of row %d", x, s, slot, row)
		}
		slot++
		if slot == s.SlotHi {
			if x.Hi != p.RowPtr[row+1] {
				t.Fatalf("last piece %+v does not end its row", x)
			}
			row, split = row+1, split+1
		}
	}
	if row != p.Rows || nz != p.NNZ() || slot != u.Slots || split != len(u.Split) {
		t.Fatalf("covered %d rows, %d non-zeros, %d slots, %d split rows of %d, %d, %d, %d",
			row, nz, slot, split, p.Rows, p.NNZ(), u.Slots, len(u.Split))
	}
}

func TestCut(t *testing.T) {
	for _, lengths := range [][]int{{}, {0}, {1}, {0, 0, 0}, {5}, {1000000}, {1, 1000000, 1}, {0, 7, 8, 9, 0}, {8, 8, 8}} {
		for _, cost := range []int64{1, 2, 3, 8, 9, 4096} {
			checkCut(t, patternOf(lengths), max(cost, 2))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		lengths := make([]int, rng.IntN(300))
		for i := range lengths {
			lengths[i] = rng.IntN(6) * rng.IntN(1+rng.IntN(60))
		}
		checkCut(t, patternOf(lengths), 2+rng.Int64N(200))
	}
}

// A row of a million non-zeros becomes many units, so that it scales over cores.
func TestLongRowIsCut(t *testing.T) {
	p := patternOf([]int{3, 1 << 20, 2})
	if u := Cut(p, UnitCost(p)); u.Slots < 64 {
		t.Fatalf("a row of a million non-zeros was cut into %d pieces", u.Slots)
	}
}
