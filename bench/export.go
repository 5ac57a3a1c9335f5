package bench

import (
	"encoding/binary"
	"fmt"
	"io"

	"sddmmkit/internal/atomicfile"
	"sddmmkit/sddmm"
)

// exportMagic begins an exported file; the last byte is the version.
const exportMagic = "SDDMMKT\x01"

// exportName is the room for a matrix's name in an exported file.
const exportName = 256

// Export writes a matrix for programs in other languages that are measured beside this module, such as
// peers/simple_avx512.c. The file is complete or absent. Everything is little-endian:
//
//	offset  bytes
//	0       8          magic: "SDDMMKT" and a byte 1
//	8       8          rows M, int64
//	16      8          columns N, int64
//	24      8          non-zeros, int64
//	32      8          hash of the pattern, uint64; data_hash of records in hexadecimal
//	40      8          seed of the dense operands, uint64
//	48      256        name, UTF-8, filled with zeros
//	304     8·(M+1)    row pointers, int64
//	        4·nnz      column indices, int32
//	        4·nnz      values, float32
//
// The dense operands A (M×K, operand 1) and B (N×K, operand 2; M×K for the transposed product) are made
// by the same formula everywhere. With all arithmetic modulo 2⁶⁴,
//
//	x = seed + o·2⁵⁶ + e + 0x9e3779b97f4a7c15
//	x = (x ^ x>>30)·0xbf58476d1ce4e5b9
//	x = (x ^ x>>27)·0x94d049bb133111eb
//	element e of operand o = ½ + ((x ^ x>>31) >> 41)·2⁻²³
//
// where e counts row by row.
func Export[T sddmm.Float](path string, m *Matrix[T], seed uint64) error {
	if len(m.Name) >= exportName {
		return fmt.Errorf("bench: exporting %s: the name has %d bytes; want less than %d", m.Name, len(m.Name), exportName)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		head := append(make([]byte, 0, 48+exportName), exportMagic...)
		p := &m.S.Pattern
		for _, v := range []uint64{uint64(p.Rows), uint64(p.Cols), uint64(p.NNZ()), patternHash(p), seed} {
			head = binary.LittleEndian.AppendUint64(head, v)
		}
		head = append(head, m.Name...)
		if _, err := w.Write(head[:cap(head)]); err != nil {
			return err
		}
		if err := writeArray(w, len(p.RowPtr), func(i int) int64 { return p.RowPtr[i] }); err != nil {
			return err
		}
		if err := writeArray(w, len(p.ColIdx), func(i int) int32 { return p.ColIdx[i] }); err != nil {
			return err
		}
		return writeArray(w, len(m.S.Val), func(i int) float32 { return float32(m.S.Val[i]) })
	})
}

// writeArray writes n elements, a block at a time.
func writeArray[E int32 | int64 | float32](w io.Writer, n int, at func(i int) E) error {
	block := make([]E, 0, 1<<13)
	for i := range n {
		if block = append(block, at(i)); len(block) == cap(block) || i == n-1 {
			if err := binary.Write(w, binary.LittleEndian, block); err != nil {
				return err
			}
			block = block[:0]
		}
	}
	return nil
}
