package dataset

import (
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"sddmmkit/sparse"
)

// WriteParquet writes a set as a Parquet table with the columns user, item, rating and, where
// the set has times, time. Names that are all plain numbers become integer columns, other names
// strings; without names the columns hold 0-based indices.
func WriteParquet[T sparse.Float](w io.Writer, s *Set[T]) error {
	users, items := newParquetNames(s.Rows), newParquetNames(s.Cols)
	columns := []reflect.StructField{
		{Name: "User", Type: users.typ, Tag: `parquet:"user,dict,zstd"`},
		{Name: "Item", Type: items.typ, Tag: `parquet:"item,dict,zstd"`},
		{Name: "Rating", Type: reflect.TypeFor[T](), Tag: `parquet:"rating,plain,zstd"`},
	}
	if s.Time != nil {
		columns = append(columns, reflect.StructField{Name: "Time", Type: reflect.TypeFor[int64](), Tag: `parquet:"time,plain,zstd"`})
	}
	// A struct type keeps the order of the columns; parquet.Group would sort them by name.
	schema := parquet.SchemaOf(reflect.New(reflect.StructOf(columns)).Interface())
	out := parquet.NewGenericWriter[any](w, schema, parquet.MaxRowsPerRowGroup(1<<20), parquet.CreatedBy("sddmmkit", "", ""))

	const batch = 1024
	rows := make([]parquet.Row, 0, batch)
	cells := make([]parquet.Value, 0, batch*len(columns))
	for p, v := range s.COO.Val {
		from := len(cells)
		cells = append(cells, users.value(s.COO.Row[p]).Level(0, 0, 0), items.value(s.COO.Col[p]).Level(0, 0, 1),
			parquet.ValueOf(v).Level(0, 0, 2))
		if s.Time != nil {
			cells = append(cells, parquet.Int64Value(s.Time[p]).Level(0, 0, 3))
		}
		rows = append(rows, cells[from:])
		if len(rows) == batch || p == len(s.COO.Val)-1 {
			if _, err := out.WriteRows(rows); err != nil {
				return err
			}
			rows, cells = rows[:0], cells[:0]
		}
	}
	return out.Close()
}

// parquetNames turns indices into the values of a column.
type parquetNames struct {
	typ     reflect.Type
	names   []string
	numbers []int64
}

func newParquetNames(ids *IDs) parquetNames {
	if ids == nil {
		return parquetNames{typ: reflect.TypeFor[int32]()}
	}
	numbers := make([]int64, ids.Len())
	for i, name := range ids.Names() {
		u, ok := plainNumber([]byte(name))
		if !ok {
			return parquetNames{typ: reflect.TypeFor[string](), names: ids.Names()}
		}
		numbers[i] = int64(u)
	}
	return parquetNames{typ: reflect.TypeFor[int64](), numbers: numbers}
}

func (n parquetNames) value(i int32) parquet.Value {
	switch {
	case n.names != nil:
		return parquet.ByteArrayValue([]byte(n.names[i]))
	case n.numbers != nil:
		return parquet.Int64Value(n.numbers[i])
	}
	return parquet.Int32Value(i)
}
