package factors

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sddmmkit/dense"
	"sddmmkit/internal/npz"
)

// compact is what comes back: the same model without gaps between rows.
func compact[T dense.Float](m *Model[T]) *Model[T] {
	c := *m
	c.Users, c.Items = m.Users.Clone(), m.Items.Clone()
	return &c
}

func fullModel[T dense.Float]() *Model[T] {
	m := randomModel[T](5, 7, 3, 1)
	m.Implicit = true
	m.Mean = math.Copysign(0, -1)
	m.Low, m.High = 0.1, 1./3
	m.UserNames = []string{"", "a", "ünïcödé", "日本語 🎬", "a\tb\n\"'"}
	m.ItemNames = []string{"1", "\xff\xfe", "na\xefve", "x\x00y", "�", "\xed\xb2\x80", " "}
	m.Seen = randomPattern(5, 7, 0.4, 1)
	m.Meta = map[string]string{"lambda": "0.1", "": "é", "data": "<a&b>\u2028"}
	m.Users.Set(1, 1, T(math.Copysign(0, -1)))
	m.Users.Set(1, 2, T(5e-324)) // in float32 a zero
	m.Items.Set(0, 0, T(math.MaxFloat32))
	return m
}

// encode returns what Write writes.
func encode[T dense.Float](t testing.TB, m *Model[T]) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode[T dense.Float](b []byte) (*Model[T], error) {
	return Read[T](bytes.NewReader(b), int64(len(b)), "m.npz")
}

func TestSaveLoad(t *testing.T) {
	t.Run("float32", testSaveLoad[float32])
	t.Run("float64", testSaveLoad[float64])
}

func testSaveLoad[T dense.Float](t *testing.T) {
	plainModel := randomModel[T](3, 2, 1, 1)
	plainModel.UserBias, plainModel.ItemBias, plainModel.Mean = nil, nil, 0
	empty := randomModel[T](0, 0, 4, 1)
	empty.UserNames, empty.ItemNames = []string{}, []string{}
	empty.Seen = randomPattern(0, 0, 1, 1)
	empty.Seen.ColIdx = []int32{}
	empty.Meta = map[string]string{}
	noItems := randomModel[T](3, 0, 2, 1)
	nuls := fullModel[T]()
	nuls.ItemNames = []string{"a\x00", "a", "\x00", "", "b\x00\x00", "\xff\x00", "z"}
	nuls.UserNames = []string{"\x00", "\x00\x00", "", "", "\xfe"}
	lastEmpty := fullModel[T]()
	lastEmpty.UserNames = []string{"\x00", "", "", "", ""}
	for name, m := range map[string]*Model[T]{
		"full": fullModel[T](), "plain": plainModel, "empty": empty, "no items": noItems,
		"names with NULs": nuls, "empty names at the end": lastEmpty,
	} {
		path := filepath.Join(t.TempDir(), "model.npz")
		if err := m.Save(path); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := Load[T](path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := compact(m)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: loaded %+v\nwant %+v", name, got, want)
		}
		if !bytes.Equal(encode(t, got), encode(t, m)) {
			t.Errorf("%s: written again it is another file", name)
		}
		// DeepEqual takes −0 for 0.
		for k, v := range want.Users.Data {
			if math.Float64bits(float64(v)) != math.Float64bits(float64(got.Users.Data[k])) {
				t.Errorf("%s: user factor %d was %v, is %v", name, k, v, got.Users.Data[k])
			}
		}
		if math.Float64bits(got.Mean) != math.Float64bits(m.Mean) {
			t.Errorf("%s: mean was %v, is %v", name, m.Mean, got.Mean)
		}
		if typ, err := ElementType(path); err != nil || typ != reflect.TypeFor[T]().String() {
			t.Errorf("%s: element type %q, %v", name, typ, err)
		}
	}
}

