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

// NewSMSM cuts p, whose rows must be sorted, into tiles of ti rows and tj columns.
func NewSMSM[R, C Local](p *sparse.Pattern, ti, tj, threads int) (*SMSM[R, C], error) {
	const op = "tiling.NewSMSM"
	if err := checkTile[R, C](op, ti, tj); err != nil {
		return nil, err
	}
	w, err := newWalk(op, p, max(p.Cols, 1), threads)
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
	// First the tiles of each row panel, with their sizes; then their entries.
	found := make([][]Tile, panels)
	chunkLoop(threads, panels, func(i int) { found[i] = tilesOf(p, i, ti, tj) })
	for i, tiles := range found {
		s.Start[i+1] = s.Start[i] + len(tiles)
	}
	s.Tiles.Tiles = make([]Tile, 0, s.Start[panels])
	for _, tiles := range found {
		s.Tiles.Tiles = append(s.Tiles.Tiles, tiles...)
	}
	chunkLoop(threads, panels, func(i int) {
		tiles := s.Tiles.Tiles[s.Start[i]:s.Start[i+1]]
		next := make([]int64, len(tiles))
		for n, t := range tiles {
			next[n] = t.Lo
		}
		for r := i * ti; r < min((i+1)*ti, p.Rows); r++ {
			segments(p, r, tj, func(j int, lo, hi int64) {
				n, _ := slices.BinarySearchFunc(tiles, int32(j), func(t Tile, j int32) int { return int(t.J) - int(j) })
				next[n] = s.put(next[n], R(r-i*ti), j*tj, p, lo, hi)
			})
		}
	})
	return s, nil
}

// tilesOf returns the tiles of row panel i, from left to right.
func tilesOf(p *sparse.Pattern, i, ti, tj int) []Tile {
	first, end := i*ti, min((i+1)*ti, p.Rows)
	type run struct {
		j int32
		n int64
	}
	var runs []run
	for r := first; r < end; r++ {
		segments(p, r, tj, func(j int, lo, hi int64) { runs = append(runs, run{int32(j), hi - lo}) })
	}
	slices.SortFunc(runs, func(a, b run) int { return int(a.j) - int(b.j) })
	var tiles []Tile
	at := p.RowPtr[first]
	for k := 0; k < len(runs); {
		t := Tile{Lo: at, I: int32(i), J: runs[k].j, Rows: int32(end - first)}
		for ; k < len(runs) && runs[k].j == t.J; k++ {
			at += runs[k].n
		}
		t.Hi = at
		tiles = append(tiles, t)
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
