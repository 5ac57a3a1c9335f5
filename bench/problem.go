package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"sddmmkit/bench/record"
	"sddmmkit/dense"
	"sddmmkit/device"
	"sddmmkit/internal/errbound"
	"sddmmkit/internal/parallel"
	"sddmmkit/sddmm"
	"sddmmkit/spmm"
)

// problem is a case with operands, and what the result must be on a sample of rows.
type problem[T sddmm.Float] struct {
	m    *Matrix[T]
	c    Case
	a, b dense.Matrix[T] // a only for SDDMM
	out  int64           // elements of the result

	owned []*dense.Resident[T] // a and b, where a device holds them

	at    []int64   // places in the result
	want  []float64 // what must be there
	bound []float64 // within this
	size  []float64 // what the terms add up to in absolute value
}

// checkedProducts is the number of products that the reference computes, or one row's.
const checkedProducts = 4e6

// newProblem makes operands from a seed, for a device, or for none of ours with nil. The caller closes it.
func newProblem[T sddmm.Float](dev device.Device, m *Matrix[T], c Case, seed uint64) (p *problem[T], err error) {
	p = &problem[T]{m: m, c: c}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	s := m.S
	gathered, written := s.Cols, s.Rows // rows of B and of C
	if c.Op == SpMMT {
		gathered, written = s.Rows, s.Cols
	}
	if p.b, err = p.operand(dev, gathered, c.K, operandB, seed); err != nil {
		return nil, err
	}
	p.round(p.b)
	p.out = int64(written) * int64(c.K)
	switch c.Op {
	case SDDMM:
		if p.a, err = p.operand(dev, s.Rows, c.K, operandA, seed); err != nil {
			return nil, err
		}
		p.round(p.a)
		p.out = s.NNZ()
		return p, p.expectSDDMM(seed)
	case SpMMT:
		return p, p.expectSpMM(spmm.Trans, seed)
	}
	return p, p.expectSpMM(spmm.NoTrans, seed)
}

// sampleRows chooses rows to check: the fullest, the first, the last, and others at random while
// their products are few enough.
func sampleRows(counts []int64, k int, seed uint64) []int {
	n := len(counts)
	if n == 0 {
		return nil
	}
	fullest := 0
	for i, c := range counts {
		if c > counts[fullest] {
			fullest = i
		}
	}
	chosen := []int{fullest}
	taken := map[int]bool{fullest: true}
	cost := func(i int) float64 { return float64(counts[i]+1) * float64(k) }
	total := cost(fullest)
	add := func(i int) bool {
		if !taken[i] {
			if total += cost(i); total > checkedProducts {
				return false
			}
			taken[i] = true
			chosen = append(chosen, i)
		}
		return true
	}
	if add(0) && add(n-1) {
		for _, i := range rand.New(rand.NewPCG(seed, 1)).Perm(n) {
			if !add(i) {
				break
			}
		}
	}
	slices.Sort(chosen)
	return chosen
}

func (p *problem[T]) rowCounts() []int64 {
	counts := make([]int64, p.m.S.Rows)
	for i := range counts {
		counts[i] = p.m.S.RowPtr[i+1] - p.m.S.RowPtr[i]
	}
	return counts
}

func (p *problem[T]) colCounts() []int64 {
	counts := make([]int64, p.m.S.Cols)
	for _, j := range p.m.S.ColIdx {
		counts[j]++
	}
	return counts
}

