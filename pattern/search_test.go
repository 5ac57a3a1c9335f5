package pattern

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/model"
	"sddmmkit/sparse"
)

func prediction(tj, tk int, seconds float64) model.Prediction {
	return model.Prediction{Tile: model.Tile{Tj: tj, Tk: tk}, Seconds: seconds}
}

// The model's choice comes first, then what is nearly as good, not nearly the same, and quickly made.
func TestCandidates(t *testing.T) {
	slow := prediction(4096, 0, 1.01)
	slow.Making = 1.6
	quick := prediction(2048, 0, 1.12)
	quick.Making = 1.4
	c := model.Choice{Prediction: prediction(1024, 0, 1), Alternatives: []model.Prediction{
		prediction(0, 0, 1.14), prediction(1024, 0, 1), prediction(1200, 0, 1.005), quick, slow, prediction(8192, 0, 1.16),
	}}
	if got, want := candidates(c), []model.Tile{{Tj: 1024}, {Tj: 2048}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	c.Alternatives[3].Making = 2
	if got, want := candidates(c), []model.Tile{{Tj: 1024}, {}}; !slices.Equal(got, want) {
		t.Errorf("with panels that take long to make got %v, want %v", got, want)
	}
	c.Alternatives[0].Seconds = 1.16
	if got, want := candidates(c), []model.Tile{{Tj: 1024}}; !slices.Equal(got, want) {
		t.Errorf("with nothing near got %v, want %v", got, want)
	}
	if got := candidates(model.Choice{Reason: "small"}); !slices.Equal(got, []model.Tile{{}}) {
		t.Errorf("without alternatives got %v", got)
	}
	var many model.Choice
	for w := 1; w < 1<<20; w *= 2 {
		many.Alternatives = append(many.Alternatives, prediction(w, 0, 1))
	}
	if got := candidates(many); len(got) != maxCandidates {
		t.Errorf("%d candidates, want %d", len(got), maxCandidates)
	}
}

// Each candidate has its turns, the fastest stays, and the panels of the others go.
func TestSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	c := &sparse.COO[float32]{Rows: 50, Cols: 400}
	for i := range c.Rows {
		for j := range c.Cols {
			if rng.IntN(20) == 0 {
				c.Row, c.Col, c.Val = append(c.Row, int32(i)), append(c.Col, int32(j)), append(c.Val, 1)
			}
		}
	}
	m, err := sparse.FromCOO(c, sparse.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dev := cpu.New(1)
	r, err := Upload(dev, &m.Pattern)
	if err != nil {
		t.Fatal(err)
	}
	s := &Search{pat: r, candidates: []model.Tile{{}, {Tj: 100}, {Tj: 200}}, least: []float64{9, 9, 9}}
	r.searches = map[chooseKey]*Search{{k: 8}: s}
	seconds := map[int][]float64{0: {3, 3}, 100: {8, 1}, 200: {2, 2}}
	for range turns * len(s.candidates) {
		tile, report := s.Next()
		if report == nil {
			t.Fatal("the search is over too early")
		}
		if tile.Tj > 0 {
			if _, err := r.Panels(tile.Tj); err != nil {
				t.Fatal(err)
			}
		}
		report(seconds[tile.Tj][0])
		seconds[tile.Tj] = seconds[tile.Tj][1:]
	}
	if tile, report := s.Next(); report != nil || tile.Tj != 100 {
		t.Errorf("the search ended at %v (still trying: %t), want panels of 100 columns", tile, report != nil)
	}
	if _, ok := r.panels[100]; len(r.panels) != 1 || !ok {
		t.Errorf("%d panels are kept, want those of 100 columns", len(r.panels))
	}
	if got, err := r.Search(context.Background(), model.SDDMM, 8, 4); err != nil || len(got.candidates) != 1 {
		t.Errorf("little work: %d candidates (%v), want 1", len(got.candidates), err)
	}
	r.Close()
	if dev.Usage() != (device.Usage{}) {
		t.Errorf("the device still holds %+v", dev.Usage())
	}
}
