package conformance

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sddmmkit/device"
	"sddmmkit/internal/conformance/kernels"
	"sddmmkit/internal/dialect"
)

// Launch is the suite of a device that launches kernels: what the dialect promises, and that mistakes are
// errors after which the device still works.
func Launch(t *testing.T, open Open) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, dev device.Launcher)
	}{
		{"Fill", launchFill},
		{"Axpy", func(t *testing.T, dev device.Launcher) {
			launchAxpy[float32](t, dev, kernels.Axpy32)
			launchAxpy[float64](t, dev, kernels.Axpy64)
		}},
		{"BlockSum", launchBlockSum},
		{"Lanes", func(t *testing.T, dev device.Launcher) {
			launchLanes[float32](t, dev, "float")
			launchLanes[float64](t, dev, "double")
			launchScatter[float32](t, dev, "float")
			launchScatter[float64](t, dev, "double")
			launchHand(t, dev)
			launchTake(t, dev)
		}},
		{"SumThreads", func(t *testing.T, dev device.Launcher) {
			launchSumThreads[float32](t, dev, kernels.Sum32)
			launchSumThreads[float64](t, dev, kernels.Sum64)
		}},
		{"Shared", launchShared},
		{"Convert", launchConvert},
		{"Quads", launchQuads},
		{"Optional", launchOptional},
		{"Echo", launchEcho},
		{"Order", launchOrder},
		{"Target", launchTarget},
		{"Info", launchInfo},
		{"Concurrent", launchConcurrent},
		{"WrongArguments", launchWrongArguments},
		{"WrongSizes", launchWrongSizes},
		{"WrongBuffers", func(t *testing.T, dev device.Launcher) {
			launchWrongBuffers(t, dev, otherDevice(t, open, dev))
		}},
		{"WrongPrograms", launchWrongPrograms},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, launcher(t, start(t, open))) })
	}
	t.Run("Closed", func(t *testing.T) {
		dev := launcher(t, open(t))
		fill := compile(t, dev, kernels.Fill)
		must(t, dev.Close())
		must(t, dev.Close())
		wantIs(t, "Launch", fill.Launch(1, kernels.Threads, 0, device.Arg{}, device.Value(int64(0)), device.Value(int32(0))), device.ErrClosed)
		_, err := dev.Kernel(program(t, kernels.Fill))
		wantIs(t, "Kernel", err, device.ErrClosed)
		_, err = dev.Alloc(1)
		wantIs(t, "Alloc", err, device.ErrClosed)
		_, err = dev.Stream().Record()
		wantIs(t, "Record", err, device.ErrClosed)
	})
}

func launcher(t *testing.T, dev device.Device) device.Launcher {
	t.Helper()
	l, ok := dev.(device.Launcher)
	if !ok {
		t.Fatalf("%s launches no kernels", dev.Name())
	}
	return l
}

func program(t *testing.T, v *dialect.Variant) *device.Program {
	t.Helper()
	p, err := v.Program()
	must(t, err)
	return p
}

func compile(t *testing.T, dev device.Launcher, v *dialect.Variant) device.Kernel {
	t.Helper()
	k, err := dev.Kernel(program(t, v))
	must(t, err)
	return k
}

// blocks returns how many blocks have a thread for each of n elements.
func blocks(n int) int64 { return int64(n+kernels.Threads-1) / kernels.Threads }

// guarded is a view of a buffer, and what stands before and after it.
type guarded[T device.Elem] struct {
	*device.Buffer[T]
	all           *device.Buffer[T]
	before, after []T
}

// between puts data on the device, offset elements into a buffer that goes on after them.
func between[T device.Elem](t *testing.T, dev device.Device, offset int, data []T) guarded[T] {
	t.Helper()
	g := guarded[T]{before: make([]T, offset), after: make([]T, 70)}
	for i := range g.before {
		g.before[i] = T(i + 11)
	}
	for i := range g.after {
		g.after[i] = T(i + 22)
	}
	var err error
	g.all, err = device.FromHost(dev, slices.Concat(g.before, data, g.after))
	must(t, err)
	t.Cleanup(func() { g.all.Close() })
	g.Buffer = g.all.View(int64(offset), int64(offset+len(data)))
	return g
}

