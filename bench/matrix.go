package bench

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"sddmmkit/model"
	"sddmmkit/sddmm"
	"sddmmkit/sparse"
)

// Matrix is a sparse matrix to measure with, and what is known of it after one look. It is not safe for
// concurrent use.
type Matrix[T sddmm.Float] struct {
	Name string
	S    *sparse.CSR[T]
	Hash string // of the shape and the pattern; the same for every element type

	rows, cols popularity
	profiles   [2]*model.Profile // of the pattern and of its transpose, once asked for
}

// profile is what the model wants to know of the pattern, or of its transpose for SpMMT.
func (m *Matrix[T]) profile(op Op) *model.Profile {
	i, p := 0, &m.S.Pattern
	if op == SpMMT {
		i = 1
	}
	if m.profiles[i] == nil {
		if i == 1 {
			p, _ = p.Transpose(0)
		}
		m.profiles[i] = model.NewProfile(p, 0)
	}
	return m.profiles[i]
}

// NewMatrix looks at s, which stays the caller's and must not change. A matrix that is not valid, or has
// a value that is not finite, is an error.
func NewMatrix[T sddmm.Float](name string, s *sparse.CSR[T]) (*Matrix[T], error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("bench: %s: %w", name, err)
	}
	if int64(len(s.Val)) != s.NNZ() {
		return nil, fmt.Errorf("bench: %s: %d values for %d non-zeros", name, len(s.Val), s.NNZ())
	}
	for z, v := range s.Val {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("bench: %s: value %d is %v; want finite values, or results cannot be checked", name, z, v)
		}
	}
	rows, cols := make([]int64, s.Rows), make([]int64, s.Cols)
	for i := range rows {
		rows[i] = s.RowPtr[i+1] - s.RowPtr[i]
	}
	for _, j := range s.ColIdx {
		cols[j]++
	}
	return &Matrix[T]{Name: name, S: s, Hash: fmt.Sprintf("%016x", patternHash(&s.Pattern)), rows: newPopularity(rows), cols: newPopularity(cols)}, nil
}

// patternHash is FNV-1a, 64 bits, of rows, columns, row pointers (8 bytes each) and column
// indices (4 bytes), little-endian.
func patternHash(p *sparse.Pattern) uint64 {
	h := fnv.New64a()
	buf := make([]byte, 0, 1<<13)
	flush := func(limit int) {
		if len(buf) > limit {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	buf = binary.LittleEndian.AppendUint64(buf, uint64(p.Rows))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(p.Cols))
	for _, q := range p.RowPtr {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(q))
		flush(1<<13 - 8)
	}
	for _, j := range p.ColIdx {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(j))
		flush(1<<13 - 8)
	}
	flush(0)
	return h.Sum64()
}

// popularity says how many non-zeros the fullest rows, or columns, hold together.
type popularity struct {
	sum []int64 // sum[n] is the number of non-zeros of the n fullest; those without any are left out
}

// newPopularity sorts counts.
func newPopularity(counts []int64) popularity {
	slices.Sort(counts)
	slices.Reverse(counts)
	active := 0
	for active < len(counts) && counts[active] > 0 {
		active++
	}
	sum := make([]int64, active+1)
	for n, c := range counts[:active] {
		sum[n+1] = sum[n] + c
	}
	return popularity{sum}
}

// active is the number of those with a non-zero.
func (p popularity) active() int64 { return int64(len(p.sum) - 1) }

// top is the number of non-zeros of the n fullest.
func (p popularity) top(n int64) int64 { return p.sum[min(max(n, 0), p.active())] }
