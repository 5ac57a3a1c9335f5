//go:build amd64 && !noasm

package asm

import (
	"math"
	"testing"
)

// Blocks of a row are whole cache lines and about equal; rows of several KB are done in all of their blocks, up to 128 KB of B.
func TestBlocksTogether(t *testing.T) {
	avx512 := loops[float32]{blocks: spmmF32AVX512, lanes: 16, size: 4}
	double := loops[float64]{blocks: spmmF64AVX512, lanes: 8, size: 8}
	avx2 := loops[float32]{blocks: spmmF32AVX2, lanes: 8, size: 4}
	for _, c := range []struct {
		what               string
		block, together    int
		wantBlock, wantAll int
	}{
		{"K = 1", avx512.blockOf(1), avx512.together(1), 16, math.MaxInt},
		{"K = 256", avx512.blockOf(256), avx512.together(256), 256, math.MaxInt},
		{"K = 257", avx512.blockOf(257), avx512.together(257), 144, 127},
		{"K = 512", avx512.blockOf(512), avx512.together(512), 256, 64},
		{"K = 600", avx512.blockOf(600), avx512.together(600), 208, 54},
		{"K = 100000", avx512.blockOf(100_000), avx512.together(100_000), 256, 1},
		{"K = 129 in double precision", double.blockOf(129), double.together(129), 72, 127},
		{"K = 256, AVX2", avx2.blockOf(256), avx2.together(256), 64, math.MaxInt},
		{"K = 100, AVX2", avx2.blockOf(100), avx2.together(100), 64, math.MaxInt},
		{"K = 512, AVX2", avx2.blockOf(512), avx2.together(512), 64, 64},
	} {
		if c.block != c.wantBlock || c.together != c.wantAll {
			t.Errorf("%s: blocks of %d, %d non-zeros together; want %d and %d", c.what, c.block, c.together, c.wantBlock, c.wantAll)
		}
	}
	nonZeros := []int64{3, 0, 5, 9, 1}
	for wanted, want := range map[int]int{1: 1, 3: 1, 4: 3, 8: 3, 9: 4, 17: 4, 18: 5, 100: 5, math.MaxInt: 5} {
		if got := countTogether(wanted, len(nonZeros), func(i int) int64 { return nonZeros[i] }); got != want {
			t.Errorf("%d rows for %d non-zeros, want %d", got, wanted, want)
		}
	}
}
