package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"sddmmkit/bench/record"
	"sddmmkit/device"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sddmm"
)

// Session measures cases on one matrix and device. It keeps what cases share until Close: the pattern on the device,
// with its panels for searches, and on a GPU the values.
type Session[T sddmm.Float] struct {
	dev     device.Device
	m       *Matrix[T]
	opt     Options
	cache   int64 // bytes of the device's largest
	pat     *pattern.Resident
	values  *device.Buffer[T]
	scratch []T                   // results of a GPU
	gathers map[gatherKey]float64 // seconds, once measured
}

// NewSession returns a session for m on dev.
func NewSession[T sddmm.Float](dev device.Device, m *Matrix[T], opt Options) (*Session[T], error) {
	var err error
	if opt.Sampling, err = opt.Sampling.withDefaults(); err != nil {
		return nil, err
	}
	if opt.Cold {
		if _, ok := dev.(device.Launcher); !ok {
			return nil, fmt.Errorf("bench: cold caches are measured on GPUs only, and %s is none", dev.Name())
		}
	}
	props := dev.Props()
	return &Session[T]{dev: dev, m: m, opt: opt, gathers: map[gatherKey]float64{}, cache: cmp.Or(max(props.L2Bytes, props.L3Bytes), assumedCache)}, nil
}

// pattern returns the side of the shared pattern that an operation goes over.
func (s *Session[T]) pattern(op Op) (*pattern.Resident, error) {
	if s.pat == nil {
		var err error
		if s.pat, err = pattern.Upload(s.dev, &s.m.S.Pattern); err != nil {
			return nil, err
		}
	}
	if op != SpMMT {
		return s.pat, nil
	}
	t, err := s.pat.Transpose()
	if err != nil {
		return nil, err
	}
	return &t.Resident, nil
}

// Run measures a case: see the function Run.
func (s *Session[T]) Run(ctx context.Context, c Case) (*record.Record, error) {
	all, _, err := s.RunBeside(ctx, c)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// RunBeside measures a case and then the same with peers, on the same memory of the device where it is a GPU. The
// first record is ours; every algorithm of a peer has its own. A peer that cannot, fails or is wrong has none,
// and an error among failed instead.
func (s *Session[T]) RunBeside(ctx context.Context, c Case, peers ...DevicePeer[T]) (all []*record.Record, failed []error, err error) {
	if err := c.Check(); err != nil {
		return nil, nil, err
	}
	if err := fits(s.dev.Props(), s.m, c); err != nil {
		return nil, nil, err
	}
	launcher, onGPU := s.dev.(device.Launcher)
	if c.Stored != "" && (!onGPU || typeName[T]() != "float32") {
		return nil, nil, fmt.Errorf("bench: A and B in %s with results in %s on %s; want float32 on a GPU", c.Stored, typeName[T](), s.dev.Name())
	}
	runtime.GC() // the operands of the case before are garbage now
	p, err := newProblem(s.dev, s.m, c, s.opt.Seed)
	if err != nil {
		return nil, nil, fmt.Errorf("%s of %s with K = %d: %w", c.Op, s.m.Name, c.K, err)
	}
	switch {
	case onGPU:
		all, failed, err = s.gpu(ctx, launcher, p, peers)
	case len(peers) > 0:
		err = fmt.Errorf("bench: %s measures beside ours on GPUs only, and %s is none", peers[0].Name(), s.dev.Name())
	default:
		one := s.one
		if c.Tiling.By == TileBySearch {
			one = s.searchOnCPU
		}
		var rec *record.Record
		rec, err = one(ctx, p)
		all = []*record.Record{rec}
	}
	if err = errors.Join(err, p.close()); err != nil {
		return nil, nil, err
	}
	return all, failed, nil
}

// one measures a problem with the tile that its case says.
func (s *Session[T]) one(ctx context.Context, p *problem[T]) (rec *record.Record, err error) {
	pat, err := pattern.Upload(s.dev, &s.m.S.Pattern)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pat.Close()) }()
	op, err := ours(s.dev, p, pat, p.c.Tiling)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, op.close()) }()
	rec = s.newRecord(p)
	tile, err := measure(ctx, newTimer(s.dev), s.opt.Sampling, p, op, rec)
	if err != nil {
		return nil, err
	}
	rec.TileBy = cmp.Or(p.c.Tiling.By, TileByModel)
	s.bound(rec, p, tile)
	return rec, nil
}

// newRecord returns a record that says what is computed, by whom and on what.
func (s *Session[T]) newRecord(p *problem[T]) *record.Record {
	rec := newRecord(p, s.opt.Seed)
	rec.Implementation, rec.Device = record.Own, s.dev.Name()
	props := s.dev.Props()
	rec.Props = &props
	if h, ok := s.dev.(device.Host); ok {
		rec.Threads = h.Threads()
	}
	return rec
}

// bound adds what the roofline and the model say.
func (s *Session[T]) bound(rec *record.Record, p *problem[T], tile model.Tile) {
	_, t := count(p.m, p.c, int64(unsafe.Sizeof(T(0))))
	bound(rec, s.opt.Roofline, t)
	if s.opt.Machine != nil && p.m.S.NNZ() > 0 {
		seconds := s.predict(s.opt.Machine, p, tile)
		rec.PredictedSeconds = &seconds
	}
}

// predict returns what the model says of a tile; no time for nothing to do.
func (s *Session[T]) predict(machine *model.Machine, p *problem[T], tile model.Tile) float64 {
	if p.m.S.NNZ() == 0 {
		return 0
	}
	return machine.Predict(modelOps[p.c.Op], p.m.profile(p.c.Op), p.c.K, int(unsafe.Sizeof(T(0))), tile).Seconds
}

var modelOps = map[Op]model.Op{SDDMM: model.SDDMM, SpMM: model.SpMM, SpMMT: model.SpMMT}

// Close frees what cases shared.
func (s *Session[T]) Close() error {
	err := errors.Join(s.values.Close(), s.pat.Close())
	s.pat, s.values, s.scratch = nil, nil, nil
	return err
}
