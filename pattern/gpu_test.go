package pattern_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"sddmmkit/backend"
	"sddmmkit/device"
	"sddmmkit/internal/conformance"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/sparse"
	"sddmmkit/tiling"
)

// onGPUs runs a test on the GPUs and OpenCL devices there are.
func onGPUs(t *testing.T, test func(t *testing.T, dev device.Launcher)) {
	open := func(name string) (device.Device, error) { return backend.Open(name, backend.Options{}) }
	conformance.OnGPUs(t, open, func(t *testing.T, open func(t *testing.T) device.Device) {
		dev := open(t)
		defer func() {
			if u := dev.Usage(); u != (device.Usage{}) {
				t.Errorf("%+v is still open", u)
			}
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
		}()
		test(t, dev.(device.Launcher))
	})
}

func fromHost[T device.Elem](t *testing.T, dev device.Device, x []T) *device.Buffer[T] {
	t.Helper()
	b, err := device.FromHost(dev, x)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Lengths around lanes, warps, blocks and steps of the kernels, and with chunks of more than a step.
var lengths = []int{0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2047, 2049, 70_001, 1<<21 + 4321}

func TestSortKeys(t *testing.T) {
	if pattern.NewChunks(int64(lengths[len(lengths)-1])) == pattern.NewChunks(1) {
		t.Error("no length has chunks of several steps")
	}
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		for _, n := range lengths {
			for _, most := range []int{0, 1, 5, 63, 64, 70_000, math.MaxInt32} {
				if n > 1<<20 && (most != 64 || testing.Short()) {
					continue
				}
				for _, fall := range []bool{false, true} {
					t.Run(fmt.Sprintf("%d to %d, falling %t", n, most, fall), func(t *testing.T) {
						sortedKeys(t, dev, n, most, fall, pattern.SortKeys[int32])
						sortedKeys(t, dev, n, most, fall, pattern.SortKeys[int64])
						if !fall {
							sortedKeys(t, dev, n, most, fall, pattern.SortManyKeys)
						}
					})
				}
			}
		}
	})
}

func sortedKeys[V int32 | int64](t *testing.T, dev device.Launcher, n, most int, fall bool,
	sort func(dev device.Launcher, keys *device.Buffer[int32], most int, fall bool) (*device.Buffer[int32], *device.Buffer[V], error)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(most)))
	keys, want := make([]int32, n), make([]V, n)
	for z := range keys {
		keys[z], want[z] = int32(rng.IntN(most+1)), V(z)
	}
	slices.SortStableFunc(want, func(a, b V) int {
		if fall {
			a, b = b, a
		}
		return int(keys[a]) - int(keys[b])
	})
	if fall { // which turned equal ones around too
		slices.SortStableFunc(want, func(a, b V) int {
			if keys[a] != keys[b] {
				return int(keys[b]) - int(keys[a])
			}
			return int(a - b)
		})
	}
	given := fromHost(t, dev, keys)
	defer given.Close()
	sorted, from, err := sort(dev, given, most, fall)
	if err != nil {
		t.Fatal(err)
	}
	defer sorted.Close()
	defer from.Close()
	if got := download(t, from); !slices.Equal(got, want) {
		t.Errorf("as %T: the keys came from other places than they should", want)
	}
	for q, key := range download(t, sorted) {
		if key != keys[want[q]] {
			t.Fatalf("key %d is %d, want %d", q, key, keys[want[q]])
		}
	}
	if !slices.Equal(download(t, given), keys) {
		t.Error("the keys that were given changed")
	}
}

func TestSum(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		for _, n := range lengths {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			x, want := make([]int32, n), make([]int64, n+1)
			for i := range x {
				x[i] = int32(rng.IntN(math.MaxInt32)) // the sum is beyond 32 bits
				want[i+1] = want[i] + int64(x[i])
			}
			in := fromHost(t, dev, x)
			y, err := pattern.Sum(dev, in)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(download(t, y), want) {
				t.Errorf("%d numbers: wrong sums", n)
			}
			in.Close()
			y.Close()
		}
	})
}

// random returns a pattern whose rows have the given lengths, columns of low number more often.
func random(seed uint64, cols int, rows []int, sort bool) *sparse.Pattern {
	rng := rand.New(rand.NewPCG(seed, 7))
	p := &sparse.Pattern{Rows: len(rows), Cols: cols, RowPtr: make([]int64, len(rows)+1)}
	for i, n := range rows {
		has := map[int32]bool{}
		for len(has) < min(n, cols) {
			u := rng.Float64()
			j := int32(u * u * float64(cols))
			if len(has) > cols/2 {
				j = int32(rng.IntN(cols))
			}
			if !has[j] {
				has[j] = true
				p.ColIdx = append(p.ColIdx, j)
			}
		}
		p.RowPtr[i+1] = int64(len(p.ColIdx))
	}
	if sort {
		p.SortRows(1)
	}
	return p
}

