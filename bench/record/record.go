package record

import (
	"time"

	"sddmmkit/device"
)

// Op is an operation that can be measured.
type Op string

// The operations.
const (
	SDDMM Op = "sddmm"  // P_ij = f(S_ij, ⟨A_i, B_j⟩) on the pattern of S
	SpMM  Op = "spmm"   // C = S·B
	SpMMT Op = "spmm-t" // C = Sᵀ·B
)

// TileBy says what chooses the tile of a case.
type TileBy string

// The ways to choose a tile.
const (
	TileByModel  TileBy = "model"      // the plan's own choice, the default
	TileNone     TileBy = "none"       // no tiles
	TileGiven    TileBy = "given"      // one that was asked for
	TileBySearch TileBy = "exhaustive" // the fastest of a grid, held against the plan's own choice
)

// What the caches hold when a call begins: what the call before it left, with the same operands or with others.
const (
	Warm = "warm"
	Cold = "cold"
)

// Own is the implementation that this module is, in records.
const Own = "sddmmkit"

// Record is one measurement. As JSON it is one object on one line.
type Record struct {
	Event          string `json:"event"` // "result"
	Implementation string `json:"implementation"`
	Version        string `json:"version,omitempty"` // of a peer's library
	Op             Op     `json:"op"`
	Epilogue       string `json:"epilogue,omitempty"`
	Matrix         string `json:"matrix"`
	Rows           int    `json:"rows"`
	Cols           int    `json:"cols"`
	NNZ            int64  `json:"nnz"`
	DataHash       string `json:"data_hash"` // of the pattern
	Seed           uint64 `json:"seed"`      // of the dense operands
	K              int    `json:"k"`
	Type           string `json:"type"` // of A and B: float32, float64, bfloat16 or float16
	Device         string `json:"device"`
	Threads        int    `json:"threads"`             // 0 where the device has none
	Tile           string `json:"tile"`                // in use: none, or TixTjxTk with 0 for all
	TileBy         TileBy `json:"tile_by"`             // what chose it: none, model, exhaustive or given
	Algorithm      string `json:"algorithm,omitempty"` // of a peer that has several
	Kernel         string `json:"kernel,omitempty"`    // of ours on a GPU
	Cache          string `json:"cache"`               // Warm or Cold
	OperandSets    int    `json:"operand_sets"`        // that calls go to in turn
	Round          int    `json:"round,omitempty"`     // from 1, of a run in which cases take turns

	GFLOPS           float64  `json:"gflops"`
	GBPerSecond      float64  `json:"gb_per_s"`                   // of Bytes
	RooflineShare    *float64 `json:"roofline_share"`             // RooflineSeconds over the median
	RooflineSeconds  *float64 `json:"roofline_seconds,omitempty"` // the least time by what was measured of the machine
	RooflineLimit    string   `json:"roofline_limit,omitempty"`   // flops, gather, or a level of memory
	GatherSeconds    *float64 `json:"gather_seconds,omitempty"`   // in which the device did nothing but gather the rows of B (GPU)
	GatherShare      *float64 `json:"gather_share,omitempty"`     // GatherSeconds over the median
	PredictedSeconds *float64 `json:"predicted_seconds"`          // by the model, for this tile

	Search *Search `json:"search,omitempty"` // where the tile was searched for

	Summary
	Samples        int       `json:"samples"`
	Warmups        int       `json:"warmups"`
	CallsPerSample int       `json:"calls_per_sample"`
	Timing         string    `json:"timing"`  // host or device events
	Seconds        []float64 `json:"seconds"` // per call, a sample each

	Accuracy
	Counts

	Props  *device.Props `json:"device_props,omitempty"`
	Commit string        `json:"commit"`
	Go     string        `json:"go,omitempty"`
	Time   time.Time     `json:"time"`
}

// Summarize fills in what follows from the samples (Seconds) and the counts.
func (r *Record) Summarize() {
	r.Samples, r.Summary = len(r.Seconds), Summarize(r.Seconds)
	r.GFLOPS = float64(r.Flops) / r.Median / 1e9
	r.GBPerSecond = float64(r.Bytes) / r.Median / 1e9
	if r.RooflineSeconds != nil {
		share := *r.RooflineSeconds / r.Median
		r.RooflineShare = &share
	}
	if r.GatherSeconds != nil {
		share := *r.GatherSeconds / r.Median
		r.GatherShare = &share
	}
}

// add adds the samples of another measurement of the same.
func (r *Record) add(other *Record) {
	r.Seconds = append(r.Seconds, other.Seconds...)
	r.Warmups += other.Warmups
	r.Summarize()
}

// Accuracy says how a result compares with the reference.
type Accuracy struct {
	Checked int     `json:"error_checked"`     // elements that were compared
	Error   float64 `json:"error"`             // the largest |got − want|, relative to what the terms add up to in absolute value
	Share   float64 `json:"error_bound_share"` // the largest |got − want| as a share of its bound
	Sum     float64 `json:"checksum"`          // of all elements of the result, in float64
}

// Counts is what a case has to do, by the formulas of package bench.
type Counts struct {
	Flops      int64 `json:"flops"`
	Bytes      int64 `json:"bytes"`            // with a row of B per non-zero
	Compulsory int64 `json:"compulsory_bytes"` // with each used row of B once
}
