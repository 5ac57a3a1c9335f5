// Package npz reads and writes NumPy .npz files: zip archives whose members are named arrays in
// .npy form. What it writes numpy.load opens; what numpy.savez, numpy.savez_compressed and
// scipy.sparse.save_npz write it reads.
//
// An element is a bool, an integer of 8 to 64 bits, a float32 or float64, a unicode string
// (NumPy's <U) or a byte string (|S). Arrays of Python objects are refused: reading them would
// mean running a pickle.
//
// A reader trusts no header. The shape is checked against the bytes that the archive holds, sizes
// are multiplied with a check for overflow, and memory grows with what was read, not with what
// was promised. A writer's bytes depend on nothing but the arrays: members carry a fixed time.
//
// # Strings
//
// NumPy stores every string of an array at the length of the longest, four bytes a character, and
// drops NUL characters at the end. Bytes that are not UTF-8 are stored as Python's surrogateescape
// does (byte 0x80+b becomes U+DC80+b), so that any Go string comes back exactly; a string that
// ends in a NUL would not, and is refused.
package npz