func repeat(rows int, length func(i int) int) []int {
	out := make([]int, rows)
	for i := range out {
		out[i] = length(i)
	}
	return out
}

// patterns are those on which a GPU must plan what the host does.
func patterns() map[string]*sparse.Pattern {
	each := func(n int) func(int) int { return func(int) int { return n } }
	return map[string]*sparse.Pattern{
		"no rows":                  random(1, 5, nil, true),
		"no columns":               random(1, 0, repeat(5, each(0)), true),
		"no non-zeros":             random(1, 9, repeat(13, each(0)), true),
		"one cell":                 random(1, 1, []int{1}, true),
		"one column":               random(1, 1, repeat(300, func(i int) int { return i % 2 }), true),
		"one row":                  random(1, 900, []int{700}, false),
		"empty rows, unsorted":     random(1, 50, repeat(161, func(i int) int { return i % 3 * 4 }), false),
		"empty rows at both ends":  random(1, 300, repeat(400, func(i int) int { return max(0, min(i-99, 299-i)) }), true),
		"one huge row":             random(1, 40_000, repeat(30, func(i int) int { return i / 29 * 30_000 }), true),
		"many columns":             random(1, 100_003, repeat(500, func(i int) int { return i % 90 }), true),
		"many rows":                random(1, 40, repeat(70_001, func(i int) int { return i % 3 }), true),
		"rows of a whole run":      random(1, 100, repeat(64, each(32)), true),
		"several rows of a sample": random(1, 2000, repeat(1100, each(1000)), true),
	}
}