// read returns the data, and fails the test where what stands around them has changed.
func (g guarded[T]) read(t *testing.T, what string) []T {
	t.Helper()
	all := download(t, g.all)
	n := len(all) - len(g.after)
	if !slices.Equal(all[:len(g.before)], g.before) || !slices.Equal(all[n:], g.after) {
		t.Errorf("%s: wrote outside its buffer", what)
	}
	return all[len(g.before):n]
}

// launchSizes are numbers of elements around those of a block.
var launchSizes = []int{0, 1, kernels.Threads - 1, kernels.Threads, kernels.Threads + 1, 1000}

func launchFill(t *testing.T, dev device.Launcher) {
	k := compile(t, dev, kernels.Fill)
	fill := func(what string, grid int64, n, offset int) {
		y := between(t, dev, offset, make([]int32, n))
		must(t, k.Launch(grid, kernels.Threads, 0, y.Arg(), device.Value(int64(n)), device.Value(int32(-7))))
		for i, got := range y.read(t, what) {
			want := int32(-7)
			if grid == 0 {
				want = 0
			}
			if got != want {
				t.Fatalf("%s: element %d of %d is %d, want %d", what, i, n, got, want)
			}
		}
	}
	for _, n := range launchSizes {
		for _, offset := range []int{0, 1, 3, 64} {
			fill(fmt.Sprintf("%d elements from %d", n, offset), blocks(n), n, offset)
		}
	}
	fill("no blocks", 0, 100, 1)
	fill("many blocks", 100_000, 100, 1) // more than a grid has in other dimensions
}

func launchAxpy[T Float](t *testing.T, dev device.Launcher, v *dialect.Variant) {
	k := compile(t, dev, v)
	rng := newRand(1)
	// Numbers whose exact a·x + y needs no more than 53 bits where T is float32, so that float64
	// rounds once, at the end, as fma does.
	draw := func() T { return T(float32(1 + rng.Float64())) }
	for _, n := range launchSizes {
		for _, grid := range []int64{1, 3, blocks(n)} {
			a, x, y := draw(), make([]T, n), make([]T, n)
			want := make([]T, n)
			for i := range x {
				x[i], y[i] = draw(), -a*draw()
				if _, double := any(a).(float64); double {
					x[i], y[i] = T(rng.NormFloat64()), T(rng.NormFloat64())
				}
				want[i] = T(math.FMA(float64(a), float64(x[i]), float64(y[i])))
			}
			dx, dy := between(t, dev, 1, x), between(t, dev, 3, y)
			must(t, k.Launch(grid, kernels.Threads, 0, dx.Arg(), dy.Arg(), device.Value(int64(n)), device.Value(a)))
			sameBits(t, fmt.Sprintf("%s of %d elements by %d blocks", v.Name, n, grid), dy.read(t, v.Name), want)
		}
	}
}

func launchBlockSum(t *testing.T, dev device.Launcher) {
	k := compile(t, dev, kernels.BlockSum)
	for _, n := range launchSizes {
		x := slice(newRand(2), n, integers[float32])
		want := make([]float32, blocks(n))
		for i, v := range x {
			want[i/kernels.Threads] += v
		}
		dx, sums := between(t, dev, 5, x), between(t, dev, 2, constant(len(want), float32(math.NaN())))
		must(t, k.Launch(blocks(n), kernels.Threads, 0, dx.Arg(), sums.Arg(), device.Value(int64(n))))
		sameBits(t, fmt.Sprint("sums of ", n), sums.read(t, "sums"), want)
	}
}

