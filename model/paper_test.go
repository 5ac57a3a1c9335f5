package model_test

import (
	"math"
	"testing"

	"sddmmkit/model"
)

func close(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}

// Table III of the paper: NYTimes in bytes (4 an element), at K = 256. The terms of A and S are those
// of equation (4) with N/T_j tiles; S is counted once, as 3·nnz.
func TestTableIII(t *testing.T) {
	const m, n, k, nnz = 300e3, 102660, 256, 69.68e6
	for _, row := range []struct{ tiles, a float64 }{
		{1, 307e6}, {2, 614e6}, {3, 921e6}, {4, 1228e6}, {5, 1536e6}, {6, 1843e6}, {7, 2150e6}, {11, 3379e6}, {21, 6451e6},
	} {
		p := model.Problem{M: m, N: n, K: k, NNZ: nnz, Tj: n / row.tiles, Tk: k, C: model.COO}
		s := model.COO * nnz
		a := p.TrafficAStreams() - n*k - nnz - s
		if !close(4*a, row.a, 1e-3) {
			t.Errorf("%v tiles move %.4g bytes of A, the table says %.4g", row.tiles, 4*a, row.a)
		}
		if !close(4*s, 836e6, 1e-3) {
			t.Errorf("S takes %.4g bytes, the table says 836M", 4*s)
		}
	}
}

// By hand: M = 100, N = 50, K = 8, nnz = 500, T_i = T_j = 10, T_k = 4, c = 3.
func TestEquations(t *testing.T) {
	p := model.Problem{M: 100, N: 50, K: 8, NNZ: 500, Ti: 10, Tj: 10, Tk: 4, C: 3}
	for name, got := range map[string][2]float64{
		"density":             {p.Density(), 0.1},
		"(4) A streams":       {p.TrafficAStreams(), 4000 + 400 + 500 + 3000},
		"(4) B streams":       {p.TrafficBStreams(), 800 + 4000 + 500 + 3000},
		"(4) difference":      {p.TrafficBStreams() - p.TrafficAStreams(), 8 * (100 - 50)},
		"(5)":                 {p.Intensity(), 8000.0 / 7900},
		"(5) limit":           {p.IntensityLimit(), 1000.0 / (500 + 375)},
		"S stays":             {model.IntensityOfStationaryS(65536*4, 0.01), 51.2},
		"S stays, too sparse": {model.IntensityOfStationaryS(64, 0.001), 1},
		"best intensity":      {model.BestIntensity(1<<20, 3, 0.03), math.Sqrt(10485.76)},
	} {
		if !close(got[0], got[1], 1e-12) {
			t.Errorf("%s is %v, want %v", name, got[0], got[1])
		}
	}
	if s := p.StreamingSide(); s != model.AStreams || s.String() != "A" {
		t.Errorf("of 100 and 50, %v streams", s)
	}
	p.M, p.N = p.N, p.M
	if s := p.StreamingSide(); s != model.BStreams {
		t.Errorf("of 50 and 100, %v streams", s)
	}
}

// The side that is said to stream moves less, whatever the tile.
func TestStreamingSideMovesLess(t *testing.T) {
	for _, m := range []float64{10, 100, 1000} {
		for _, n := range []float64{10, 100, 1000} {
			p := model.Problem{M: m, N: n, K: 32, NNZ: 50, Ti: 7, Tj: 7, Tk: 16, C: 3}
			least := math.Min(p.TrafficAStreams(), p.TrafficBStreams())
			if got := p.TrafficAStreams(); p.StreamingSide() == model.AStreams && got != least {
				t.Errorf("%v×%v: streaming A moves %v, not the least", m, n, got)
			}
			if got := p.TrafficBStreams(); p.StreamingSide() == model.BStreams && got != least {
				t.Errorf("%v×%v: streaming B moves %v, not the least", m, n, got)
			}
		}
	}
}

// Equation (6): the best tile fills the cache, has the least traffic of all that do, and the intensity
// that section III gives.
func TestBestTile(t *testing.T) {
	for _, cache := range []float64{1 << 16, 1 << 20, 1 << 24} {
		for _, density := range []float64{1e-5, 1e-3, 0.05} {
			p := model.Problem{M: 3e5, N: 1e5, K: 512, NNZ: 3e10 * density, C: 3}
			tj, tk := model.BestTile(cache, p.C, density)
			if !close(tj*tk, cache, 1e-12) || !close(1/tj, p.C*density/tk, 1e-12) {
				t.Errorf("tile %v×%v for a cache of %v", tj, tk, cache)
			}
			p.Tj, p.Tk = tj, tk
			if !close(p.TrafficAStreams(), p.LeastTraffic(cache), 1e-12) {
				t.Errorf("the best tile moves %v, the least is %v", p.TrafficAStreams(), p.LeastTraffic(cache))
			}
			if !close(p.IntensityLimit(), model.BestIntensity(cache, p.C, density), 1e-12) {
				t.Errorf("intensity %v, want %v", p.IntensityLimit(), model.BestIntensity(cache, p.C, density))
			}
			for _, f := range []float64{0.1, 0.5, 0.9, 1.1, 2, 10} {
				q := p
				q.Tj, q.Tk = tj*f, tk/f
				if q.TrafficAStreams() < p.TrafficAStreams() {
					t.Errorf("a tile of %v×%v moves less than %v×%v", q.Tj, q.Tk, tj, tk)
				}
			}
		}
	}
}

func TestSchemes(t *testing.T) {
	for density, want := range map[float64]model.Scheme{0: model.SML2, 0.0499: model.SML2, 0.05: model.SMSM, 1: model.SMSM} {
		if got := model.SchemeFor(density); got != want {
			t.Errorf("density %v: %v", density, got)
		}
	}
	// Section IV-B: 48 KB of shared memory and K = 32 allow tiles of 96.
	if got := model.SMSMTile(48<<10, 4, 32); got != 96 {
		t.Errorf("tiles of %d, the paper says 96", got)
	}
	if model.SMSMTile(48<<10, 0, 32) != 0 || model.SMSMTile(48<<10, 4, 0) != 0 || model.SMSMTile(-5, 4, 1) != 0 {
		t.Error("tiles for no elements")
	}
}
