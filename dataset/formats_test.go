package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestFormats reads small texts of every format and compares all that comes out.
func TestFormats(t *testing.T) {
	tests := []struct {
		name       string // of the case
		file       string // "x" where empty
		text       string
		opt        Options
		format     Format
		rows, cols int
		want       []entry
		users      []string
		items      []string
		time       []int64
	}{
		{name: "MatrixMarket", text: mtxText, format: MatrixMarket, rows: 3, cols: 4,
			want: []entry{{0, 0, 1.5}, {2, 3, -2000}, {1, 1, 0}, {0, 3, 7}, {0, 0, 8}}},
		{name: "MatrixMarket symmetric", text: "%%MatrixMarket MATRIX Coordinate integer symmetric\n3 3 3\n1 1 4\n2 1 -5\n3 2 6\n", format: MatrixMarket, rows: 3, cols: 3,
			want: []entry{{0, 0, 4}, {1, 0, -5}, {0, 1, -5}, {2, 1, 6}, {1, 2, 6}}},
		{name: "MatrixMarket skew-symmetric", text: "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 -5\n3 2 6\n", format: MatrixMarket, rows: 3, cols: 3,
			want: []entry{{1, 0, -5}, {0, 1, 5}, {2, 1, 6}, {1, 2, -6}}},
		{name: "MatrixMarket pattern, one %", text: "%MatrixMarket matrix coordinate pattern general\n2 9 2\n1 9\n2 1\n", format: MatrixMarket, rows: 2, cols: 9,
			want: []entry{{0, 8, 1}, {1, 0, 1}}},
		{name: "MatrixMarket symmetric pattern", text: "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", format: MatrixMarket, rows: 2, cols: 2,
			want: []entry{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}},
		{name: "MatrixMarket without entries", text: "%%MatrixMarket matrix coordinate real general\n5 6 0\n", format: MatrixMarket, rows: 5, cols: 6},
		{name: "MatrixMarket of nothing", text: "%%MatrixMarket matrix coordinate real general\n0 0 0\n", format: MatrixMarket},
		{name: "MatrixMarket, many rows", text: "%%MatrixMarket matrix coordinate real general\n2000000000 2147483647 2\n2000000000 2147483647 1\n1 1 2\n", format: MatrixMarket, rows: 2000000000, cols: 2147483647,
			want: []entry{{1999999999, 2147483646, 1}, {0, 0, 2}}},

		{name: "tabs", text: tsvText, format: Ratings, rows: 2, cols: 2, users: []string{"196", "186"}, items: []string{"242", "302"},
			want: []entry{{0, 0, 3}, {1, 1, 3}, {0, 1, 1.5}}, time: []int64{881250949, 891717742, 878887116}},
		{name: "double colons", text: "1::1193::5::978300760\n1::661::3::978302109\n", format: Ratings, rows: 1, cols: 2, users: []string{"1"}, items: []string{"1193", "661"},
			want: []entry{{0, 0, 5}, {0, 1, 3}}, time: []int64{978300760, 978302109}},
		{name: "CSV with header", text: "userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n7,31,3.0,1260759179\n", format: Ratings, rows: 2, cols: 1, users: []string{"1", "7"}, items: []string{"31"},
			want: []entry{{0, 0, 2.5}, {1, 0, 3}}, time: []int64{1260759144, 1260759179}},
		{name: "header in another order", text: "Timestamp;\"Rating\";ISBN;User-ID\n100;4;034545104X;276725\n-200;0.5;0155061224;276726\n", format: Ratings, rows: 2, cols: 2,
			users: []string{"276725", "276726"}, items: []string{"034545104X", "0155061224"},
			want: []entry{{0, 0, 4}, {1, 1, 0.5}}, time: []int64{100, -200}},
		{name: "quotes, commas, other scripts", text: "user,item,rating\nZoë,\"Crouching Tiger, Hidden Dragon\",5\n李, \"say \"\"hi\"\"\" ,4\n\"Zoë\",七人の侍,3\n", format: Ratings, rows: 2, cols: 3,
			users: []string{"Zoë", "李"}, items: []string{"Crouching Tiger, Hidden Dragon", `say "hi"`, "七人の侍"},
			want: []entry{{0, 0, 5}, {1, 1, 4}, {0, 2, 3}}},
		{name: "quotes are characters between tabs", text: "a\t\"Weird Al\" Yankovic\t3\nb\t\"x\ty\"\t4\n", format: Ratings, rows: 2, cols: 2,
			users: []string{"a", "b"}, items: []string{`"Weird Al" Yankovic`, "x\ty"}, want: []entry{{0, 0, 3}, {1, 1, 4}}},
		{name: "bars", text: "1|2|3\n4|5|6\n", format: Ratings, rows: 2, cols: 2, users: []string{"1", "4"}, items: []string{"2", "5"}, want: []entry{{0, 0, 3}, {1, 1, 6}}},
		{name: "blanks", text: " 10   20 3.5\n10  30\t4\n", format: Ratings, rows: 1, cols: 2, users: []string{"10"}, items: []string{"20", "30"}, want: []entry{{0, 0, 3.5}, {0, 1, 4}}},
		{name: "no rating", text: "u1,i1\nu2,i1\n", format: Ratings, rows: 2, cols: 1, users: []string{"u1", "u2"}, items: []string{"i1"}, want: []entry{{0, 0, 1}, {1, 0, 1}}},
		{name: "no rating with header", text: "userID\tfriendID\n2\t275\n", format: Ratings, rows: 1, cols: 1, users: []string{"2"}, items: []string{"275"}, want: []entry{{0, 0, 1}}},
		{name: "play counts", text: "userID\tartistID\tweight\n2\t51\t13883\n", format: Ratings, rows: 1, cols: 1, users: []string{"2"}, items: []string{"51"}, want: []entry{{0, 0, 13883}}},
		{name: "ids of other kinds are no ratings", text: "userID\tartistID\ttagID\tday\n2\t52\t13\t1\n2\t52\t15\t1\n", format: Ratings, rows: 1, cols: 1, users: []string{"2"}, items: []string{"52"},
			want: []entry{{0, 0, 1}, {0, 0, 1}}},
		{name: "the only column left", text: "user_id,item_id,liking\n1,2,0.25\n", format: Ratings, rows: 1, cols: 1, users: []string{"1"}, items: []string{"2"}, want: []entry{{0, 0, 0.25}}},
		{name: "chosen columns", text: "userID\tartistID\ttagID\tday\n2\t52\t13\t1\n2\t52\t15\t1\n", opt: Options{Columns: Columns{User: "artistID", Item: "tagID", Rating: "3", Time: NoColumn}}, format: Ratings, rows: 1, cols: 2,
			users: []string{"52"}, items: []string{"13", "15"}, want: []entry{{0, 0, 1}, {0, 1, 1}}},
		{name: "columns by position, no rating", text: tsvText, opt: Options{Columns: Columns{User: "1", Item: "0", Rating: NoColumn, Time: NoColumn}}, format: Ratings, rows: 2, cols: 2,
			users: []string{"242", "302"}, items: []string{"196", "186"}, want: []entry{{0, 0, 1}, {1, 1, 1}, {1, 0, 1}}},
		{name: "a header that is denied", text: "user,item\nuser,thing\n", opt: Options{Header: HeaderAbsent}, format: Ratings, rows: 1, cols: 2,
			users: []string{"user"}, items: []string{"item", "thing"}, want: []entry{{0, 0, 1}, {0, 1, 1}}},
		{name: "a header that is asserted", text: "1,2,3\n4,5,6\n", opt: Options{Header: HeaderPresent}, format: Ratings, rows: 1, cols: 1,
			users: []string{"4"}, items: []string{"5"}, want: []entry{{0, 0, 6}}},
		{name: "names that look alike", text: "1,a,1\n01,a,2\n1.0,a,3\n+1,a,4\n", format: Ratings, rows: 4, cols: 1, users: []string{"1", "01", "1.0", "+1"}, items: []string{"a"},
			want: []entry{{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {3, 0, 4}}},
		{name: "dates", text: "user,item,rating,date\na,b,1,1970-01-02\na,b,2,1970-01-01 00:01:00\na,c,3,1970-01-01T01:00:01+01:00\na,d,3,12.9\n", format: Ratings, rows: 1, cols: 3, users: []string{"a"}, items: []string{"b", "c", "d"},
			want: []entry{{0, 0, 1}, {0, 0, 2}, {0, 1, 3}, {0, 2, 3}}, time: []int64{86400, 60, 1, 12}},
		{name: "comments before ratings", text: "# exported\n\nu,i,5\n#u,i,4\n", format: Ratings, rows: 2, cols: 1, users: []string{"u", "#u"}, items: []string{"i"}, want: []entry{{0, 0, 5}, {1, 0, 4}}},
		{name: "two columns of numbers with commas", text: "1,2\n3,4\n", format: Ratings, rows: 2, cols: 2, users: []string{"1", "3"}, items: []string{"2", "4"}, want: []entry{{0, 0, 1}, {1, 1, 1}}},

		{name: "edges", text: edgesText, format: Edges, rows: 5, cols: 5, want: []entry{{0, 1, 1}, {0, 4, 1}, {3, 2, 1}}},
		{name: "edges without comments", text: "0\t1\t\r\n2\t0\t\r\n", format: Edges, rows: 3, cols: 3, want: []entry{{0, 1, 1}, {2, 0, 1}}},
		{name: "edges with weights", text: "% sym\n0 1 0.5\n2 0 -1\n", format: Edges, rows: 3, cols: 3, want: []entry{{0, 1, 0.5}, {2, 0, -1}}},
		{name: "edges, symmetric", text: "0 1\n2 2\n", opt: Options{Symmetric: true}, format: Edges, rows: 3, cols: 3, want: []entry{{0, 1, 1}, {1, 0, 1}, {2, 2, 1}}},
		{name: "edges, declared", text: "0 1\n2 0\n", opt: Options{Rows: 10, Cols: 2}, format: Edges, rows: 10, cols: 2, want: []entry{{0, 1, 1}, {2, 0, 1}}},
		{name: "edge of the index range", text: "0 2147483646\n", format: Edges, rows: 2147483647, cols: 2147483647, want: []entry{{0, 2147483646, 1}}},

		{name: "docword", text: docwordText, format: Docword, rows: 3, cols: 5, want: []entry{{0, 0, 2}, {0, 4, 1}, {2, 1, 7}, {2, 3, 1}}},
		{name: "docword without words", text: "3\n5\n0\n", format: Docword, rows: 3, cols: 5},
		{name: "SVMlight", text: svmText, format: SVMlight, rows: 4, cols: 3, want: []entry{{0, 0, 0.5}, {0, 2, 1}, {1, 1, 2.5}, {3, 2, 1}}},
		{name: "SVMlight, many labels", text: "1,3 2:1\n", format: SVMlight, rows: 1, cols: 2, want: []entry{{0, 1, 1}}},
		{name: "SVMlight by its name", file: "a.svm.gz", text: "1 1:1\n1 2:1\n", format: SVMlight, rows: 2, cols: 2, want: []entry{{0, 0, 1}, {1, 1, 1}}},
		{name: "LDA-C", text: ldacText, format: LDAC, rows: 3, cols: 5, want: []entry{{0, 0, 1}, {0, 4, 3}, {2, 2, 5}}},
		{name: "LDA-C, declared", text: ldacText, opt: Options{Rows: 7, Cols: 9}, format: LDAC, rows: 7, cols: 9, want: []entry{{0, 0, 1}, {0, 4, 3}, {2, 2, 5}}},
		{name: "adjacency", text: adjacencyText, format: Adjacency, rows: 5, cols: 6,
			want: []entry{{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 5, 1}, {1, 4, 1}, {4, 0, 1}, {4, 1, 1}}},
		{name: "adjacency, last row empty", text: "0 1\n7\n", format: Adjacency, rows: 8, cols: 2, want: []entry{{0, 1, 1}}},
		{name: "adjacency, as many each", text: "0 9 8\n1 7 6\n2 5 4\n3 3 2\n5 1 1\n", format: Adjacency, rows: 6, cols: 10,
			want: []entry{{0, 9, 1}, {0, 8, 1}, {1, 7, 1}, {1, 6, 1}, {2, 5, 1}, {2, 4, 1}, {3, 3, 1}, {3, 2, 1}, {5, 1, 1}, {5, 1, 1}}},
		{name: "SMTX", text: smtxText, format: SMTX, rows: 3, cols: 5, want: []entry{{0, 0, 1}, {0, 3, 1}, {2, 1, 1}, {2, 4, 1}}},
		{name: "SMTX on many lines", file: "a.smtx", text: "2,2,2\n0\n1\n2\n\n1\n0", format: SMTX, rows: 2, cols: 2, want: []entry{{0, 1, 1}, {1, 0, 1}}},
		{name: "SMTX of nothing", file: "a.smtx", text: "0, 0, 0\n0\n\n", format: SMTX},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := tt.file
			if file == "" {
				file = "x"
			}
			s, err := readString[float64](file, tt.text, tt.opt)
			if err != nil {
				t.Fatal(err)
			}
			checkSet(t, s)
			if s.Format != tt.format {
				t.Errorf("read as %s, want %s", s.Format, tt.format)
			}
			if s.COO.Rows != tt.rows || s.COO.Cols != tt.cols {
				t.Errorf("%d×%d, want %d×%d", s.COO.Rows, s.COO.Cols, tt.rows, tt.cols)
			}
			if got := entriesOf(s); !slices.Equal(got, tt.want) {
				t.Errorf("entries %v, want %v", got, tt.want)
			}
			for _, c := range []struct {
				ids  *IDs
				want []string
			}{{s.Rows, tt.users}, {s.Cols, tt.items}} {
				if (c.ids == nil) != (c.want == nil) || c.ids != nil && !slices.Equal(c.ids.Names(), c.want) {
					t.Errorf("names %q, want %q", c.ids, c.want)
				}
			}
			if !slices.Equal(s.Time, tt.time) {
				t.Errorf("times %v, want %v", s.Time, tt.time)
			}
			checkRead(t, file, []byte(tt.text), tt.opt)
		})
	}
}

