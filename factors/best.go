package factors

import "slices"

// Scored is an item (or a user, in a list of similar users) with its score.
type Scored struct {
	Item  int     // index
	Name  string  // the model's name for it; its index in digits when the model has no names
	Score float64 // never NaN
}

// candidate is a Scored without its name, as it lies in a heap.
type candidate struct {
	score float64
	item  int32
}

// before says whether a stands before b in a list: higher score, and the lower index among equals.
func (a candidate) before(b candidate) bool {
	return a.score > b.score || a.score == b.score && a.item < b.item
}

// compare is before for slices.SortFunc.
func compare(a, b candidate) int {
	switch {
	case a.before(b):
		return -1
	case b.before(a):
		return 1
	}
	return 0
}

func (a candidate) named(names []string) Scored {
	return Scored{Item: int(a.item), Name: nameOf(names, int(a.item)), Score: a.score}
}

// best keeps the n best of the candidates it is shown: a binary heap with the worst one on top.
// What it keeps does not depend on the order in which they come.
type best struct {
	n    int // at least 1
	heap []candidate
}

// admits says whether offer would keep a candidate; it is false for NaN.
func (b *best) admits(c candidate) bool {
	if len(b.heap) < b.n {
		return c.score == c.score
	}
	return c.before(b.heap[0])
}

// offer keeps a candidate that admits said yes to.
func (b *best) offer(c candidate) {
	h := b.heap
	if len(h) < b.n {
		h = append(h, c)
		i := len(h) - 1
		for i > 0 {
			up := (i - 1) / 2
			if c.before(h[up]) {
				break
			}
			h[i] = h[up]
			i = up
		}
		h[i] = c
		b.heap = h
		return
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down].before(h[down+1]) {
			down++
		}
		if c.before(h[down]) {
			h[i] = h[down]
			i = down
			continue
		}
		break
	}
	h[i] = c
}

// list returns what was kept, best first, with names, and empties the heap for the next use.
func (b *best) list(names []string) []Scored {
	slices.SortFunc(b.heap, compare)
	list := make([]Scored, len(b.heap))
	for k, c := range b.heap {
		list[k] = c.named(names)
	}
	b.heap = b.heap[:0]
	return list
}
