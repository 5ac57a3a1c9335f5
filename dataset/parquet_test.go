package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"sddmmkit/sparse"
)

// table writes rows as a Parquet file.
func table[R any](t testing.TB, rows []R, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[R](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readParquetBytes[T sparse.Float](b []byte, opt Options) (*Set[T], error) {
	return readParquet[T](context.Background(), "r.parquet", bytes.NewReader(b), int64(len(b)), opt)
}

// withMetadata returns a file whose metadata was changed.
func withMetadata(t testing.TB, b []byte, change func(m *format.FileMetaData)) []byte {
	t.Helper()
	m, err := parquetMetadata(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	change(m)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), m)
	if err != nil {
		t.Fatal(err)
	}
	return withFooter(b, footer)
}

func withFooter(b, footer []byte) []byte {
	body := len(b) - 8 - int(binary.LittleEndian.Uint32(b[len(b)-8:]))
	out := append(bytes.Clone(b[:body]), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

type plainRating struct {
	User   int64   `parquet:"user"`
	Item   int32   `parquet:"item"`
	Rating float64 `parquet:"rating"`
	Time   int64   `parquet:"time"`
}

func plainRatings(n int) []plainRating {
	rows := make([]plainRating, n)
	for p := range rows {
		rows[p] = plainRating{int64(p * 7919 % 97), int32(p*31%53) - 5, float64(p%10) / 2, int64(1000 + p)}
	}
	return rows
}

// checkRatings compares a set with the rows that it was written from.
func checkRatings(t *testing.T, name string, s *Set[float64], rows []plainRating, rated, timed bool) {
	t.Helper()
	checkSet(t, s)
	if len(s.COO.Val) != len(rows) || (s.Time != nil) != timed {
		t.Fatalf("%s: %d entries of %d, times %v", name, len(s.COO.Val), len(rows), s.Time != nil)
	}
	users := map[string]bool{}
	for p, r := range rows {
		want := r.Rating
		if !rated {
			want = 1
		}
		if u, i := s.Rows.Name(int(s.COO.Row[p])), s.Cols.Name(int(s.COO.Col[p])); strings.Trim(u, "u") != fmt.Sprint(r.User) ||
			i != fmt.Sprint(r.Item) || s.COO.Val[p] != want || timed && s.Time[p] != r.Time {
			t.Fatalf("%s: entry %d is %s %s %v, want %+v", name, p, u, i, s.COO.Val[p], r)
		}
		// Indices are given in order of first appearance.
		if !users[s.Rows.Name(int(s.COO.Row[p]))] {
			if int(s.COO.Row[p]) != len(users) {
				t.Fatalf("%s: the %dth user has index %d", name, len(users), s.COO.Row[p])
			}
			users[s.Rows.Name(int(s.COO.Row[p]))] = true
		}
	}
}

func TestReadParquet(t *testing.T) {
	rows := plainRatings(5000)
	type encoded struct {
		User   int64   `parquet:"userId,delta"`
		Item   int32   `parquet:"movieId,dict,optional"`
		Rating float32 `parquet:"rating,split,zstd"`
		Time   int64   `parquet:"timestamp,timestamp,gzip"`
	}
	type text struct {
		Extra []int64 `parquet:"extra,list"` // leaves columns behind it at other places among the leaves
		User  string  `parquet:"user_id,delta,lz4"`
		Item  string  `parquet:"item_id,dict,snappy"`
		Stars int16   `parquet:"stars"`
	}
	type optional struct {
		A *string `parquet:"a,dict"`
		B *int32  `parquet:"b"`
	}
	var (
		asEncoded  []encoded
		asText     []text
		asOptional []optional
	)
	for _, r := range rows {
		user, item := fmt.Sprintf("u%d", r.User), r.Item
		asEncoded = append(asEncoded, encoded{r.User, max(r.Item, 1), float32(r.Rating), r.Time})
		asText = append(asText, text{[]int64{1, 2, 3}, user, fmt.Sprint(r.Item), int16(r.Rating * 2)})
		asOptional = append(asOptional, optional{&user, &item})
	}
	read := func(b []byte, opt Options) *Set[float64] {
		t.Helper()
		s, err := readParquetBytes[float64](b, opt)
		if err != nil {
			t.Fatal(err)
		}
		three := opt
		three.Threads = 3
		again, err := readParquetBytes[float64](b, three)
		if err != nil {
			t.Fatal(err)
		}
		if diff := sameSet(s, again); diff != "" {
			t.Fatalf("1 and 3 threads differ: %s", diff)
		}
		return s
	}
	for _, version := range []int{1, 2} {
		options := []parquet.WriterOption{parquet.DataPageVersion(version), parquet.MaxRowsPerRowGroup(700), parquet.PageBufferSize(512)}
		checkRatings(t, "plain", read(table(t, rows, options...), Options{Threads: 1}), rows, true, true)
		positive := slices.Clone(rows)
		for p := range positive {
			positive[p].Item = max(rows[p].Item, 1)
		}
		checkRatings(t, "encoded", read(table(t, asEncoded, options...), Options{Threads: 1}), positive, true, true)
		doubled := slices.Clone(rows)
		for p := range doubled {
			doubled[p].Rating *= 2
		}
		checkRatings(t, "text", read(table(t, asText, options...), Options{Threads: 1}), doubled, true, false)
		checkRatings(t, "optional", read(table(t, asOptional, options...), Options{Threads: 1}), rows, false, false)
	}
	one := table(t, rows)
	checkRatings(t, "no rating", read(one, Options{Columns: Columns{Rating: NoColumn, Time: NoColumn}}), rows, false, false)
	checkRatings(t, "by name", read(one, Options{Columns: Columns{User: "USER", Item: "item", Rating: "rating", Time: "time"}}), rows, true, true)
	checkRatings(t, "by position", read(one, Options{Columns: Columns{User: "0", Item: "1", Rating: "2", Time: "3"}}), rows, true, true)
	swapped := read(one, Options{Columns: Columns{User: "1", Item: "0"}})
	if swapped.Rows.Name(0) != fmt.Sprint(rows[0].Item) {
		t.Errorf("user by position 1 is %q", swapped.Rows.Name(0))
	}
	base := NewIDs([]string{"96", "someone"})
	continued := read(one, Options{RowIDs: base})
	if got := continued.Rows.Names(); got[0] != "96" || got[1] != "someone" || got[2] != "0" || continued.COO.Row[0] != 2 || base.Len() != 2 {
		t.Errorf("continued map begins %v", got[:3])
	}
}

func TestReadParquetNumbers(t *testing.T) {
	type row struct {
		User   uint64 `parquet:"u"`
		Item   uint32 `parquet:"i"`
		Rating int64  `parquet:"r,decimal(2:18)"`
	}
	s, err := readParquetBytes[float64](table(t, []row{{math.MaxUint64, math.MaxUint32, -12345}, {7, 0, 50}}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Rows.Name(0) != "18446744073709551615" || s.Cols.Name(0) != "4294967295" || !slices.Equal(s.COO.Val, []float64{-123.45, 0.5}) {
		t.Errorf("%v, %v, %v", s.Rows.Names(), s.Cols.Names(), s.COO.Val)
	}
}

// badParquet is every damaged file that has a name of its own, with what its error must say.
func badParquet(t testing.TB) map[string]struct {
	in   []byte
	want string
} {
	good := table(t, plainRatings(100), parquet.Compression(&parquet.Snappy))
	null := "x"
	column := func(change func(c *format.ColumnMetaData)) []byte {
		return withMetadata(t, good, func(m *format.FileMetaData) { change(&m.RowGroups[0].Columns[0].MetaData) })
	}
	damaged := bytes.Clone(good)
	meta, err := parquetMetadata(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := newPageReader(bytes.NewReader(good), int64(len(good)), &meta.RowGroups[0].Columns[0].MetaData)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := pages.next(); err != nil {
		t.Fatal(err)
	}
	damaged[pages.at-1] ^= 1 // the last byte of the first page
	type none struct {
		X float64 `parquet:"x"`
		Y float64 `parquet:"y"`
	}
	type words struct{ User, Item, Rating string }
	type optional struct {
		User, Item string
		Rating     *float64
	}
	type named struct {
		User, Item string
		Rating     float64
	}
	half := 0.5
	return map[string]struct {
		in   []byte
		want string
	}{
		"empty":               {nil, "cut short"},
		"magic only":          {[]byte("PAR1PAR1"), "cut short"},
		"not parquet":         {[]byte("this is no table at all"), "begins with"},
		"encrypted":           {append([]byte("PARE"), good[4:]...), "encrypted"},
		"cut":                 {good[:len(good)-20], "end with PAR1"},
		"footer length":       {append(bytes.Clone(good[:len(good)-8]), "\xff\xff\xff\x7fPAR1"...), "said to take"},
		"footer noise":        {withFooter(good, []byte("\x15\x02\x19\xfc\xff\xff\xff\xff\x07\x00")), "damaged"},
		"footer nested":       {withFooter(good, bytes.Repeat([]byte{0x1c}, 1000)), "damaged"},
		"footer empty":        {withFooter(good, nil), "damaged"},
		"damaged page":        {damaged, "checksum"},
		"no schema":           {withMetadata(t, good, func(m *format.FileMetaData) { m.Schema = m.Schema[:0] }), "no columns"},
		"schema cut":          {withMetadata(t, good, func(m *format.FileMetaData) { m.Schema = m.Schema[:3] }), "schema breaks off"},
		"negative children":   {withMetadata(t, good, func(m *format.FileMetaData) { m.Schema[1].NumChildren = thrift.New(int32(-5)) }), "children"},
		"columns missing":     {withMetadata(t, good, func(m *format.FileMetaData) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[:2] }), "has 2 columns"},
		"more rows claimed":   {withMetadata(t, good, func(m *format.FileMetaData) { m.RowGroups[0].NumRows = 1 << 40 }), "ends after row 100"},
		"fewer rows claimed":  {withMetadata(t, good, func(m *format.FileMetaData) { m.RowGroups[0].NumRows = 99 }), "where 99 rows are left"},
		"negative rows":       {withMetadata(t, good, func(m *format.FileMetaData) { m.RowGroups[0].NumRows = -1 }), "-1 rows"},
		"chunk out of file":   {column(func(c *format.ColumnMetaData) { c.TotalCompressedSize = 1 << 40 }), "of a file of"},
		"chunk before file":   {column(func(c *format.ColumnMetaData) { c.DataPageOffset = -7 }), "of a file of"},
		"chunk elsewhere":     {column(func(c *format.ColumnMetaData) { c.DataPageOffset = int64(len(good)) - 30; c.TotalCompressedSize = 30 }), "page"},
		"another codec":       {column(func(c *format.ColumnMetaData) { c.Codec = format.Gzip }), "unpacking GZIP"},
		"an unknown codec":    {column(func(c *format.ColumnMetaData) { c.Codec = format.Brotli }), "rewrite"},
		"another type":        {column(func(c *format.ColumnMetaData) { c.Type = format.Float }), "the schema says"},
		"data elsewhere":      {withMetadata(t, good, func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "other" }), "another file"},
		"no rows":             {table(t, []plainRating{}), "no ratings"},
		"no user column":      {table(t, []none{{1, 2}}), "user and item"},
		"rating is text":      {table(t, []words{{"a", "b", "c"}}), "want numbers"},
		"null":                {table(t, []optional{{"a", "b", &half}, {"a", "c", nil}}), "row 2: no value (null)"},
		"NaN":                 {table(t, []named{{"a", "b", 1}, {"a", "c", 1}, {"a", "d", math.NaN()}}), "row 3: value NaN"},
		"infinity in float32": {table(t, []named{{"a", "b", 1e300}}), "finite float32"},
		"empty name":          {table(t, []named{{null, "", 1}}), "row 1: an empty string"},
	}
}

func TestReadParquetBad(t *testing.T) {
	for name, c := range badParquet(t) {
		s, err := readParquetBytes[float32](c.in, Options{Threads: 2})
		var pe *ParseError
		if !errors.As(err, &pe) || s != nil || !strings.HasPrefix(err.Error(), "r.parquet: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want a ParseError that begins with the file's name and says %q", name, err, c.want)
		}
	}
	good := table(t, plainRatings(10))
	for _, c := range []Columns{{User: "nobody"}, {User: "9"}, {User: "item", Item: "item"}, {User: "rating"}, {Time: "rating"}} {
		if s, err := readParquetBytes[float32](good, Options{Columns: c}); err == nil {
			t.Errorf("%+v: read as %v, want an error", c, s)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := readParquet[float32](ctx, "r.parquet", bytes.NewReader(good), int64(len(good)), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// Pages that claim what they do not hold must cost no memory: sizes of pages and blocks, numbers
// of values, lengths of runs and of strings.
func TestReadParquetMemory(t *testing.T) {
	good := table(t, plainRatings(1000), parquet.Compression(&parquet.Zstd))
	files := map[string][]byte{}
	for name, c := range badParquet(t) {
		files[name] = c.in
	}
	// Every byte of every page header in turn claims more.
	m, err := parquetMetadata(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.RowGroups[0].Columns {
		for at := c.MetaData.DataPageOffset; at < c.MetaData.DataPageOffset+24; at++ {
			b := bytes.Clone(good)
			b[at] |= 0xf0
			files[fmt.Sprintf("byte %d", at)] = b
		}
	}
	for name, b := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readParquetBytes[float32](b, Options{Threads: 1})
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d (error %v)", name, used, len(b), err)
		}
	}
}

func FuzzParquet(f *testing.F) {
	f.Add(table(f, plainRatings(20)))
	f.Add(table(f, plainRatings(20), parquet.DataPageVersion(1), parquet.Compression(&parquet.Gzip)))
	for _, c := range badParquet(f) {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := readParquetBytes[float32](b, Options{Threads: 1})
		checkOutcome(t, s, err)
		two, err2 := readParquetBytes[float32](b, Options{Threads: 2})
		if fmt.Sprint(err) != fmt.Sprint(err2) || err == nil && sameSet(s, two) != "" {
			t.Fatalf("one thread: error %v; two: %v", err, err2)
		}
	})
}

// The page decoders meet any bytes without a panic and hand over no more values than asked for.
func FuzzParquetPage(f *testing.F) {
	for _, encoding := range []format.Encoding{format.Plain, format.RLEDictionary, format.DeltaBinaryPacked, format.DeltaLengthByteArray, format.DeltaByteArray, format.ByteStreamSplit} {
		f.Add(uint8(encoding), uint8(format.Int32), uint16(9), []byte("\x03\x12\x80\x01\x04\x09\x02abcdefghijklmnopqrst"))
	}
	f.Fuzz(func(t *testing.T, encoding, typ uint8, n uint16, b []byte) {
		got := 0
		v := parquetValues{column: &parquetColumn{typ: format.Type(typ % 8)}, want: math.MaxInt32, dictWords: []uint64{1, 2, 3}}
		v.word = func(uint64) error { got++; return nil }
		v.bytes = func([]byte) error { got++; return nil }
		err := v.values(b, int(n), format.Encoding(encoding))
		if got > int(n) || err == nil && got != int(n) {
			t.Errorf("%d of %d values, error %v", got, n, err)
		}
	})
}

// The decoders agree with the library's encoders.
func TestParquetDecodersAgainstLibrary(t *testing.T) {
	values := make([]int64, 1000)
	for p := range values {
		values[p] = int64(p*p*7919) % 100_003 * int64(1-p%2*2)
	}
	values[500], values[501] = math.MaxInt64, math.MinInt64 // a difference that overflows
	encoded, err := parquet.DeltaBinaryPacked.EncodeInt64(nil, values)
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	rest, err := deltas(append(encoded, 42), len(values), true, func(v int64) error { got = append(got, v); return nil })
	if err != nil || !slices.Equal(got, values) || !bytes.Equal(rest, []byte{42}) {
		t.Errorf("differences: %v, rest %v, error %v", reflect.DeepEqual(got, values), rest, err)
	}
	for _, width := range []uint{1, 2, 5, 8, 13, 20} {
		levels := make([]int32, 1003)
		for p := range levels {
			if levels[p] = int32(p*p*31) & (1<<width - 1); p > 300 && p < 700 {
				levels[p] = 1 // a long run
			}
		}
		e := parquet.RLE
		e.BitWidth = int(width)
		encoded, err := e.EncodeInt32(nil, levels)
		if err != nil {
			t.Fatal(err)
		}
		var got []int32
		if err := hybrid(encoded, width, len(levels), func(v uint32) error { got = append(got, int32(v)); return nil }); err != nil || !slices.Equal(got, levels) {
			t.Errorf("width %d: error %v, equal %v", width, err, slices.Equal(got, levels))
		}
	}
	words := []string{"", "a", "Amélie", "Amélie 2", strings.Repeat("long ", 100), "Amélie"}
	var all []byte
	offsets := []uint32{0}
	for _, w := range words {
		all = append(all, w...)
		offsets = append(offsets, uint32(len(all)))
	}
	for name, c := range map[string]struct {
		encode func(dst, src []byte, offsets []uint32) ([]byte, error)
		decode func(b []byte, n int, each func(s []byte) error) error
	}{
		"plain":            {parquet.Plain.EncodeByteArray, plainBytes},
		"lengths first":    {parquet.DeltaLengthByteArray.EncodeByteArray, deltaBytes},
		"shared beginning": {parquet.DeltaByteArray.EncodeByteArray, prefixedBytes},
	} {
		encoded, err := c.encode(nil, all, offsets)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := c.decode(encoded, len(words), func(s []byte) error { got = append(got, string(s)); return nil }); err != nil || !slices.Equal(got, words) {
			t.Errorf("%s: %q, error %v", name, got, err)
		}
	}
}

func BenchmarkReadParquet(b *testing.B) {
	var file bytes.Buffer
	s := generate[float32](b, "zipf:20000x10000:1M:1", 0)
	if err := WriteParquet(&file, s); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		if _, err := readParquetBytes[float32](file.Bytes(), Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "Mnnz/s")
}
