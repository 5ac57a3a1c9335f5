package model

import (
	"fmt"
	"math"
	"slices"
)

// Choice is the tile that the model takes, what it predicts for it, and why.
type Choice struct {
	Prediction
	Reason       string       // one sentence
	Alternatives []Prediction // all that were looked at, no tiling first
}

// Bounds of the tiles that Choose looks at.
const (
	minWidth = 256  // columns of a panel
	overhang = 16   // elements by which the last slice may be longer
	narrow   = 4    // SpMM goes without tiles up to this K: its sums are then not in the order of the non-zeros
	equal    = 1.04 // times the fastest is as good where there are no panels to make
	alike    = 1.02 // and where fewer segments are touched
)

// SliceBytes are those of a row in the shortest slice of K on CPUs: what the inner loop of SDDMM adds up at a time.
const SliceBytes = 512

// OftenRead is the number of non-zeros for each row of B from which on copying it costs little.
const OftenRead = 64

// Choose returns the fastest tile for an operation on a pattern with K = k and elements of elemBytes bytes:
// none, or 2, 3, 4, 6, 8, 12, … panels of equal width, each with all of K or in slices of 512, 1024, … bytes; but none, or else slices alone, where
// these are predicted within 4 % of the fastest, and of panels those with the fewest segments within 2 %: what a segment takes is known least.
// For SDDMM a single panel of all columns is there too: a list of the active rows.
func (m *Machine) Choose(op Op, f *Profile, k, elemBytes int) Choice {
	k, elemBytes = max(k, 0), max(elemBytes, 1)
	none := m.Predict(op, f, k, elemBytes, Tile{})
	c := Choice{Prediction: none, Alternatives: []Prediction{none}}
	b := float64(f.Cols) * float64(k) * float64(elemBytes)
	if f.NNZ == 0 || k <= 1 {
		c.Reason = "there is nothing that a tile could keep"
		return c
	}
	if op != SDDMM && k <= narrow {
		c.Reason = fmt.Sprintf("SpMM is not tiled up to K = %d", narrow)
		return c
	}
	for _, tile := range tiles(op, f, k, elemBytes) {
		c.Alternatives = append(c.Alternatives, m.Predict(op, f, k, elemBytes, tile))
	}
	fastest := fastestOf(c.Alternatives, func(Prediction) bool { return true })
	c.Prediction = fastest
	if none.Seconds <= equal*fastest.Seconds {
		c.Prediction = none
	} else if alone := fastestOf(c.Alternatives, func(p Prediction) bool { return p.Tile.Tj == 0 }); alone.Seconds <= equal*fastest.Seconds {
		c.Prediction = alone
	} else {
		for _, p := range c.Alternatives {
			if p.Seconds <= alike*fastest.Seconds && p.touched(k) < c.touched(k) {
				c.Prediction = p
			}
		}
	}
	c.Reason = m.reason(f, k, b, none, fastest, c.Prediction)
	return c
}

// fastestOf returns the fastest prediction of those that are wanted; the first is in any case.
func fastestOf(all []Prediction, wanted func(Prediction) bool) Prediction {
	fastest := all[0]
	for _, p := range all[1:] {
		if wanted(p) && p.Seconds < fastest.Seconds {
			fastest = p
		}
	}
	return fastest
}

// touched is how many segments of K = k are touched, over all panels and slices.
func (p Prediction) touched(k int) float64 { return p.Segments * slicesOf(k, p.Tile.Tk) }

// slicesOf returns the number of slices of depth of K = k, 0 for all of it.
func slicesOf(k, depth int) float64 {
	if depth <= 0 || depth >= k {
		return 1
	}
	return math.Max(math.Ceil(float64(k-overhang)/float64(depth)), 1)
}

