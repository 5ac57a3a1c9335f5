package sparse

import (
	"slices"
	"sort"
)

// merge merges the sorted parts [0, mid) and [mid, len) of a row, entries of the first part before
// those of the second with the same column. Where both parts exceed the scratch it halves the
// longer one, exchanges what lies between the halves, and merges both sides: stable, in place.
func (s *rowSorter[T]) merge(cols []int32, vals []T, mid int) {
	first, second := cols[:mid], cols[mid:]
	switch {
	case mid == 0 || mid == len(cols) || cols[mid-1] <= cols[mid]:
	case len(first) <= s.limit && len(first) <= len(second):
		s.mergeForward(cols, vals, mid)
	case len(second) <= s.limit:
		s.mergeBackward(cols, vals, mid)
	default:
		var i, j int // first[i:] and second[:j] change places
		if len(first) > len(second) {
			i = mid / 2
			j = sort.Search(len(second), func(k int) bool { return second[k] >= first[i] })
		} else {
			j = len(second) / 2
			i = sort.Search(len(first), func(k int) bool { return first[k] > second[j] })
		}
		rotate(cols[i:mid+j], mid-i)
		rotate(vals[i:mid+j], mid-i)
		s.merge(cols[:i+j], vals[:i+j], i)
		s.merge(cols[i+j:], vals[i+j:], mid-i)
	}
}

// mergeForward merges from the front, with the first part moved to scratch.
func (s *rowSorter[T]) mergeForward(cols []int32, vals []T, mid int) {
	s.stash(cols[:mid], vals[:mid])
	k, r := 0, mid
	for w := range cols {
		if k == mid {
			return // the rest stands where it belongs
		}
		if r < len(cols) && cols[r] < int32(s.keys[k]) {
			cols[w], vals[w] = cols[r], vals[r]
			r++
		} else {
			cols[w], vals[w] = int32(s.keys[k]), s.vals[k]
			k++
		}
	}
}

// mergeBackward merges from the back, with the second part moved to scratch.
func (s *rowSorter[T]) mergeBackward(cols []int32, vals []T, mid int) {
	s.stash(cols[mid:], vals[mid:])
	k, l := len(cols)-mid-1, mid-1
	for w := len(cols) - 1; k >= 0; w-- {
		if l >= 0 && cols[l] > int32(s.keys[k]) {
			cols[w], vals[w] = cols[l], vals[l]
			l--
		} else {
			cols[w], vals[w] = int32(s.keys[k]), s.vals[k]
			k--
		}
	}
}

func (s *rowSorter[T]) stash(cols []int32, vals []T) {
	for k, j := range cols {
		s.keys[k] = uint64(j)
	}
	copy(s.vals, vals)
}

// rotate exchanges v[:n] and v[n:].
func rotate[E any](v []E, n int) {
	slices.Reverse(v[:n])
	slices.Reverse(v[n:])
	slices.Reverse(v)
}
