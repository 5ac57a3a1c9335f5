package tiling

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"sddmmkit/sparse"
)

// checkPanels compares panels with the plainest way to make them: one pass over all rows for each panel.
func checkPanels(t *testing.T, p *sparse.Pattern, panels *Panels) {
	t.Helper()
	if last := len(panels.Start) - 1; panels.Start[0] != 0 || panels.Start[last] != int64(len(panels.Segments)) ||
		panels.WorkStart[last] != len(panels.Work) || panels.SplitStart[last] != len(panels.Split) {
		t.Fatalf("panels do not span their lists: %v, %v, %v", panels.Start, panels.WorkStart, panels.SplitStart)
	}
	seen := make([]int, p.NNZ())
	for q := range panels.Count() {
		lo, hi := q*panels.Width, min((q+1)*panels.Width, p.Cols)
		g := panels.Start[q]
		for i := range p.Rows {
			first, n := int64(-1), int32(0)
			for z := p.RowPtr[i]; z < p.RowPtr[i+1]; z++ {
				if j := int(p.ColIdx[z]); j >= lo && j < hi {
					if first < 0 {
						first = z
					}
					n++
					seen[z]++
				}
			}
			if n == 0 {
				continue
			}
			if want := (Segment{Lo: first, N: n, Row: int32(i)}); g >= panels.Start[q+1] || panels.Segments[g] != want {
				t.Fatalf("panel %d: segment %d is not %+v", q, g, want)
			}
			g++
		}
		if g != panels.Start[q+1] {
			t.Fatalf("panel %d has %d segments too many", q, panels.Start[q+1]-g)
		}
		checkWork(t, panels, q)
	}
	for z, n := range seen {
		if n != 1 {
			t.Fatalf("non-zero %d is in %d panels", z, n)
		}
	}
	checkColumns(t, p, panels)
}

// checkColumns: the columns stand in the order of the segments, counted from the first of their panel, and units say where theirs begin.
func checkColumns(t *testing.T, p *sparse.Pattern, panels *Panels) {
	t.Helper()
	at := int64(0)
	for _, s := range panels.Segments {
		for z := s.Lo; z < s.Lo+int64(s.N); z++ {
			if want := p.ColIdx[z] % int32(min(panels.Width, math.MaxInt32)); panels.ColIdx[at] != want {
				t.Fatalf("column %d in the order of segments is %d, want %d", at, panels.ColIdx[at], want)
			}
			at++
		}
	}
	at = 0
	for n, u := range panels.Work {
		if u.At != at {
			t.Fatalf("unit %d begins at column %d, want %d", n, u.At, at)
		}
		if u.Slot >= 0 {
			at += u.Hi - u.Lo
			continue
		}
		for _, s := range panels.Segments[u.SegLo:u.SegHi] {
			at += int64(s.N)
		}
	}
	if at != p.NNZ() || len(panels.ColIdx) != int(at) {
		t.Fatalf("%d columns in the order of segments, units hold %d, the pattern %d", len(panels.ColIdx), at, p.NNZ())
	}
}

// checkWork: the units of panel q hold each of its segments once and in order, pieces cover theirs.
func checkWork(t *testing.T, p *Panels, q int) {
	t.Helper()
	g, slot := p.Start[q], 0
	split := p.Split[p.SplitStart[q]:p.SplitStart[q+1]]
	at := int64(-1) // next non-zero of the open segment
	for _, u := range p.Work[p.WorkStart[q]:p.WorkStart[q+1]] {
		if u.SegLo != g || u.SegHi <= g {
			t.Fatalf("panel %d: unit %+v starts at segment %d, want %d", q, u, u.SegLo, g)
		}
		if u.Slot < 0 {
			g = u.SegHi
			continue
		}
		s := p.Segments[g]
		if at < 0 {
			at = s.Lo
		}
		if u.SegHi != g+1 || u.Slot != slot || u.Lo != at || u.Hi <= u.Lo || len(split) == 0 ||
			split[0].Row != int(s.Row) || slot < split[0].SlotLo || slot >= split[0].SlotHi {
			t.Fatalf("panel %d: piece %+v of segment %+v, want non-zero %d in slot %d of %v", q, u, s, at, slot, split)
		}
		at = u.Hi
		slot++
		if slot == split[0].SlotHi {
			if at != s.Lo+int64(s.N) {
				t.Fatalf("panel %d: the pieces of segment %+v end at %d", q, s, at)
			}
			g, at, split = g+1, -1, split[1:]
		}
	}
	if g != p.Start[q+1] || len(split) != 0 || slot > p.Slots {
		t.Fatalf("panel %d: units end at segment %d of %d, %d split segments left, %d slots of %d", q, g, p.Start[q+1], len(split), slot, p.Slots)
	}
}