// Matrices made at random, written in every format by the plainest code, come back as they were.
func TestRoundTrips(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		rows, cols := 1+r.IntN(40), 1+r.IntN(40)
		var all []entry
		for i := range rows {
			for j := range cols {
				if r.IntN(6) == 0 {
					all = append(all, entry{int32(i), int32(j), float64(r.IntN(100)) / 8})
				}
			}
		}
		ones := slices.Clone(all)
		for i := range ones {
			ones[i].val = 1
		}
		var mtx, docword, edges, ldac, svm, adjacency, smtx, columns strings.Builder
		fmt.Fprintf(&mtx, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", rows, cols, len(all))
		fmt.Fprintf(&docword, "%d\n%d\n%d\n", rows, cols, len(all))
		fmt.Fprintf(&smtx, "%d, %d, %d\n0 ", rows, cols, len(all))
		at := 0
		for i := range rows {
			var row []entry
			for _, e := range all {
				if int(e.row) == i {
					row = append(row, e)
				}
			}
			fmt.Fprintf(&ldac, "%d", len(row))
			fmt.Fprintf(&svm, "%d", r.IntN(3)-1)
			fmt.Fprintf(&adjacency, "%d", i)
			at += len(row)
			fmt.Fprintf(&smtx, "%d ", at)
			for _, e := range row {
				fmt.Fprintf(&mtx, "%d %d %v\n", e.row+1, e.col+1, e.val)
				fmt.Fprintf(&docword, "%d %d %v\n", e.row+1, e.col+1, e.val)
				fmt.Fprintf(&edges, "%d\t%d\t%v\n", e.row, e.col, e.val)
				fmt.Fprintf(&ldac, " %d:%v", e.col, e.val)
				fmt.Fprintf(&svm, " %d:%v", e.col+1, e.val)
				fmt.Fprintf(&adjacency, " %d", e.col)
				fmt.Fprintf(&columns, " %d", e.col)
			}
			fmt.Fprintln(&ldac)
			fmt.Fprintln(&svm)
			fmt.Fprintln(&adjacency)
		}
		fmt.Fprintf(&smtx, "\n%s\n", columns.String())
		for _, c := range []struct {
			format Format
			text   string
			want   []entry
		}{
			{MatrixMarket, mtx.String(), all}, {Docword, docword.String(), all}, {Edges, edges.String(), all}, {LDAC, ldac.String(), all},
			{SVMlight, svm.String(), all}, {Adjacency, adjacency.String(), ones}, {SMTX, smtx.String(), ones},
		} {
			opt := Options{Format: c.format, Rows: rows, Cols: cols, block: 1 + r.IntN(200)}
			s, err := readString[float64]("x", c.text, opt)
			if err != nil && len(all) == 0 && c.format == Edges {
				continue // a list of no edges is an error
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", c.format, err, c.text)
			}
			checkSet(t, s)
			if got := entriesOf(s); !slices.Equal(got, c.want) || s.COO.Rows != rows || s.COO.Cols != cols {
				t.Fatalf("%s: %d×%d %v, want %d×%d %v", c.format, s.COO.Rows, s.COO.Cols, got, rows, cols, c.want)
			}
		}
	}
}

