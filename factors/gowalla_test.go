package factors

import (
	"bufio"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"sddmmkit/sparse"
)

// dataFile opens a compressed file of the data sets: below SDDMMKIT_DATA, or ../shared/data beside
// the module. Without it the test is skipped.
func dataFile(t *testing.T, name string) *gzip.Reader {
	t.Helper()
	dir := os.Getenv("SDDMMKIT_DATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		t.Skipf("no data: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// The popularity baseline on the Gowalla split of LightGCN, against counting and sorting in plain loops.
func TestPopularityOnGowalla(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a million pairs")
	}
	const users, items = 29858, 40981
	read := func(names ...string) *sparse.Pattern {
		rows := make([][]int32, users)
		for _, name := range names {
			lines := bufio.NewScanner(dataFile(t, "gowalla-lightgcn/"+name))
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				fields := strings.Fields(lines.Text())
				u := -1
				for k, f := range fields {
					n, err := strconv.Atoi(f)
					if err != nil {
						t.Fatal(err)
					}
					if k == 0 {
						u = n
					} else {
						rows[u] = append(rows[u], int32(n))
					}
				}
			}
			if lines.Err() != nil {
				t.Fatal(lines.Err())
			}
		}
		return patternOf(items, rows...)
	}
	train := read("train.txt.gz", "valid.txt.gz")
	test := read("test.txt.gz")
	p, err := NewPopularity(train, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Evaluate(bg, p, train, test, EvaluateOptions{N: 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", got)

	count := make([]int, items)
	for _, i := range train.ColIdx {
		count[i]++
	}
	order := make([]int32, items)
	for i := range order {
		order[i] = int32(i)
	}
	sort.SliceStable(order, func(a, b int) bool { return count[order[a]] > count[order[b]] })
	var recall, ndcg float64
	for u := range users {
		hits, place := 0, 0
		var dcg, ideal float64
		for _, i := range order {
			if slices.Contains(train.Row(u), i) {
				continue
			}
			if place++; place > 20 {
				break
			}
			w := 1 / math.Log2(float64(place+1))
			if slices.Contains(test.Row(u), i) {
				hits++
				dcg += w
			}
			if place <= len(test.Row(u)) {
				ideal += w
			}
		}
		recall += float64(hits) / float64(len(test.Row(u)))
		ndcg += dcg / ideal
	}
	recall /= users
	ndcg /= users
	if got.Users != users || math.Abs(got.Recall-recall) > 1e-12 || math.Abs(got.NDCG-ndcg) > 1e-12 {
		t.Errorf("Recall@20 %v and NDCG@20 %v of %d users; want %v and %v of %d", got.Recall, got.NDCG, got.Users, recall, ndcg, users)
	}
}
