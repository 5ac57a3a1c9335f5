//go:build amd64 && !noasm

package asm

var (
	spmmF32AVX2 = []spmmFunc[float32]{
		spmmF32AVX2x1, spmmF32AVX2x2, spmmF32AVX2x3, spmmF32AVX2x4,
		spmmF32AVX2x5, spmmF32AVX2x6, spmmF32AVX2x7, spmmF32AVX2x8,
	}
	spmmF64AVX2 = []spmmFunc[float64]{
		spmmF64AVX2x1, spmmF64AVX2x2, spmmF64AVX2x3, spmmF64AVX2x4,
		spmmF64AVX2x5, spmmF64AVX2x6, spmmF64AVX2x7, spmmF64AVX2x8,
	}
	spmmF32AVX512 = []spmmFunc[float32]{
		spmmF32AVX512x1, spmmF32AVX512x2, spmmF32AVX512x3, spmmF32AVX512x4,
		spmmF32AVX512x5, spmmF32AVX512x6, spmmF32AVX512x7, spmmF32AVX512x8,
		spmmF32AVX512x9, spmmF32AVX512x10, spmmF32AVX512x11, spmmF32AVX512x12,
		spmmF32AVX512x13, spmmF32AVX512x14, spmmF32AVX512x15, spmmF32AVX512x16,
	}
	spmmLastF32AVX512 = []spmmLastFunc[float32]{
		spmmLastF32AVX512x2, spmmLastF32AVX512x3, spmmLastF32AVX512x4, spmmLastF32AVX512x5,
		spmmLastF32AVX512x6, spmmLastF32AVX512x7, spmmLastF32AVX512x8, spmmLastF32AVX512x9,
	}
	spmmF64AVX512 = []spmmFunc[float64]{
		spmmF64AVX512x1, spmmF64AVX512x2, spmmF64AVX512x3, spmmF64AVX512x4,
		spmmF64AVX512x5, spmmF64AVX512x6, spmmF64AVX512x7, spmmF64AVX512x8,
		spmmF64AVX512x9, spmmF64AVX512x10, spmmF64AVX512x11, spmmF64AVX512x12,
		spmmF64AVX512x13, spmmF64AVX512x14, spmmF64AVX512x15, spmmF64AVX512x16,
	}

	narrowF32AVX2 = narrow[float32]{
		sddmm: [Narrow]sddmmNarrowFunc[float32]{sddmmF32AVX2K1, sddmmF32AVX2K2, sddmmF32AVX2K3, sddmmF32AVX2K4},
		spmm:  [Narrow]spmmNarrowFunc[float32]{spmmF32AVX2K1, spmmF32AVX2K2, spmmF32AVX2K3, spmmF32AVX2K4},
	}
	packedF32AVX2 = narrow[float32]{
		sddmm: [Narrow]sddmmNarrowFunc[float32]{sddmmF32AVX2K1Packed, sddmmF32AVX2K2Packed, sddmmF32AVX2K3Packed, sddmmF32AVX2K4Packed},
		spmm:  [Narrow]spmmNarrowFunc[float32]{spmmF32AVX2K1Packed, spmmF32AVX2K2Packed, spmmF32AVX2K3Packed, spmmF32AVX2K4Packed},
	}
	narrowF32AVX512 = narrow[float32]{
		sddmm: [Narrow]sddmmNarrowFunc[float32]{sddmmF32AVX512K1, sddmmF32AVX512K2, sddmmF32AVX512K3, sddmmF32AVX512K4},
		spmm:  [Narrow]spmmNarrowFunc[float32]{spmmF32AVX512K1, spmmF32AVX512K2, spmmF32AVX512K3, spmmF32AVX512K4},
	}
	packedF32AVX512 = narrow[float32]{
		sddmm: [Narrow]sddmmNarrowFunc[float32]{sddmmF32AVX512K1Packed, sddmmF32AVX512K2Packed, sddmmF32AVX512K3Packed, sddmmF32AVX512K4Packed},
		spmm:  [Narrow]spmmNarrowFunc[float32]{spmmF32AVX512K1Packed, spmmF32AVX512K2Packed, spmmF32AVX512K3Packed, spmmF32AVX512K4Packed},
	}
	narrowF64AVX2 = narrow[float64]{
		sddmm: [Narrow]sddmmNarrowFunc[float64]{sddmmF64AVX2K1, sddmmF64AVX2K2, sddmmF64AVX2K3, sddmmF64AVX2K4},
		spmm:  [Narrow]spmmNarrowFunc[float64]{spmmF64AVX2K1, spmmF64AVX2K2, spmmF64AVX2K3, spmmF64AVX2K4},
	}
	packedF64AVX2 = narrow[float64]{
		sddmm: [Narrow]sddmmNarrowFunc[float64]{sddmmF64AVX2K1Packed, sddmmF64AVX2K2Packed, sddmmF64AVX2K3Packed, sddmmF64AVX2K4Packed},
		spmm:  [Narrow]spmmNarrowFunc[float64]{spmmF64AVX2K1Packed, spmmF64AVX2K2Packed, spmmF64AVX2K3Packed, spmmF64AVX2K4Packed},
	}
	narrowF64AVX512 = narrow[float64]{
		sddmm: [Narrow]sddmmNarrowFunc[float64]{sddmmF64AVX512K1, sddmmF64AVX512K2, sddmmF64AVX512K3, sddmmF64AVX512K4},
		spmm:  [Narrow]spmmNarrowFunc[float64]{spmmF64AVX512K1, spmmF64AVX512K2, spmmF64AVX512K3, spmmF64AVX512K4},
	}
	packedF64AVX512 = narrow[float64]{
		sddmm: [Narrow]sddmmNarrowFunc[float64]{sddmmF64AVX512K1Packed, sddmmF64AVX512K2Packed, sddmmF64AVX512K3Packed, sddmmF64AVX512K4Packed},
		spmm:  [Narrow]spmmNarrowFunc[float64]{spmmF64AVX512K1Packed, spmmF64AVX512K2Packed, spmmF64AVX512K3Packed, spmmF64AVX512K4Packed},
	}
)
