package cpu

import (
	"slices"

	"sddmmkit/device"
)

// What other programs do to a measurement, which only ever makes it slower, is taken out here.

// A measurement is taken again, a few times, as long as threads are much slower beside each other than alone where each has a
// cache of its own: then another program had a processor meanwhile, and rates of half of what the machine does would be kept for good.
// Threads that share a core are as slow in all of them, which costs time once.
const (
	mostMeasurements = 3
	leastScaling     = 0.75 // of the rate of one thread, for each of them
)

// calmest measures until nothing disturbs, and returns the measurement with the least disturbance; measure returns one and its scaling.
func calmest(measure func() (device.Measured, float64, error)) (best device.Measured, err error) {
	most := 0.0 // the scaling of best
	for n := range mostMeasurements {
		m, scaled, err := measure()
		if err != nil {
			return m, err
		}
		if n == 0 || scaled > most {
			best, most = m, scaled
		}
		if most >= leastScaling {
			break
		}
	}
	return best, nil
}

// scaling returns the rate of a thread beside the others as a share of that of one thread alone, the least of all levels that threads
// do not share, in the median of rounds: ofRounds hides what happens to one or two of them from caches, but not from memory.
func scaling(threads int, rounds [][]device.Level) float64 {
	var all []float64
	for _, levels := range rounds {
		least := 1.0
		for _, l := range levels {
			if r := l.Gather[len(l.Gather)-1]; !l.Shared {
				least = min(least, r.All/(float64(threads)*r.One))
			}
		}
		all = append(all, least)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// ofRounds returns the levels with the best rates of caches, which others only make slower, and the medians of those of memory, which others
// always use: one number takes less than a millisecond to measure, and a single interruption halves it.
func ofRounds(rounds [][]device.Level) []device.Level {
	all := slices.Clone(rounds[0])
	pick := func(rate func(l *device.Level) *device.Rate, i int) {
		var one, together []float64
		for n := range rounds {
			r := rate(&rounds[n][i])
			one, together = append(one, r.One), append(together, r.All)
		}
		slices.Sort(one)
		slices.Sort(together)
		r := rate(&all[i])
		n := len(rounds) - 1
		if all[i].Bytes == 0 {
			n = len(rounds) / 2
		}
		r.One, r.All = one[n], together[n]
	}
	for i := range all {
		all[i].Gather, all[i].Spread = slices.Clone(all[i].Gather), slices.Clone(all[i].Spread)
		for k := range all[i].Gather {
			pick(func(l *device.Level) *device.Rate { return &l.Gather[k] }, i)
		}
		for k := range all[i].Spread {
			pick(func(l *device.Level) *device.Rate { return &l.Spread[k] }, i)
		}
		pick(func(l *device.Level) *device.Rate { return &l.Stream }, i)
	}
	return all
}

// calm takes out what other programs did to the measurement, which only ever makes it slower: a shorter
// row takes no longer than a longer one, and from a thread's own cache a longer one no longer than as many bytes in shorter ones; a nearer level no
// longer than a farther one, rows near each other no longer than the same far apart, and all threads together are no slower than one. From caches
// of their own they are no fewer times as fast as one than they mostly are from those.
func calm(levels []device.Level) {
	together := timesTogether(levels)
	for i := len(levels) - 1; i >= 0; i-- {
		times := 1.0
		if !levels[i].Shared {
			times = max(times, together)
		}
		for k := len(rowSizes) - 1; k >= 0; k-- {
			r := &levels[i].Gather[k]
			bytes := float64(r.RowBytes)
			faster := func(next device.Rate) {
				scale := bytes / float64(next.RowBytes)
				r.One, r.All = max(r.One, next.One*scale), max(r.All, next.All*scale)
			}
			if k+1 < len(rowSizes) {
				faster(levels[i].Gather[k+1])
			}
			if i+1 < len(levels) {
				faster(levels[i+1].Gather[k])
			}
			if k < len(levels[i].Spread) {
				faster(levels[i].Spread[k])
			}
			r.All = max(r.All, times*r.One)
		}
		for k := 1; k < len(rowSizes) && !levels[i].Shared; k++ {
			r, shorter := &levels[i].Gather[k], levels[i].Gather[k-1]
			r.One, r.All = max(r.One, shorter.One), max(r.All, shorter.All)
		}
		s := &levels[i].Stream
		if i+1 < len(levels) {
			s.One, s.All = max(s.One, levels[i+1].Stream.One), max(s.All, levels[i+1].Stream.All)
		}
		s.All = max(s.All, s.One)
	}
}

// timesTogether returns how many times as fast as one all threads together are from caches of their own, in the median of levels and rows.
func timesTogether(levels []device.Level) float64 {
	var times []float64
	for _, l := range levels {
		for _, r := range l.Gather {
			if !l.Shared {
				times = append(times, r.All/r.One)
			}
		}
	}
	if len(times) == 0 {
		return 1
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// bestOf returns the second of two measurements of a machine, with the better rates of both for caches, which others only make slower. The first
// may be none, or have other levels.
func bestOf(m, again device.Measured) device.Measured {
	same := func(x, y []device.Rate) bool {
		return slices.EqualFunc(x, y, func(x, y device.Rate) bool { return x.RowBytes == y.RowBytes })
	}
	if !slices.EqualFunc(m.Levels, again.Levels, func(x, y device.Level) bool {
		return x.Name == y.Name && same(x.Gather, y.Gather) && same(x.Spread, y.Spread)
	}) {
		return again
	}
	best := ofRounds([][]device.Level{again.Levels, m.Levels})
	for i, l := range again.Levels {
		if l.Bytes == 0 {
			best[i] = l
		}
	}
	again.Levels = best
	return again
}