// Whatever a GPU plans is what the host plans.
func TestGPUPlansAsTheHost(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		for why, p := range patterns() {
			t.Run(why, func(t *testing.T) {
				onHost, err := pattern.Upload(dev, p)
				must(t, err)
				defer onHost.Close()
				onGPU, err := pattern.Upload(dev, p)
				must(t, err)
				defer onGPU.Close()
				compare := func(what string, plan func(r *pattern.Resident) any) {
					t.Helper()
					pattern.PlanOnGPU(t, math.MaxInt64)
					want := plan(onHost)
					pattern.PlanOnGPU(t, 0)
					if got := plan(onGPU); !reflect.DeepEqual(got, want) {
						t.Errorf("%s: got %.300s, want %.300s", what, fmt.Sprint(got), fmt.Sprint(want))
					}
				}
				compare("starts", func(r *pattern.Resident) any {
					l, err := r.Launches()
					must(t, err)
					rows, err := l.EntryRows()
					must(t, err)
					return []any{download(t, l.Starts), download(t, rows)}
				})
				for _, run := range []int{1, 3, 32, 256} {
					compare(fmt.Sprintf("pieces of %d", run), func(r *pattern.Resident) any {
						p, err := r.Pieces(run)
						must(t, err)
						return []any{p.Run, p.Runs, p.Count, download(t, p.Rows)}
					})
					compare(fmt.Sprintf("runs of %d by column", run), func(r *pattern.Resident) any {
						l, err := r.Launches()
						must(t, err)
						order, err := l.ByColumn(run)
						must(t, err)
						return download(t, order)
					})
				}
				compare("transpose", func(r *pattern.Resident) any {
					tr, err := r.Transpose()
					must(t, err)
					ptr, err := tr.Pointers()
					must(t, err)
					return []any{tr.Rows, tr.Cols, tr.NNZ, ptr, download(t, tr.RowPtr), download(t, tr.ColIdx), download(t, tr.Perm)}
				})
				compare("transpose of the transpose", func(r *pattern.Resident) any {
					tr, err := r.Transpose()
					must(t, err)
					back, err := tr.Transpose()
					must(t, err)
					return []any{download(t, back.RowPtr), download(t, back.ColIdx), download(t, back.Perm)}
				})
				popular(t, onGPU)
				compare("sizes of panels", func(r *pattern.Resident) any {
					counts, err := r.CountPanels([]int{1, 7, 64, 5000})
					must(t, err)
					return counts
				})
				for _, tile := range []model.Tile{
					{Ti: 100, Tj: 7, Panels: 3}, {Ti: 1 << 16, Tj: 64, Panels: 1}, {Ti: 50, Tj: 1000, Panels: 1000}, {Ti: 1 << 16, Tj: 1 << 16, Panels: 9}, {Ti: 90, Tj: 50},
					{Ti: 100, Tj: 7, Panels: 3, Dense: 2}, {Ti: 1 << 16, Tj: 64, Panels: 1, Dense: 1},
				} {
					compare(fmt.Sprintf("%+v", tile), func(r *pattern.Resident) any {
						s, err := r.Shared(tile)
						must(t, err)
						return sharedText(t, s)
					})
				}
				pattern.PlanOnGPU(t, 0)
				carried(t, onGPU)
			})
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// popular checks the order of columns on the GPU.
func popular(t *testing.T, r *pattern.Resident) {
	t.Helper()
	old, new, counts, err := r.Ranked()
	must(t, err)
	want := tiling.NewPopular(r.Host(), 1)
	sorted := make([]int64, 0, r.Cols)
	for _, n := range download(t, counts) {
		sorted = append(sorted, int64(n))
	}
	if !slices.Equal(download(t, old), want.Old) || !slices.Equal(download(t, new), want.New) || !slices.Equal(sorted, want.Counts) {
		t.Error("the columns have another order or other counts than the host's")
	}
}

// sharedText is all that a Shared says.
func sharedText(t *testing.T, s *pattern.Shared) []any {
	t.Helper()
	all := []any{s.Width, s.Columns, s.Entries, s.ShareCount, download(t, s.Shares), download(t, s.Items), download(t, s.Dense), s.PieceCount, download(t, s.Pieces),
		download(t, s.Cols), download(t, s.Local), download(t, s.Entry)}
	if r := s.Rest; r != nil {
		all = append(all, r.NNZ, download(t, r.RowPtr), download(t, r.ColIdx), download(t, r.Starts), download(t, r.At))
	}
	return all
}

// carried checks values of the transpose, and that it comes to the host when asked.
func carried(t *testing.T, r *pattern.Resident) {
	t.Helper()
	tr, err := r.Transpose()
	must(t, err)
	values := make([]float64, r.NNZ)
	for z := range values {
		values[z] = float64(z) + 0.5
	}
	given := fromHost(t, r.Device(), values)
	defer given.Close()
	got, err := pattern.Carry(tr, given)
	must(t, err)
	defer got.Close()
	if tr.OnHost() {
		t.Error("the transpose was made on the host")
	}
	if !slices.Equal(download(t, got), pattern.Gather(tr, values)) {
		t.Error("values in another order than the host's")
	}
	if host := tr.Host(); !slices.Equal(host.RowPtr, download(t, tr.RowPtr)) || !slices.Equal(host.ColIdx, download(t, tr.ColIdx)) {
		t.Error("the transpose on the host is another one")
	}
}

// Each allocation, copy and launch of planning may fail; then there is an error, and nothing is left behind.
func TestGPUPlanningFails(t *testing.T) {
	pattern.PlanOnGPU(t, 0)
	p := random(3, 70, repeat(50, func(i int) int { return i }), true)
	plan := func(dev device.Device) (err error) {
		r, err := pattern.Upload(dev, p)
		if err != nil {
			return err
		}
		defer r.Close()
		if _, err := r.Pieces(8); err != nil {
			return err
		}
		l, err := r.Launches()
		if err != nil {
			return err
		}
		if _, err := l.ByColumn(8); err != nil {
			return err
		}
		if _, err := r.CountPanels([]int{9}); err != nil {
			return err
		}
		if _, err := r.Shared(model.Tile{Ti: 20, Tj: 9, Panels: 4}); err != nil {
			return err
		}
		tr, err := r.Transpose()
		if err != nil {
			return err
		}
		if _, err := tr.Pointers(); err != nil {
			return err
		}
		values, err := device.Alloc[float32](dev, r.NNZ)
		if err != nil {
			return err
		}
		defer values.Close()
		if err := values.Zero(); err != nil {
			return err
		}
		carried, err := pattern.Carry(tr, values)
		carried.Close()
		return err
	}
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		for _, fail := range []func(device.Device, int) conformance.FailingDevice{conformance.Failing, conformance.FailingTransfers} {
			for n := 1; ; n++ {
				failing := fail(dev, n)
				err := plan(failing)
				if u := dev.Usage(); u != (device.Usage{}) {
					t.Fatalf("after call %d failed, %+v is open", n, u)
				}
				var e *device.Error
				if failing.Failed() != errors.As(err, &e) {
					t.Fatalf("call %d failed: %t, error %v", n, failing.Failed(), err)
				}
				if !failing.Failed() {
					if n < 30 {
						t.Errorf("only %d calls", n)
					}
					break
				}
			}
		}
	})
}

// little is a GPU with little memory, which launches nothing.
type little struct{ device.Launcher }

func (l little) Props() device.Props {
	p := l.Launcher.Props()
	p.MemoryBytes = 1
	return p
}

func (l little) Kernel(p *device.Program) (device.Kernel, error) {
	return nil, errors.New("nobody should have launched " + p.Name)
}

// With too little memory, and for patterns that are too small, the host plans.
func TestHostPlansForGPUs(t *testing.T) {
	onGPUs(t, func(t *testing.T, dev device.Launcher) {
		for least, dev := range map[int64]device.Device{0: little{dev}, math.MaxInt64: dev} {
			pattern.PlanOnGPU(t, least)
			r, err := pattern.Upload(dev, small())
			must(t, err)
			tr, err := r.Transpose()
			must(t, err)
			if !tr.OnHost() {
				t.Errorf("on the GPU with a least of %d non-zeros", least)
			}
			_, err = r.Shared(model.Tile{Ti: 2, Tj: 2, Panels: 1})
			must(t, err)
			must(t, r.Close())
		}
	})
}
