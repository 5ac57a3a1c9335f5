package dataset

// Options says how a file is read. The zero value detects everything.
type Options struct {
	Format  Format // "" and Auto detect it
	Threads int    // goroutines that parse; 0 means one per CPU. The result does not depend on it

	// Rows and Cols, where positive, declare the shape. An index outside it is an error, and so
	// is a file whose own header says something else. Ratings take no declared shape: theirs is
	// the number of names.
	Rows, Cols int

	Header  HeaderMode // ratings as text: whether the first line names the columns
	Columns Columns    // ratings as text, and Parquet: which column is what

	// RowIDs and ColIDs continue the id maps of another file, so that a test file gets the
	// indices of its training file. Known names keep their index; new names follow in a copy of
	// the map, and the map passed in is left as it is. Only formats with names take them.
	RowIDs, ColIDs *IDs

	// Symmetric stores each edge of an edge list in both directions. MatrixMarket files say
	// for themselves whether they are symmetric.
	Symmetric bool

	// MaxLine is the longest line accepted, in bytes; 0 means 16 MiB. SMTX files have no limit:
	// each of their lines is a whole array.
	MaxLine int

	block int // bytes parsed at a time; 0 means 1 MiB. Tests make it tiny
}

// Columns chooses columns by their name in the header or by 0-based position ("0", "3").
// An empty string leaves the choice to the reader.
type Columns struct {
	User, Item string
	Rating     string // NoColumn: every entry is 1
	Time       string // NoColumn: no times
}

// NoColumn as Columns.Rating or Columns.Time says not to look for such a column.
const NoColumn = "-"

// HeaderMode says whether the first line of a ratings file names the columns.
type HeaderMode uint8

const (
	HeaderAuto    HeaderMode = iota // look at the first lines
	HeaderPresent                   // the first line names the columns
	HeaderAbsent                    // the first line is data
)
