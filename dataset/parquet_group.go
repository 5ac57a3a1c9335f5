package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"sddmmkit/sparse"
)

// oldDictionary is what files of Parquet 1.0 call both a plain dictionary and the indices into it.
const oldDictionary = format.Encoding(2)

// parquetGroup is one row group, decoded: names are numbered in order of first appearance within
// the group.
type parquetGroup[T sparse.Float] struct {
	users, items *idTable
	row, col     []int32
	val          []T
	time         []int64
}

// read decodes the columns of row group g that matter.
func (d *parquetGroup[T]) read(ctx context.Context, t *parquetTable, r io.ReaderAt, size int64, g int) error {
	d.users, d.items = newIDTable(), newIDTable()
	for role, c := range t.roles {
		if c == nil {
			continue
		}
		v := parquetValues{column: c, group: t.firsts[g], want: t.meta.RowGroups[g].NumRows}
		switch role {
		case userRole:
			v.ids(d.users, &d.row)
		case itemRole:
			v.ids(d.items, &d.col)
		case ratingRole:
			v.word = func(w uint64) error {
				x := T(c.float(w))
				if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
					return fmt.Errorf("value %v; want a finite %T", c.float(w), x)
				}
				d.val = append(d.val, x)
				return nil
			}
		case timeRole:
			v.word = func(w uint64) error {
				d.time = append(d.time, c.signed(w))
				return nil
			}
		}
		if err := v.read(ctx, r, size, &t.meta.RowGroups[g].Columns[c.leaf]); err != nil {
			return fmt.Errorf("column %q: %w", c.name, err)
		}
	}
	return nil
}

// signed returns the integer that a word of the column holds.
func (c *parquetColumn) signed(w uint64) int64 {
	switch {
	case c.typ != format.Int32:
		return int64(w)
	case c.unsigned:
		return int64(uint32(w))
	}
	return int64(int32(w))
}

// float returns the number that a word of the column holds.
func (c *parquetColumn) float(w uint64) float64 {
	switch c.typ {
	case format.Float:
		return float64(math.Float32frombits(uint32(w)))
	case format.Double:
		return math.Float64frombits(w)
	}
	x := float64(c.signed(w))
	if c.unsigned && c.typ == format.Int64 {
		x = float64(w)
	}
	if c.scale != 0 {
		x /= c.scale
	}
	return x
}

// parquetValues decodes one column of a row group and hands over its values, row by row: numbers
// as words of 64 bits through word, strings through bytes.
type parquetValues struct {
	column *parquetColumn
	group  int64 // rows before the group
	want   int64 // rows of the group
	row    int64 // rows handed over

	word  func(w uint64) error
	bytes func(s []byte) error

	dictWords []uint64 // the dictionary, of either kind
	dictBytes [][]byte
	seen      func(k uint32) bool // hands over entry k where it was handed over before; nil for none
	learn     func(k uint32)      // entry k was just handed over
}

// ids makes the values the names of a table, and appends their indices to out.
func (v *parquetValues) ids(t *idTable, out *[]int32) {
	var text []byte
	v.word = func(w uint64) error {
		x := v.column.signed(w)
		var id int32
		switch {
		case x >= 0 && x < 1e18: // those are the numbers that the table keeps as such
			id = t.number(uint64(x))
		case v.column.unsigned:
			text = strconv.AppendUint(text[:0], w, 10)
			id = t.id(text)
		default:
			text = strconv.AppendInt(text[:0], x, 10)
			id = t.id(text)
		}
		*out = append(*out, id)
		return nil
	}
	v.bytes = func(s []byte) error {
		if len(s) == 0 {
			return errors.New("an empty string; want a name")
		}
		*out = append(*out, t.id(s))
		return nil
	}
	var known []int32 // of each dictionary entry: its index plus 1, or 0
	v.seen = func(k uint32) bool {
		if int(k) >= len(known) || known[k] == 0 {
			return false
		}
		*out = append(*out, known[k]-1)
		return true
	}
	v.learn = func(k uint32) {
		if known == nil {
			known = make([]int32, max(len(v.dictWords), len(v.dictBytes)))
		}
		known[k] = (*out)[len(*out)-1] + 1
	}
}

