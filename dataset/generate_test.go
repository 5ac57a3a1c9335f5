package dataset

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"sddmmkit/sparse"
)

func generate[T sparse.Float](t testing.TB, spec string, threads int) *Set[T] {
	t.Helper()
	s, err := Generate[T](context.Background(), spec, threads)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sameCOO compares bit for bit.
func sameCOO[T sparse.Float](a, b *sparse.COO[T]) bool {
	return a.Rows == b.Rows && a.Cols == b.Cols && slices.Equal(a.Row, b.Row) && slices.Equal(a.Col, b.Col) &&
		slices.EqualFunc(a.Val, b.Val, func(x, y T) bool {
			return math.Float64bits(float64(x)) == math.Float64bits(float64(y))
		})
}

// checkCells checks what every generator promises: the shape, exactly nnz cells in row order, none twice.
func checkCells[T sparse.Float](t *testing.T, name string, c *sparse.COO[T], rows, cols int, nnz int64) {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if c.Rows != rows || c.Cols != cols || c.NNZ() != nnz {
		t.Fatalf("%s: %d×%d with %d non-zeros, want %d×%d with %d", name, c.Rows, c.Cols, c.NNZ(), rows, cols, nnz)
	}
	for p := 1; p < len(c.Row); p++ {
		if c.Row[p] < c.Row[p-1] || c.Row[p] == c.Row[p-1] && c.Col[p] <= c.Col[p-1] {
			t.Fatalf("%s: entry %d at (%d, %d) follows (%d, %d)", name, p, c.Row[p], c.Col[p], c.Row[p-1], c.Col[p-1])
		}
	}
}

func TestGeneratePromises(t *testing.T) {
	for _, c := range []struct {
		spec       string
		rows, cols int
		nnz        int64
	}{
		{"uniform:1000x800:50k", 1000, 800, 50_000},
		{"uniform:1x1:1", 1, 1, 1},
		{"uniform:1x1:0", 1, 1, 0},
		{"uniform:7x9:63", 7, 9, 63}, // every cell
		{"uniform:90x80:7190", 90, 80, 7190},
		{"uniform:1x100000:50000", 1, 100000, 50000},
		{"uniform:2000000000x2000000000:1000", 2000000000, 2000000000, 1000},
		{"rmat:12:40k", 4096, 4096, 40_000},
		{"rmat:0:1", 1, 1, 1},
		{"rmat:4:256", 16, 16, 256},        // every cell
		{"rmat:7:15000", 128, 128, 15_000}, // of 16 384: far more than draws would find
		{"rmat:30:1000", 1 << 30, 1 << 30, 1000},
		{"zipf:2000x3000:60k:1", 2000, 3000, 60_000},
		{"zipf:50x40:2000:1.5", 50, 40, 2000}, // every cell
		{"zipf:50x40:1999:3", 50, 40, 1999},
		{"zipf:30x1000:6000:2", 30, 1000, 6000}, // rows long enough for draws by key
		{"zipf:1000x10:0:1", 1000, 10, 0},
		{"zipf:100000x5:3:0", 100_000, 5, 3},
		{"skewed:2000x3000:60k:rows=0.8:cols=0.9", 2000, 3000, 60_000},
		{"skewed:50x40:1200:rows=1:cols=1", 50, 40, 1200}, // every row as long as rows may be
		{"skewed:1x1:1:rows=0:cols=0", 1, 1, 1},
		{"skewed:40x30:0:rows=2:cols=10", 40, 30, 0},
		{"ratings:500x200:20k:4:0.5", 500, 200, 20_000},
		{"ratings:10x10:100:0:0", 10, 10, 100},
		{"ratings:100x10:7:2:0.1", 100, 10, 7},
	} {
		one := generate[float32](t, c.spec, 1)
		checkCells(t, c.spec, one.COO, c.rows, c.cols, c.nnz)
		if four := generate[float32](t, c.spec, 4); !sameCOO(one.COO, four.COO) {
			t.Errorf("%s: 1 and 4 threads differ", c.spec)
		}
		if again := generate[float32](t, one.Name, 2); one.Format != Generated || !sameCOO(one.COO, again.COO) {
			t.Errorf("%s: its name %q does not make it again (format %s)", c.spec, one.Name, one.Format)
		}
		if c.nnz > 100 && c.nnz < int64(c.rows)*int64(c.cols) {
			if other := generate[float32](t, c.spec+":seed=2", 2); slices.Equal(one.COO.Row, other.COO.Row) && slices.Equal(one.COO.Col, other.COO.Col) {
				t.Errorf("%s: seeds 1 and 2 give the same cells", c.spec)
			}
		}
		wide := generate[float64](t, c.spec, 3)
		for p, v := range wide.COO.Val {
			if float32(v) != one.COO.Val[p] {
				t.Fatalf("%s: value %d is %v as float64 and %v as float32", c.spec, p, v, one.COO.Val[p])
			}
			if !strings.HasPrefix(c.spec, "ratings") && !(v > 0 && v <= 1 && float64(float32(v)) == v) {
				t.Fatalf("%s: value %v; want one in (0, 1] that both types hold", c.spec, v)
			}
		}
	}
}

// Cells of a uniform matrix fall into a grid of boxes as often as chance allows.
func TestUniformIsUniform(t *testing.T) {
	const nnz, side = 200_000, 16
	c := generate[float32](t, "uniform:4096x4096:200000", 0).COO
	var counts [side * side]float64
	for p := range c.Row {
		counts[int(c.Row[p])*side/4096*side+int(c.Col[p])*side/4096]++
	}
	var chi2, mean float64
	expected := float64(nnz) / (side * side)
	for _, n := range counts {
		chi2 += (n - expected) * (n - expected) / expected
	}
	// Chi-squared with 255 degrees of freedom: mean 255, standard deviation 22.6; 5 of them.
	if chi2 < 142 || chi2 > 368 {
		t.Errorf("chi-squared %.0f over %d boxes, want 255 ± 113", chi2, side*side)
	}
	for _, v := range c.Val {
		mean += float64(v) / nnz
	}
	if math.Abs(mean-0.5) > 5*0.2887/math.Sqrt(nnz) {
		t.Errorf("mean value %v, want 0.5", mean)
	}
}

// All subsets of a small matrix are about equally likely, over seeds.
func TestUniformSubsets(t *testing.T) {
	const seeds = 6000
	counts := map[[2]int32]int{}
	for seed := range seeds {
		c := generate[float32](t, fmt.Sprintf("uniform:2x3:2:seed=%d", seed), 1).COO
		counts[[2]int32{c.Row[0]*3 + c.Col[0], c.Row[1]*3 + c.Col[1]}]++
	}
	// 15 subsets, 400 each, standard deviation 19.3.
	if len(counts) != 15 {
		t.Errorf("%d of 15 subsets occur", len(counts))
	}
	for cells, n := range counts {
		if n < 400-97 || n > 400+97 {
			t.Errorf("cells %v occur %d times, want 400 ± 97", cells, n)
		}
	}
}

func TestRMATQuadrants(t *testing.T) {
	const nnz = 100_000
	c := generate[float32](t, "rmat:24:100000", 0).COO // so sparse that hardly a draw repeats
	for _, bit := range []int{23, 12, 0} {
		var counts [4]float64
		for p := range c.Row {
			counts[c.Row[p]>>bit&1<<1|c.Col[p]>>bit&1]++
		}
		for q, want := range []float64{0.57, 0.19, 0.19, 0.05} {
			if got := counts[q] / nnz; math.Abs(got-want) > 0.012 {
				t.Errorf("bit %d: quadrant %d has share %.4f, want %.2f", bit, q, got, want)
			}
		}
	}
}

// The popularity of columns falls with rank as the exponent says.
func TestZipfExponent(t *testing.T) {
	for _, exponent := range []float64{0, 0.7, 1.1} {
		c := generate[float32](t, fmt.Sprintf("zipf:20000x10000:1M:%v", exponent), 0).COO
		counts := make([]float64, c.Cols)
		for _, j := range c.Col {
			counts[j]++
		}
		slices.SortFunc(counts, func(a, b float64) int { return int(b - a) })
		// Least squares on a log-log scale; the head is left out, where a row cannot take a column twice.
		var n, sx, sy, sxx, sxy float64
		for r := 100; r < 3000; r++ {
			x, y := math.Log(float64(r+1)), math.Log(counts[r])
			n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
		}
		slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
		// Sorting noisy equal counts gives a slope of its own, 0.06 for exponent 0 at 100 a column.
		if math.Abs(-slope-exponent) > 0.1 {
			t.Errorf("exponent %v: measured %.3f", exponent, -slope)
		}
		rows := make([]float64, c.Rows)
		for _, i := range c.Row {
			rows[i]++
		}
		slices.Sort(rows)
		if median := rows[len(rows)/2]; rows[len(rows)-1] < 10*median {
			t.Errorf("exponent %v: longest row %v, median %v; want a lognormal tail", exponent, rows[len(rows)-1], median)
		}
	}
}

// The weights of "skewed" are those of drawing x = (u·((n+1)^(1-s)-1)+1)^(1/(1-s)) for u in [0, 1) and taking the whole part.
func TestSkewedWeights(t *testing.T) {
	const n = 1000
	for _, s := range []float64{0, 0.5, 0.9, 1, 1 + 1e-9, 1.7} {
		w := skewed{cols: n, exponent: s, continuous: true}.weights()
		sum := 0.0
		for _, x := range w {
			sum += x
		}
		below := 0.0 // the share of weights of smaller ranks
		for r, x := range w {
			// u at which the draw passes from rank r to the next
			u := (math.Pow(float64(r+1), 1-s) - 1) / (math.Pow(n+1, 1-s) - 1)
			if math.Abs(1-s) < 1e-6 {
				u = math.Log(float64(r+1)) / math.Log(n+1)
			}
			if math.Abs(below-u) > 1e-6 {
				t.Fatalf("exponent %v: %v of the weight lies below rank %d, want %v", s, below, r, u)
			}
			below += x / sum
		}
	}
}

// Rows are spread as asked, and none is longer than 60 % of the columns.
func TestSkewedRows(t *testing.T) {
	for _, sigma := range []float64{0, 0.5, 1} {
		c := generate[float32](t, fmt.Sprintf("skewed:20000x1000:1M:rows=%v:cols=0.9", sigma), 0).COO
		rows := make([]float64, c.Rows)
		for _, i := range c.Row {
			rows[i]++
		}
		var sum, squares float64
		for _, n := range rows {
			if n > 600 {
				t.Fatalf("sigma %v: a row of %v of 1000 columns", sigma, n)
			}
			l := math.Log(n + 0.5) // what rounding cut off, on average
			sum, squares = sum+l, squares+l*l
		}
		mean := sum / float64(c.Rows)
		if got := math.Sqrt(squares/float64(c.Rows) - mean*mean); math.Abs(got-sigma) > 0.03 {
			t.Errorf("sigma %v: measured %v", sigma, got)
		}
	}
}

func TestPlantedRatings(t *testing.T) {
	for _, o := range []PlantedOptions{
		{Users: 400, Items: 300, NNZ: 30_000, Rank: 5, Noise: 0.3, Seed: 3},
		{Users: 400, Items: 300, NNZ: 30_000, Rank: 3, Signal: 2, Bias: 0.5, Mean: 3, Noise: 0.7, Seed: 4},
		{Users: 400, Items: 300, NNZ: 30_000, Rank: 3, Bias: 0.5, Mean: 3, Noise: 0.4, Levels: Levels{1, 5, 1}, Seed: 5},
		{Users: 400, Items: 300, NNZ: 30_000, Rank: 3, Mean: 3, Noise: 0, Levels: Levels{1, 5, 0.5}, Seed: 6},
	} {
		s, truth, err := PlantedRatings[float64](context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		users := make([]int, o.Users)
		for _, i := range s.COO.Row {
			users[i]++
		}
		if least := slices.Min(users); least < 5 {
			t.Errorf("a user with %d ratings, want at least 5", least)
		}
		var squares, signal float64
		for p, v := range s.COO.Val {
			m := truth.Predict(int(s.COO.Row[p]), int(s.COO.Col[p]))
			signal += (m - o.Mean) * (m - o.Mean)
			if o.Levels.Step > 0 {
				if k := (v - o.Levels.Min) / o.Levels.Step; v < o.Levels.Min || v > o.Levels.Max || k != math.Trunc(k) {
					t.Fatalf("rating %v is no level of %v", v, o.Levels)
				}
				m = expected(o.Levels, m, o.Noise)
			}
			squares += (v - m) * (v - m)
		}
		n := float64(o.NNZ)
		// The sample's RMSE scatters by about BestRMSE/√(2n), 0.4 %.
		if rmse := math.Sqrt(squares / n); math.Abs(rmse-truth.BestRMSE) > 0.02*truth.BestRMSE+1e-12 {
			t.Errorf("%+v: the truth predicts with RMSE %.4f, BestRMSE says %.4f", o, rmse, truth.BestRMSE)
		}
		want := max(o.Signal*o.Signal, 1) + 2*o.Bias*o.Bias
		if o.Signal > 1 {
			want = o.Signal*o.Signal + 2*o.Bias*o.Bias
		}
		if got := signal / n; math.Abs(got/want-1) > 0.25 {
			t.Errorf("%+v: variance of the model %.3f, want %.3f", o, got, want)
		}
	}
}

// expected returns the mean of the rounded rating by summing over a fine grid of the noise.
func expected(l Levels, m, noise float64) float64 {
	if noise == 0 {
		return l.round(m)
	}
	var sum, weight float64
	for e := -6.0; e <= 6; e += 1.0 / 64 {
		w := math.Exp(-e * e / 2)
		sum += w * l.round(m+noise*e)
		weight += w
	}
	return sum / weight
}

func TestBuiltIn(t *testing.T) {
	s, truth, err := BuiltIn[float32](context.Background(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	checkCells(t, "built-in", s.COO, 3000, 1000, 200_000)
	if err := s.validate(); err != nil {
		t.Error(err)
	}
	if _, twice := s.Cols.Index(""); twice || len(s.Cols.index) != 1000 || len(s.Rows.index) != 3000 {
		t.Errorf("%d different films and %d users", len(s.Cols.index), len(s.Rows.index))
	}
	var mean, squares float64
	for _, v := range s.COO.Val {
		mean += float64(v) / 200_000
	}
	for _, v := range s.COO.Val {
		squares += (float64(v) - mean) * (float64(v) - mean) / 200_000
	}
	if d := math.Sqrt(squares); d < 0.85 || d > 0.95 || truth.BestRMSE < 0.46 || truth.BestRMSE > 0.48 {
		t.Errorf("deviation %.3f and BestRMSE %.4f are not what the documentation says", d, truth.BestRMSE)
	}
	again, _, err := BuiltIn[float32](context.Background(), 1, 3)
	if err != nil || !sameCOO(s.COO, again.COO) {
		t.Errorf("made again with 3 threads it differs (error %v)", err)
	}
}

func TestSpec(t *testing.T) {
	for text, want := range map[string]Spec{
		"uniform:3x4:5":                   {Kind: "uniform", Rows: 3, Cols: 4, NNZ: 5, Seed: 1},
		"rmat:17:4.4M:seed=9":             {Kind: "rmat", Scale: 17, Rows: 1 << 17, Cols: 1 << 17, NNZ: 4_400_000, Seed: 9},
		"zipf:300kx102660:69.6M:1.05":     {Kind: "zipf", Rows: 300_000, Cols: 102_660, NNZ: 69_600_000, Exponent: 1.05, Seed: 1},
		"skewed:3kx4k:5M:rows=0.8:cols=1": {Kind: "skewed", Rows: 3000, Cols: 4000, NNZ: 5_000_000, Sigma: 0.8, Exponent: 1, Seed: 1},
		"ratings:10x20:30:4:0.5:seed=0":   {Kind: "ratings", Rows: 10, Cols: 20, NNZ: 30, Rank: 4, Noise: 0.5},
		"uniform:2147483647x1:2147483647": {Kind: "uniform", Rows: 2147483647, Cols: 1, NNZ: 2147483647, Seed: 1},
	} {
		got, err := ParseSpec(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, error %v; want %+v", text, got, err, want)
		}
		if again, err := ParseSpec(got.String()); err != nil || again != got {
			t.Errorf("%s: %q is read as %+v, error %v", text, got.String(), again, err)
		}
		if !IsSpec(text) {
			t.Errorf("IsSpec(%q) is false", text)
		}
	}
	for _, text := range []string{
		"", "uniform", "uniform:3x4", "uniform:3x4:5:6", "uniform:3:5", "uniform:0x4:0", "uniform:3x4:13", "uniform:3x4:-1",
		"uniform:3x4:5:seed=x", "uniform:3x4:1.5", "uniform:3x4:NaN", "uniform:3x4:1e1k", "uniform:2147483648x1:1", "rmat:31:1", "rmat:x:1", "rmat:-1:1", "rmat:2:17",
		"zipf:3x4:5", "zipf:3x4:5:-1", "zipf:3x4:5:NaN", "ratings:3x4:5:2", "ratings:3x4:5:-1:0", "ratings:3x4:5:1:-1", "poisson:3x4:5",
		"skewed:9x9:5", "skewed:9x9:5:rows=1", "skewed:9x9:5:1:1", "skewed:9x9:5:cols=1:rows=1", "skewed:9x9:5:rows=-1:cols=1", "skewed:9x9:5:rows=1:cols=NaN",
		"skewed:9x9:5:rows=1:cols=11", "skewed:10x10:61:rows=1:cols=1",
		"uniform:3x4:99999999999999999999", "uniform:3x4:9999999999G",
	} {
		if s, err := ParseSpec(text); err == nil {
			t.Errorf("%q: read as %+v, want an error", text, s)
		} else if !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "want") && !strings.Contains(err.Error(), "fit") {
			t.Errorf("%q: the error %q does not say what is wrong", text, err)
		}
	}
	for _, text := range []string{"ratings.csv", "uniform", "C:ratings", "./uniform:3x4:5"} {
		if IsSpec(text) {
			t.Errorf("IsSpec(%q) is true", text)
		}
	}
}

func TestPlantedOptionsRefused(t *testing.T) {
	good := PlantedOptions{Users: 3, Items: 3, NNZ: 3}
	for name, change := range map[string]func(o *PlantedOptions){
		"no users":       func(o *PlantedOptions) { o.Users = 0 },
		"too many":       func(o *PlantedOptions) { o.NNZ = 10 },
		"rank":           func(o *PlantedOptions) { o.Rank = -1 },
		"noise":          func(o *PlantedOptions) { o.Noise = -1 },
		"NaN":            func(o *PlantedOptions) { o.Mean = math.NaN() },
		"levels reverse": func(o *PlantedOptions) { o.Levels = Levels{5, 1, 1} },
		"step":           func(o *PlantedOptions) { o.Levels = Levels{1, 5, -1} },
	} {
		o := good
		change(&o)
		if _, _, err := PlantedRatings[float32](context.Background(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestGenerateCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, spec := range []string{"uniform:1000x1000:100k", "rmat:12:100k", "zipf:1000x1000:100k:1", "skewed:1000x1000:100k:rows=1:cols=1", "ratings:1000x1000:100k:2:1"} {
		if _, err := Generate[float32](ctx, spec, 2); err != context.Canceled {
			t.Errorf("%s: error %v, want that the context was cancelled", spec, err)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, spec := range []string{"uniform:100000x100000:10M", "rmat:17:4.4M", "zipf:100000x50000:10M:1", "zipf:100000x50000:10M:1.5", "skewed:48000x17770:9.85M:rows=1:cols=0.9", "ratings:70000x10000:10M:16:0.5"} {
		b.Run(spec, func(b *testing.B) {
			var nnz int64
			for b.Loop() {
				nnz += generate[float32](b, spec, 0).COO.NNZ()
			}
			b.ReportMetric(float64(nnz)/b.Elapsed().Seconds()/1e6, "Mnnz/s")
		})
	}
}

// A spec that is read is written so that it is read the same again, and fits its shape.
func FuzzSpec(f *testing.F) {
	for _, s := range []string{"uniform:3x4:5", "rmat:17:4.4M:seed=9", "zipf:300kx10:1k:1.05", "skewed:3x10:9:rows=0.5:cols=1e-3", "ratings:10x20:30:4:0.5:seed=0", "uniform:3x4:1e1k", "zipf:3x4:5:NaN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpec(text)
		if err != nil {
			return
		}
		if again, err := ParseSpec(s.String()); err != nil || again != s {
			t.Errorf("%q is read as %+v, written as %q and read as %+v, error %v", text, s, s.String(), again, err)
		}
		if s.NNZ < 0 || s.NNZ > int64(s.Rows)*int64(s.Cols) || s.Rows < 1 || s.Cols < 1 || !IsSpec(text) {
			t.Errorf("%q is read as %+v", text, s)
		}
	})
}