// launchScatter checks that SCATTER_SUMS gives the bits of the same butterfly.
func launchScatter[T Float](t *testing.T, dev device.Launcher, name string) {
	for _, lanes := range kernels.ScatterGroups {
		n := 3*kernels.Threads - 2*lanes
		x := slice(newRand(4), n*lanes, reals[T])
		want := make([]T, n)
		for first := 0; first < n; first += lanes {
			for place := range lanes {
				sums := make([]T, lanes)
				for l := range sums {
					sums[l] = x[(first+l)*lanes+place]
				}
				for o := lanes / 2; o > 0; o /= 2 {
					last := slices.Clone(sums)
					for l := range sums {
						sums[l] += last[l^o]
					}
				}
				want[first+place] = sums[place]
			}
		}
		k := compile(t, dev, kernels.Scatter(name, lanes))
		dx, y := between(t, dev, 1, x), between(t, dev, 2, constant(n, T(math.NaN())))
		must(t, k.Launch(blocks(n), kernels.Threads, 0, dx.Arg(), y.Arg(), device.Value(int64(n))))
		sameBits(t, fmt.Sprintf("%s: groups of %d", name, lanes), y.read(t, "sums"), want)
	}
}

// launchHand checks that HANDED gives what the lane named has handed out last.
func launchHand(t *testing.T, dev device.Launcher) {
	const n = 3*kernels.Threads - 5
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(i*i + 1)
	}
	for _, lanes := range kernels.Groups {
		want := make([]int32, n*lanes)
		for i := range want {
			want[i] = x[i/lanes]
			if from := i/lanes/lanes*lanes + i%lanes; from < n {
				want[i] += x[from]
			}
		}
		dx, y := between(t, dev, 1, x), between(t, dev, 2, constant(len(want), int32(-1)))
		must(t, compile(t, dev, kernels.Hand(lanes)).Launch(blocks(n), kernels.Threads, 0, dx.Arg(), y.Arg(), device.Value(int64(n))))
		if got := y.read(t, "handed"); !slices.Equal(got, want) {
			t.Errorf("groups of %d: got %v, want %v", lanes, got, want)
		}
	}
}

// launchTake checks that each number is taken once.
func launchTake(t *testing.T, dev device.Launcher) {
	const grid = 100
	next, taken := between(t, dev, 3, []int32{0}), between(t, dev, 1, make([]int32, grid*kernels.Threads))
	must(t, compile(t, dev, kernels.Take).Launch(grid, kernels.Threads, 0, next.Arg(), taken.Arg()))
	if n := next.read(t, "next")[0]; n != grid*kernels.Threads {
		t.Errorf("%d threads took %d numbers", grid*kernels.Threads, n)
	}
	for i, n := range taken.read(t, "taken") {
		if n != 1 {
			t.Fatalf("number %d was taken %d times", i, n)
		}
	}
}

// launchLanes checks sums bit by bit against the butterfly that SUM_LANES promises.
func launchLanes[T Float](t *testing.T, dev device.Launcher, name string) {
	const n = 3*kernels.Threads - 5
	x := make([]T, 3*kernels.Threads)
	copy(x, slice(newRand(3), n, reals[T]))
	for _, lanes := range kernels.Groups {
		want := slices.Clone(x)
		for o := lanes / 2; o > 0; o /= 2 {
			last := slices.Clone(want)
			for i := range want {
				want[i] += last[i^o]
			}
		}
		k := compile(t, dev, kernels.Lanes(name, lanes))
		dx, y := between(t, dev, 1, x[:n]), between(t, dev, 2, constant(n, T(math.NaN())))
		must(t, k.Launch(blocks(n), kernels.Threads, 0, dx.Arg(), y.Arg(), device.Value(int64(n))))
		sameBits(t, fmt.Sprintf("%s: groups of %d", name, lanes), y.read(t, "lanes"), want[:n])
	}
}

