package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"sddmmkit/bench/record"
	"sddmmkit/device"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
)

// DevicePeer is another implementation that computes on the memory of a device.
type DevicePeer[T sddmm.Float] interface {
	Name() string
	Version() string
	// Algorithms are the ways in which it computes a case. The error, a *SkipError, says why there is none.
	Algorithms(c Case) ([]string, error)
	// Plan readies one of them for operands, which stay the caller's and in place until the plan is closed. What
	// it has to learn about the pattern it learns here: it is not timed.
	Plan(c Case, algorithm string, o *Placed[T]) (PeerPlan, error)
}

// PeerPlan is a case that a peer is ready to compute.
type PeerPlan interface {
	Run() error // puts the work on the device's stream
	Close() error
}

// Sampling on GPUs.
const (
	gpuWarm = 20e-3 // seconds of warm-ups at least: clocks rise with the work
	// A cold cache is one that other operands of this many times its size have been through.
	coldFactor = 4
	maxSets    = 512
	// assumedCache is the cache of a device that does not tell.
	assumedCache = 64 << 20
)

// peerMark is what results of peers are before they are computed: a finite number, for a library may read what it
// multiplies by β = 0. No result is it.
const peerMark = -0x1p100

// operandSets returns how many sets of operands calls go to in turn.
func (s *Session[T]) operandSets(c Case) (int, error) {
	if !s.opt.Cold {
		return 1, nil
	}
	props, size := s.dev.Props(), max(operandBytes(s.m, c), 1)
	sets := 1 + coldFactor*s.cache/size
	if sets > maxSets || props.MemoryBytes > 0 && sets*size > props.MemoryBytes/2 {
		return 0, fmt.Errorf("%s of %s with K = %d: a cold cache takes %d sets of operands; want at most %d, in half of the device's memory", c.Op, s.m.Name, c.K, sets, maxSets)
	}
	return int(sets), nil
}

// placeSets puts operands on the device, as often as calls take turns. The first set shares the session's pattern and values.
func (s *Session[T]) placeSets(p *problem[T]) (sets []*Placed[T], err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(sets))
		}
	}()
	n, err := s.operandSets(p.c)
	if err != nil {
		return nil, err
	}
	if _, err := s.pattern(p.c.Op); err != nil {
		return nil, err
	}
	if s.values == nil {
		if s.values, err = device.Place(s.dev, s.m.S.Val); err != nil {
			return nil, p.named(fmt.Errorf("the values: %w", err))
		}
	}
	pat, values := s.pat, s.values
	for i := range n {
		if i > 0 {
			if pat, err = pattern.Upload(s.dev, &s.m.S.Pattern); err != nil {
				return sets, err
			}
			values = nil
		}
		o, err := p.place(s.dev, pat, values)
		if err != nil {
			if i > 0 {
				err = errors.Join(err, pat.Close())
			}
			return sets, err
		}
		if i > 0 {
			o.opened = append([]interface{ Close() error }{pat}, o.opened...)
		}
		sets = append(sets, o)
	}
	return sets, nil
}

