package dataset

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

// ratingsText makes lines like those of MovieLens: users in runs, popular items first.
func ratingsText(lines int, delim, header string, half bool) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := []byte(header)
	user := 1
	for range lines {
		if r.IntN(100) == 0 {
			user++
		}
		item := 1 + int(60000*r.Float64()*r.Float64()*r.Float64())
		b = strconv.AppendInt(b, int64(user), 10)
		b = append(b, delim...)
		b = strconv.AppendInt(b, int64(item), 10)
		b = append(b, delim...)
		b = strconv.AppendInt(b, int64(r.IntN(5)), 10)
		if half {
			b = append(b, ".5"...)
		}
		b = append(b, delim...)
		b = strconv.AppendInt(b, 1100000000+int64(r.IntN(100000000)), 10)
		b = append(b, '\n')
	}
	return b
}

func namesText(lines int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	b := []byte("user,title,rating\n")
	for range lines {
		b = fmt.Appendf(b, "user-%d,\"The film, part %d\",%d\n", r.IntN(5000), r.IntN(3000), 1+r.IntN(5))
	}
	return b
}

func benchmarkRead(b *testing.B, name string, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadFrom[float32](context.Background(), name, bytes.NewReader(data), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseRatings reads generated ratings from memory, detection and id maps included.
func BenchmarkParseRatings(b *testing.B) {
	const lines = 2_000_000
	for _, bb := range []struct {
		name string
		text func() []byte
	}{
		{"tsv", func() []byte { return ratingsText(lines, "\t", "", false) }},
		{"csv", func() []byte { return ratingsText(lines, ",", "userId,movieId,rating,timestamp\n", true) }},
		{"colons", func() []byte { return ratingsText(lines, "::", "", false) }},
		{"blanks", func() []byte { return ratingsText(lines, " ", "", false) }},
		{"names", func() []byte { return namesText(lines) }},
	} {
		b.Run(bb.name, func(b *testing.B) { benchmarkRead(b, "ratings", bb.text()) })
	}
}

func BenchmarkParseMatrixMarket(b *testing.B) {
	const nnz = 2_000_000
	for _, bb := range []struct {
		name  string
		value func(*rand.Rand) string
	}{
		{"pattern", func(*rand.Rand) string { return "" }},
		{"short", func(r *rand.Rand) string { return fmt.Sprintf(" %.3f", r.NormFloat64()) }},
		{"full", func(r *rand.Rand) string { return " " + strconv.FormatFloat(r.NormFloat64(), 'g', -1, 64) }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(5, 6))
			field := "real"
			if bb.name == "pattern" {
				field = "pattern"
			}
			data := fmt.Appendf(nil, "%%%%MatrixMarket matrix coordinate %s general\n100000 100000 %d\n", field, nnz)
			for range nnz {
				data = fmt.Appendf(data, "%d %d%s\n", 1+r.IntN(100000), 1+r.IntN(100000), bb.value(r))
			}
			benchmarkRead(b, "a.mtx", data)
		})
	}
}

func BenchmarkParseIndices(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	var adjacency, svm []byte
	for u := range 40000 {
		adjacency = strconv.AppendInt(adjacency, int64(u), 10)
		svm = append(svm, '1')
		for range 20 + r.IntN(20) {
			adjacency = fmt.Appendf(adjacency, " %d", r.IntN(50000))
			svm = fmt.Appendf(svm, " %d:%d", 1+r.IntN(50000), r.IntN(9))
		}
		adjacency = append(adjacency, '\n')
		svm = append(svm, '\n')
	}
	const rows, perRow = 20000, 60
	smtx := fmt.Appendf(nil, "%d, 4096, %d\n0", rows, rows*perRow)
	for i := range rows {
		smtx = fmt.Appendf(smtx, " %d", (i+1)*perRow)
	}
	smtx = append(smtx, '\n')
	for range rows * perRow {
		smtx = fmt.Appendf(smtx, "%d ", r.IntN(4096))
	}
	b.Run("adjacency", func(b *testing.B) { benchmarkRead(b, "a.txt", adjacency) })
	b.Run("svmlight", func(b *testing.B) { benchmarkRead(b, "a.svm", svm) })
	b.Run("smtx", func(b *testing.B) { benchmarkRead(b, "a.smtx", smtx) })
}

func BenchmarkParseFloat(b *testing.B) {
	for _, s := range []string{"3.5", "881250949", "-0.12345678", "1.2345678901234567e-5"} {
		b.Run(s, func(b *testing.B) {
			text := []byte(s)
			for b.Loop() {
				parsed, _ = parseFloat[float64](text)
			}
		})
	}
}

var parsed float64