// tiles returns the grid, without no tile. Where columns are not in order there are no panels.
func tiles(op Op, f *Profile, k, elemBytes int) []Tile {
	depths := Depths(k, elemBytes)
	var all []Tile
	for _, depth := range depths {
		all = append(all, Tile{Tk: depth})
	}
	panels := func(width int) {
		all = append(all, Tile{Tj: width})
		for _, depth := range depths {
			all = append(all, Tile{Tj: width, Tk: depth})
		}
	}
	if lists(op, f, k) {
		panels(f.Cols)
	}
	for n := 2; f.Segments != nil; n++ {
		count := 1 << (n / 2)
		if n%2 == 1 {
			count += count / 2
		}
		width := (f.Cols-1)/count + 1
		if width < minWidth {
			break
		}
		panels(width)
	}
	return all
}

// lists reports whether a panel of all columns may be faster than none: it lists active rows, and the others are passed over. SpMM has to write
// those too, and narrow rows go through segments in Go.
func lists(op Op, f *Profile, k int) bool {
	return op == SDDMM && k > narrow && f.Cols >= minWidth && f.Segments != nil && f.ActiveRows < int64(f.Rows)
}

// Depths returns the slices that K = k is cut into on CPUs for elements of elemBytes bytes, from long to short.
func Depths(k, elemBytes int) []int {
	var all []int
	for depth := max(SliceBytes/elemBytes, 1); depth+overhang < k; depth *= 2 {
		all = append(all, depth)
	}
	slices.Reverse(all)
	return all
}

// Near reports whether the inner loops of CPUs take a panel of rows of B, of rowBytes bytes each, for near, and leave most of a row to the hardware's
// prefetchers: its rows take no more than twice a private cache, or six times where they are longer than SliceBytes, for the prefetchers bring most
// of these from a shared cache as well, or a quarter of that one where SpMM, which gathers long rows a block at a time, has to do with longer ones
// than that; and a call reads so much of each, of nnz non-zeros on all rows of B, that it matters little that the first read, from farther away,
// takes longer for it. private and shared are the bytes of those caches. With 8 reads of 512 bytes a call took up to 1.3 times as long, with 41 1.1,
// with 51 and 244 0.9 to 1; with rows of 512 bytes in four times the cache 0.93 to 1.05, of 2 KB in six times 0.8 to 1, in ten and more 0.84 to 1.2
// (ADR 8).
func Near(op Op, nnz int64, all, rows, rowBytes int, private, shared int64) bool {
	const often = 24 << 10 // bytes
	most := 2 * private
	if rowBytes > SliceBytes {
		most = 6 * private
	}
	if op != SDDMM && rowBytes > longBlock {
		most = max(most, shared/4)
	}
	return int64(rows)*int64(rowBytes) <= most && nnz*int64(rowBytes) >= often*int64(all)
}

// OwnCopies reports whether threads copy slices of rows of B panel by panel, each for itself: the rows of a panel, of rowBytes bytes each, leave
// room in a private cache of so many bytes, and all rows of B are read so often, nnz times together, that it matters little that every thread copies
// them. With 12 reads by a thread and panels that filled the cache a call took 1.1 times as long, with 25 and more 0.95 times on average (ADR 7). Not so
// where rows are in pieces, which SpMM does at once for all panels, from copies for all: without these 500 rows of 10000 took 1.2 times as long.
func OwnCopies(nnz int64, all, rows, rowBytes, threads int, cache int64, inPieces bool) bool {
	const often = 16 // reads by a thread
	return !inPieces && 4*int64(rows)*int64(rowBytes) <= 3*cache && nnz >= often*int64(threads)*int64(all)
}

// Packs reports whether, in slices, rows of A or C of a slice are copied to follow each other, before its panels or after them: so many segments read each
// of the rows twice and more. With four and eight panels of rows of 2 KB calls took 0.68 to 0.91 times as long on a Xeon where A or C is 128 MB and more,
// and 0.95 to 1.01 where it is less; with two 0.91 to 1.02; with 1.9 segments a row, in four panels, 1.03 to 1.1 (ADR 7).
func Packs(segments int64, rows int) bool {
	const often = 2
	return rows > 0 && segments >= often*int64(rows)
}

