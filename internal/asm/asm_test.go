package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sddmmkit/tiling"
)

func levels(t testing.TB) []Level {
	var ls []Level
	for l := AVX2; l <= detect(); l++ {
		ls = append(ls, l)
	}
	if len(ls) == 0 {
		t.Skip("no assembly kernels on this machine or in this build")
	}
	return ls
}

func use(t testing.TB, l Level) {
	restore, err := Use(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(restore)
}

// counts lists numbers of non-zeros: around all sizes of a group.
func counts(k int) []int {
	most := 20
	if k <= Narrow {
		most = 40
	}
	ns := make([]int, most)
	for n := range ns {
		ns[n] = n
	}
	return ns
}

func TestSDDMMAgainstGeneric(t *testing.T) {
	testSDDMM[float32](t)
	testSDDMM[float64](t)
}

func testSDDMM[T Float](t *testing.T) {
	for _, l := range levels(t) {
		t.Run(fmt.Sprintf("%v %T", l, T(0)), func(t *testing.T) {
			use(t, l)
			rng := rand.New(rand.NewPCG(1, 2))
			const rows = 50
			for _, k := range []int{1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 143, 144, 145, 255, 256, 257, 300, 1000} {
				for _, stride := range []int{k, k + 2} { // packed, and not
					b := make([]T, rows*stride)
					a := make([]T, k)
					for i := range b {
						b[i] = T(rng.IntN(7) - 3)
					}
					for i := range a {
						a[i] = T(rng.IntN(7) - 3)
					}
					for _, n := range counts(k) {
						for _, ahead := range []int{0, 1, 12, 20, 24, 30, 100} {
							cols := make([]int32, n+ahead)
							for j := range cols {
								cols[j] = rng.Int32N(rows)
							}
							s, p := make([]T, n), make([]T, n)
							for j := range s {
								s[j], p[j] = T(rng.IntN(5)), T(rng.IntN(5))
							}
							for _, op := range []Op{Dot, Scale, Residual, Quotient, Dot | Beta, Residual | Beta, Partial, Continue | Partial, Continue | Scale} {
								got, want := append([]T{9}, p...), append([]T{9}, p...)
								got, want = append(got, 7), append(want, 7)
								For[T]().SDDMM(got[1:n+1], s, a, b, stride, cols, op, 2, 3)
								sddmmGeneric(want[1:n+1], s, a, b, stride, cols, op, 2, 3)
								for j := range want {
									if got[j] != want[j] && !(math.IsNaN(float64(got[j])) && math.IsNaN(float64(want[j]))) {
										t.Fatalf("K %d, stride %d, n %d, op %d: p[%d] is %v, want %v", k, stride, n, op, j-1, got[j], want[j])
									}
								}
							}
						}
					}
				}
			}
		})
	}
}

func TestSpMMAgainstGeneric(t *testing.T) {
	testSpMM[float32](t)
	testSpMM[float64](t)
}

func testSpMM[T Float](t *testing.T) {
	for _, l := range levels(t) {
		t.Run(fmt.Sprintf("%v %T", l, T(0)), func(t *testing.T) {
			use(t, l)
			rng := rand.New(rand.NewPCG(1, 2))
			const rows = 50
			for _, k := range []int{1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 143, 144, 145, 255, 256, 257, 300, 1000} {
				for _, stride := range []int{k, k + 2} { // packed, and not
					b := make([]T, rows*stride)
					for i := range b {
						b[i] = T(rng.IntN(7) - 3)
					}
					for _, n := range counts(k) {
						for _, ahead := range []int{0, 1, 40, 100} {
							cols := make([]int32, n+ahead)
							for j := range cols {
								cols[j] = rng.Int32N(rows)
							}
							v := make([]T, n)
							for j := range v {
								v[j] = T(rng.IntN(5))
							}
							for _, fresh := range []bool{true, false} {
								for _, vv := range [][]T{v, nil} {
									got, want := make([]T, k+2), make([]T, k+2)
									for i := range got {
										got[i] = T(rng.IntN(5))
										want[i] = got[i]
									}
									For[T]().SpMM(got[1:k+1], vv, b, stride, cols, n, 2, fresh)
									spmmGeneric(want[1:k+1], vv, b, stride, cols, n, 2, fresh)
									for i := range want {
										if got[i] != want[i] {
											t.Fatalf("K %d, stride %d, n %d: c[%d] is %v, want %v", k, stride, n, i-1, got[i], want[i])
										}
									}
								}
							}
						}
					}
				}
			}
		})
	}
}

// normal returns normally distributed numbers.
func normal[T Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

// Rows of B whose last element lies apart give the bits of whole ones.
func TestLast(t *testing.T) {
	for _, l := range levels(t) {
		use(t, l)
		if k := For[float64](); k.SpMMRowsLast != nil || k.SpMMSegmentsLast != nil {
			t.Errorf("%v: double precision has loops for a last element apart, which nothing tests", l)
		}
		kernels := For[float32]()
		if (kernels.SpMMRowsLast != nil) != (l == AVX512) || (kernels.SpMMSegmentsLast != nil) != (l == AVX512) {
			t.Errorf("%v: loops for a last element apart: %v, %v", l, kernels.SpMMRowsLast != nil, kernels.SpMMSegmentsLast != nil)
		}
		if kernels.SpMMRowsLast == nil {
			continue
		}
		rng := rand.New(rand.NewPCG(5, 6))
		random := func(n int) []float32 { return normal[float32](rng, n) }
		ptr := []int64{0, 3, 3, 20, 21, 150, 155}
		nnz := int(ptr[len(ptr)-1])
		const rows, long = 100, 100
		cols := make([]int32, nnz)
		for j := range cols {
			cols[j] = rng.Int32N(rows)
		}
		segs := []tiling.Segment{{Lo: 3, N: 10, Row: 2}, {Lo: 150, N: 5, Row: 5}, {Lo: 21, N: 100, Row: 4}, {Lo: 13, N: 7, Row: 2}, {Lo: 0, N: 3, Row: 0}, {Lo: 121, N: 29, Row: 4}}
		for k := 17; k <= 129; k += 16 {
			whole, stride := random(rows*k), k+3
			b, last := random(rows*stride), make([]float32, rows)
			for i := range rows {
				copy(b[i*stride:][:k-1], whole[i*k:])
				last[i] = whole[i*k+k-1]
			}
			c := Rows[float32]{Data: random(len(ptr) * (k + 2)), K: k, Stride: k + 2}
			for _, v := range [][]float32{random(nnz), nil} {
				for _, set := range []struct{ fresh, near bool }{{}, {near: true}, {fresh: true}, {true, true}} {
					got, want := c, c
					got.Data, want.Data = slices.Clone(c.Data), slices.Clone(c.Data)
					kernels.SpMMRowsLast(got, v, b, stride, last, cols, ptr, 1.5, set.fresh, set.near)
					kernels.SpMMRows(want, v, whole, k, cols, ptr, 1.5, set.fresh, set.near)
					if !slices.Equal(got.Data, want.Data) {
						t.Errorf("%v, K %d, %+v: rows have other bits", l, k, set)
					}
					kernels.SpMMSegmentsLast(got, v, b, stride, last, cols, segs, ptr, long, 1.5, set.fresh, set.near)
					kernels.SpMMSegments(want, v, whole, k, cols, segs, ptr, long, 1.5, set.fresh, set.near)
					if !slices.Equal(got.Data, want.Data) {
						t.Errorf("%v, K %d, %+v: segments have other bits", l, k, set)
					}
				}
			}
		}
	}
}

// Many rows, or segments, in one call have the bits of a call each, with SpMM cut at multiples of Stretch.
func TestRows(t *testing.T) {
	testRows[float32](t)
	testRows[float64](t)
}

func testRows[T Float](t *testing.T) {
	ls := []Level{Generic}
	if detect() > Generic {
		ls = append(ls, levels(t)...)
	}
	for _, l := range ls {
		use(t, l)
		kernels := For[T]()
		rng := rand.New(rand.NewPCG(3, 4))
		random := func(n int) []T { return normal[T](rng, n) }
		for _, k := range []int{1, 2, 3, 4, 5, 16, 17, 33, 128, 129, 300} {
			const from, rows = 7, 100
			ptr := []int64{from}
			for _, n := range []int{3, 0, 0, 17, 256, 1, 255, 700, 257, 5, 8, 12, 0, 4, 16, 2} {
				ptr = append(ptr, ptr[len(ptr)-1]+int64(n))
			}
			nnz := int(ptr[len(ptr)-1] - from)
			cols := make([]int32, nnz)
			for j := range cols {
				cols[j] = rng.Int32N(rows)
			}
			a := Rows[T]{Data: random(len(ptr) * (k + 2)), K: k, Stride: k + 2}
			b, s, p := random(rows*(k+1)), random(nnz), random(nnz)
			same := func(what string, got, want []T) {
				t.Helper()
				if !slices.Equal(got, want) {
					t.Fatalf("%v %T, K %d: %s in one call has other bits than in a call for each row or segment", l, T(0), k, what)
				}
			}
			for _, op := range []Op{Scale, Scale | Near, Dot | Beta, Dot | Beta | Near, Scale | Near | Cached, Quotient} {
				got, want := slices.Clone(p), slices.Clone(p)
				kernels.SDDMMRows(got, s, a, b, k+1, cols, ptr, op, 1.5, 0.5)
				for i := range len(ptr) - 1 {
					lo, hi := ptr[i]-from, ptr[i+1]-from
					kernels.SDDMM(want[lo:hi], s[lo:hi], a.Row(i), b, k+1, cols[lo:hi], op, 1.5, 0.5)
				}
				same("SDDMM of rows", got, want)
			}
			for _, v := range [][]T{s, nil} {
				for _, set := range []struct{ fresh, near bool }{{}, {near: true}, {fresh: true}, {true, true}} {
					got, want := a, a
					got.Data, want.Data = slices.Clone(a.Data), slices.Clone(a.Data)
					kernels.SpMMRows(got, v, b, k+1, cols, ptr, 1.5, set.fresh, set.near)
					for i := range len(ptr) - 1 {
						lo, end := ptr[i]-from, ptr[i+1]-from
						for first := true; first || lo < end; first = false {
							hi := min(lo+Stretch, end)
							var part []T
							if v != nil {
								part = v[lo:hi]
							}
							kernels.SpMM(want.Row(i), part, b, k+1, cols[lo:hi], int(hi-lo), 1.5, set.fresh && first)
							lo = hi
						}
					}
					same("SpMM of rows", got.Data, want.Data)
				}
			}
			// Segments of at most 50 non-zeros, in any order of rows; cols is in the order of the segments.
			const long = 300
			rowPtr, offset := make([]int64, len(ptr)), ptr[0]
			var segs []tiling.Segment
			for i := range rowPtr {
				rowPtr[i] = ptr[i] - offset
			}
			for _, i := range rng.Perm(len(ptr) - 1) {
				for lo := rowPtr[i]; lo < rowPtr[i+1]; {
					n := min(1+rng.Int64N(50), rowPtr[i+1]-lo)
					segs = append(segs, tiling.Segment{Lo: lo, N: int32(n), Row: int32(i)})
					lo += n
				}
			}
			for _, near := range []Op{0, Near, Near | Cached} {
				got, want, at := slices.Clone(p), slices.Clone(p), 0
				kernels.SDDMMSegments(got, s, a, b, k+1, cols, segs, Scale|Beta|near, 1.5, 0.5)
				for _, g := range segs {
					lo, hi := g.Lo, g.Lo+int64(g.N)
					kernels.SDDMM(want[lo:hi], s[lo:hi], a.Row(int(g.Row)), b, k+1, cols[at:], Scale|Beta, 1.5, 0.5)
					at += int(g.N)
				}
				same("SDDMM of segments", got, want)
			}
			for _, v := range [][]T{s, nil} {
				for _, set := range []struct{ fresh, near bool }{{}, {near: true}, {fresh: true}, {true, true}} {
					got, want, at := a, a, 0
					got.Data, want.Data = slices.Clone(a.Data), slices.Clone(a.Data)
					kernels.SpMMSegments(got, v, b, k+1, cols, segs, rowPtr, long, 1.5, set.fresh, set.near)
					for _, g := range segs {
						if lo := rowPtr[g.Row]; rowPtr[g.Row+1]-lo < long {
							var part []T
							if v != nil {
								part = v[g.Lo:][:g.N]
							}
							kernels.SpMM(want.Row(int(g.Row)), part, b, k+1, cols[at:], int(g.N), 1.5, set.fresh && g.Lo == lo)
						}
						at += int(g.N)
					}
					same("SpMM of segments", got.Data, want.Data)
				}
			}
		}
	}
}

// Operands that are too small for their rows are found before assembly reads beyond them.
func TestSmallOperands(t *testing.T) {
	const k, nnz, rows = 8, 6, 2
	for _, l := range levels(t) {
		use(t, l)
		kernels := For[float32]()
		b, ptr := make([]float32, k), []int64{3, 5, 3 + nnz}
		call := func(spmm bool, n, cols, elements int) (panics bool) {
			defer func() { panics = recover() != nil }()
			p, idx := make([]float32, n), make([]int32, cols)
			dense := Rows[float32]{Data: make([]float32, elements), K: k, Stride: k}
			if spmm {
				kernels.SpMMRows(dense, p, b, k, idx, ptr, 1, true, false)
			} else {
				kernels.SDDMMRows(p, p, dense, b, k, idx, ptr, Scale, 1, 0)
			}
			return false
		}
		for _, spmm := range []bool{false, true} {
			if call(spmm, nnz, nnz, rows*k) {
				t.Errorf("%v: operands that are large enough do not pass", l)
			}
			if !call(spmm, nnz-1, nnz, rows*k) || !call(spmm, nnz, nnz-1, rows*k) || !call(spmm, nnz, nnz, rows*k-1) {
				t.Errorf("%v: operands that are too small pass", l)
			}
		}
	}
}

// An infinity in a row of B reaches the results that use it and no other, wherever it stands in a group; NaN in
// rows that are only fetched early reaches none.
func TestInfinities(t *testing.T) {
	testInfinities[float32](t)
	testInfinities[float64](t)
}

func testInfinities[T Float](t *testing.T) {
	const nanRow, infRow, oneRow, rows = 0, 1, 2, 3
	inf := T(math.Inf(1))
	for _, l := range levels(t) {
		use(t, l)
		kernels := For[T]()
		for _, k := range []int{1, 2, 3, 4, 5, 8, 17, 64, 128, 256} {
			a, b, c := make([]T, k), make([]T, rows*k), make([]T, k)
			for i := range k {
				a[i], b[nanRow*k+i], b[infRow*k+i], b[oneRow*k+i] = 1, T(math.NaN()), inf, 1
			}
			for n := 1; n < 40; n++ {
				for at := range n {
					cols, p, v := make([]int32, n+3), make([]T, n), make([]T, n)
					for j := range n {
						cols[j], v[j] = oneRow, 1
					}
					cols[at] = infRow
					kernels.SDDMM(p, nil, a, b, k, cols, Dot, 1, 0)
					for j, x := range p {
						if want := T(k); x != want && j != at || x != inf && j == at {
							t.Fatalf("%v %T, K %d: with the infinity at %d of %d, p[%d] is %v", l, x, k, at, n, j, x)
						}
					}
					kernels.SpMM(c, v, b, k, cols, n, 1, true)
					for i, x := range c {
						if x != inf {
							t.Fatalf("%v %T, K %d: with the infinity at %d of %d, c[%d] is %v", l, x, k, at, n, i, x)
						}
					}
				}
			}
		}
	}
}

func BenchmarkKernels(b *testing.B) {
	const rows, n = 8192, 244
	for _, l := range levels(b) {
		for _, k := range []int{1, 2, 3, 4, 8, 16, 17, 32, 128, 512} {
			rng := rand.New(rand.NewPCG(1, 2))
			bm := make([]float32, rows*k)
			a := make([]float32, k)
			cols := make([]int32, 1<<20)
			for j := range cols {
				cols[j] = rng.Int32N(rows)
			}
			p := make([]float32, n)
			flops := 2 * float64(n) * float64(k)
			b.Run(fmt.Sprintf("sddmm/%v/%d", l, k), func(b *testing.B) {
				use(b, l)
				f := For[float32]().SDDMM
				at := 0
				for b.Loop() {
					if at += n; at+2*n > len(cols) {
						at = 0
					}
					f(p, nil, a, bm, k, cols[at:], Dot, 1, 0)
				}
				b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
			b.Run(fmt.Sprintf("spmm/%v/%d", l, k), func(b *testing.B) {
				use(b, l)
				f := For[float32]().SpMM
				at := 0
				for b.Loop() {
					if at += n; at+2*n > len(cols) {
						at = 0
					}
					f(a, p, bm, k, cols[at:], n, 1, true)
				}
				b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// Rows of B that follow each other, which have loops of their own, give the bits of rows that lie apart.
func TestPackedGivesTheSameBits(t *testing.T) {
	testPacked[float32](t)
	testPacked[float64](t)
}

func testPacked[T Float](t *testing.T) {
	for _, l := range levels(t) {
		use(t, l)
		rng := rand.New(rand.NewPCG(5, 6))
		for k := 1; k <= Narrow; k++ {
			const rows, n, gap = 40, 333, 3
			packed, apart, a := make([]T, rows*k), make([]T, rows*(k+gap)), make([]T, k)
			for i := range packed {
				packed[i] = T(rng.NormFloat64())
				apart[i/k*(k+gap)+i%k] = packed[i]
			}
			for i := range a {
				a[i] = T(rng.NormFloat64())
			}
			cols, s, p := make([]int32, n), make([]T, n), make([]T, n)
			for j := range cols {
				cols[j], s[j], p[j] = rng.Int32N(rows), T(rng.NormFloat64()), T(rng.NormFloat64())
			}
			got, want := slices.Clone(p), slices.Clone(p)
			For[T]().SDDMM(got, s, a, packed, k, cols, Scale|Beta, 1.5, 0.5)
			For[T]().SDDMM(want, s, a, apart, k+gap, cols, Scale|Beta, 1.5, 0.5)
			if !slices.Equal(got, want) {
				t.Errorf("%v %T, K %d: SDDMM", l, T(0), k)
			}
			got, want = make([]T, k), make([]T, k)
			For[T]().SpMM(got, s, packed, k, cols, n, 1.5, true)
			For[T]().SpMM(want, s, apart, k+gap, cols, n, 1.5, true)
			if !slices.Equal(got, want) {
				t.Errorf("%v %T, K %d: SpMM", l, T(0), k)
			}
		}
	}
}
