package dataset

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// manifestRow is a line of the data sets' MANIFEST.md.
type manifestRow struct {
	dataset, file, shape, nnz, notes string
}

func readManifest(t *testing.T) map[string]manifestRow {
	t.Helper()
	f, err := os.Open(dataFile(t, "MANIFEST.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := map[string]manifestRow{}
	for s := bufio.NewScanner(f); s.Scan(); {
		c := strings.Split(s.Text(), " | ")
		if len(c) < 9 || strings.HasPrefix(c[0], "| dataset") || strings.HasPrefix(c[0], "| ---") {
			continue
		}
		r := manifestRow{strings.TrimPrefix(c[0], "| "), c[1], c[2], c[3], c[len(c)-1]}
		rows[path.Join(r.dataset, r.file)] = r
	}
	if len(rows) < 30 {
		t.Fatalf("MANIFEST.md: %d files understood, want at least 30", len(rows))
	}
	return rows
}

var number = regexp.MustCompile(`\d+`)

// numbersIn returns the whole numbers of a cell of the table.
func numbersIn(s string) []int {
	var n []int
	for _, m := range number.FindAllString(s, -1) {
		v, _ := strconv.Atoi(m)
		n = append(n, v)
	}
	return n
}

// TestManifest reads every file that holds a matrix and compares it with the table that comes
// with the data. Where the table counts something else than the matrix, the case says what.
func TestManifest(t *testing.T) {
	table := readManifest(t)
	tests := []struct {
		file   string
		format Format
		opt    Options
		shape  [2]int // where not that of the table
		nnz    int    // where not that of the table
	}{
		// Word 1995 does not occur in the test documents; the table counts the vocabulary.
		{file: "20news-nvdm/test.feat.gz", format: SVMlight, opt: Options{Cols: 1995}},
		{file: "20news-nvdm/train.feat.gz", format: SVMlight},
		// The shape that the table gives is that of the three splits together.
		{file: "gowalla-lightgcn/train.txt.gz", format: Adjacency, opt: Options{Rows: 29858, Cols: 40981}},
		{file: "gowalla-lightgcn/valid.txt.gz", format: Adjacency, opt: Options{Rows: 29858, Cols: 40981}, shape: [2]int{29858, 40981}},
		{file: "gowalla-lightgcn/test.txt.gz", format: Adjacency, opt: Options{Rows: 29858, Cols: 40981}, shape: [2]int{29858, 40981}},
		{file: "lastfm-hetrec2011/user_artists.dat.gz", format: Ratings},
		{file: "lastfm-hetrec2011/user_friends.dat.gz", format: Ratings},
		// A user tags an artist with several tags, so that the 186479 entries repeat cells.
		{file: "lastfm-hetrec2011/user_taggedartists.dat.gz", format: Ratings, shape: [2]int{1892, 12523}},
		{file: "law-cnr-2000/cnr-2000.mtx.gz", format: MatrixMarket},
		{file: "movielens-100k/u.data.gz", format: Ratings},
		{file: "movielens-latest-small-2016/ratings.csv.gz", format: Ratings},
		{file: "movielens-latest-small-2016/tags.csv.gz", format: Ratings, shape: [2]int{61, 689}, nnz: 1296},
		// The table counts the stored triangle; there are no self-loops.
		{file: "planetoid/citeseer.mtx.gz", format: MatrixMarket, nnz: 2 * 4552},
		{file: "planetoid/cora.mtx.gz", format: MatrixMarket, nnz: 2 * 5278},
		{file: "planetoid/pubmed.mtx.gz", format: MatrixMarket, nnz: 2 * 44324},
		{file: "suitesparse-snap/ca-CondMat.mtx.gz", format: MatrixMarket, nnz: 2*93497 - 58}, // 58 on the diagonal
		{file: "suitesparse-snap/p2p-Gnutella31.mtx.gz", format: MatrixMarket},
		// 317080 nodes carry an edge, but numbers go up to 425956.
		{file: "snap-com-dblp/dblp.csv.gz", format: Edges, shape: [2]int{425957, 425957}},
		{file: "snap-com-dblp/dblp.csv.gz", format: Edges, opt: Options{Symmetric: true}, shape: [2]int{425957, 425957}, nnz: 2 * 1049866},
		{file: "snap-email-Enron/email-Enron.txt.gz", format: Edges},
		{file: "snap-facebook_combined/facebook_combined.txt.gz", format: Edges},
		{file: "uci-bow-kos/docword.kos.txt.gz", format: Docword},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			row, ok := table[tt.file]
			if !ok {
				t.Fatal("not in MANIFEST.md")
			}
			rows, cols := tt.shape[0], tt.shape[1]
			if n := numbersIn(row.shape); rows == 0 && len(n) >= 2 {
				rows, cols = n[0], n[1]
			}
			nnz := tt.nnz
			if n := numbersIn(row.nnz); nnz == 0 && len(n) > 0 {
				nnz = n[0]
			}
			path := dataFile(t, filepath.FromSlash(tt.file))
			if info, err := os.Stat(path); testing.Short() && err == nil && info.Size() > 1<<20 {
				t.Skip("a large file, without -short")
			}
			s, err := Read[float32](context.Background(), path, tt.opt)
			if err != nil {
				t.Fatal(err)
			}
			if s.Format != tt.format {
				t.Errorf("read as %s, want %s", s.Format, tt.format)
			}
			if got, want := shapeString(s.COO.Rows, s.COO.Cols, int(s.COO.NNZ())), shapeString(rows, cols, nnz); got != want {
				t.Errorf("got %s, MANIFEST.md says %s", got, want)
			}
			checkSet(t, s)
		})
	}
}

func shapeString(rows, cols, nnz int) string {
	return fmt.Sprintf("%d×%d with %d entries", rows, cols, nnz)
}

// TestManifestDLMC reads every file of the pruned networks. The table has one line for each
// folder, with the number of files and the sum of their entries.
func TestManifestDLMC(t *testing.T) {
	folders := 0
	for name, row := range readManifest(t) {
		if row.dataset != "dlmc" {
			continue
		}
		folders++
		dir, rest, _ := strings.Cut(name, " ")
		files, err := filepath.Glob(filepath.Join(dataFile(t, filepath.FromSlash(dir)), "*.smtx.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() {
			files = files[:min(len(files), 5)]
		}
		var nnz int64
		for _, f := range files {
			s, err := Read[float32](context.Background(), f, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if s.Format != SMTX {
				t.Errorf("%s: read as %s", f, s.Format)
			}
			checkSet(t, s)
			nnz += s.COO.NNZ()
		}
		if want := numbersIn(rest)[0]; len(files) != want && !testing.Short() {
			t.Errorf("%s: %d files, want %d", dir, len(files), want)
		}
		if want := int64(numbersIn(row.nnz)[0]); nnz != want && !testing.Short() {
			t.Errorf("%s: %d entries, want %d", dir, nnz, want)
		}
	}
	if folders != 3 {
		t.Errorf("%d folders, want 3", folders)
	}
}
