package record

// Search is what an exhaustive search for a tile found, and what the model and a plan make of the case.
type Search struct {
	Tiles []Trial `json:"tiles"` // all that were tried, the fastest first
	Model Held    `json:"model"` // the tile that the model takes, without trying any
	Plan  Held    `json:"plan"`  // the tile that a plan ends with after its first calls

	// Planning is what the calls of a new plan take until it has settled, beyond as many after that, with all
	// that is made on the way (the profile of the pattern, panels, calls with slower tiles), in settled calls.
	Planning float64 `json:"planning_calls"`
}

// Held is a tile held against the fastest.
type Held struct {
	Trial
	Loss float64 `json:"loss"` // by how much of the fastest's time it is behind it, in rounds of their own
}

// Trial is one tile of a search.
type Trial struct {
	Tile      string  `json:"tile"`
	Seconds   float64 `json:"seconds"`           // the least of its rounds
	Rounds    int     `json:"rounds"`            // 1 where it was hopeless
	Predicted float64 `json:"predicted_seconds"` // by the model
}

// Searched sums up the searches among records.
type Searched struct {
	Cases         int     `json:"cases"`
	ModelMean     float64 `json:"model_loss_mean"`
	ModelWorst    float64 `json:"model_loss_worst"`
	PlanMean      float64 `json:"plan_loss_mean"`
	PlanWorst     float64 `json:"plan_loss_worst"`
	PlanningMean  float64 `json:"planning_calls_mean"`
	PlanningWorst float64 `json:"planning_calls_worst"`
}

// SumUp returns the means and the worst of all searches.
func SumUp(records []Record) Searched {
	var sum Searched
	for _, r := range records {
		if r.Search == nil {
			continue
		}
		sum.Cases++
		for _, v := range []struct {
			x           float64
			mean, worst *float64
		}{
			{r.Search.Model.Loss, &sum.ModelMean, &sum.ModelWorst},
			{r.Search.Plan.Loss, &sum.PlanMean, &sum.PlanWorst},
			{r.Search.Planning, &sum.PlanningMean, &sum.PlanningWorst},
		} {
			*v.mean += v.x
			*v.worst = max(*v.worst, v.x)
		}
	}
	n := float64(max(sum.Cases, 1))
	sum.ModelMean, sum.PlanMean, sum.PlanningMean = sum.ModelMean/n, sum.PlanMean/n, sum.PlanningMean/n
	return sum
}