// A test file continues the id maps of its training file.
func TestContinuedIDs(t *testing.T) {
	train, err := readString[float32]("train.csv", "u1,i1,5\nu2,7,4\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	test, err := readString[float32]("test.csv", "u3,7,1\nu2,i9,2\nu2,i1,3\n", Options{RowIDs: train.Rows, ColIDs: train.Cols})
	if err != nil {
		t.Fatal(err)
	}
	checkSet(t, test)
	if got, want := entriesOf(test), []entry{{2, 1, 1}, {1, 2, 2}, {1, 0, 3}}; !slices.Equal(got, want) {
		t.Errorf("entries %v, want %v", got, want)
	}
	if got, want := test.Rows.Names(), []string{"u1", "u2", "u3"}; !slices.Equal(got, want) {
		t.Errorf("users %q, want %q", got, want)
	}
	if train.Rows.Len() != 2 || train.Cols.Len() != 2 {
		t.Error("the maps of the training file have changed")
	}
	again, err := readString[float32]("test.csv", "u2,i1,3\n", Options{RowIDs: train.Rows, ColIDs: train.Cols})
	if err != nil {
		t.Fatal(err)
	}
	if again.Rows != train.Rows || again.Cols != train.Cols || again.COO.Rows != 2 {
		t.Error("a file without new names does not share the maps")
	}
	// Two columns of numbers would be edges; with an id map to continue they are names.
	pairs, err := readString[float32]("pairs", "7 1\n8 7\n", Options{RowIDs: NewIDs([]string{"8"}), ColIDs: NewIDs([]string{"7"})})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := entriesOf(pairs), []entry{{1, 1, 1}, {0, 0, 1}}; pairs.Format != Ratings || !slices.Equal(got, want) {
		t.Errorf("%s %v, want ratings %v", pairs.Format, got, want)
	}
}

func FuzzMatrixMarket(f *testing.F) {
	seedsFrom(f, mtxText, "%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n",
		"%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n", "%%MatrixMarket matrix coordinate real general\n9 9 1000000000000000000\n")
	fuzzFormat(f, MatrixMarket)
}

func FuzzRatings(f *testing.F) {
	seedsFrom(f, tsvText, "1::1193::5::978300760\n", "userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n",
		"u;i;r\n\"a;b\";\"c\"\"d\";1\n", "a b\nc d\n", "a|b|1\n\"c|b|2\n", "user,item,rating,date\na,b,1,1970-01-02\n")
	fuzzFormat(f, Ratings)
}

func FuzzEdges(f *testing.F) {
	seedsFrom(f, edgesText, "0 1 2.5\n1 0 3\n", "0 2147483646\n")
	f.Fuzz(func(t *testing.T, data []byte) {
		checkRead(t, "f", data, Options{Format: Edges})
		checkRead(t, "f", data, Options{Format: Edges, Symmetric: true, Rows: 5})
	})
}

func FuzzDocword(f *testing.F) {
	seedsFrom(f, docwordText, "1\n1\n0\n")
	fuzzFormat(f, Docword)
}

func FuzzSVMlight(f *testing.F) {
	seedsFrom(f, svmText, "1,2 1:1\n")
	fuzzFormat(f, SVMlight)
}

func FuzzLDAC(f *testing.F) {
	seedsFrom(f, ldacText)
	fuzzFormat(f, LDAC)
}

func FuzzAdjacency(f *testing.F) {
	seedsFrom(f, adjacencyText)
	f.Fuzz(func(t *testing.T, data []byte) {
		checkRead(t, "f", data, Options{Format: Adjacency})
		checkRead(t, "f", data, Options{Format: Adjacency, Cols: 3})
	})
}

func FuzzSMTX(f *testing.F) {
	seedsFrom(f, smtxText, "0, 0, 0\n0\n")
	fuzzFormat(f, SMTX)
}

// FuzzDetect leaves the format to detection, compressed files included.
func FuzzDetect(f *testing.F) {
	seedsFrom(f, mtxText, tsvText, edgesText, docwordText, svmText, ldacText, adjacencyText, smtxText)
	for _, data := range compressed(f, tsvText) {
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, "f", data, Options{}) })
}

func fuzzFormat(f *testing.F, format Format) {
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, "f", data, Options{Format: format}) })
}
