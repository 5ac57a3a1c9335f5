package tiling

import (
	"fmt"
	"slices"

	"sddmmkit/sparse"
)

// Local is the type of an index within a tile.
type Local interface{ uint16 | uint32 }

// Fits reports whether indices in [0, n) fit into R.
func Fits[R Local](n int) bool { return n >= 0 && uint64(n) <= uint64(^R(0))+1 }

// Tiles are the non-zeros of a pattern as triplets, tile by tile, in a tile by row and column. The
// indices are local to the tile, so that narrow types do: R for rows, C for columns.
type Tiles[R, C Local] struct {
	Ti, Tj int    // most rows and columns of a tile
	Tiles  []Tile // those with non-zeros

	// Row[e] and Col[e] are the local indices of entry e, which is non-zero Source[e] of the pattern.
	Row    []R
	Col    []C
	Source []int64
}

// Tile is a tile with at least one non-zero.
type Tile struct {
	Lo, Hi int64 // its entries
	I, J   int32 // SM-SM: its place in the grid of tiles. SM-L2: its place in the panel, and the panel
	Active int64 // SM-L2: local row r is row Active[tile.Active+r] of the pattern
	Rows   int32 // rows that entries may name
}

// SML2 are the tiles of the SM-L2 scheme (cuSDDMM, algorithms 4 and 5): column panels cut at every T_i
// active rows. Local row r of tile t is row Active[t.Active+r]; local column c is column t.J·T_j+c.
// Each tile is the work of one thread block, which loads its rows of A to shared memory
// and finds the panel's rows of B in L2.
type SML2[R, C Local] struct {
	Tiles[R, C]
	Active []int32 // the active rows of all panels, one panel after another
	Start  []int   // the tiles of panel q are Tiles.Tiles[Start[q]:Start[q+1]]
}

// NewSML2 cuts panels of p into tiles of ti active rows.
func NewSML2[R, C Local](p *sparse.Pattern, panels *Panels, ti, threads int) (*SML2[R, C], error) {
	tj := min(panels.Width, max(p.Cols, 1))
	if err := checkTile[R, C]("tiling.NewSML2", ti, tj); err != nil {
		return nil, err
	}
	if !panels.of(p) {
		return nil, fmt.Errorf("tiling.NewSML2: the panels are not those of this pattern of %d rows with %d non-zeros", p.Rows, p.NNZ())
	}
	s := &SML2[R, C]{Tiles: newTiles[R, C](ti, tj, p.NNZ()), Active: make([]int32, len(panels.Segments)), Start: make([]int, panels.Count()+1)}
	for q := range panels.Count() {
		n := panels.Start[q+1] - panels.Start[q]
		s.Start[q+1] = s.Start[q] + int((n+int64(ti)-1)/int64(ti))
	}
	s.Tiles.Tiles = make([]Tile, s.Start[panels.Count()])
	at := int64(0)
	for q := range panels.Count() {
		for k := range s.Start[q+1] - s.Start[q] {
			first := panels.Start[q] + int64(k)*int64(ti)
			last := min(first+int64(ti), panels.Start[q+1])
			t := &s.Tiles.Tiles[s.Start[q]+k]
			*t = Tile{Lo: at, I: int32(k), J: int32(q), Active: first, Rows: int32(last - first)}
			for _, seg := range panels.Segments[first:last] {
				at += int64(seg.N)
			}
			t.Hi = at
		}
	}
	chunkLoop(threads, len(s.Tiles.Tiles), func(n int) {
		t := s.Tiles.Tiles[n]
		e, base := t.Lo, int(t.J)*panels.Width
		for r := range int64(t.Rows) {
			seg := panels.Segments[t.Active+r]
			s.Active[t.Active+r] = seg.Row
			e = s.put(e, R(r), base, p, seg.Lo, seg.Lo+int64(seg.N))
		}
	})
	return s, nil
}

// of reports whether the panels can be those of s, as far as rows and sizes tell.
func (p *Panels) of(s *sparse.Pattern) bool {
	nnz := int64(0)
	for _, seg := range p.Segments {
		i := int(seg.Row)
		if i >= s.Rows || seg.Lo < s.RowPtr[i] || seg.Lo+int64(seg.N) > s.RowPtr[i+1] {
			return false
		}
		nnz += int64(seg.N)
	}
	return nnz == s.NNZ()
}

// SMSM are the tiles of the SM-SM scheme (cuSDDMM, figure 6): a grid of T_i×T_j. Row panel I is the work
// of one thread block, which goes through tiles Start[I] to Start[I+1] from left to right. Local row
// r of tile t is row t.I·T_i+r, local column c is column t.J·T_j+c. Tiles without non-zeros are left out.
type SMSM[R, C Local] struct {
	Tiles[R, C]
	Start []int // the tiles of row panel I are Tiles.Tiles[Start[I]:Start[I+1]]
}

