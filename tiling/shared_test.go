package tiling

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sddmmkit/sparse"
)

// testUnits is what the GPUs have that tests cut for.
const testUnits = 132

// checkShared: every non-zero is in the rest or once in the items, both ways; cells are in order and aligned, and
// indices within bounds.
func checkShared(t *testing.T, p *sparse.Pattern, s *Shared, dense int) {
	t.Helper()
	rowOf := make([]int, p.NNZ())
	for i := range p.Rows {
		for z := p.RowPtr[i]; z < p.RowPtr[i+1]; z++ {
			rowOf[z] = i
		}
	}
	// Entries, found by way of Entry, have the row and the column of the non-zero.
	of := make([]int64, len(s.Local)) // 1 + the non-zero of an entry
	at, rest := int64(0), int64(0)
	for n, b := range s.Blocks {
		if b.Lo != at || b.Hi < b.Lo || b.Entry%SharedAlign != 0 || n > 0 && b.Entry < s.Blocks[n-1].Entry {
			t.Fatalf("block %d is %+v, want it from %d on", n, b, at)
		}
		for z := b.Lo; z < b.Hi; z++ {
			if s.Entry[z] != NoEntry {
				e := b.Entry + int64(s.Entry[z])
				if of[e] != 0 {
					t.Fatalf("entry %d is both non-zero %d and %d", e, of[e]-1, z)
				}
				of[e] = z + 1
				continue
			}
			if slices.Contains(s.Cols, p.ColIdx[z]) || s.RestAt[rest] != z || s.Rest.ColIdx[rest] != p.ColIdx[z] ||
				s.Rest.RowPtr[rowOf[z]] > rest || s.Rest.RowPtr[rowOf[z]+1] <= rest {
				t.Fatalf("non-zero %d in column %d is not number %d of the rest", z, p.ColIdx[z], rest)
			}
			rest++
		}
		at = b.Hi
	}
	if at != p.NNZ() || (s.Rest == nil) != (rest == 0) || s.Rest != nil && (s.Rest.NNZ() != rest || s.Rest.Validate() != nil || s.Rest.Rows != p.Rows) {
		t.Fatalf("blocks end at %d of %d non-zeros, %d are the rest", at, p.NNZ(), rest)
	}
	checkItems(t, p, s, dense, of, rowOf)
}

// checkItems: items of shares, and dense cells between them, have all entries in order; what fills up cells repeats the last one.
func checkItems(t *testing.T, p *sparse.Pattern, s *Shared, dense int, of []int64, rowOf []int) {
	t.Helper()
	at := int64(0)
	var last Item
	shared := int(s.Shares[len(s.Shares)-1])
	for n, it := range s.Items {
		if n < shared && int(it.Panel) < dense || n >= shared && int(it.Panel)*DenseWidth >= dense*s.Width {
			t.Fatalf("item %d of %d, of which %d are in shares, is %+v; %d panels are dense", n, len(s.Items), shared, it, dense)
		}
	}
	whole := map[Item]bool{}
	for _, it := range s.Items[shared:] {
		whole[it] = true
	}
	inOrder := slices.SortedFunc(slices.Values(s.Items), func(a, b Item) int { return cmp.Compare(a.Lo, b.Lo) })
	for n, it := range inOrder {
		width := s.Width
		if whole[it] {
			width = DenseWidth
		}
		sameCell := n > 0 && it.Panel == last.Panel && it.Row == last.Row && !whole[it] && !whole[last]
		if n > 0 && !sameCell {
			for ; at%SharedAlign != 0; at++ {
				if of[at] != 0 || s.Local[at] != s.Local[last.Hi-1] {
					t.Fatalf("entry %d fills up and is non-zero %d", at, of[at]-1)
				}
			}
			if it.Row < last.Row || it.Row == last.Row && whole[it] == whole[last] && it.Panel <= last.Panel {
				t.Fatalf("item %+v comes after %+v", it, last)
			}
		}
		if it.Lo != at || it.Hi <= it.Lo || it.Lo%SharedAlign != 0 || int(it.Panel)*width >= len(s.Cols) ||
			!whole[it] && it.Hi-it.Lo > max(ItemEntries(p.NNZ(), testUnits), 4*LeastItem) {
			t.Fatalf("item %d is %+v, want it from %d on", n, it, at)
		}
		before := int64(-1)
		for e := it.Lo; e < it.Hi; e++ {
			z := of[e] - 1
			row, col := int(it.Row)+int(s.Local[e]>>16), s.Cols[int(it.Panel)*width+int(s.Local[e]&0xffff)]
			if z <= before || rowOf[z] != row || p.ColIdx[z] != col || int(s.Local[e]>>16) >= s.Height || int(s.Local[e]&0xffff) >= min(width, s.Width*max(dense, 1)) {
				t.Fatalf("item %+v: entry %d is row %d, column %d; non-zero %d after %d is row %d, column %d", it, e, row, col, z, before, rowOf[z], p.ColIdx[z])
			}
			before = z
		}
		at, last = it.Hi, it
	}
	if (at+SharedAlign-1)/SharedAlign*SharedAlign != int64(len(s.Local)) {
		t.Fatalf("items end at entry %d of %d", at, len(s.Local))
	}
}