// launchSumThreads checks sums over groups of up to a block. Their order is a device's own, so they are of integers.
func launchSumThreads[T Float](t *testing.T, dev device.Launcher, v *dialect.Variant) {
	const n = 3*kernels.Threads - 5
	x := make([]T, 3*kernels.Threads)
	copy(x, slice(newRand(3), n, integers[T]))
	k := compile(t, dev, v)
	for lanes := 1; lanes <= kernels.Threads; lanes *= 2 {
		want := make([]T, len(x))
		for i := range want {
			for _, v := range x[i/lanes*lanes : i/lanes*lanes+lanes] {
				want[i] += 3 * v
			}
		}
		dx, y := between(t, dev, 1, x[:n]), between(t, dev, 2, constant(n, T(math.NaN())))
		must(t, k.Launch(blocks(n), kernels.Threads, 0, dx.Arg(), y.Arg(), device.Value(int64(n)), device.Value(int32(lanes))))
		sameBits(t, fmt.Sprintf("%s: groups of %d", v.Name, lanes), y.read(t, "sums"), want[:n])
	}
}

// launchShared uses dynamic shared memory at the end of what it asks for, up to all that the device says it has. Some
// drivers keep a few bytes for themselves, which Info tells.
func launchShared(t *testing.T, dev device.Launcher) {
	const row = kernels.Threads * 4
	k := compile(t, dev, kernels.Mirror)
	info, err := k.Info()
	must(t, err)
	limit := int(dev.Props().SharedBytes-info.Shared) / 16 * 16
	if limit < 16<<10 {
		t.Fatalf("a block may have %d bytes of shared memory, want at least 16 KB", limit)
	}
	x := slice(newRand(4), 5*kernels.Threads, reals[float32])
	want := make([]float32, len(x))
	for i, v := range x {
		want[i/kernels.Threads*kernels.Threads+kernels.Threads-1-i%kernels.Threads] = v
	}
	dx := between(t, dev, 3, x)
	for _, shared := range []int{row, row + 16, 16 << 10, min(48<<10, limit), limit} {
		what := fmt.Sprint(shared, " bytes of shared memory")
		y := between(t, dev, 1, constant(len(x), float32(math.NaN())))
		must(t, k.Launch(5, kernels.Threads, shared, dx.Arg(), y.Arg(), device.Value(int32(shared-row))))
		sameBits(t, what, y.read(t, what), want)
	}
	y := between(t, dev, 1, x)
	for _, shared := range []int{int(dev.Props().SharedBytes) + 16, 1 << 30, -1} {
		err := k.Launch(5, kernels.Threads, shared, dx.Arg(), y.Arg(), device.Value(int32(0)))
		wantDevice(t, fmt.Sprint(shared, " bytes of shared memory"), dev, err, fmt.Sprint(shared))
	}
	sameBits(t, "after refused launches", y.read(t, "refused"), x)
}

func launchQuads(t *testing.T, dev device.Launcher) {
	k := compile(t, dev, kernels.Quads)
	x := slice(newRand(5), 4*100, reals[float32])
	want := slices.Clone(x)
	for q := range slices.Chunk(want, 4) {
		slices.Reverse(q)
	}
	dx, y := between(t, dev, 4, x), between(t, dev, 8, make([]float32, len(x)))
	must(t, k.Launch(blocks(100), kernels.Threads, 0, dx.Arg(), y.Arg(), device.Value(int64(100))))
	sameBits(t, "quads", y.read(t, "quads"), want)
}

