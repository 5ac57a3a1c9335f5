package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The table against a map, over several lives of the table.
func TestIDTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	table := newIDTable()
	for life := range 20 {
		want := map[string]int32{}
		var names []string
		for range 1 + r.IntN(5000) {
			var name string
			switch r.IntN(5) {
			case 0:
				name = fmt.Sprintf("user %d", r.IntN(300))
			case 1:
				name = fmt.Sprintf("%05d", r.IntN(300)) // leading zeros make another name
			case 2:
				name = fmt.Sprint(r.Uint64() >> r.IntN(64))
			default:
				name = fmt.Sprint(r.IntN(3000))
			}
			id, ok := want[name]
			if !ok {
				id = int32(len(names))
				want[name] = id
				names = append(names, name)
			}
			if got := table.id([]byte(name)); got != id {
				t.Fatalf("life %d: %q has index %d, want %d", life, name, got, id)
			}
		}
		ids := table.ids(nil)
		if !slices.Equal(ids.Names(), names) {
			t.Fatalf("life %d: names differ", life)
		}
		seeded := newIDTable()
		seeded.seed(ids)
		if seeded.ids(ids) != ids {
			t.Error("nothing new, and yet a new map")
		}
		if i := seeded.id([]byte("new")); int(i) != len(names) {
			t.Errorf("a new name after %d has index %d", len(names), i)
		}
		seeded.id([]byte("123456789123456789")) // a plain number, larger than any above
		more := seeded.ids(ids)
		if want := append(slices.Clone(names), "new", "123456789123456789"); !slices.Equal(more.Names(), want) {
			t.Errorf("a continued map has names %q", more.Names()[len(names):])
		}
		if ids.Len() != len(names) {
			t.Error("the map that was continued has changed")
		}
		if life == 10 {
			table.gen = math.MaxUint32 // the next reset wraps
		}
		table.reset()
	}
}

func TestPlainNumber(t *testing.T) {
	for s, want := range map[string]bool{
		"0": true, "7": true, "123456789012345678": true, "": false, "00": false, "07": false,
		"1234567890123456789": false, "-1": false, "+1": false, "1.0": false, "x": false, "1 ": false,
	} {
		if _, ok := plainNumber([]byte(s)); ok != want {
			t.Errorf("plainNumber(%q): %v", s, ok)
		}
	}
}