// shuffled returns p with the columns of every row in some order.
func shuffled(rng *rand.Rand, p *sparse.Pattern) *sparse.Pattern {
	q := &sparse.Pattern{Rows: p.Rows, Cols: p.Cols, RowPtr: p.RowPtr, ColIdx: slices.Clone(p.ColIdx)}
	for i := range q.Rows {
		row := q.Row(i)
		rng.Shuffle(len(row), func(a, b int) { row[a], row[b] = row[b], row[a] })
	}
	return q
}

func TestShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		p := shuffled(rng, random(rng, rng.IntN(40), rng.IntN(50), float64(1+rng.IntN(4))))
		by := NewPopular(p, 2).Order
		for _, cut := range [][4]int{{1, 1, 3, 0}, {5, 7, 2, 1}, {5, 7, 100, 4}, {16, 1, 1, 7}, {16, 64, 0, 2}, {50, 40, 1, 1}, {1 << 16, 1 << 16, math.MaxInt, 0}} {
			s, err := NewShared(p, by, SharedCut{Width: cut[0], Height: cut[1], Panels: cut[2], Dense: cut[3], Units: testUnits}, 1+rng.IntN(3))
			if err != nil {
				t.Fatal(err)
			}
			checkShared(t, p, s, cut[3])
			if want := by.Old[:min(p.Cols, min(cut[2], p.Cols)*cut[0])]; !slices.Equal(s.Cols, want) {
				t.Fatalf("%d panels of %d: columns %v, want %v", cut[2], cut[0], s.Cols, want)
			}
		}
	}
}

// Cells with more non-zeros than an item are cut, and the same comes out whoever cuts.
func TestSharedForAnyThreads(t *testing.T) {
	p := uniform(20_000, 3000, 20)
	by := NewPopular(p, 1).Order
	for _, cut := range [][4]int{{1000, 1 << 13, 2, 1}, {64, 500, 47, 20}} {
		want, err := NewShared(p, by, SharedCut{Width: cut[0], Height: cut[1], Panels: cut[2], Dense: cut[3], Units: testUnits}, 1)
		if err != nil {
			t.Fatal(err)
		}
		checkShared(t, p, want, cut[3])
		for _, threads := range []int{2, 3, 16} {
			if got, err := NewShared(p, by, SharedCut{Width: cut[0], Height: cut[1], Panels: cut[2], Dense: cut[3], Units: testUnits}, threads); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %d threads cut otherwise; error %v", cut, threads, err)
			}
		}
	}
}

// Items are smaller in the end, and none is larger than it may be.
func TestLastItems(t *testing.T) {
	const units, nnz = 132, 30_000_000
	c := &Cells{Each: 30, Units: units, Rows: []int{0, 100, 200}}
	counts := slices.Repeat([]int64{500_000}, 60)
	items, shares, _, places := c.Items(slices.Concat(make([]int64, 200), []int64{nnz}), counts)
	most := ItemEntries(nnz, units)
	if len(shares) != len(items)+1 {
		t.Errorf("%d shares of %d items", len(shares)-1, len(items))
	}
	if items[0].Hi-items[0].Lo < most*9/10 {
		t.Errorf("the first item is %+v, those of %d non-zeros have up to %d", items[0], nnz, most)
	}
	for n, it := range items {
		size, left := it.Hi-it.Lo, nnz-it.Lo
		if size < LeastItem/2 || size > most || size > max((left+counts[0])*5/6/units, LeastItem)+SharedAlign {
			t.Fatalf("item %d is %+v, with %d entries left", n, it, left)
		}
	}
	if last := items[len(items)-1]; last.Hi != nnz || last.Hi-last.Lo > LeastItem || places[60] != nnz {
		t.Errorf("the last item is %+v of %d entries", last, places[60])
	}
}

