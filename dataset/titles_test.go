package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"sddmmkit/internal/realdata"
)

func TestReadTitles(t *testing.T) {
	want := map[string]string{"1": "Toy Story (1995)", "22": "Nikita, La Femme", "3": "Amélie"}
	for name, text := range map[string]string{
		"u.item":                   "1|Toy Story (1995)|01-Jan-1995||http://x::y\n22|Nikita, La Femme|x||\n3|Am\xe9lie|x||\n",
		"movies.csv":               "movieId,title,genres\n1,Toy Story (1995),A|B\n22,\"Nikita, La Femme\",A\n3,Amélie,(none)\n",
		"without header":           "1,Toy Story (1995),A|B\n22,\"Nikita, La Femme\",A\n3,Amélie,(none)\n",
		"movies.dat":               "1::Toy Story (1995)::A|B\r\n22::Nikita, La Femme::A\r\n3::Am\xe9lie::B\r\n",
		"artists.dat":              "id\tname\turl\n1\tToy Story (1995)\thttp\n22\tNikita, La Femme\t\n3\tAmélie\thttp\n",
		"another column":           "\xef\xbb\xbfid;year;Name\n1;1995;Toy Story (1995)\n22;1990;\"Nikita, La Femme\"\n3;2001;Amélie\n",
		"blank lines, last counts": "\n1|Old|\n\n1|Toy Story (1995)\n22|Nikita, La Femme\n 3 | Amélie \n\n",
	} {
		got, err := readTitles(name, strings.NewReader(text))
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	// Between tabs a quote is a character.
	got, err := readTitles("artists.dat", strings.NewReader("1\t\"Weird Al\" Yankovic\n2\t\"Heroes\n"))
	if err != nil || got["1"] != `"Weird Al" Yankovic` || got["2"] != `"Heroes` {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReadTitlesErrors(t *testing.T) {
	var half bytes.Buffer
	z := gzip.NewWriter(&half)
	z.Write([]byte("1|Toy Story\n2|Heat\n"))
	z.Close()
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "empty: got no titles"},
		{"words", "just words\n", "words:1: "},
		{"short", "1|a|b\n\n2\n", `short:3: got "2"`},
		{"quote", "1,\"a\n2,b\n", "quote:1: "},
		{"header only", "id,title\n", "no titles"},
		{"binary", "1|\x00\x01", "binary:1: got binary data"},
		{"long", "1|" + strings.Repeat("x", 100<<10), "long:1: "},
		{"half", half.String()[:half.Len()-12], "half:"},
		{"packed", "BZh91AY", "bzip2"},
	} {
		if _, err := readTitles(c.name, strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
	if _, err := ReadTitles(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := ReadTitles(t.Context(), "no-such-file"); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "t")
	if err := os.WriteFile(path, []byte("1|a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTitles(ctx, path); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

func TestReadRealTitles(t *testing.T) {
	for _, c := range []struct {
		elem      []string
		count     int
		id, title string
	}{
		{[]string{"movielens-100k", "u.item.gz"}, 1682, "543", "Misérables, Les (1995)"},
		{[]string{"movielens-latest-small-2016", "movies.csv.gz"}, 9125, "11", "American President, The (1995)"},
		{[]string{"lastfm-hetrec2011", "artists.dat.gz"}, 17632, "1", "MALICE MIZER"},
	} {
		got, err := ReadTitles(t.Context(), realdata.Path(t, c.elem...))
		if err != nil || len(got) != c.count || got[c.id] != c.title {
			t.Errorf("%v: %d titles, %q for %s, %v", c.elem, len(got), got[c.id], c.id, err)
		}
	}
}

func FuzzTitles(f *testing.F) {
	for _, s := range []string{"1|a|b\n2|\xe9\n", "id,title\n1,\"a,\"\"b\"\n", "1::x::y\n", "id\tname\n1\t\"x\n", "\xef\xbb\xbfa;name\n1;2\n", "\n\n1,\n", "\x1f\x8b\x08"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		titles, err := readTitles("fuzz", bytes.NewReader(text))
		if (err == nil) == (len(titles) == 0) {
			t.Fatalf("%d titles and error %v", len(titles), err)
		}
		for id, title := range titles {
			if !utf8.ValidString(title) {
				t.Fatalf("title %q of %q is not UTF-8", title, id)
			}
		}
	})
}
