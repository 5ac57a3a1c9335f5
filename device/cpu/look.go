package cpu

import (
	"context"
	"slices"
	"time"

	"sddmmkit/device"
)

// looked is a measurement, and when the machine was looked at last.
type looked struct {
	device.Measured
	at time.Time
}

// lookEvery is how long no look at the machine is taken after one: slow moments last from seconds to hours.
const lookEvery = 10 * time.Second

// slowMoment is how many times as fast as measured a cache is when the measurement was taken in a slow moment.
const slowMoment = 1.2

// A view is a rate that a look is taken at.
type view struct {
	level   int
	row     int     // bytes
	set     int64   // working set
	threads int     // that read at the same time
	before  float64 // as measured, 0 where it was not
}

// viewsOf returns the views of a measurement: the nearest cache, for a program on the same core makes those near it slow and all choices
// wrong, and long rows in the cache that all cores share, which a neighbour anywhere makes slow. All threads look at the nearest cache too: where
// others used the rest of their cores when it was measured, two together were no faster than one.
func viewsOf(p device.Props, m device.Measured) (views []view) {
	points := pointsOf(p)
	for i, l := range m.Levels {
		at := slices.IndexFunc(points, func(pt point) bool { return pt.name == l.Name })
		look := func(row, threads int) {
			rate := rateOf(l.Gather, row)
			before := rate.One
			if threads > 1 {
				before = rate.All
			}
			views = append(views, view{i, row, points[at].set, threads, before})
		}
		switch {
		case at < 0 || l.Bytes == 0: // memory, which others always use
		case l.Name == "L1":
			look(sweepRow, 1)
			if m.Threads > 1 {
				look(sweepRow, m.Threads)
			}
		case l.Shared && i > 0:
			look(rowSizes[len(rowSizes)-1], 1)
		}
	}
	return views
}

// measuredSlow reports whether the machine has become much faster than it was when measured, twice in a row.
func measuredSlow(ctx context.Context, p device.Props, g device.Gather, m device.Measured) (bool, error) {
	for _, v := range viewsOf(p, m) {
		if v.before == 0 {
			continue
		}
		faster, err := v.faster(ctx, g, m)
		if faster || err != nil {
			return faster, err
		}
	}
	return false, nil
}

// faster reports whether the rate is much higher now than it was when measured, twice in a row.
func (v view) faster(ctx context.Context, g device.Gather, m device.Measured) (bool, error) {
	b, free, err := newBench(ctx, g, v.threads, v.row, v.set)
	defer free()
	if err != nil {
		return false, err
	}
	for range 2 {
		s, err := b.seconds(v.row, v.set, v.set, v.threads, true)
		if err != nil {
			return false, err
		}
		rate := float64(v.row) * float64(v.threads) / s
		if l := m.Levels[v.level]; l.Shared {
			nearer := &m.Levels[v.level-1]
			rate = missed(rate, rateOf(nearer.Gather, v.row).One, nearer, v.set)
		}
		if rate < slowMoment*v.before {
			return false, nil
		}
	}
	return true, nil
}

// rateOf returns the rate for rows of row bytes, zeros where it is not among those given.
func rateOf(rates []device.Rate, row int) device.Rate {
	for _, r := range rates {
		if r.RowBytes == row {
			return r
		}
	}
	return device.Rate{}
}
