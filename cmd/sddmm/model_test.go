package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sddmmkit/factors"
)

// trained trains on a ratings file and returns the file and the directory of the model.
func trained(t *testing.T, args ...string) (ratings, dir string) {
	t.Helper()
	ratings, dir = write(t, "r.csv", ratingsCSV(40, 30)), t.TempDir()
	good(t, append([]string{"als", "--train", ratings, "--rank", "4", "--iters", "5", "--biases", "--mean", "--out", dir, "--quiet"}, args...)...)
	return ratings, dir
}

// lists returns the ids and scores of every list of recommendations, or of similar items.
func lists(t *testing.T, stdout, event, field string) (ids [][]string, scores [][]float64) {
	t.Helper()
	for _, e := range events(t, stdout) {
		if e["event"] != event {
			continue
		}
		var id []string
		var score []float64
		for k, x := range e[field].([]any) {
			l := x.(map[string]any)
			if l["place"] != float64(k+1) {
				t.Errorf("place %v at %d", l["place"], k+1)
			}
			id, score = append(id, l["id"].(string)), append(score, l["score"].(float64))
		}
		ids, scores = append(ids, id), append(scores, score)
	}
	return ids, scores
}

func TestRecommend(t *testing.T) {
	_, dir := trained(t)
	m, err := factors.Load[float32](filepath.Join(dir, modelFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{dir, filepath.Join(dir, modelFile)} {
		o := good(t, "recommend", "--model", model, "--user", "u3", "--user", "u7", "-n", "6", "--json")
		got, scores := lists(t, o.stdout, "recommendation", "items")
		if len(got) != 2 || len(got[0]) != 6 || len(got[1]) != 6 {
			t.Fatalf("%s", o.stdout)
		}
		for k, name := range []string{"u3", "u7"} {
			u, _ := m.UserIndex(name)
			want, err := m.TopN(t.Context(), u, 6, factors.TopOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for p, w := range want {
				if got[k][p] != w.Name || scores[k][p] != w.Score {
					t.Errorf("%s, place %d: %s with %v; want %s with %v", name, p+1, got[k][p], scores[k][p], w.Name, w.Score)
				}
				i, _ := m.ItemIndex(got[k][p])
				if slices.Contains(m.Seen.Row(u), int32(i)) {
					t.Errorf("%s has seen %s", name, got[k][p])
				}
			}
		}
		if last(t, o.stdout)["command"] != "recommend" {
			t.Errorf("%s", o.stdout)
		}
	}
	// Everything, and no more than there is: 30 items less 10 or fewer seen ones.
	u, _ := m.UserIndex("u3")
	o := good(t, "recommend", "--model", dir, "--user", "u3", "-n", "1000", "--json")
	if got, _ := lists(t, o.stdout, "recommendation", "items"); len(got[0]) != 30-len(m.Seen.Row(u)) {
		t.Errorf("%d items; want all but the %d seen", len(got[0]), len(m.Seen.Row(u)))
	}
	o = good(t, "recommend", "--model", dir, "--user", "u3", "-n", "1000", "--json", "--exclude-seen=false")
	if got, _ := lists(t, o.stdout, "recommendation", "items"); len(got[0]) != 30 {
		t.Errorf("%d items; want all 30", len(got[0]))
	}
	bad(t, exitFailed, []string{`"nobody"`, "40 users", `"u0"`, "ratings"}, "recommend", "--model", dir, "--user", "nobody")
}

// A user without ratings gets what is popular, and is told so.
func TestRecommendColdUser(t *testing.T) {
	train := write(t, "train.csv", "user,item,rating\nann,x,5\nbob,x,4\nbob,y,1\neve,y,2\neve,x,2\neve,z,3\n")
	test := write(t, "test.csv", "user,item,rating\nzoe,x,3\n")
	dir := t.TempDir()
	good(t, "als", "--train", train, "--test", test, "--rank", "2", "--iters", "2", "--out", dir, "--quiet")
	o := good(t, "recommend", "--model", dir, "--user", "zoe", "--json")
	got, scores := lists(t, o.stdout, "recommendation", "items")
	if !slices.Equal(got[0], []string{"x", "y", "z"}) || !slices.Equal(scores[0], []float64{3, 2, 1}) || events(t, o.stdout)[0]["ranked_by"] != "popularity" {
		t.Errorf("%s", o.stdout)
	}
	if o := good(t, "recommend", "--model", dir, "--user", "zoe"); !strings.Contains(o.stdout, "most popular") {
		t.Errorf("%s", o.stdout)
	}
}

// Folding in the ratings of a training user gives that user's list, whatever the order of the
// columns and of the items in the file.
func TestRecommendNewUser(t *testing.T) {
	for _, args := range [][]string{nil, {"--precision", "64"}} {
		ratings, dir := trained(t, append(args, "--iters", "30", "--cg-steps", "20")...)
		text, err := os.ReadFile(ratings)
		if err != nil {
			t.Fatal(err)
		}
		var mine []string
		for _, line := range strings.Split(string(text), "\n") {
			if f := strings.Split(line, ","); f[0] == "u5" {
				mine = append(mine, fmt.Sprintf("%s\t%s\tme\n", f[1], f[2]))
			}
		}
		slices.Reverse(mine)
		file := write(t, "mine.tsv", "movie\tstars\twho\n"+strings.Join(mine, "")+"nowhere\t3\tme\n")
		o := good(t, "recommend", "--model", dir, "--ratings", file, "--columns", "user=who,item=movie,rating=stars", "--json")
		if !strings.Contains(o.stderr, `1 items are not in the model`) || !strings.Contains(o.stderr, `"nowhere"`) {
			t.Errorf("stderr %q; want the unknown item", o.stderr)
		}
		got, scores := lists(t, o.stdout, "recommendation", "items")
		want, wantScores := lists(t, good(t, "recommend", "--model", dir, "--user", "u5", "--json").stdout, "recommendation", "items")
		if events(t, o.stdout)[0]["user"] != "me" || num(t, events(t, o.stdout)[0], "seen") != float64(len(mine)) {
			t.Errorf("%s", o.stdout)
		}
		for p := range want[0] {
			if p > len(got[0]) || math.Abs(scores[0][p]-wantScores[0][p]) > 0.02 {
				t.Fatalf("place %d: %v %v; want %v %v", p+1, got, scores, want, wantScores)
			}
		}
		bad(t, exitFailed, []string{"none of its items"}, "recommend", "--model", dir, "--ratings", write(t, "x.csv", "user,item,rating\na,b,1\na,c,2\n"))
		bad(t, exitFailed, []string{`"you"`, "mine.tsv"}, "recommend", "--model", dir, "--ratings", file, "--columns", "user=who,item=movie,rating=stars", "--user", "you")
	}
}

// A model of a matrix without names takes new users by column number.
func TestRecommendNewUserByIndex(t *testing.T) {
	dir := t.TempDir()
	good(t, "als", "--train", "ratings:50x20:400:2:0.3", "--rank", "2", "--iters", "5", "--out", dir, "--quiet")
	o := good(t, "recommend", "--model", dir, "--ratings", write(t, "new.csv", "user,item,rating\nme,3,1\nme,19,-1\nme,20,1\n"), "-n", "100", "--json")
	got, _ := lists(t, o.stdout, "recommendation", "items")
	if len(got[0]) != 18 || slices.Contains(got[0], "3") || slices.Contains(got[0], "19") || !strings.Contains(o.stderr, `"20"`) {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
	mtx := write(t, "new.mtx", "%%MatrixMarket matrix coordinate real general\n2 20 3\n1 4 1\n1 20 -1\n2 1 1\n")
	o = good(t, "recommend", "--model", dir, "--ratings", mtx, "--format", "mtx", "-n", "100", "--json")
	if also, _ := lists(t, o.stdout, "recommendation", "items"); len(also) != 2 || !slices.Equal(also[0], got[0]) {
		t.Errorf("%v; want %v first", also, got)
	}
	bad(t, exitFailed, []string{"0 to 49"}, "recommend", "--model", dir, "--user", "50")
	bad(t, exitFailed, []string{"0 to 49"}, "recommend", "--model", dir, "--user", "01")
}

func TestTitles(t *testing.T) {
	_, dir := trained(t)
	titles := write(t, "titles.csv", "id,year,title\ni1,1990,\"Nikita, La Femme\"\ni2,1995,Heat\ni3,1984,Am\xe9lie\n")
	o := good(t, "recommend", "--model", dir, "--user", "u3", "-n", "30", "--exclude-seen=false", "--titles", titles)
	for _, want := range []string{"i1   Nikita, La Femme\n", "i2   Heat\n", "i3   Amélie\n"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("want %q in\n%s", want, o.stdout)
		}
	}
	o = good(t, "similar", "--model", dir, "--item", "i2", "--titles", titles)
	if !strings.Contains(o.stdout, "like item i2 (Heat)") {
		t.Errorf("%s", o.stdout)
	}
	bad(t, exitFailed, []string{`"i1" (Nikita, La Femme)`}, "similar", "--model", dir, "--item", "nikita", "--titles", titles)
	bad(t, exitFailed, []string{"none of its 1 ids"}, "similar", "--model", dir, "--item", "i2", "--titles", write(t, "t.csv", "x,y\n"))
	bad(t, exitFailed, []string{"no-such-file"}, "recommend", "--model", dir, "--user", "u3", "--titles", "no-such-file")
}

func TestSimilar(t *testing.T) {
	_, dir := trained(t)
	m, err := factors.Load[float32](filepath.Join(dir, modelFile))
	if err != nil {
		t.Fatal(err)
	}
	got, scores := lists(t, good(t, "similar", "--model", dir, "--item", "i4", "--item", "i9", "-n", "3", "--json").stdout, "similar", "similar")
	for k, name := range []string{"i4", "i9"} {
		i, _ := m.ItemIndex(name)
		want, err := m.SimilarItems(t.Context(), i, 3)
		if err != nil {
			t.Fatal(err)
		}
		for p, w := range want {
			if got[k][p] != w.Name || scores[k][p] != w.Score {
				t.Errorf("like %s, place %d: %s %v; want %s %v", name, p+1, got[k][p], scores[k][p], w.Name, w.Score)
			}
		}
	}
	got, _ = lists(t, good(t, "similar", "--model", dir, "--user", "u4", "-n", "100", "--json").stdout, "similar", "similar")
	if len(got[0]) != 39 || slices.Contains(got[0], "u4") {
		t.Errorf("like u4: %v", got[0])
	}
	bad(t, exitFailed, []string{"no item", `"u4"`}, "similar", "--model", dir, "--item", "u4")
	if o := good(t, "similar", "--model", dir, "--item", "i4"); !strings.Contains(o.stdout, "like item i4; cosine\n   1  ") {
		t.Errorf("%s", o.stdout)
	}
}
