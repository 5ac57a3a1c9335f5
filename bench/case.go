package bench

import (
	"fmt"

	"sddmmkit/bench/record"
	"sddmmkit/sddmm"
)

// Op is an operation that can be measured.
type Op = record.Op

// The operations.
const (
	SDDMM = record.SDDMM
	SpMM  = record.SpMM
	SpMMT = record.SpMMT
)

// Ops are the operations.
var Ops = []Op{SDDMM, SpMM, SpMMT}

// maxK keeps sizes within an int64.
const maxK = 1 << 20

// Case is what to measure on a matrix.
type Case struct {
	Op       Op
	Epilogue sddmm.Epilogue // of SDDMM
	K        int            // columns of A, B and C
	Tiling   Tiling         // how the tile is chosen

	// Stored is the type of A and B where it is one of 16 bits, bfloat16 or float16, whose sums are of float32; empty
	// for the type of everything else. It is for GPUs and float32.
	Stored string
}

// Check says what is wrong with a case.
func (c Case) Check() error {
	switch {
	case c.Op != SDDMM && c.Op != SpMM && c.Op != SpMMT:
		return fmt.Errorf("bench: operation %q; want %s, %s or %s", c.Op, SDDMM, SpMM, SpMMT)
	case c.K < 1 || c.K > maxK:
		return fmt.Errorf("bench: K = %d; want 1 to %d", c.K, maxK)
	case c.Epilogue > sddmm.Quotient:
		return fmt.Errorf("bench: %v is no epilogue; want %v, %v, %v or %v", c.Epilogue, sddmm.Dot, sddmm.Scale, sddmm.Residual, sddmm.Quotient)
	case c.Op != SDDMM && c.Epilogue != sddmm.Dot:
		return fmt.Errorf("bench: %s has no epilogue, and %v was given", c.Op, c.Epilogue)
	}
	if c.Stored != "" && shorts[c.Stored] == nil {
		return fmt.Errorf("bench: A and B in %q; want bfloat16, float16 or what results are in", c.Stored)
	}
	switch t := c.Tiling; t.By {
	case "", TileByModel, TileNone, TileBySearch, TileGiven:
	default:
		return fmt.Errorf("bench: tiles by %q; want %s, %s, %s or %s", t.By, TileByModel, TileNone, TileGiven, TileBySearch)
	}
	return nil
}

// epilogue is the epilogue's name, empty where there is none.
func (c Case) epilogue() string {
	if c.Op != SDDMM {
		return ""
	}
	return c.Epilogue.String()
}
