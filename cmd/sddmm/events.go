package main

import "sddmmkit/algos/fit"

// The events of a training run, in the order in which they come: data, iteration (any number),
// done. Numbers that were not computed are null.

// dataEvent describes what was read.
type dataEvent struct {
	Event      string  `json:"event"` // "data"
	Name       string  `json:"name"`
	Format     string  `json:"format"`
	Rows       int     `json:"rows"`
	Cols       int     `json:"cols"`
	NNZ        int64   `json:"nnz"` // train + validation + test
	Train      int64   `json:"train"`
	Validation int64   `json:"validation"`
	Test       int64   `json:"test"`
	Merged     int64   `json:"merged"` // duplicates that were merged away
	Split      string  `json:"split"`
	NoiseFloor number  `json:"noise_floor"` // the best possible test RMSE, where it is known
	Seconds    float64 `json:"seconds"`
}

// iterationEvent is one iteration of training. Of the validation figures the one that the
// solver's metric names is there, and only with --validation.
type iterationEvent struct {
	Event          string  `json:"event"` // "iteration"
	Algo           string  `json:"algo"`
	Iteration      int     `json:"iteration"`
	Loss           number  `json:"loss"`
	TrainRMSE      number  `json:"train_rmse"`
	TestRMSE       number  `json:"test_rmse"`
	ValidationRMSE *number `json:"validation_rmse,omitempty"`
	ValidationNDCG *number `json:"validation_ndcg@20,omitempty"`
	Seconds        float64 `json:"seconds"`
}

// newIteration turns a solver's record into an event. What was scored is the validation matrix,
// or else the test matrix.
func newIteration(algo string, it fit.Iteration, validated bool) iterationEvent {
	e := iterationEvent{Event: "iteration", Algo: algo, Iteration: it.N, Loss: number(it.Loss),
		TrainRMSE: number(it.TrainRMSE), TestRMSE: unknown, Seconds: it.Seconds}
	score := number(it.Score)
	switch {
	case it.Metric == "":
	case !validated && it.Metric == fit.RMSE:
		e.TestRMSE = score
	case it.Metric == fit.RMSE:
		e.ValidationRMSE = &score
	case it.Metric == fit.NDCG && validated:
		e.ValidationNDCG = &score
	}
	return e
}

// doneEvent is the result of a training run.
type doneEvent struct {
	Event         string   `json:"event"` // "done"
	Algo          string   `json:"algo"`
	TestRMSE      number   `json:"test_rmse"`
	TestMAE       number   `json:"test_mae"`
	TestCold      int64    `json:"test_cold"`      // test ratings of users or items without training ratings
	TestRMSEWarm  number   `json:"test_rmse_warm"` // of the others
	TrainRMSE     number   `json:"train_rmse"`
	Loss          number   `json:"loss"`
	Iterations    int      `json:"iterations"`     // that were completed
	BestIteration int      `json:"best_iteration"` // that the model is of
	Stopped       fit.Stop `json:"stopped"`        // why training ended
	Interrupted   bool     `json:"interrupted"`
	Seconds       float64  `json:"seconds"`         // of training
	Model         string   `json:"model,omitempty"` // the file the model was saved to

	*rankingFigures // implicit feedback with a test matrix
}

// rankingFigures compare top-20 lists with test items, of the model and of the most popular items.
type rankingFigures struct {
	Recall           number `json:"recall@20"`
	NDCG             number `json:"ndcg@20"`
	PopularityRecall number `json:"popularity_recall@20"`
	PopularityNDCG   number `json:"popularity_ndcg@20"`
	Users            int    `json:"users"` // with test items
}
