package pattern

import (
	"context"
	"time"

	"sddmmkit/device"
	"sddmmkit/internal/asm"
	"sddmmkit/model"
)

// chooseKey is what a choice depends on, beside the pattern and the device.
type chooseKey struct {
	op      model.Op
	k, elem int
}

// smallWork is the number of products up to which a call is over before planning would pay.
const smallWork = 1 << 24

// Choose returns the tile that the model takes for an operation on the pattern with K = k and elements of
// elemBytes bytes. For SpMMT call it on the transpose. The first choice for which the rows of B do not
// fit in half of the cache next to a core looks at the whole pattern, and has the device measure its caches if
// nobody has on this machine (about two seconds, once; see device.Measurer). Choices are kept.
//
// On devices that run kernels the choice is that of a scheme: a Tile of zeros is gathering from L2, another one keeps
// panels in shared memory (model.GPU). It is made for CUDA devices, where the model's constants were measured; other
// devices gather.
func (r *Resident) Choose(ctx context.Context, op model.Op, k, elemBytes int) (model.Choice, error) {
	key := chooseKey{op, k, elemBytes}
	if c, ok := r.choices[key]; ok {
		return c, nil
	}
	c, err := r.choose(ctx, op, k, elemBytes)
	if err != nil {
		return c, err
	}
	if r.choices == nil {
		r.choices = map[chooseKey]model.Choice{}
	}
	r.choices[key] = c
	return c, nil
}

// Chosen returns the choice where Choose has made one already.
func (r *Resident) Chosen(op model.Op, k, elemBytes int) (model.Choice, bool) {
	c, ok := r.choices[chooseKey{op, k, elemBytes}]
	return c, ok
}

func (r *Resident) choose(ctx context.Context, op model.Op, k, elemBytes int) (model.Choice, error) {
	props := r.dev.Props()
	if _, ok := r.dev.(device.Launcher); ok {
		return r.chooseScheme(op, k, elemBytes)
	}
	// Half of it: the rest is for what streams past.
	if int64(r.Cols)*int64(k)*int64(elemBytes) <= props.L2Bytes/2 {
		return model.Choice{Reason: "the rows of B fit in half of the cache next to a core"}, nil
	}
	if r.NNZ*int64(k) <= smallWork {
		return model.Choice{Reason: "the work is too small for planning to pay"}, nil
	}
	return r.Explain(ctx, op, k, elemBytes)
}

// Explain is Choose with all predictions, also where Choose would not look at the pattern.
func (r *Resident) Explain(ctx context.Context, op model.Op, k, elemBytes int) (model.Choice, error) {
	machine, err := Machine(ctx, r.dev, r.threads())
	if err != nil {
		return model.Choice{}, err
	}
	if r.profile == nil {
		start := time.Now()
		r.profile = model.NewProfile(r.Host(), r.threads())
		r.profiling = time.Since(start)
		r.planning += r.profiling
	}
	start := time.Now()
	choice := machine.Choose(op, r.profile, k, elemBytes)
	r.planning += time.Since(start)
	return choice, nil
}

// Machine returns a device as the model sees it, threads of which are in use. What is not yet known of the device is measured.
func Machine(ctx context.Context, dev device.Device, threads int) (*model.Machine, error) {
	var measured device.Measured
	if m, ok := dev.(device.Measurer); ok {
		var err error
		if measured, err = m.Measure(ctx, asm.Gather()); err != nil {
			return nil, err
		}
	}
	machine := model.NewMachine(dev.Props(), measured, max(threads, 1))
	machine.Block = asm.Block()
	return machine, nil
}

// chooseScheme is choose for GPUs.
func (r *Resident) chooseScheme(op model.Op, k, elemBytes int) (model.Choice, error) {
	switch {
	case op != model.SDDMM:
		return model.Choice{Reason: "SpMM has no tiles on GPUs"}, nil
	case r.dev.Kind() != device.CUDA:
		return model.Choice{Reason: "the model knows tiles for CUDA devices only"}, nil
	case r.NNZ*int64(k) <= smallWork || k == 0:
		return model.Choice{Reason: "the work is too small for planning to pay"}, nil
	}
	gpu := r.gpu()
	task := model.SharedTask{Rows: r.Rows, Cols: r.Cols, NNZ: r.NNZ, K: k, ElemBytes: elemBytes}
	if !gpu.WantsCounts(task) {
		return gpu.Choose(task), nil
	}
	widths := make([]int, len(model.SharedSlices))
	for n, bytes := range model.SharedSlices {
		widths[n] = max(gpu.SharedWidth(bytes/elemBytes, elemBytes), 1)
	}
	if r.panelCounts == nil { // widths count bytes, and so they are the same for all types
		counts, err := r.countPanels(widths)
		if err != nil {
			return model.Choice{}, err
		}
		r.panelCounts = counts
	}
	task.Counts = r.panelCounts
	return gpu.Choose(task), nil
}

// reservedShared is what kernels may take of shared memory beside panels: OpenCL adds up lanes there.
func reservedShared(kind device.Kind) int64 {
	if kind == device.CUDA {
		return 1 << 10
	}
	return 10 << 10
}

// gpu returns the device as the model sees it. The first pattern on a machine that asks has its L2 measured: see usableL2.
func (r *Resident) gpu() *model.GPU {
	if r.model == nil {
		r.model = model.NewGPU(r.dev.Props(), usableL2(r.dev.(device.Launcher)), reservedShared(r.dev.Kind()))
	}
	return r.model
}

// SharedTiles returns the tiles of the shared scheme that a search tries on a GPU: for each slice of K a panel as wide as
// shared memory takes, blocks of rows as the model has them, and 1, 2, 4, … panels up to all that are useful; and where panels may be
// dense, all that are useful and 1, 2, 4, … dense ones, and only these.
func (r *Resident) SharedTiles(k, elemBytes int) ([]model.Tile, error) {
	gpu := r.gpu()
	var tiles []model.Tile
	for n, depth := range model.SharedDepths(elemBytes) {
		t := model.Tile{Ti: gpu.SharedHeight(k, elemBytes), Tk: depth}
		if t.Tj = gpu.SharedWidth(t.Tk, elemBytes); t.Tj == 0 || n > 0 && t.Tk >= 2*k {
			continue // a slice of which most is padding
		}
		useful, err := r.usefulPanels(t.Tj, t.Ti)
		if err != nil {
			return nil, err
		}
		for n := 1; n < useful; n *= 2 {
			t.Panels = n
			tiles = append(tiles, t)
		}
		if t.Panels = useful; useful > 0 {
			tiles = append(tiles, t)
		}
		for dense := 1; gpu.Dense && elemBytes == 2 && dense <= useful; dense *= 2 {
			t.Panels, t.Dense = useful, dense
			tiles = append(tiles, t)
			if dense < useful {
				t.Panels = dense
				tiles = append(tiles, t)
			}
		}
	}
	return tiles, nil
}

// SharedTile returns a tile of the shared scheme with the sides that t leaves open, 0 rows or 0 of K.
func (r *Resident) SharedTile(t model.Tile, k, elemBytes int) model.Tile {
	if t.Ti == 0 {
		t.Ti = r.gpu().SharedHeight(k, elemBytes)
	}
	if t.Tk == 0 {
		t.Tk = model.SharedDepth(k, elemBytes)
	}
	return t
}