// One long name among many must not make a file of count × longest characters.
func TestLongName(t *testing.T) {
	m := &Model[float32]{Rank: 1, Users: dense.New[float32](20_000, 1), UserNames: make([]string, 20_000)}
	m.Items.Cols, m.Items.Stride = 1, 1
	m.UserNames[7] = strings.Repeat("x", 100_000)
	b := encode(t, m)
	if len(b) > 1<<20 {
		t.Errorf("%d bytes", len(b))
	}
	got, err := decode[float32](b)
	if err != nil || !reflect.DeepEqual(got.UserNames, m.UserNames) {
		t.Errorf("names came back changed (%v)", err)
	}
}

// The names are what NumPy shows: an array of strings, as long as they can be.
func TestNamesAreStrings(t *testing.T) {
	b := encode(t, fullModel[float32]())
	f, err := npz.Open(bytes.NewReader(b), int64(len(b)), "m.npz")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"header", "mean", "users", "items", "user_bias", "item_bias", "user_names", "item_names", "seen_indptr", "seen_indices"}
	if !reflect.DeepEqual(f.Names(), want) {
		t.Errorf("arrays %q, want %q", f.Names(), want)
	}
	a, err := f.Array("user_names")
	if err != nil || a.Type() != "str" || !reflect.DeepEqual(a.Shape, []int{5}) {
		t.Errorf("user names: %v, %v, %v", a.Type(), a.Shape, err)
	}
}

func TestSaveErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model.npz")
	if err := fullModel[float32]().Save(path); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := fullModel[float32]()
	m.Items.Set(2, 0, float32(math.Inf(1)))
	wantError(t, m.Save(path), "model.npz", "item 2", "+Inf")
	m = fullModel[float32]()
	m.Algo = "\xff"
	wantError(t, m.Save(path), "Algo", "UTF-8")
	m = fullModel[float32]()
	m.Meta["x"] = "\xff"
	wantError(t, m.Save(path), "Meta", "UTF-8")
	wantError(t, m.Write(io.Discard), "Meta", "UTF-8")
	m = fullModel[float32]()
	m.Seen.ColIdx[0] = m.Seen.ColIdx[1] // twice in a row
	if m.Seen.Validate() == nil {
		t.Error("a pattern with a duplicate is valid")
	}
	wantError(t, m.Save(path), "seen items")
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("a refused model changed the file (%v)", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("files left: %v, %v", files, err)
	}
	if err := fullModel[float32]().Save(filepath.Join(dir, "no", "model.npz")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// A writer that fails after any number of bytes fails the write.
func TestWriteFails(t *testing.T) {
	m := fullModel[float64]()
	whole := len(encode(t, m))
	for n := 0; n < whole; n += 97 {
		if err := m.Write(&shortWriter{left: n}); !errors.Is(err, errFull) {
			t.Fatalf("room for %d of %d bytes: %v", n, whole, err)
		}
	}
}

var errFull = errors.New("disk full")

type shortWriter struct{ left int }

func (w *shortWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		n := w.left
		w.left = 0
		return n, errFull
	}
	w.left -= len(p)
	return len(p), nil
}

func TestLoadErrors(t *testing.T) {
	_, err := Load[float32](filepath.Join(t.TempDir(), "absent.npz"))
	wantError(t, err, "absent.npz")
	_, err = ElementType(filepath.Join(t.TempDir(), "absent.npz"))
	wantError(t, err, "absent.npz")
	_, err = Load[float32](t.TempDir())
	wantError(t, err, "")

	_, err = decode[float64](encode(t, fullModel[float32]()))
	wantError(t, err, "m.npz", "users", "float32", "Model[float32]")
	_, err = decode[float32](encode(t, fullModel[float64]()))
	wantError(t, err, "m.npz", "users", "float64", "Model[float64]")
	for _, junk := range []string{"", "x", strings.Repeat("PK\x03\x04", 99), "user,item,rating\n1,2,3\n"} {
		_, err = decode[float32]([]byte(junk))
		wantError(t, err, "m.npz")
	}
}

