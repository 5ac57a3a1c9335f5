package dataset

// Format names a file format.
type Format string

// The formats that Read detects and that Options.Format may name.
const (
	Auto         Format = "auto"      // look at the name and the first bytes
	MatrixMarket Format = "mtx"       // MatrixMarket coordinate
	Ratings      Format = "ratings"   // user, item [, rating [, time]]: CSV, TSV, "::" or blanks, with or without a header
	Edges        Format = "edges"     // SNAP edge list: two 0-based node numbers and perhaps a weight a line, # comments
	Docword      Format = "docword"   // UCI bag of words: D, W, NNZ, then 1-based "doc word count"
	SVMlight     Format = "svmlight"  // "label id:value …", 1-based
	LDAC         Format = "ldac"      // "terms id:count …", 0-based
	Adjacency    Format = "adjacency" // "u i i i": 0-based, implicit, value 1
	SMTX         Format = "smtx"      // DLMC: "rows, cols, nnz", row offsets, column indices
	NPZ          Format = "npz"       // scipy.sparse.save_npz: CSR, CSC, COO
	Parquet      Format = "parquet"   // columns by name or position
	Generated    Format = "generated" // made by a generator
)