// checkCounts holds the counts against the panels themselves.
func checkCounts(t *testing.T, p *sparse.Pattern, panels *Panels) {
	t.Helper()
	active, err := ActiveRows(p, panels.Width, 2)
	if err != nil {
		t.Fatal(err)
	}
	for q, n := range active {
		if n != panels.Start[q+1]-panels.Start[q] {
			t.Fatalf("panel %d has %d segments, ActiveRows says %d", q, panels.Start[q+1]-panels.Start[q], n)
		}
	}
	if bits.OnesCount(uint(panels.Width)) == 1 {
		counts, err := SegmentCounts(p, 2)
		if err != nil {
			t.Fatal(err)
		}
		if s := min(bits.TrailingZeros(uint(panels.Width)), len(counts)-1); counts[s] != int64(len(panels.Segments)) {
			t.Fatalf("%d segments at width %d, SegmentCounts says %d", len(panels.Segments), panels.Width, counts[s])
		}
	}
}

func TestColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		p := random(rng, rng.IntN(40), rng.IntN(50), float64(1+rng.IntN(4)))
		for _, width := range []int{1, 2, 3, 4, 7, 8, 16, 49, 50, 64, 1000, math.MaxInt} {
			panels, err := Columns(p, width, 1+rng.IntN(3))
			if err != nil {
				t.Fatal(err)
			}
			checkPanels(t, p, panels)
			checkCounts(t, p, panels)
		}
	}
}

// The same panels come out whoever makes them.
func TestColumnsForAnyThreads(t *testing.T) {
	p := uniform(20_000, 3000, 20)
	for _, width := range []int{1, 17, 500, 3000} {
		want, err := Columns(p, width, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{2, 3, 16} {
			got, err := Columns(p, width, threads)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("width %d: %d threads make other panels", width, threads)
			}
		}
	}
}

func TestLongSegmentIsCut(t *testing.T) {
	p := long(1 << 18)
	for _, width := range []int{1 << 18, 1 << 16, 1000} {
		panels, err := Columns(p, width, 2)
		if err != nil {
			t.Fatal(err)
		}
		checkPanels(t, p, panels)
		most := 0
		for q := range panels.Count() {
			for _, u := range panels.Work[panels.WorkStart[q]:panels.WorkStart[q+1]] {
				n := 0
				if u.Slot >= 0 {
					n = int(u.Hi - u.Lo)
				} else {
					for _, s := range panels.Segments[u.SegLo:u.SegHi] {
						n += int(s.N)
					}
				}
				most = max(most, n)
			}
		}
		if most > max(width/panelUnitsWanted, minPanelUnitCost)+1 {
			t.Errorf("width %d: a unit has %d non-zeros", width, most)
		}
	}
}

