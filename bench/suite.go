package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sddmmkit/sddmm"
)

// Suite is a named list of cases: all combinations of what it lists.
type Suite struct {
	Name     string
	About    string
	Matrices []string // specs, as dataset.ParseSpec reads them
	Ops      []Op
	Epilogue sddmm.Epilogue // of SDDMM
	K        []int
	Types    []string
	Tiling   Tiling
	Seconds  float64 // of samples of a case, see Sampling; 0 is its default
}

// The matrices of the suites: at K = 128 in float32, B is 64 MB (beyond a usual L3), 64 MB with popular rows, 4 MB
// (in L3), and 512 MB.
const (
	uniformLarge = "uniform:131072x131072:5M"
	rmat17       = "rmat:17:4.4M"
	uniformSmall = "uniform:8192x8192:2M"
	rmat20       = "rmat:20:32M"
)

// suites are the suites by name.
var suites = []Suite{
	{
		Name:     "cpu",
		About:    "the matrices that published CPU figures are for, and one with B of 512 MB",
		Matrices: []string{uniformLarge, rmat17, uniformSmall, rmat20},
		Ops:      []Op{SDDMM, SpMM},
		Epilogue: sddmm.Scale,
		K:        []int{128},
		Types:    []string{"float32"},
	},
	{
		Name:     "sweep",
		About:    "K from 1 to 1024, in cache, odd ones too: is there a cliff?",
		Matrices: []string{uniformSmall},
		Ops:      []Op{SDDMM, SpMM},
		Epilogue: sddmm.Scale,
		K:        []int{1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 1000, 1024},
		Types:    []string{"float32"},
	},
	{
		Name:  "model",
		About: "the model's tile, and the one that plans end with, against the best of a grid, and what planning takes",
		Matrices: []string{
			uniformLarge, rmat17, uniformSmall,
			"uniform:4096x524288:4M", "uniform:524288x4096:4M", "uniform:20kx100k:20M",
			"rmat:19:8M",
			"zipf:70kx10k:5M:1", "zipf:10kx100k:5M:0.8", "zipf:300kx50k:5M:1.2",
		},
		Ops:      []Op{SDDMM, SpMM},
		Epilogue: sddmm.Scale,
		K:        []int{32, 128, 512},
		Types:    []string{"float32"},
		Tiling:   Tiling{By: TileBySearch},
	},
	{
		Name:     "gpu",
		About:    "five matrices with the shapes of known ones, for a GPU and cuSPARSE beside it: --device cuda:0 --peers cusparse",
		Matrices: []string{nytimesLike, netflixLike, webLike, uniformGPU, nipsLike},
		Ops:      []Op{SDDMM, SpMM},
		K:        []int{32, 128, 512},
		Types:    []string{"float32"},
		Seconds:  0.2,
	},
}

// The matrices of the suite gpu: generated, with rows and columns like those of what they are named after.
const (
	nytimesLike = "skewed:300000x102660:69.6M:rows=0.8:cols=0.9"
	netflixLike = "skewed:480189x17770:98.5M:rows=1:cols=0.9"
	webLike     = "skewed:916428x916428:4.74M:rows=1:cols=0.8"
	uniformGPU  = "uniform:100000x100000:9.95M"
	nipsLike    = "skewed:2000x12000:0.75M:rows=0.6:cols=0.9"
)

// titles are short names of matrices of suites.
var titles = map[string]string{nytimesLike: "NYTimes-like", netflixLike: "Netflix-like", webLike: "web-like", uniformGPU: "uniform", nipsLike: "NIPS-like"}

// Title returns the short name of a matrix of a suite, and the matrix itself where it has none.
func Title(matrix string) string { return cmp.Or(titles[matrix], matrix) }

// Suites lists the suites.
func Suites() []Suite { return slices.Clone(suites) }

// SuiteByName returns a suite; the error names those there are.
func SuiteByName(name string) (Suite, error) {
	var names []string
	for _, s := range suites {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Suite{}, fmt.Errorf("suite %q; want %s", name, strings.Join(names, ", "))
}

// Cases returns the cases of a suite on one matrix.
func (s Suite) Cases() []Case {
	var out []Case
	for _, op := range s.Ops {
		for _, k := range s.K {
			c := Case{Op: op, K: k, Tiling: s.Tiling}
			if op == SDDMM {
				c.Epilogue = s.Epilogue
			}
			out = append(out, c)
		}
	}
	return out
}