func launchOptional(t *testing.T, dev device.Launcher) {
	k := compile(t, dev, kernels.Optional)
	const n = 100
	var missing *device.Buffer[int32]
	for _, has := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
		what := fmt.Sprintf("with x %v, z %v", has[0], has[1])
		x, y, z := between(t, dev, 1, count[int32](n)), between(t, dev, 2, make([]int32, n)), between(t, dev, 3, make([]int32, n))
		in, out := x.Arg(), z.Arg()
		if !has[0] {
			in = missing.Arg()
		}
		if !has[1] {
			out = device.Arg{}
		}
		must(t, k.Launch(blocks(n), kernels.Threads, 0, in, y.Arg(), out, device.Value(int64(n))))
		want, none := count[int32](n), make([]int32, n)
		if !has[0] {
			for i := range want {
				want[i] = -1
			}
		}
		if got := y.read(t, what); !slices.Equal(got, want) {
			t.Errorf("%s: y is %v", what, got)
		}
		if !has[1] {
			want = none
		}
		if got := z.read(t, what); !slices.Equal(got, want) {
			t.Errorf("%s: z is %v", what, got)
		}
	}
	empty, err := device.Alloc[int32](dev, 0)
	must(t, err)
	defer empty.Close()
	must(t, k.Launch(1, kernels.Threads, 0, empty.Arg(), empty.Arg(), empty.Arg(), device.Value(int64(0))))
	must(t, dev.Stream().Synchronize())
}

// launchEcho passes one argument of each kind, buffers from an odd element on.
func launchEcho(t *testing.T, dev device.Launcher) {
	k := compile(t, dev, kernels.Echo)
	b1, b2, b4 := between(t, dev, 1, []uint8{201}), between(t, dev, 3, []uint16{60_001}), between(t, dev, 5, []int32{-2_000_000_001})
	bf, b8, bd := between(t, dev, 7, []float32{0.1}), between(t, dev, 9, []int64{-1<<52 - 1}), between(t, dev, 11, []float64{0.1})
	out := between(t, dev, 13, make([]float64, 10))
	must(t, k.Launch(2, kernels.Threads, 0, b1.Arg(), b2.Arg(), b4.Arg(), bf.Arg(), b8.Arg(), bd.Arg(),
		device.Value(int32(-7)), device.Value(int64(1<<52+1)), device.Value(float32(-0.3)), device.Value(-0.3), out.Arg()))
	sameBits(t, "echo", out.read(t, "echo"), []float64{201, 60_001, -2_000_000_001, float64(float32(0.1)), -1<<52 - 1, 0.1,
		-7, 1<<52 + 1, float64(float32(-0.3)), -0.3})
}

// launchOrder mixes launches with everything else that is put on the queue.
func launchOrder(t *testing.T, dev device.Launcher) {
	k := compile(t, dev, kernels.Step)
	const n = 10_000
	y, z := between(t, dev, 1, count[int32](n)), between(t, dev, 2, make([]int32, n))
	want := count[int32](n)
	step := func(by int32) {
		must(t, k.Launch(blocks(n), kernels.Threads, 0, y.Arg(), device.Value(int64(n)), device.Value(by)))
		for i := range want {
			want[i] = 3*want[i] + by
		}
	}
	begin, err := dev.Stream().Record()
	must(t, err)
	for by := range int32(100) {
		step(by)
	}
	must(t, z.CopyFrom(y.Buffer))
	copied := slices.Clone(want)
	step(1)
	if got := y.read(t, "steps"); !slices.Equal(got, want) {
		t.Error("steps ran out of order")
	}
	must(t, y.Zero())
	clear(want)
	step(2)
	must(t, y.Upload(count[int32](n)))
	copy(want, count[int32](n))
	step(3)
	end, err := dev.Stream().Record()
	must(t, err)
	if d, err := end.Since(begin); err != nil || d <= 0 {
		t.Errorf("a hundred launches took %v, %v", d, err)
	}
	must(t, begin.Close())
	must(t, end.Close())
	if got := y.read(t, "steps"); !slices.Equal(got, want) {
		t.Error("a step, Zero or Upload ran out of order")
	}
	if got := z.read(t, "copy"); !slices.Equal(got, copied) {
		t.Error("a copy ran out of order")
	}
	// A buffer may be closed while what uses it is still queued.
	for range 20 {
		b, err := device.Alloc[int32](dev, n)
		must(t, err)
		must(t, k.Launch(blocks(n), kernels.Threads, 0, b.Arg(), device.Value(int64(n)), device.Value(int32(1))))
		must(t, b.Close())
	}
	must(t, dev.Stream().Synchronize())
}