func TestPanelErrors(t *testing.T) {
	unsorted := &sparse.Pattern{Rows: 2, Cols: 9, RowPtr: []int64{0, 1, 3}, ColIdx: []int32{5, 4, 3}}
	twice := &sparse.Pattern{Rows: 2, Cols: 9, RowPtr: []int64{0, 1, 3}, ColIdx: []int32{5, 4, 4}}
	outside := &sparse.Pattern{Rows: 1, Cols: 9, RowPtr: []int64{0, 2}, ColIdx: []int32{5, 9}}
	wide := &sparse.Pattern{Rows: 1, Cols: 1 << 30, RowPtr: []int64{0, 1}, ColIdx: []int32{5}}
	for _, test := range []struct {
		p     *sparse.Pattern
		width int
		want  string
	}{
		{unsorted, 3, "row 1 are not increasing within [0,9); sort the rows"},
		{twice, 3, "row 1 are not increasing"},
		{outside, 3, "row 0 are not increasing within [0,9)"},
		{unsorted, 0, "panels of 0 columns; want at least 1"},
		{unsorted, -4, "panels of -4 columns"},
		{wide, 8, "want at least 16384 columns a panel"},
		{&sparse.Pattern{Rows: 1 << 40, RowPtr: []int64{0}}, 8, "rows; want at most"},
	} {
		_, err := Columns(test.p, test.width, 2)
		_, err2 := ActiveRows(test.p, test.width, 2)
		for _, err := range []error{err, err2} {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("width %d: error %v, want %q", test.width, err, test.want)
			}
		}
	}
	for _, p := range []*sparse.Pattern{unsorted, twice} {
		if _, err := SegmentCounts(p, 1); err == nil {
			t.Error("SegmentCounts took unsorted rows")
		}
	}
	if _, err := Columns(wide, 16384, 1); err != nil {
		t.Errorf("the width that the error asks for: %v", err)
	}
}

func FuzzColumns(f *testing.F) {
	f.Add([]byte("a row\xffanother\xff\xff row"), uint16(100), uint16(7))
	f.Add([]byte{}, uint16(0), uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, cols, width uint16) {
		p := fromBytes(data, int(cols))
		panels, err := Columns(p, int(width), 3)
		if err != nil {
			if width == 0 {
				return
			}
			t.Fatal(err)
		}
		checkPanels(t, p, panels)
		checkCounts(t, p, panels)
		rows, err := Rows(p, int(width), 2)
		if err != nil {
			t.Fatal(err)
		}
		checkRows(t, p, rows)
	})
}

// checkRows holds row panels against those of the columns of the transpose, and against counts.
func checkRows(t *testing.T, p *sparse.Pattern, rows *RowPanels) {
	t.Helper()
	checkPanels(t, rows.Transposed, &rows.Panels)
	for q := range rows.Count() {
		for _, s := range rows.Segments[rows.Start[q]:rows.Start[q+1]] {
			for z := s.Lo; z < s.Lo+int64(s.N); z++ {
				old := rows.Perm[z]
				i := int(rows.Transposed.ColIdx[z])
				if p.ColIdx[old] != s.Row || i/rows.Width != q || old < p.RowPtr[i] || old >= p.RowPtr[i+1] {
					t.Fatalf("row panel %d: non-zero %d of the transpose is not non-zero %d in row %d, column %d", q, z, old, i, s.Row)
				}
			}
		}
	}
	active, err := ActiveColumns(p, rows.Width, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(active) != rows.Count() {
		t.Fatalf("%d row panels, ActiveColumns says %d", rows.Count(), len(active))
	}
	for q, n := range active {
		if n != rows.Start[q+1]-rows.Start[q] {
			t.Fatalf("row panel %d has %d segments, ActiveColumns says %d", q, rows.Start[q+1]-rows.Start[q], n)
		}
	}
}

func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		p := random(rng, rng.IntN(40), rng.IntN(50), 2)
		for _, height := range []int{1, 3, 8, 100} {
			rows, err := Rows(p, height, 2)
			if err != nil {
				t.Fatal(err)
			}
			checkRows(t, p, rows)
		}
	}
	if _, err := ActiveColumns(long(4), 0, 1); err == nil {
		t.Error("panels of no rows")
	}
	if _, err := Rows(long(4), 0, 1); err == nil {
		t.Error("panels of no rows")
	}
}

func benchNNZ(b *testing.B, p *sparse.Pattern, body func()) {
	for b.Loop() {
		body()
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(p.NNZ()), "ns/nnz")
}

func BenchmarkColumns(b *testing.B) {
	p := uniform(131_072, 131_072, 40)
	for _, width := range []int{1 << 11, 1 << 14, 1 << 16} {
		b.Run("width="+itoa(width), func(b *testing.B) {
			benchNNZ(b, p, func() { _, _ = Columns(p, width, 0) })
		})
	}
}

func BenchmarkSegmentCounts(b *testing.B) {
	p := uniform(131_072, 131_072, 40)
	benchNNZ(b, p, func() { _, _ = SegmentCounts(p, 0) })
}
