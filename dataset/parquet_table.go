package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// maxFooter is the longest metadata accepted: thousands of row groups of a ratings table.
const maxFooter = 16 << 20

// parquetMetadata reads what stands at the end of a Parquet file.
func parquetMetadata(r io.ReaderAt, size int64) (*format.FileMetaData, error) {
	const frame = 4 + 4 + 4 // magic; length of the metadata, magic
	var b [8]byte
	if size < frame {
		return nil, fmt.Errorf("a Parquet file of %d bytes: it is cut short", size)
	}
	if _, err := r.ReadAt(b[:4], 0); err != nil {
		return nil, err
	}
	if magic := string(b[:4]); magic == "PARE" {
		return nil, errors.New("its metadata is encrypted; write it without encryption")
	} else if magic != "PAR1" {
		return nil, fmt.Errorf("it begins with %q; want PAR1, as Parquet files do", magic)
	}
	if _, err := r.ReadAt(b[:], size-8); err != nil && err != io.EOF {
		return nil, err
	}
	if string(b[4:]) != "PAR1" {
		return nil, errors.New("it does not end with PAR1, as Parquet files do: it is cut short or damaged")
	}
	length := int64(binary.LittleEndian.Uint32(b[:]))
	if length > size-frame || length > maxFooter {
		return nil, fmt.Errorf("its metadata is said to take %d bytes of a file of %d; want at most %d", length, size, maxFooter)
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-8-length); err != nil && err != io.EOF {
		return nil, err
	}
	meta := new(format.FileMetaData)
	if _, err := decodeThrift(footer, meta); err != nil {
		return nil, fmt.Errorf("its metadata is damaged: %w", err)
	}
	return meta, nil
}

// parquetColumn is a column at the top of the schema.
type parquetColumn struct {
	name     string
	leaf     int // its place among the column chunks of a row group; -1 for a group of columns
	typ      format.Type
	optional bool
	repeated bool
	unsigned bool
	scale    float64 // what a decimal is divided by; 0 where it is none
	cannot   string  // why it cannot be read as anything, or ""
}

func (c *parquetColumn) integer() bool { return c.typ == format.Int32 || c.typ == format.Int64 }

// problem says why the column cannot have a role, or "".
func (c *parquetColumn) problem(role int) string {
	if c.cannot != "" {
		return c.cannot
	}
	switch role {
	case userRole, itemRole:
		if c.scale == 0 && (c.integer() || c.typ == format.ByteArray) {
			return ""
		}
		return "integers or strings"
	case ratingRole:
		if c.integer() || c.typ == format.Float || c.typ == format.Double {
			return ""
		}
		return "numbers"
	}
	if c.scale == 0 && c.integer() {
		return ""
	}
	return "integers or timestamps of 64 bits"
}

// parquetTable says which columns of a file are what.
type parquetTable struct {
	meta   *format.FileMetaData
	roles  [4]*parquetColumn // by role; nil where there is no such column
	firsts []int64           // the number of the first row of each row group
}

func newParquetTable(name string, meta *format.FileMetaData, want Columns) (*parquetTable, error) {
	columns, leaves, err := parquetColumns(meta.Schema)
	if err != nil {
		return nil, err
	}
	t := &parquetTable{meta: meta}
	row := int64(0)
	for g := range meta.RowGroups {
		group := &meta.RowGroups[g]
		if len(group.Columns) != leaves {
			return nil, fmt.Errorf("row group %d has %d columns; the schema has %d", g, len(group.Columns), leaves)
		}
		if group.NumRows < 0 || group.NumRows > math.MaxInt64-row {
			return nil, fmt.Errorf("row group %d has %d rows", g, group.NumRows)
		}
		t.firsts = append(t.firsts, row)
		row += group.NumRows
	}
	return t, t.choose(name, columns, want)
}