// launchTarget checks that the device runs the newest PTX that it can.
func launchTarget(t *testing.T, dev device.Launcher) {
	k := compile(t, dev, kernels.Target)
	y := between(t, dev, 0, []int32{-1})
	must(t, k.Launch(1, kernels.Threads, 0, y.Arg()))
	want := 0
	if dev.Kind() == device.CUDA {
		var cc int
		if _, err := fmt.Sscanf(dev.Props().Architecture, "sm_%d", &cc); err != nil {
			t.Fatalf("architecture %q, want sm_ and a compute capability", dev.Props().Architecture)
		}
		for _, target := range kernels.Target.BuiltFor() {
			if n, err := strconv.Atoi(string(target)); err == nil && n <= cc {
				want = n
			}
		}
	}
	if got := y.read(t, "target")[0]; int(got) != want {
		t.Errorf("runs code for %d, want %d", got, want)
	}
}

func launchInfo(t *testing.T, dev device.Launcher) {
	for _, v := range kernels.Variants() {
		k := compile(t, dev, v)
		info, err := k.Info()
		must(t, err)
		if info.Threads != 0 && info.Threads < kernels.Threads || info.Registers < 0 || info.Local < 0 || info.Shared < 0 {
			t.Errorf("%s: %+v", v.Name, info)
		}
		if v == kernels.BlockSum && info.Shared < kernels.Threads*4 {
			t.Errorf("%s: %d bytes of shared memory, want at least %d", v.Name, info.Shared, kernels.Threads*4)
		}
		few, err := k.Occupancy(kernels.Threads, int(dev.Props().SharedBytes-info.Shared))
		must(t, err)
		many, err := k.Occupancy(kernels.Threads, 0)
		must(t, err)
		if few < 0 || many < few || few == 0 && many > 0 {
			t.Errorf("%s: %d blocks with all shared memory, %d without", v.Name, few, many)
		}
	}
}

// launchConcurrent uses the same kernels from several goroutines.
func launchConcurrent(t *testing.T, dev device.Launcher) {
	steps, fills := program(t, kernels.Step), program(t, kernels.Fill)
	var wg sync.WaitGroup
	for g := range int32(4) {
		wg.Go(func() {
			if err := stepAndFill(dev, steps, fills, g); err != nil {
				t.Errorf("goroutine %d: %v", g, err)
			}
		})
	}
	wg.Wait()
}

func stepAndFill(dev device.Launcher, steps, fills *device.Program, g int32) error {
	n := int64(1000 + g)
	y, err := device.Alloc[int32](dev, n)
	if err != nil {
		return err
	}
	defer y.Close()
	for round := range int32(30) {
		fill, err := dev.Kernel(fills)
		if err != nil {
			return err
		}
		step, err := dev.Kernel(steps)
		if err != nil {
			return err
		}
		if err := fill.Launch(blocks(int(n)), kernels.Threads, 0, y.Arg(), device.Value(n), device.Value(g)); err != nil {
			return err
		}
		if err := step.Launch(blocks(int(n)), kernels.Threads, 0, y.Arg(), device.Value(n), device.Value(round)); err != nil {
			return err
		}
		got := make([]int32, n)
		if err := y.Download(got); err != nil {
			return err
		}
		for i, v := range got {
			if v != 3*g+round {
				return fmt.Errorf("round %d: element %d is %d, want %d", round, i, v, 3*g+round)
			}
		}
	}
	return nil
}

// wantDevice checks for a *device.Error of the device that mentions the texts.
func wantDevice(t *testing.T, what string, dev device.Device, err error, texts ...string) {
	t.Helper()
	e, ok := err.(*device.Error)
	if !ok || e.Device != dev.Name() {
		t.Errorf("%s: error %v (%T), want a *device.Error of %s", what, err, err, dev.Name())
		return
	}
	for _, s := range texts {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: error %q does not say %q", what, err, s)
		}
	}
}