func closeAll[C interface{ Close() error }](all []C) error {
	var errs []error
	for _, c := range all {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// gpu measures a problem on a device that launches kernels, and peers on the same operands.
func (s *Session[T]) gpu(ctx context.Context, dev device.Launcher, p *problem[T], peers []DevicePeer[T]) (all []*record.Record, failed []error, err error) {
	sets, err := s.placeSets(p)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, closeAll(sets)) }()
	gather, err := s.gatherSeconds(ctx, dev, p, sets[0])
	if err != nil {
		return nil, nil, p.named(err)
	}
	rec, err := s.ownOnGPU(ctx, p, sets)
	if err != nil {
		return nil, nil, err
	}
	s.boundGPU(rec, gather)
	if c, ok := sets[0].Pattern.Chosen(modelOps[p.c.Op], p.c.K, p.elemBytes()); ok && c.Seconds > 0 && !p.c.Tiling.fixed() {
		rec.PredictedSeconds = &c.Seconds
	}
	all = append(all, rec)
	for _, peer := range peers {
		algorithms, err := peer.Algorithms(p.c)
		if err != nil {
			failed = append(failed, p.named(err))
			continue
		}
		for _, algorithm := range algorithms {
			rec := s.newRecord(p)
			rec.Implementation, rec.Version, rec.Algorithm, rec.TileBy = peer.Name(), peer.Version(), algorithm, TileNone
			err := s.timeSets(ctx, p, sets, rec, func(o *Placed[T]) (*operation[T], error) { return peerPlanned(p, peer, algorithm, o) })
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			if err != nil {
				var wrong *WrongError // says what it is of
				if !errors.As(err, &wrong) {
					err = p.named(err)
				}
				failed = append(failed, fmt.Errorf("%s, %s: %w", peer.Name(), algorithm, err))
				continue
			}
			s.boundGPU(rec, gather)
			all = append(all, rec)
		}
	}
	return all, failed, nil
}

// ownOnGPU measures this project's implementation on operands in place.
func (s *Session[T]) ownOnGPU(ctx context.Context, p *problem[T], sets []*Placed[T]) (rec *record.Record, err error) {
	if p.c.Tiling.By != TileBySearch {
		rec = s.newRecord(p)
		rec.TileBy = cmp.Or(p.c.Tiling.By, TileByModel)
		return rec, s.timeSets(ctx, p, sets, rec, func(o *Placed[T]) (*operation[T], error) { return withPlan(p, o, p.c.Tiling) })
	}
	return s.searchOnGPU(ctx, p, sets[0])
}

// timeSets measures an implementation that is planned for each set of operands.
func (s *Session[T]) timeSets(ctx context.Context, p *problem[T], sets []*Placed[T], rec *record.Record, plan func(*Placed[T]) (*operation[T], error)) (err error) {
	var ops []*operation[T]
	defer func() {
		for _, op := range ops {
			err = errors.Join(err, op.close())
		}
	}()
	for _, o := range sets {
		op, err := plan(o)
		if err != nil {
			return err
		}
		op.result = reader(o.Out, &s.scratch)
		ops = append(ops, op)
	}
	if s.opt.Cold {
		rec.Cache = record.Cold
	}
	sampling := s.opt.Sampling
	sampling.warm = gpuWarm
	_, err = measure(ctx, newTimer(s.dev), sampling, p, inTurn(ops), rec)
	return err
}

// peerPlanned is a peer's plan as an operation.
func peerPlanned[T sddmm.Float](p *problem[T], peer DevicePeer[T], algorithm string, o *Placed[T]) (*operation[T], error) {
	plan, err := peer.Plan(p.c, algorithm, o)
	if err != nil {
		return nil, err
	}
	return &operation[T]{
		call: func(ctx context.Context) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return plan.Run()
		},
		poison: func() error { return fillWith(o.Out, peerMark) },
		mark:   peerMark,
		varies: true,
		close:  plan.Close,
	}, nil
}

// boundGPU adds what the ceilings say: the time in which the device only gathers the rows of B, and that in which
// memory moves everything once, unless a warm cache may hold it.
func (s *Session[T]) boundGPU(rec *record.Record, gather float64) {
	if gather == 0 {
		return
	}
	rec.GatherSeconds = &gather
	least, limit := gather, "gather"
	rate := max(s.opt.Roofline.Read, s.opt.Roofline.Copy)
	if rate > 0 && (rec.Cache == record.Cold || rec.Compulsory > s.cache) {
		if seconds := float64(rec.Compulsory) / rate; seconds > least {
			least, limit = seconds, "memory"
		}
	}
	rec.RooflineSeconds, rec.RooflineLimit = &least, limit
	rec.Summarize()
}