func (v *parquetValues) read(ctx context.Context, r io.ReaderAt, size int64, chunk *format.ColumnChunk) error {
	if v.want == 0 {
		return nil // such a chunk need not have a place in the file
	}
	m := &chunk.MetaData
	switch {
	case chunk.FilePath != "":
		return fmt.Errorf("its data stands in another file, %q", chunk.FilePath)
	case chunk.CryptoMetadata.Value != nil || len(chunk.EncryptedColumnMetadata) > 0:
		return errors.New("it is encrypted; write it without encryption")
	case m.Type != v.column.typ:
		return fmt.Errorf("its type is %s, the schema says %s", m.Type, v.column.typ)
	}
	pages, err := newPageReader(r, size, m)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		h, body, err := pages.next()
		if err == io.EOF {
			if v.row != v.want {
				return fmt.Errorf("it ends after row %d; want %d rows in this row group", v.group+v.row, v.want)
			}
			return nil
		}
		if err == nil {
			err = v.page(pages, h, body)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// page decodes one page.
func (v *parquetValues) page(p *pageReader, h *format.PageHeader, body []byte) error {
	unpacked := int(h.UncompressedPageSize)
	switch h.Type {
	case format.DictionaryPage:
		if v.dictWords != nil || v.dictBytes != nil || !h.DictionaryPageHeader.Valid {
			return errors.New("a dictionary page in the wrong place")
		}
		b, err := p.unpack(body, unpacked)
		if err != nil {
			return err
		}
		return v.dictionary(b, &h.DictionaryPageHeader.V)
	case format.DataPage:
		if !h.DataPageHeader.Valid {
			return errors.New("a data page without its header")
		}
		d := &h.DataPageHeader.V
		if err := v.expect(d.NumValues); err != nil {
			return err
		}
		b, err := p.unpack(body, unpacked)
		if err != nil {
			return err
		}
		if v.column.optional {
			if len(b) < 4 {
				return errPageShort
			}
			size := binary.LittleEndian.Uint32(b)
			if b = b[4:]; uint64(size) > uint64(len(b)) {
				return errPageShort
			}
			if d.DefinitionLevelEncoding != format.RLE {
				return fmt.Errorf("its levels are encoded as %s; want RLE", d.DefinitionLevelEncoding)
			}
			if err := v.noNulls(b[:size], d.NumValues); err != nil {
				return err
			}
			b = b[size:]
		}
		return v.values(b, int(d.NumValues), d.Encoding)
	case format.DataPageV2:
		if !h.DataPageHeaderV2.Valid {
			return errors.New("a data page without its header")
		}
		d := &h.DataPageHeaderV2.V
		if err := v.expect(d.NumValues); err != nil {
			return err
		}
		defs, reps := int(d.DefinitionLevelsByteLength), int(d.RepetitionLevelsByteLength)
		if defs < 0 || reps < 0 || reps > len(body) || defs > len(body)-reps || unpacked < defs+reps {
			return errPageShort
		}
		if v.column.optional {
			if err := v.noNulls(body[reps:reps+defs], d.NumValues); err != nil {
				return err
			}
		}
		body = body[reps+defs:]
		if !d.IsCompressed.Valid || d.IsCompressed.V {
			var err error
			if body, err = p.unpack(body, unpacked-defs-reps); err != nil {
				return err
			}
		}
		return v.values(body, int(d.NumValues), d.Encoding)
	}
	return nil // an index page: nothing to read
}

// expect checks that a page does not hold more values than the row group has rows left.
func (v *parquetValues) expect(n int32) error {
	if n < 0 || int64(n) > v.want-v.row {
		return fmt.Errorf("a page of %d values, where %d rows are left in the row group", n, v.want-v.row)
	}
	return nil
}

// noNulls checks the definition levels of a page: 1 where a row has a value.
func (v *parquetValues) noNulls(levels []byte, n int32) error {
	at := v.row
	return hybrid(levels, 1, int(n), func(level uint32) error {
		if at++; level == 0 {
			return fmt.Errorf("row %d: no value (null); want one in every row: drop such rows, or choose other columns", v.group+at)
		}
		return nil
	})
}

// dictionary decodes a dictionary page.
func (v *parquetValues) dictionary(b []byte, h *format.DictionaryPageHeader) error {
	if h.Encoding != format.Plain && h.Encoding != oldDictionary {
		return fmt.Errorf("its dictionary is encoded as %s; want PLAIN", h.Encoding)
	}
	if h.NumValues < 0 || int(h.NumValues) > len(b)/4 {
		return fmt.Errorf("its dictionary of %d bytes is said to hold %d values", len(b), h.NumValues)
	}
	n := int(h.NumValues)
	if v.column.typ == format.ByteArray {
		v.dictBytes = make([][]byte, 0, n)
		return plainBytes(b, n, func(s []byte) error {
			v.dictBytes = append(v.dictBytes, s)
			return nil
		})
	}
	v.dictWords = make([]uint64, 0, n)
	return plainWords(b, n, v.column.width(), false, func(w uint64) error {
		v.dictWords = append(v.dictWords, w)
		return nil
	})
}

// width returns the bytes of a number of the column.
func (c *parquetColumn) width() int {
	if c.typ == format.Int32 || c.typ == format.Float {
		return 4
	}
	return 8
}

// values decodes n values and hands them over.
func (v *parquetValues) values(b []byte, n int, encoding format.Encoding) error {
	text := v.column.typ == format.ByteArray
	switch encoding {
	case oldDictionary, format.RLEDictionary:
		if n == 0 {
			return nil
		}
		if len(b) == 0 {
			return errPageShort
		}
		return hybrid(b[1:], uint(b[0]), n, v.entry)
	case format.Plain:
		if text {
			return plainBytes(b, n, v.nextBytes)
		}
		return plainWords(b, n, v.column.width(), false, v.nextWord)
	case format.ByteStreamSplit:
		if !text {
			return plainWords(b, n, v.column.width(), true, v.nextWord)
		}
	case format.DeltaBinaryPacked:
		if v.column.integer() {
			_, err := deltas(b, n, v.column.typ == format.Int64, func(x int64) error { return v.nextWord(uint64(x)) })
			return err
		}
	case format.DeltaLengthByteArray:
		if text {
			return deltaBytes(b, n, v.nextBytes)
		}
	case format.DeltaByteArray:
		if text {
			return prefixedBytes(b, n, v.nextBytes)
		}
	}
	return fmt.Errorf("values of type %s are encoded as %s, which is not supported; rewrite the file with plain or dictionary encoding", v.column.typ, encoding)
}

func (v *parquetValues) nextWord(w uint64) error {
	v.row++
	return v.inRow(v.word(w))
}

func (v *parquetValues) nextBytes(s []byte) error {
	v.row++
	return v.inRow(v.bytes(s))
}

// inRow adds the number of the row, counted from 1 over the file.
func (v *parquetValues) inRow(err error) error {
	if err != nil {
		err = fmt.Errorf("row %d: %w", v.group+v.row, err)
	}
	return err
}

// entry hands over entry k of the dictionary.
func (v *parquetValues) entry(k uint32) error {
	if v.seen != nil && v.seen(k) {
		v.row++
		return nil
	}
	var err error
	switch {
	case int64(k) < int64(len(v.dictWords)):
		err = v.nextWord(v.dictWords[k])
	case int64(k) < int64(len(v.dictBytes)):
		err = v.nextBytes(v.dictBytes[k])
	default:
		v.row++
		return v.inRow(fmt.Errorf("entry %d of a dictionary of %d", k, max(len(v.dictWords), len(v.dictBytes))))
	}
	if err == nil && v.learn != nil {
		v.learn(k)
	}
	return err
}