// member is an array of a model file to be put in place of the good one; no data takes it away.
type member struct {
	shape []int
	data  any
}

// forge writes the file of a good model with some arrays exchanged.
func forge(t testing.TB, change map[string]member) []byte {
	t.Helper()
	h, err := json.Marshal(header{Format: fileFormat, Version: fileVersion, Algo: "als", Rank: 2})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := npz.NewWriter(&b)
	for _, a := range []struct {
		name string
		member
	}{
		{"header", member{nil, []string{string(h)}}},
		{"mean", member{nil, []float64{3}}},
		{"users", member{[]int{2, 2}, []float32{1, 2, 3, 4}}},
		{"items", member{[]int{3, 2}, []float32{1, 2, 3, 4, 5, 6}}},
		{"user_bias", member{[]int{2}, []float32{1, 2}}},
		{"item_bias", member{[]int{3}, []float32{1, 2, 3}}},
		{"user_names", member{[]int{2}, []string{"a", "b"}}},
		{"item_names", member{[]int{3}, []string{"x", "y", "z"}}},
		{"item_names_bytes", member{}},
		{"item_names_end", member{}},
		{"seen_indptr", member{[]int{3}, []int64{0, 1, 2}}},
		{"seen_indices", member{[]int{2}, []int32{2, 0}}},
	} {
		c, ok := change[a.name]
		if !ok {
			c = a.member
		}
		if c.data == nil {
			continue
		}
		if err := z.Write(a.name, c.shape, c.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLoadForged(t *testing.T) {
	if m, err := decode[float32](forge(t, nil)); err != nil || m.Items.At(2, 1) != 6 || m.ItemNames[2] != "z" {
		t.Fatal(m, err)
	}
	head := func(s string) member { return member{nil, []string{s}} }
	ints := func(v ...int64) member { return member{[]int{len(v)}, v} }
	none := member{}
	for name, c := range map[string]struct {
		change map[string]member
		words  []string
	}{
		"no header":         {map[string]member{"header": none}, []string{"not a saved model", "users"}},
		"header not JSON":   {map[string]member{"header": head("{")}, []string{"header"}},
		"header no string":  {map[string]member{"header": {nil, []float64{1}}}, []string{"header", "float64"}},
		"two headers":       {map[string]member{"header": {[]int{2}, []string{"a", "b"}}}, []string{"header", "one string"}},
		"other format":      {map[string]member{"header": head(`{"format":"other","version":1}`)}, []string{"format", "other"}},
		"later version":     {map[string]member{"header": head(`{"format":"sddmmkit factor model","version":2,"rank":"two"}`)}, []string{"version 2", "version 1"}},
		"rank no number":    {map[string]member{"header": head(`{"format":"sddmmkit factor model","version":1,"rank":"two"}`)}, []string{"header", "rank"}},
		"rank lies":         {map[string]member{"header": head(`{"format":"sddmmkit factor model","version":1,"rank":3}`)}, []string{"rank 3", "2×2"}},
		"no mean":           {map[string]member{"mean": none}, []string{"mean"}},
		"mean is a vector":  {map[string]member{"mean": {[]int{1}, []float64{1}}}, []string{"mean", "0 dimensions"}},
		"mean NaN":          {map[string]member{"mean": {nil, []float64{math.NaN()}}}, []string{"mean", "NaN"}},
		"no users":          {map[string]member{"users": none}, []string{"users"}},
		"no items":          {map[string]member{"items": none}, []string{"items"}},
		"users a vector":    {map[string]member{"users": {[]int{4}, []float32{1, 2, 3, 4}}}, []string{"users", "[4]", "per user"}},
		"integer users":     {map[string]member{"users": {[]int{2, 2}, []int32{1, 2, 3, 4}}}, []string{"users", "int32", "float32"}},
		"NaN user":          {map[string]member{"users": {[]int{1, 2}, []float32{1, float32(math.NaN())}}, "user_bias": none, "user_names": none, "seen_indptr": none, "seen_indices": none}, []string{"user 0", "NaN"}},
		"items of float64":  {map[string]member{"items": {[]int{3, 2}, make([]float64, 6)}}, []string{"items", "float64"}},
		"bias type":         {map[string]member{"user_bias": {[]int{2}, []float64{1, 2}}}, []string{"user_bias", "float64"}},
		"bias length":       {map[string]member{"item_bias": {[]int{2}, []float32{1, 2}}}, []string{"2 item biases", "3 items"}},
		"bias shape":        {map[string]member{"item_bias": {[]int{3, 1}, []float32{1, 2, 3}}}, []string{"item_bias", "1 dimension"}},
		"names are numbers": {map[string]member{"user_names": ints(1, 2)}, []string{"user_names", "int64", "strings"}},
		"names length":      {map[string]member{"user_names": {[]int{1}, []string{"a"}}}, []string{"1 user names", "2 users"}},
		"names shape":       {map[string]member{"user_names": {[]int{1, 2}, []string{"a", "b"}}}, []string{"user_names", "one dimension"}},
		"no indices":        {map[string]member{"seen_indices": none}, []string{"seen_indices"}},
		"no indptr":         {map[string]member{"seen_indptr": none}, []string{"seen_indptr"}},
		"indptr length":     {map[string]member{"seen_indptr": ints(0, 2)}, []string{"seen items", "2 row pointers"}},
		"indptr order":      {map[string]member{"seen_indptr": ints(0, 3, 2)}, []string{"seen items"}},
		"indptr from 1":     {map[string]member{"seen_indptr": ints(1, 1, 2)}, []string{"seen items"}},
		"index too large":   {map[string]member{"seen_indices": ints(3, 0)}, []string{"seen items", "3"}},
		"index of 2^40":     {map[string]member{"seen_indices": ints(1<<40, 0)}, []string{"seen_indices"}},
		"indices of floats": {map[string]member{"seen_indices": {[]int{2}, []float64{0, 1}}}, []string{"seen_indices", "float64"}},
		"indices shape":     {map[string]member{"seen_indices": {[]int{2, 1}, []int32{0, 1}}}, []string{"seen_indices", "one dimension"}},
		"names no ends":     {map[string]member{"item_names": none, "item_names_bytes": ints(65)}, []string{"item_names_end"}},
		"names no bytes":    {map[string]member{"item_names": none, "item_names_end": ints(65)}, []string{"item_names_bytes"}},
		"byte of 256":       {map[string]member{"item_names": none, "item_names_bytes": ints(65, 256), "item_names_end": ints(0, 1, 2)}, []string{"byte 1", "256"}},
		"ends back":         {map[string]member{"item_names": none, "item_names_bytes": ints(65, 66), "item_names_end": ints(2, 1, 2)}, []string{"name 1 ends at byte 1"}},
		"ends beyond":       {map[string]member{"item_names": none, "item_names_bytes": ints(65, 66), "item_names_end": ints(0, 1, 3)}, []string{"name 2 ends at byte 3"}},
		"ends short":        {map[string]member{"item_names": none, "item_names_bytes": ints(65, 66), "item_names_end": ints(0, 1, 1)}, []string{"byte 1 of 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode[float32](forge(t, c.change))
			wantError(t, err, append(c.words, "m.npz")...)
			if strings.Count(err.Error(), "m.npz") != 1 {
				t.Errorf("the file is named more than once: %v", err)
			}
		})
	}
	t.Run("element type", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "m.npz")
		if err := os.WriteFile(path, forge(t, map[string]member{"users": {[]int{2, 2}, []int32{1, 2, 3, 4}}}), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ElementType(path)
		wantError(t, err, "m.npz", "int32")
	})
}

// Sizes without elements cost nothing to promise; nothing may be made from them.
func TestLoadLyingShapes(t *testing.T) {
	for _, k := range []int{1 << 25, 1 << 40, 1 << 59} {
		h, err := json.Marshal(header{Format: fileFormat, Version: fileVersion, Rank: k})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		z := npz.NewWriter(&b)
		for name, a := range map[string]member{
			"header": {nil, []string{string(h)}}, "mean": {nil, []float64{0}},
			"users": {[]int{0, k}, []float32{}}, "items": {[]int{0, k}, []float32{}},
		} {
			if err = errors.Join(err, z.Write(name, a.shape, a.data)); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = decode[float32](b.Bytes())
		wantError(t, err, "m.npz", "rank")
	}
}

// Any cut and any flipped bit is an error or the same model; never a panic, never another model.
func TestLoadDamaged(t *testing.T) {
	m := fullModel[float32]()
	good := encode(t, m)
	want := compact(m)
	for n := 0; n < len(good); n += 7 {
		if _, err := decode[float32](good[:n]); err == nil {
			t.Fatalf("cut after %d of %d bytes: no error", n, len(good))
		}
	}
	step := 3
	if testing.Short() {
		step = 41
	}
	for n := 0; n < len(good)*8; n += step {
		bad := bytes.Clone(good)
		bad[n/8] ^= 1 << (n % 8)
		got, err := decode[float32](bad)
		if err != nil {
			continue
		}
		// What no checksum covers, such as dates.
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("bit %d flipped: another model: %+v", n, got)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(encode(f, fullModel[float32]()))
	f.Add(encode(f, fullModel[float64]()))
	f.Add(forge(f, nil))
	f.Add(forge(f, map[string]member{"seen_indptr": {[]int{3}, []int64{0, 9, 2}}}))
	nuls := fullModel[float32]()
	nuls.ItemNames = []string{"a\x00", "a", "\x00", "", "b\x00\x00", "\xff\x00", "z"}
	f.Add(encode(f, nuls))
	f.Add([]byte(`{"format":"sddmmkit factor model","version":1,"algo":"als","rank":2,"meta":{"a":"b"},"arrays":["users"]}`))
	f.Add([]byte{0, 1, 2, 2, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		checkLoad(t, b)
		// Checksums stop nearly every mutation of the archive: the same bytes as the contents of
		// arrays come further.
		checkLoad(t, forge(t, map[string]member{"header": {nil, []string{strings.TrimRight(string(b), "\x00")}}}))
		small := make([]int64, len(b))
		for i, c := range b {
			small[i] = int64(int8(c))
		}
		cut := min(3, len(small))
		checkLoad(t, forge(t, map[string]member{
			"seen_indptr":  {[]int{cut}, small[:cut]},
			"seen_indices": {[]int{len(small) - cut}, small[cut:]},
		}))
		checkLoad(t, forge(t, map[string]member{
			"item_names":       {},
			"item_names_end":   {[]int{cut}, small[:cut]},
			"item_names_bytes": {[]int{len(b) - cut}, b[cut:]},
		}))
	})
}

// checkLoad loads a file, and when that goes well expects a model that is valid, comes back from
// another file and can be asked.
func checkLoad(t *testing.T, b []byte) {
	m, err := decode[float32](b)
	if err != nil {
		return
	}
	if err := m.Validate(); err != nil {
		t.Fatalf("loaded, but not valid: %v", err)
	}
	again, err := decode[float32](encode(t, m))
	if err != nil || !reflect.DeepEqual(again, m) {
		t.Fatalf("does not come back: %v", err)
	}
	if m.Users.Rows > 0 {
		if _, err := m.TopN(bg, 0, 3, TopOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// An array that the header lists must be there, even one that may be absent.
func TestLoadMissingArray(t *testing.T) {
	h, err := json.Marshal(header{Format: fileFormat, Version: fileVersion, Rank: 2, Arrays: []string{"users", "item_bias"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = decode[float32](forge(t, map[string]member{"header": {nil, []string{string(h)}}, "item_bias": {}}))
	wantError(t, err, "m.npz", `"item_bias" is missing`)
}