// LastApart reports whether operations on CPUs gather the last of K = k columns of B apart from the others: in single precision, where the
// others fill whole cache lines and a row would touch one more for it. B, with rows rows for nnz non-zeros, is copied for that, and
// rows have to be read often, for there are moments when a copy takes ten times as long as usual (ADR 8). Transposed SpMM collects values in
// batches too small for a second pass, which all others take but SpMM with long vectors: it does the last column with the others.
func LastApart(op Op, nnz int64, rows, k, elemBytes int) bool {
	const line = 64 / 4 // elements
	if elemBytes != 4 || op == SpMMT || k <= line || k%line != 1 || k > SliceBytes/elemBytes+overhang {
		return false
	}
	return rows > 0 && nnz/int64(rows) >= 2*OftenRead
}

// longBlock is the bytes of a block of long vectors.
const longBlock = 2 * SliceBytes

// reason says in a sentence why taken was taken, with what is predicted without a tile and for the fastest.
func (m *Machine) reason(f *Profile, k int, b float64, none, fastest, taken Prediction) string {
	// The last cache that does not hold B, and the first that does.
	levels := m.Measured.Levels
	small := -1
	for i, l := range levels {
		if l.Bytes > 0 && b > float64(l.Bytes) {
			small = i
		}
	}
	size := func(i int) string { return fmt.Sprintf("%s (%s)", levels[i].Name, bytesText(float64(levels[i].Bytes))) }
	perRow := func(p Prediction) string {
		return fmt.Sprintf("%.1f non-zeros per active row", float64(f.NNZ)/math.Max(p.Segments, 1))
	}
	if taken.Tile != (Tile{}) {
		where := "is read many times"
		if small >= 0 {
			where = "is larger than " + size(small)
		}
		var tile string
		if taken.Tile.Tj >= f.Cols {
			tile = fmt.Sprintf("a list of the %d active rows passes over %d others", f.ActiveRows, int64(f.Rows)-f.ActiveRows)
		} else if taken.Tile.Tj > 0 {
			tile = fmt.Sprintf("a panel of %d columns still has %s", taken.Tile.Tj, perRow(taken))
		}
		if taken.Tile.Tk > 0 {
			if tile != "" {
				tile += ", and "
			}
			tile += fmt.Sprintf("slices of %d of K take %s each", taken.Tile.Tk, bytesText(b*float64(taken.Tile.Tk)/float64(k)))
		}
		return fmt.Sprintf("B (%s) %s and %s: %.2g times as fast", bytesText(b), where, tile, none.Seconds/taken.Seconds)
	}
	switch {
	case f.Segments == nil:
		return "the columns of some row are not in order, so there are no panels, and no slices of K are faster"
	case small < 0:
		return fmt.Sprintf("B (%s) fits in %s", bytesText(b), size(0))
	case fastest.Tile == (Tile{}):
		if small+1 < len(levels)-1 {
			return fmt.Sprintf("B (%s) fits in %s, and no panel is faster", bytesText(b), size(small+1))
		}
		return fmt.Sprintf("B (%s) is larger than %s, but no panel has enough non-zeros per active row to be faster", bytesText(b), size(small))
	}
	gain := 100 * (none.Seconds/fastest.Seconds - 1)
	if fastest.Tile.Tj >= f.Cols {
		return fmt.Sprintf("a list of the %d active rows, without %d others, would gain only %.1f %%", f.ActiveRows, int64(f.Rows)-f.ActiveRows, gain)
	}
	if fastest.Tile.Tj == 0 {
		return fmt.Sprintf("slices of %d of K would gain only %.1f %%", fastest.Tile.Tk, gain)
	}
	return fmt.Sprintf("a panel of %d columns, with %s, would gain only %.1f %%", fastest.Tile.Tj, perRow(fastest), gain)
}

// bytesText writes a size as people do.
func bytesText(b float64) string {
	units := []string{"bytes", "KB", "MB", "GB", "TB"}
	u := 0
	for b >= 1024 && u < len(units)-1 {
		b, u = b/1024, u+1
	}
	if u == 0 || b >= 100 {
		return fmt.Sprintf("%.0f %s", b, units[u])
	}
	return fmt.Sprintf("%.3g %s", b, units[u])
}