// parquetColumns lists the columns at the top of a schema, which is a tree written in preorder.
func parquetColumns(schema []format.SchemaElement) (columns []parquetColumn, leaves int, err error) {
	if len(schema) == 0 || schema[0].NumChildren.V < 1 {
		return nil, 0, errors.New("its schema has no columns")
	}
	at := 1
	for range schema[0].NumChildren.V {
		if at >= len(schema) {
			return nil, 0, errors.New("its schema breaks off")
		}
		e := &schema[at]
		c := parquetColumn{name: e.Name, leaf: leaves, typ: e.Type.V}
		if e.RepetitionType.Valid {
			c.optional = e.RepetitionType.V == format.Optional
			c.repeated = e.RepetitionType.V == format.Repeated
		}
		switch v := e.LogicalType.Value.(type) {
		case *format.IntType:
			c.unsigned = !v.IsSigned
		case *format.DecimalType:
			c.scale = math.Pow10(int(v.Scale))
		}
		if e.ConvertedType.Valid {
			switch v := e.ConvertedType.V; {
			case v >= deprecated.Uint8 && v <= deprecated.Uint64:
				c.unsigned = true
			case v == deprecated.Decimal:
				c.scale = math.Pow10(int(e.Scale.V))
			}
		}
		switch {
		case e.NumChildren.V > 0:
			c.leaf, c.cannot = -1, "a plain column, not a group or list"
		case !e.Type.Valid:
			c.cannot = "a column with a type"
		case c.repeated:
			c.cannot = "one value per row"
		}
		columns = append(columns, c)
		for open := int64(1); open > 0; at++ { // skip what stands below
			if at >= len(schema) {
				return nil, 0, errors.New("its schema breaks off")
			}
			below := int64(schema[at].NumChildren.V)
			if below < 0 {
				return nil, 0, fmt.Errorf("column %q of its schema has %d children", schema[at].Name, below)
			}
			if below == 0 {
				leaves++
			}
			open += below - 1
		}
	}
	return columns, leaves, nil
}

// choose settles which column is what: those asked for, then the usual names, then, where user
// or item have no usual name, positions.
func (t *parquetTable) choose(file string, columns []parquetColumn, want Columns) error {
	names := make([][]byte, len(columns))
	for i := range columns {
		names[i] = []byte(columns[i].name)
	}
	lay := &layout{fields: len(columns)}
	none := [4]bool{ratingRole: want.Rating == NoColumn, timeRole: want.Time == NoColumn}
	roleNames := [4]string{"user", "item", "rating", "time"}
	free := func(c *parquetColumn) bool { return !slices.Contains(t.roles[:], c) }

	for role, w := range []string{want.User, want.Item, want.Rating, want.Time} {
		if w == "" || none[role] {
			continue
		}
		i := lay.column(w, names)
		if i < 0 {
			return &ParseError{File: file, Got: lay.describe(names), Want: fmt.Sprintf("a column %q", w)}
		}
		c := &columns[i]
		if p := c.problem(role); p != "" {
			return &ParseError{File: file, Got: fmt.Sprintf("column %q of type %s as %s", c.name, c.typ, roleNames[role]), Want: p}
		}
		if !free(c) {
			return &ParseError{File: file, Got: fmt.Sprintf("column %q chosen for two things", c.name), Want: "different columns for user, item, rating and time"}
		}
		t.roles[role] = c
	}
	for role, usual := range [][]string{userNames, itemNames, ratingNames, timeNames} {
		i := findName(names, usual)
		if t.roles[role] != nil || none[role] || i < 0 || !free(&columns[i]) {
			continue
		}
		if p := columns[i].problem(role); p == "" {
			t.roles[role] = &columns[i]
		} else if role == ratingRole {
			return &ParseError{File: file, Got: fmt.Sprintf("column %q of type %s as rating", columns[i].name, columns[i].typ),
				Want: p + `: choose another column, or none ("-")`}
		}
	}
	byName := t.roles[userRole] != nil && t.roles[itemRole] != nil
	for _, role := range []int{userRole, itemRole} {
		for i := 0; t.roles[role] == nil && i < len(columns); i++ {
			if free(&columns[i]) && columns[i].problem(role) == "" {
				t.roles[role] = &columns[i]
			}
		}
		if t.roles[role] == nil {
			return &ParseError{File: file, Got: lay.describe(names), Want: "columns of integers or strings for user and item"}
		}
	}
	for role := ratingRole; role <= timeRole && !byName; role++ {
		if i := role; t.roles[role] == nil && !none[role] && i < len(columns) && free(&columns[i]) && columns[i].problem(role) == "" {
			t.roles[role] = &columns[i]
		}
	}
	return nil
}
