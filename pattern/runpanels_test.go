package pattern_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"sddmmkit/device"
	"sddmmkit/device/cpu"
	"sddmmkit/internal/conformance"
	"sddmmkit/model"
	"sddmmkit/pattern"
	"sddmmkit/tiling"
)

// Each goroutine gets the rows of its panel, of a copy of its own where slices are read often, and of B itself without memory.
func TestRunPanels(t *testing.T) {
	const rows, cols, k, width = 300, 200, 300, 64 // the last panel is narrower
	data := make([]float32, cols*k)
	for i := range data {
		data[i] = float32(i)
	}
	for _, c := range []struct {
		name    string
		rows    int
		dev     device.Device
		threads int
		own     bool
	}{
		{"often", rows, cpu.New(3), 3, true},
		{"alone", rows, cpu.New(1), 1, true},
		{"seldom", 3, cpu.New(3), 3, false},
		{"no memory", rows, conformance.Failing(cpu.New(3), 1), 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := upload(t, c.dev, full(c.rows, cols))
			host := c.dev.(device.Host)
			c.own = c.own && host.Props().L2Bytes > 0 // else nobody knows what fits
			panels, err := r.Panels(width)
			if err != nil {
				t.Fatal(err)
			}
			before, slice := c.dev.Usage().Bytes, 0
			err = pattern.Slices(context.Background(), r, data, cols, k, k, model.Tile{Tj: width, Tk: 128}, false, func(s ...pattern.Columns[float32]) error {
				b := s[0]
				seen := map[*float32]bool{}
				var lock sync.Mutex
				nnz := 0
				err := pattern.RunPanels(context.Background(), host, r, panels, b, func(_ int, u tiling.PanelUnit, mine pattern.Columns[float32]) {
					lock.Lock()
					defer lock.Unlock()
					if mine.Lo != b.Lo || mine.Hi != b.Hi {
						t.Errorf("columns [%d, %d), want [%d, %d)", mine.Lo, mine.Hi, b.Lo, b.Hi)
					}
					seen[unsafe.SliceData(mine.Data)] = true
					at := u.At
					for _, s := range panels.Segments[u.SegLo:u.SegHi] {
						for z := s.Lo; z < s.Lo+int64(s.N); z++ {
							j := int(r.ColIdx.Host()[z])
							if got := mine.Data[int(panels.ColIdx[at])*mine.Stride:][:b.Hi-b.Lo]; !slices.Equal(got, data[j*k+b.Lo:j*k+b.Hi]) {
								t.Errorf("row %d, slice %d: %v…", j, slice, got[:2])
							}
							at++
							nnz++
						}
					}
				}, nil, nil)
				if int64(nnz) != r.NNZ {
					t.Errorf("slice %d: %d non-zeros of %d", slice, nnz, r.NNZ)
				}
				if c.own && len(seen) > c.threads {
					t.Errorf("slice %d: %d copies for %d goroutines", slice, len(seen), c.threads)
				}
				took, least := c.dev.Usage().Bytes-before, int64(0)
				if c.own {
					least = int64(c.threads * width * 128 * 4)
				}
				if took < least || c.name == "no memory" && slice == 0 && took > 0 { // only the first allocation fails
					t.Errorf("slice %d: copies take %d bytes, want %d", slice, took, least)
				}
				slice++
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if slice != 3 {
				t.Errorf("%d slices of 300 columns in slices of 128", slice)
			}
		})
	}
}

// Rows in pieces are done for all panels at once, and so a slice is copied for all.
func TestNoOwnCopiesForPieces(t *testing.T) {
	const rows, k = 40, 300
	if cpu.New(1).Props().L2Bytes == 0 {
		t.Skip("nobody knows what fits in a cache here")
	}
	for _, c := range []struct {
		cols int
		own  bool
	}{{1500, true}, {3000, false}} {
		r := upload(t, cpu.New(1), full(rows, c.cols))
		err := pattern.Slices(context.Background(), r, make([]float32, c.cols*k), c.cols, k, k, model.Tile{Tj: 64, Tk: 128}, false, func(s ...pattern.Columns[float32]) error {
			if s[0].Own != c.own {
				t.Errorf("rows of %d non-zeros: own copies %v, want %v", c.cols, s[0].Own, c.own)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
