package record

import "testing"

func TestSumUp(t *testing.T) {
	records := []Record{{}, {Search: &Search{Model: Held{Loss: 0.1}, Plan: Held{Loss: 0.02}, Planning: 3}}, {Search: &Search{Planning: 1}}}
	if got, want := SumUp(records), (Searched{Cases: 2, ModelMean: 0.05, ModelWorst: 0.1, PlanMean: 0.01, PlanWorst: 0.02, PlanningMean: 2, PlanningWorst: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := SumUp(nil); got != (Searched{}) {
		t.Errorf("of nothing: %+v", got)
	}
}