// Few entries are one share for each unit at most, of about the same cost.
func TestEvenShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		height := 1 + rng.IntN(3000)
		c := &Cells{Each: 1 + rng.IntN(60), Units: 1 + rng.IntN(200), Rows: []int{0, height, height + 1 + rng.IntN(height)}}
		counts, nnz := make([]int64, 2*c.Each), int64(0)
		for n := range counts {
			counts[n] = rng.Int64N(1+rng.Int64N(30_000)) * rng.Int64N(2)
			nnz += counts[n]
		}
		if !OneShareEach(nnz, c.Units) {
			continue
		}
		items, shares, _, places := c.Items(slices.Concat(make([]int64, c.Rows[2]), []int64{nnz}), counts)
		if len(shares)-1 > c.Units || shares[0] != 0 || int(shares[len(shares)-1]) != len(items) || !slices.IsSorted(shares) {
			t.Fatalf("shares %v of %d items for %d units", shares, len(items), c.Units)
		}
		checkParts(t, c, counts, items, places)
		// Whatever a cell's rows of A cost, an entry costs 1 to 1 + rowCost; each share may have a panel and a bit more than the mean.
		sum := float64(nnz)*(1+rowCost) + panelCost*float64(len(items))
		for n := range len(shares) - 1 {
			cost := 0.0
			for _, it := range items[shares[n]:shares[n+1]] {
				cost += panelCost + float64(it.Hi-it.Lo)
			}
			if cost > 1.2*sum/float64(c.Units)+2*(panelCost+(leastPart+SharedAlign)*(1+rowCost)) {
				t.Fatalf("share %d of %d costs %.0f or more, all %.0f at most: %v", n, len(shares)-1, cost, sum, items[shares[n]:shares[n+1]])
			}
		}
	}
}

// checkParts: items have the entries of each cell, in order.
func checkParts(t *testing.T, c *Cells, counts []int64, items []Item, places []int64) {
	t.Helper()
	next := 0
	for cell, n := range counts {
		at := places[cell]
		for at < places[cell]+n {
			it := items[next]
			if it.Lo != at || it.Hi <= at || it.Hi > places[cell]+n || it.Lo%SharedAlign != 0 || int(it.Panel) != cell%c.Each || int(it.Row) != c.Rows[cell/c.Each] {
				t.Fatalf("item %d is %+v, want cell %d from %d on", next, it, cell, at)
			}
			at, next = it.Hi, next+1
		}
		if places[cell+1] != places[cell]+aligned(n) {
			t.Fatalf("cell %d has [%d, %d) for %d entries", cell, places[cell], places[cell+1], n)
		}
	}
	if next != len(items) {
		t.Fatalf("%d items, want %d", len(items), next)
	}
}

