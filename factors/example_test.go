package factors_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"sddmmkit/dense"
	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// small returns a model of two users and four films with factors "action" and "romance".
func small() *factors.Model[float32] {
	matrix := func(rows int, v ...float32) dense.Matrix[float32] {
		return dense.Matrix[float32]{Rows: rows, Cols: 2, Stride: 2, Data: v}
	}
	return &factors.Model[float32]{
		Algo: "by hand", Rank: 2,
		Users:     matrix(2, 1, 0, 0.5, 0.5),
		Items:     matrix(4, 2, 0, 1.5, 0.5, 0, 2, -1, 1.5),
		Mean:      3,
		ItemBias:  []float32{0, 0.25, 0, -0.5},
		Low:       1,
		High:      5,
		UserNames: []string{"ann", "bob"},
		ItemNames: []string{"Bullets", "Sparks", "Letters", "Tears"},
		// Ann has seen Bullets, Bob Letters.
		Seen: &sparse.Pattern{Rows: 2, Cols: 4, RowPtr: []int64{0, 1, 2}, ColIdx: []int32{0, 2}},
	}
}

// A model is asked for a rating, for a list, and for what is like something.
func Example() {
	ctx := context.Background()
	m := small()
	fmt.Printf("ann, Sparks: %.2f\n", m.Predict(0, 1))
	list, err := m.TopN(ctx, 0, 2, factors.TopOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range list {
		fmt.Printf("for ann: %s %.2f\n", s.Name, s.Score)
	}
	like, err := m.SimilarItems(ctx, 0, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("like Bullets: %s %.2f\n", like[0].Name, like[0].Score)
	// Output:
	// ann, Sparks: 4.75
	// for ann: Sparks 4.75
	// for ann: Letters 3.00
	// like Bullets: Sparks 0.95
}

// A new user's factors come from folding in; what they have seen is given as a list.
func ExampleModel_TopNFor() {
	list, err := small().TopNFor(context.Background(), []float32{0, 1}, 0, []int32{2}, 3, factors.TopOptions{
		Filter: func(item int) bool { return item != 0 },
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range list {
		fmt.Printf("%s %.2f\n", s.Name, s.Score)
	}
	// Output:
	// Tears 4.00
	// Sparks 3.75
}

// A model's lists and those of popularity, measured by the same code.
func ExampleEvaluate() {
	ctx := context.Background()
	train := &sparse.Pattern{Rows: 2, Cols: 4, RowPtr: []int64{0, 1, 2}, ColIdx: []int32{0, 2}}
	test := &sparse.Pattern{Rows: 2, Cols: 4, RowPtr: []int64{0, 1, 3}, ColIdx: []int32{1, 0, 1}}
	popular, err := factors.NewPopularity(train, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range []struct {
		name string
		factors.Ranker
	}{{"model", small()}, {"popularity", popular}} {
		q, err := factors.Evaluate(ctx, r, train, test, factors.EvaluateOptions{N: 1})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-10s  Recall@%d %.2f  NDCG@%d %.2f\n", r.name, q.N, q.Recall, q.N, q.NDCG)
	}
	// Output:
	// model       Recall@1 0.75  NDCG@1 1.00
	// popularity  Recall@1 0.25  NDCG@1 0.50
}

// A saved model comes back with the same bits.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.npz")
	if err := small().Save(path); err != nil {
		log.Fatal(err)
	}
	m, err := factors.Load[float32](path)
	if err != nil {
		log.Fatal(err)
	}
	bob, _ := m.UserIndex("bob")
	fmt.Println(m.Algo, m.Rank, m.ItemNames[2], m.Predict(bob, 2) == small().Predict(bob, 2))
	// Output: by hand 2 Letters true
}