func (p *problem[T]) expectSDDMM(seed uint64) error {
	s, f, k := p.m.S, p.c.Epilogue, p.c.K
	rows := sampleRows(p.rowCounts(), k, seed)
	part, err := s.PickRows(rows)
	if err != nil {
		return err
	}
	a := dense.New[T](len(rows), k)
	for to, i := range rows {
		copy(a.Row(to), p.a.Row(i))
		for z := s.RowPtr[i]; z < s.RowPtr[i+1]; z++ {
			p.at = append(p.at, z)
		}
	}
	var mag []float64
	p.want, mag = sddmm.Reference(f, 1, part, a, p.b, 0, nil)
	// All products are positive: a dot product is what its terms add up to in absolute value.
	for z, x := range part.Val {
		v, d := float64(x), mag[z]
		p.bound = append(p.bound, errbound.SDDMM[T](f, k, 1, v, d, d, 0, 0))
		size := d
		switch f {
		case sddmm.Scale:
			size = math.Abs(v) * d
		case sddmm.Residual:
			size = math.Abs(v) + d
		case sddmm.Quotient:
			size = math.Abs(v) / d
		}
		p.size = append(p.size, size)
	}
	return nil
}

func (p *problem[T]) expectSpMM(op spmm.Op, seed uint64) error {
	k, counts := p.c.K, p.rowCounts()
	pick := p.m.S.PickRows
	if op == spmm.Trans {
		counts, pick = p.colCounts(), p.m.S.PickCols
	}
	rows := sampleRows(counts, k, seed)
	part, err := pick(rows)
	if err != nil {
		return err
	}
	p.want, p.size = spmm.Reference(op, 1, part, p.b, 0, dense.Matrix[T]{})
	for to, i := range rows {
		for j := range k {
			p.at = append(p.at, int64(i)*int64(k)+int64(j))
			p.bound = append(p.bound, errbound.SpMM[T](int(counts[i]), p.size[to*k+j]))
		}
	}
	return nil
}

// WrongError says that a result is not what the formula gives.
type WrongError struct {
	Case             Case
	Matrix           string
	Element          int64 // of the result
	Got, Want, Bound float64
}

func (e *WrongError) Error() string {
	if math.IsNaN(e.Want) {
		return fmt.Sprintf("%s of %s with K = %d is wrong: element %d is %v: it was not written, or made from what must not be read", e.Case.Op, e.Matrix, e.Case.K, e.Element, e.Got)
	}
	return fmt.Sprintf("%s of %s with K = %d is wrong: element %d is %v, want %v within %.3g; no time is reported", e.Case.Op, e.Matrix, e.Case.K, e.Element, e.Got, e.Want, e.Bound)
}

// sumPiece is the number of elements whose sum is one term of the checksum.
const sumPiece = 1 << 20

// check compares a result, which was mark or NaN everywhere before it was computed, with the reference.
func (p *problem[T]) check(got []T, mark T) (record.Accuracy, error) {
	wrong := func(e int64, want, bound float64) (record.Accuracy, error) {
		return record.Accuracy{}, &WrongError{Case: p.c, Matrix: p.m.Name, Element: e, Got: float64(got[e]), Want: want, Bound: bound}
	}
	acc := record.Accuracy{Checked: len(p.at)}
	for n, e := range p.at {
		x, want, bound := float64(got[e]), p.want[n], p.bound[n]
		diff := math.Abs(x - want)
		if !(diff <= bound) {
			return wrong(e, want, bound)
		}
		if diff > 0 {
			acc.Share = max(acc.Share, diff/bound)
			acc.Error = max(acc.Error, diff/p.size[n])
		}
	}
	// Pieces add up on their own and their sums in order, so that the checksum does not depend on threads.
	sums, bad := make([]float64, (len(got)+sumPiece-1)/sumPiece), make([]int, (len(got)+sumPiece-1)/sumPiece)
	_ = parallel.Units(context.Background(), 0, len(sums), func(u int) {
		lo, sum := u*sumPiece, 0.0
		bad[u] = -1
		for e, x := range got[lo:min(lo+sumPiece, len(got))] {
			if x != x || x == mark {
				bad[u] = lo + e
				return
			}
			sum += float64(x)
		}
		sums[u] = sum
	})
	for u, e := range bad {
		if e >= 0 {
			return wrong(int64(e), math.NaN(), 0)
		}
		acc.Sum += sums[u]
	}
	return acc, nil
}