func TestRowBlocks(t *testing.T) {
	rowPtr := []int64{0, 3, 3, 10, 11, 12, 13, 30, 31}
	for _, test := range []struct {
		height int
		limit  int64
		want   []int
	}{
		{100, 100, []int{0, 8}},
		{3, 100, []int{0, 3, 6, 8}},
		{100, 17, []int{0, 6, 7, 8}},
		{100, 18, []int{0, 6, 8}},
		{2, 7, []int{0, 2, 3, 5, 6, 7, 8}}, // a row with more than the limit stays whole
		{1, 1, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		if got := rowBlocks(rowPtr, test.height, test.limit); !slices.Equal(got, test.want) {
			t.Errorf("%d rows, %d non-zeros: %v, want %v", test.height, test.limit, got, test.want)
		}
	}
	if got := rowBlocks([]int64{0}, 5, 5); !slices.Equal(got, []int{0}) {
		t.Errorf("no rows: %v", got)
	}
}

func TestSharedErrors(t *testing.T) {
	p := long(1 << 20)
	by := NewPopular(p, 1).Order
	for _, test := range []struct {
		cut  SharedCut
		by   Order
		want string
	}{
		{SharedCut{Width: 0, Height: 1, Panels: 1}, by, "1 panels of 0 columns"},
		{SharedCut{Width: 1, Height: 0, Panels: 1}, by, "blocks of 0 rows"},
		{SharedCut{Width: 1<<16 + 1, Height: 1, Panels: 1}, by, "want 1 to 65536"},
		{SharedCut{Width: 1, Height: 1<<16 + 1, Panels: 1}, by, "want 1 to 65536"},
		{SharedCut{Width: 1, Height: 1, Panels: -1}, by, "-1 panels"},
		{SharedCut{Width: 1, Height: 1, Panels: 1, Dense: -1}, by, "-1 of them dense"},
		{SharedCut{Width: 1, Height: 1, Panels: 1}, Order{}, "an order of 0 columns for a pattern of 1048576"},
		{SharedCut{Width: 1, Height: 1, Panels: 1 << 20}, by, "too many for"},
	} {
		test.cut.Units = testUnits
		if _, err := NewShared(p, test.by, test.cut, 1); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
	if _, err := NewShared(&sparse.Pattern{Rows: 1 << 40, RowPtr: []int64{0}}, Order{}, SharedCut{Width: 1, Height: 1, Panels: 1, Units: 1}, 1); err == nil {
		t.Error("2⁴⁰ rows passed")
	}
}

// Panels counts what a walk over panels counts; beyond a million non-zeros it estimates active rows.
func TestPopularPanels(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		p := random(rng, 1+rng.IntN(40), 1+rng.IntN(50), 3)
		c := NewPopular(p, 1)
		if !slices.IsSortedFunc(c.Counts, func(a, b int64) int { return int(b - a) }) {
			t.Fatalf("counts %v do not fall", c.Counts)
		}
		q, _, err := Reorder(p, Order{}, c.Order, 1)
		if err != nil {
			t.Fatal(err)
		}
		widths := []int{1, 3, 16, 64}
		for n, counts := range c.Panels(p, widths) {
			panels, err := Columns(q, widths[n], 1)
			if err != nil {
				t.Fatal(err)
			}
			if panels.Count() != len(counts) {
				t.Fatalf("%d panels, want %d", len(counts), panels.Count())
			}
			for k, count := range counts {
				segs, nnz := panels.Segments[panels.Start[k]:panels.Start[k+1]], int64(0)
				for _, s := range segs {
					nnz += int64(s.N)
				}
				if count.NNZ != nnz || count.Active != float64(len(segs)) {
					t.Fatalf("panel %d of %d columns: %+v, want %d non-zeros in %d rows", k, widths[n], count, nnz, len(segs))
				}
			}
		}
	}
	p := uniform(100_000, 1000, 25)
	counts := NewPopular(p, 0).Panels(p, []int{100})[0]
	exact, err := ActiveRows(p, 1000, 0)
	if err != nil || exact[0] != 100_000 {
		t.Fatal(exact, err)
	}
	for q, c := range counts { // a row has none of 25 in a tenth of the columns in 7 % of all cases
		if c.Active < 0.91*float64(exact[0]) || c.Active > 0.95*float64(exact[0]) {
			t.Errorf("panel %d: about %v active rows", q, c.Active)
		}
	}
}

func FuzzShared(f *testing.F) {
	f.Add([]byte("a row\xffanother\xff\xff row"), uint16(100), uint16(7), uint16(2), uint8(3))
	f.Add([]byte{}, uint16(0), uint16(1), uint16(1), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, cols, width, height uint16, panels uint8) {
		p := fromBytes(data, int(cols))
		s, err := NewShared(p, NewPopular(p, 1).Order, SharedCut{Width: int(width), Height: int(height), Panels: int(panels), Dense: int(panels) / 3, Units: 1 + int(panels)/2}, 3)
		if err != nil {
			if width == 0 || height == 0 {
				return
			}
			t.Fatal(err)
		}
		checkShared(t, p, s, int(panels)/3)
	})
}

// The two passes of planning on a GPU: which columns are popular, and the cut.
func BenchmarkShared(b *testing.B) {
	p := uniform(131_072, 32_768, 80)
	b.Run("Popular", func(b *testing.B) {
		benchNNZ(b, p, func() { NewPopular(p, 0) })
	})
	c := NewPopular(p, 0)
	b.Run("Panels", func(b *testing.B) {
		benchNNZ(b, p, func() { c.Panels(p, []int{1792, 896, 448, 224}) })
	})
	for _, width := range []int{1792, 448, 224} {
		b.Run("width="+itoa(width), func(b *testing.B) {
			benchNNZ(b, p, func() {
				_, _ = NewShared(p, c.Order, SharedCut{Width: width, Height: 20_000, Panels: math.MaxInt, Units: testUnits}, 0)
			})
		})
	}
}
