package dataset

import "math/rand/v2"

// genBlock is the number of draws, entries or rows that share one random stream. Streams belong
// to blocks and not to goroutines, so that results do not depend on the number of threads.
const genBlock = 1 << 14

// Purposes keep the streams of one seed apart.
const (
	forCells = iota + 1
	forFill
	forValues
	forRowLengths
	forColumnOrder
	forRowEntries
	forBiases
	forUserFactors
	forItemFactors
	forGroupFactors
	forNoise
	forSplit
)

// stream returns the random stream of a block for a purpose.
func stream(seed uint64, purpose, block int) *rand.Rand {
	return rand.New(rand.NewPCG(mix(seed+uint64(purpose)*0x9e3779b97f4a7c15), mix(uint64(block)+1)))
}

// mix is a bijection of 64-bit numbers that scatters its argument (the finaliser of splitmix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// blocks returns how many blocks cover n.
func blocks(n int64) int { return int((n + genBlock - 1) / genBlock) }

// permutation is a pseudo-random bijection of [0, n) that takes no memory: a Feistel network on
// the next power of four, walked until it falls inside.
type permutation struct {
	n    uint64
	half uint // bits of each half
	keys [8]uint64
}

func newPermutation(n, seed uint64, purpose int) permutation {
	p := permutation{n: n, half: 1}
	for n > 1<<(2*p.half) {
		p.half++
	}
	rng := stream(seed, purpose, 0)
	for i := range p.keys {
		p.keys[i] = rng.Uint64()
	}
	return p
}

// at returns the image of x < n.
func (p *permutation) at(x uint64) uint64 {
	mask := uint64(1)<<p.half - 1
	for {
		l, r := x>>p.half, x&mask
		for _, k := range p.keys {
			l, r = r, l^mix(r^k)&mask
		}
		if x = l<<p.half | r; x < p.n {
			return x
		}
	}
}
