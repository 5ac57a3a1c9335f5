package factors

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"sddmmkit/dense"
	"sddmmkit/internal/atomicfile"
	"sddmmkit/internal/npz"
	"sddmmkit/sparse"
)

// A model file is an .npz archive, which numpy.load opens, of these arrays:
//
//	header                    scalar string, JSON of type header below
//	mean                      scalar float64
//	users, items              M×K and N×K, float32 or float64
//	user_bias, item_bias      M and N, of the same type; absent when the model has none
//	user_names, item_names    M and N strings, see names.go; absent when the model has none
//	seen_indptr, seen_indices M+1 and nnz integers; absent when the model has none
const (
	fileFormat  = "sddmmkit factor model"
	fileVersion = 1
)

type header struct {
	Format   string            `json:"format"`
	Version  int               `json:"version"`
	Algo     string            `json:"algo"`
	Rank     int               `json:"rank"`
	Implicit bool              `json:"implicit"`
	Low      float64           `json:"low"`
	High     float64           `json:"high"`
	Meta     map[string]string `json:"meta"`

	// Arrays names those that follow. Zip has no checksum over names: without the list, damage
	// could make an array disappear that may be absent.
	Arrays []string `json:"arrays"`
}

// Save writes the model to a file, an .npz archive that NumPy opens too. The file is complete or, after
// an error, what stood there before. A model that does not pass Validate is not written.
func (m *Model[T]) Save(path string) error {
	if err := m.checkWritable(); err != nil {
		return fmt.Errorf("%s: not written: %w", path, err)
	}
	return atomicfile.Write(path, m.write)
}

// Write writes what Save writes to a stream.
func (m *Model[T]) Write(w io.Writer) error {
	if err := m.checkWritable(); err != nil {
		return err
	}
	return m.write(w)
}

func (m *Model[T]) checkWritable() error {
	if err := m.Validate(); err != nil {
		return err
	}
	// JSON would put U+FFFD in place of what is not UTF-8, and the model would not come back the same.
	if !utf8.ValidString(m.Algo) {
		return fmt.Errorf("factors: Algo %q is not UTF-8", m.Algo)
	}
	for k, v := range m.Meta {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return fmt.Errorf("factors: Meta %q = %q is not UTF-8", k, v)
		}
	}
	return nil
}

