package model

import "math"

// Problem is the size of an SDDMM, and tiles for it, in the terms of the paper. All sizes are in
// elements.
type Problem struct {
	M, N, K    float64 // A is M×K, B is N×K
	NNZ        float64
	Ti, Tj, Tk float64 // tile: rows, columns, slice of K
	C          float64 // elements that a non-zero takes: 3 for COO triplets
}

// COO is the C of a Problem whose non-zeros are triplets of row, column and value.
const COO = 3

// Density returns ρ = nnz/(M·N).
func (p Problem) Density() float64 { return p.NNZ / (p.M * p.N) }

// TrafficAStreams is equation (4), first line (A in shared memory): the rows of A stream past panels of
// T_j columns, whose tile of B stays in the cache. A is loaded N/T_j times, B and S once, and P is
// loaded and stored for each of the K/T_k slices:
//
//	M·N·K/T_j + N·K + nnz + c·nnz·K/T_k
func (p Problem) TrafficAStreams() float64 {
	return p.M*p.N*p.K/p.Tj + p.N*p.K + p.NNZ + p.C*p.NNZ*p.K/p.Tk
}

// TrafficBStreams is equation (4), second line: the dual, the rows of B stream past panels of T_i rows.
//
//	M·K + M·N·K/T_i + nnz + c·nnz·K/T_k
func (p Problem) TrafficBStreams() float64 {
	return p.M*p.K + p.M*p.N*p.K/p.Ti + p.NNZ + p.C*p.NNZ*p.K/p.Tk
}

// Side is the dense matrix whose rows stream past tiles of the other.
type Side byte

// The streaming sides.
const (
	AStreams Side = 'A'
	BStreams Side = 'B'
)

func (s Side) String() string { return string(rune(s)) }

// StreamingSide returns the side that moves less by equation (4) for T_i = T_j. The two lines differ by
// K·(M−N): the matrix with more rows streams, and the smaller one, which is loaded once as a whole,
// stays. (The paper's text puts it as streaming along the smaller dimension; its equation and its
// Table III, where the 300 000 rows of A stream past 103 000 of B, are as here.) Equal ones stream A.
func (p Problem) StreamingSide() Side {
	if p.M < p.N {
		return BStreams
	}
	return AStreams
}

// Intensity is equation (5): operations per element moved, with A streaming.
//
//	2·K·nnz / (M·N·K/T_j + N·K + nnz + c·nnz·K/T_k)
func (p Problem) Intensity() float64 { return 2 * p.K * p.NNZ / p.TrafficAStreams() }

// IntensityLimit is the right hand side of equation (5): without the terms that are paid once.
//
//	2·nnz / (M·N/T_j + c·nnz/T_k)
func (p Problem) IntensityLimit() float64 { return 2 * p.NNZ / (p.M*p.N/p.Tj + p.C*p.NNZ/p.Tk) }

// BestTile is where equation (6) has its minimum for a cache of the given number of elements:
//
//	T_j = sqrt(cache/(c·ρ)),  T_k = c·ρ·T_j,  T_j·T_k = cache
//
// The terms 1/T_j and c·ρ/T_k are equal there. Neither is rounded nor limited to N and K.
func BestTile(cache, c, density float64) (tj, tk float64) {
	tj = math.Sqrt(cache / (c * density))
	return tj, c * density * tj
}

// LeastTraffic is the minimum of equation (6): what must move for the best tile.
//
//	N·K + nnz + 2·M·N·K·sqrt(c·ρ/cache)
func (p Problem) LeastTraffic(cache float64) float64 {
	return p.N*p.K + p.NNZ + 2*p.M*p.N*p.K*math.Sqrt(p.C*p.Density()/cache)
}

// BestIntensity is the operational intensity with the best tile (section III): the limit of (5) at the
// minimum of (6), sqrt(cache·ρ/c).
func BestIntensity(cache, c, density float64) float64 { return math.Sqrt(cache * density / c) }

// IntensityOfStationaryS bounds the operational intensity of the scheme that keeps S in registers and
// streams along k (section III): max(sqrt(registers·ρ), 1). It is why that scheme is not used.
func IntensityOfStationaryS(registers, density float64) float64 {
	return math.Max(math.Sqrt(registers*density), 1)
}

// Scheme is where the two tiles of a thread block are.
type Scheme string

// The schemes of the paper.
const (
	SMSM Scheme = "SM-SM" // both in shared memory
	SML2 Scheme = "SM-L2" // rows of A in shared memory, a panel of B in L2
)

// DenseThreshold is the density from which on both tiles belong in shared memory (section IV-B).
const DenseThreshold = 0.05

// SchemeFor returns the scheme for a density: SM-SM from DenseThreshold on, where a tile that small
// has enough work for a thread block.
func SchemeFor(density float64) Scheme {
	if density >= DenseThreshold {
		return SMSM
	}
	return SML2
}

// SMSMTile returns the largest T_i = T_j of the SM-SM scheme, where (T_i+T_j)·K elements share the
// memory of one thread block, half of what the multiprocessor has so that two blocks run on it.
func SMSMTile(sharedBytes, elemBytes, k int) int {
	if elemBytes < 1 || k < 1 {
		return 0
	}
	return max(sharedBytes/2/elemBytes/k/2, 0)
}