// NewSMSM cuts p, whose rows must be sorted, into tiles of ti rows and tj columns. Tiles beside each
// other may be no more than non-zeros, or 65536 when that is more.
func NewSMSM[R, C Local](p *sparse.Pattern, ti, tj, threads int) (*SMSM[R, C], error) {
	const op = "tiling.NewSMSM"
	if err := checkTile[R, C](op, ti, tj); err != nil {
		return nil, err
	}
	w, err := newWalk(op, p, tj, threads)
	if err != nil {
		return nil, err
	}
	if err := w.count(); err != nil { // sorted?
		return nil, err
	}
	panels := 0
	if p.Rows > 0 {
		panels = (p.Rows-1)/ti + 1
	}
	s := &SMSM[R, C]{Tiles: newTiles[R, C](ti, tj, p.NNZ()), Start: make([]int, panels+1)}
	// A row panel's entries stand where its non-zeros do, so that chunks need not wait for
	// each other; only the tiles are put together afterwards.
	found := make([][]Tile, len(w.counts))
	chunkLoop(threads, len(found), func(c int) {
		next := w.counts[c]
		clear(next)
		for i := panels * c / len(found); i < panels*(c+1)/len(found); i++ {
			before := len(found[c])
			found[c] = s.rowPanel(p, i, next, found[c])
			s.Start[i+1] = len(found[c]) - before
		}
	})
	for i := range panels {
		s.Start[i+1] += s.Start[i]
	}
	s.Tiles.Tiles = slices.Concat(found...)
	return s, nil
}

// rowPanel appends the tiles of row panel i and writes their entries. next has a zero for each tile
// of a row panel, before and after.
func (s *SMSM[R, C]) rowPanel(p *sparse.Pattern, i int, next []int64, tiles []Tile) []Tile {
	first, end := i*s.Ti, min((i+1)*s.Ti, p.Rows)
	mine := len(tiles)
	for r := first; r < end; r++ {
		segments(p, r, s.Tj, func(j int, lo, hi int64) {
			if next[j] == 0 {
				tiles = append(tiles, Tile{I: int32(i), J: int32(j), Rows: int32(end - first)})
			}
			next[j] += hi - lo
		})
	}
	slices.SortFunc(tiles[mine:], func(a, b Tile) int { return int(a.J) - int(b.J) })
	at := p.RowPtr[first]
	for k := mine; k < len(tiles); k++ {
		t := &tiles[k]
		t.Lo = at
		at += next[t.J]
		t.Hi, next[t.J] = at, t.Lo
	}
	for r := first; r < end; r++ {
		segments(p, r, s.Tj, func(j int, lo, hi int64) {
			next[j] = s.put(next[j], R(r-first), j*s.Tj, p, lo, hi)
		})
	}
	for _, t := range tiles[mine:] {
		next[t.J] = 0
	}
	return tiles
}

// segments calls see for the parts of row r in panels of width columns.
func segments(p *sparse.Pattern, r, width int, see func(panel int, lo, hi int64)) {
	for z, hi := p.RowPtr[r], p.RowPtr[r+1]; z < hi; {
		lo, q := z, int(p.ColIdx[z])/width
		end := (q + 1) * width
		for z++; z < hi && int(p.ColIdx[z]) < end; z++ {
		}
		see(q, lo, z)
	}
}

func checkTile[R, C Local](op string, ti, tj int) error {
	switch {
	case ti < 1 || tj < 1:
		return fmt.Errorf("%s: tiles of %d×%d; want at least 1×1", op, ti, tj)
	case !Fits[R](ti):
		return fmt.Errorf("%s: local rows of tiles of %d rows do not fit into %T; use uint32 or fewer rows", op, ti, R(0))
	case !Fits[C](tj):
		return fmt.Errorf("%s: local columns of tiles of %d columns do not fit into %T; use uint32 or fewer columns", op, tj, C(0))
	}
	return nil
}

func newTiles[R, C Local](ti, tj int, nnz int64) Tiles[R, C] {
	return Tiles[R, C]{Ti: ti, Tj: tj, Row: make([]R, nnz), Col: make([]C, nnz), Source: make([]int64, nnz)}
}

// put writes the non-zeros [lo, hi) as entries from e on, and returns the entry after them.
func (s *Tiles[R, C]) put(e int64, r R, base int, p *sparse.Pattern, lo, hi int64) int64 {
	for z := lo; z < hi; z++ {
		s.Row[e], s.Col[e], s.Source[e] = r, C(int(p.ColIdx[z])-base), z
		e++
	}
	return e
}