func (m *Model[T]) write(w io.Writer) error {
	arrays := m.arrays()
	h := header{
		Format: fileFormat, Version: fileVersion,
		Algo: m.Algo, Rank: m.Rank, Implicit: m.Implicit, Low: m.Low, High: m.High, Meta: m.Meta,
	}
	for _, a := range arrays {
		h.Arrays = append(h.Arrays, a.name)
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	z := npz.NewWriter(w)
	if err := z.Write("header", nil, []string{string(text)}); err != nil {
		return err
	}
	for _, a := range arrays {
		z.Compress = a.compress
		if err := z.Write(a.name, a.shape, a.data); err != nil {
			return err
		}
	}
	return z.Close()
}

// array is what npz.Writer.Write takes.
type array struct {
	name     string
	shape    []int
	data     any
	compress bool // names and indices shrink well, factors hardly
}

// arrays returns what follows the header.
func (m *Model[T]) arrays() []array {
	list := []array{
		{"mean", nil, []float64{m.Mean}, false},
		{"users", []int{m.Users.Rows, m.Rank}, elements(m.Users), false},
		{"items", []int{m.Items.Rows, m.Rank}, elements(m.Items), false},
	}
	if m.UserBias != nil {
		list = append(list, array{"user_bias", []int{len(m.UserBias)}, m.UserBias, false})
	}
	if m.ItemBias != nil {
		list = append(list, array{"item_bias", []int{len(m.ItemBias)}, m.ItemBias, false})
	}
	list = append(list, namesArrays("user_names", m.UserNames)...)
	list = append(list, namesArrays("item_names", m.ItemNames)...)
	if m.Seen != nil {
		list = append(list,
			array{"seen_indptr", []int{len(m.Seen.RowPtr)}, m.Seen.RowPtr, true},
			array{"seen_indices", []int{len(m.Seen.ColIdx)}, m.Seen.ColIdx, true})
	}
	return list
}

// elements returns the elements of a matrix without gaps between the rows.
func elements[T dense.Float](m dense.Matrix[T]) []T {
	if m.Stride != m.Cols {
		m = m.Clone()
	}
	return m.Data[:m.Rows*m.Cols]
}

// Load reads a model that Save wrote: every field comes back with the same bits, strides aside. T is
// the type the model was trained in, see ElementType; any other is an error, for rounding
// factors is not loading them. A file that is damaged, of another kind or of a later version is an
// error that names it.
func Load[T dense.Float](path string) (*Model[T], error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return Read[T](f, info.Size(), path)
}

// Read is Load from the first size bytes of r. The name is used in errors only.
func Read[T dense.Float](r io.ReaderAt, size int64, name string) (*Model[T], error) {
	f, h, err := open(r, size, name)
	if err != nil {
		return nil, err
	}
	for _, a := range h.Arrays {
		if !f.Has(a) {
			return nil, fmt.Errorf("%s: array %q is missing; the archive holds %q", name, a, f.Names())
		}
	}
	m := &Model[T]{Algo: h.Algo, Rank: h.Rank, Implicit: h.Implicit, Low: h.Low, High: h.High, Meta: h.Meta}
	mean, err := readFloats[float64](f, "mean", 0)
	if err != nil {
		return nil, err
	}
	m.Mean = mean[0]
	if m.Users, err = readFactors[T](f, "users"); err != nil {
		return nil, err
	}
	if m.Items, err = readFactors[T](f, "items"); err != nil {
		return nil, err
	}
	if f.Has("user_bias") {
		if m.UserBias, err = readFloats[T](f, "user_bias", 1); err != nil {
			return nil, err
		}
	}
	if f.Has("item_bias") {
		if m.ItemBias, err = readFloats[T](f, "item_bias", 1); err != nil {
			return nil, err
		}
	}
	if m.UserNames, err = readNames(f, "user_names"); err != nil {
		return nil, err
	}
	if m.ItemNames, err = readNames(f, "item_names"); err != nil {
		return nil, err
	}
	if f.Has("seen_indptr") || f.Has("seen_indices") {
		m.Seen = &sparse.Pattern{Rows: m.Users.Rows, Cols: m.Items.Rows}
		if m.Seen.RowPtr, err = readInts[int64](f, "seen_indptr"); err != nil {
			return nil, err
		}
		if m.Seen.ColIdx, err = readInts[int32](f, "seen_indices"); err != nil {
			return nil, err
		}
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// ElementType returns "float32" or "float64", the type of the factors in a model file: which Load
// to call for a model from elsewhere.
func ElementType(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	z, _, err := open(f, info.Size(), path)
	if err != nil {
		return "", err
	}
	a, err := z.Array("users")
	if err != nil {
		return "", err
	}
	if t := a.Type(); t == "float32" || t == "float64" {
		return t, nil
	}
	return "", a.Errorf("it holds %s; want float32 or float64", a.Type())
}

// open checks that a file is a model of a version that this package reads.
func open(r io.ReaderAt, size int64, name string) (*npz.File, header, error) {
	var h header
	f, err := npz.Open(r, size, name)
	if err != nil {
		return nil, h, err
	}
	if !f.Has("header") {
		return nil, h, fmt.Errorf("%s: not a saved model: there is no array \"header\" among %q", name, f.Names())
	}
	a, err := f.Array("header")
	if err != nil {
		return nil, h, err
	}
	if a.Len() != 1 {
		return nil, h, a.Errorf("shape %v; want one string", a.Shape)
	}
	text, err := npz.Strings(a)
	if err != nil {
		return nil, h, err
	}
	// A later version may have another idea of the rest: look at the version first.
	var v struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal([]byte(text[0]), &v); err != nil {
		return nil, h, a.Errorf("%w", err)
	}
	if v.Format != fileFormat {
		return nil, h, a.Errorf("the format is %.40q; want %q", v.Format, fileFormat)
	}
	if v.Version != fileVersion {
		return nil, h, a.Errorf("the model is of version %d; this program reads version %d", v.Version, fileVersion)
	}
	if err := json.Unmarshal([]byte(text[0]), &h); err != nil {
		return nil, h, a.Errorf("%w", err)
	}
	return f, h, nil
}

// readFactors reads an array of two dimensions whose element type is T.
func readFactors[T dense.Float](f *npz.File, name string) (dense.Matrix[T], error) {
	var m dense.Matrix[T]
	a, err := f.Array(name)
	if err != nil {
		return m, err
	}
	if len(a.Shape) != 2 {
		return m, a.Errorf("shape %v; want one row of factors per %s", a.Shape, name[:len(name)-1])
	}
	if err := wantType[T](a); err != nil {
		return m, err
	}
	data, err := npz.Floats[T](a)
	return dense.Matrix[T]{Rows: a.Shape[0], Cols: a.Shape[1], Stride: a.Shape[1], Data: data}, err
}

// readFloats reads an array of the given number of dimensions, 0 or 1, whose element type is T.
func readFloats[T dense.Float](f *npz.File, name string, dims int) ([]T, error) {
	a, err := f.Array(name)
	if err != nil {
		return nil, err
	}
	if len(a.Shape) != dims {
		return nil, a.Errorf("shape %v; want %d dimensions", a.Shape, dims)
	}
	if err := wantType[T](a); err != nil {
		return nil, err
	}
	return npz.Floats[T](a)
}

func wantType[T dense.Float](a *npz.Array) error {
	want := fmt.Sprintf("%T", T(0))
	switch have := a.Type(); have {
	case want:
		return nil
	case "float32", "float64":
		return a.Errorf("it holds %s, and %s was asked for; load the model as Model[%s]", have, want, have)
	default:
		return a.Errorf("it holds %s; want %s", have, want)
	}
}

func readInts[T int32 | int64](f *npz.File, name string) ([]T, error) {
	a, err := f.Array(name)
	if err != nil {
		return nil, err
	}
	if len(a.Shape) != 1 {
		return nil, a.Errorf("shape %v; want one dimension", a.Shape)
	}
	return npz.Ints[T](a)
}
