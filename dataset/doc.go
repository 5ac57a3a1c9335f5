// Package dataset reads and writes sparse matrices in the formats in which they are found,
// generates them, and splits them for training and testing.
//
//	set, err := dataset.Read[float32](ctx, "ratings.csv.gz", dataset.Options{})
//	csr, err := sparse.FromCOO(set.COO, sparse.BuildOptions{})
//
// # Formats
//
// Read finds the format by itself, also inside gzip and zstd, which it knows by their first
// bytes; Options.Format overrides it and Set.Format says what it was.
//
//	mtx        MatrixMarket coordinate: real, integer, pattern; general, symmetric, skew-symmetric
//	           (the last two come out whole). 1-based
//	ratings    a line "user item [rating [time]]" between tabs, "::", commas, semicolons, bars or
//	           blanks; names are any strings, and become indices in order of first appearance
//	edges      SNAP: "from to [weight]", 0-based, # comments; a square matrix
//	docword    UCI bag of words: D, W and NNZ on three lines, then "doc word count", 1-based
//	svmlight   "label [qid:n] id:value …", 1-based, one row a line; labels are read over
//	ldac       "N id:count …", 0-based, one row a line
//	adjacency  "u i i i …", 0-based, values 1
//	smtx       Deep Learning Matrix Collection: "rows, cols, nnz", row offsets, columns; values 1
//	npz        scipy.sparse.save_npz: CSR, CSC, COO
//	parquet    columns for user, item, and perhaps rating and time
//
// Entries keep the order of the file. Duplicates are kept: what becomes of them is decided where
// a CSR is built.
//
// # Detection
//
// The first rule that holds decides:
//
//  1. The file starts with the bytes of npz or Parquet.
//  2. The name, without .gz or .zst, ends in .mtx, .smtx, .svm, .svmlight, .libsvm or .ldac, or
//     starts with "docword.".
//  3. The first line is a MatrixMarket banner.
//
// The other rules look at up to 200 lines of the first 64 KiB, blank lines and lines that start
// with # or % aside.
//
//  4. Three lines of one whole number, then lines of three: docword.
//  5. A line "number, number, number", then a line without commas that starts with 0: smtx.
//  6. A number and then "id:value" on every line: ldac where the number is that of the pairs on
//     each line, else svmlight.
//  7. Nothing but whole numbers between blanks or tabs:
//     two on each line: edges;
//     three on each line, after # or % comments: edges with weights;
//     not as many on each line, or more than four: adjacency;
//     three or four on each line, the first growing from line to line (at least five lines): adjacency;
//     three or four otherwise: ratings.
//     When Options continues id maps, two to four numbers are always ratings.
//  8. A delimiter that cuts the first line in two or more: ratings. Anything else is an error.
//
// So "0\t1" is an edge, "196\t242\t3\t881250949" is a rating, "0 1 2 3 5" is an adjacency list, and
// "1,2" without a header is a user and an item, both names.
//
// # Ratings
//
// The first line is a header when it names a user and an item column in the usual words, or when
// it has no number and a later line has one; Options.Header decides otherwise. Options.Columns
// chooses columns by name or position. Else the usual names count (userId, movie_id, Rating,
// timestamp, …), else the position: user, item, rating, time. Files with names for user and item
// but none for the rating have one only where a single column of numbers is left; without a
// rating every entry is 1. All lines have as many fields as the first. Fields between commas,
// semicolons and bars may be quoted, but not across lines.
//
// # Reading
//
// One goroutine reads and decompresses, Options.Threads parse blocks of whole lines, and their
// results are joined in the order of the file: the same file gives the same bits for any number
// of threads. Beside the entries, memory holds a few blocks of 1 MiB and, while one array at a
// time is joined, that array twice; a header's promises are checked, not allocated. Numbers are
// rounded once, to the nearest T. NaN, infinities and numbers beyond T are errors.
//
// npz and Parquet are decoded within the same rule: an array, a page or a dictionary gets memory
// as its bytes arrive. Row groups of Parquet are decoded in parallel; every row must have a value
// in the columns that count. Times stay in the unit of the file.
//
// # Writing
//
// WriteFile writes a set in the format that the extension names; csv, tsv, npz and Parquet keep
// names and times, MatrixMarket does not. WriteMatrixMarket and WriteNPZ write a CSR matrix,
// WriteParquet a set. Reading a file back gives the same entries in the same order, bit for bit.
//
// # Generating and splitting
//
// Generate makes a matrix from a spec such as "rmat:17:4.4M:seed=9", PlantedRatings ratings whose
// best possible RMSE is known, BuiltIn the set that needs no file. SplitRandom, SplitLeaveN and
// SplitByTime cut a set into train and test, which keep its shape and id maps. All of it depends
// on seeds alone, not on the number of threads.
package dataset
