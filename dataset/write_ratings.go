package dataset

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"sddmmkit/sparse"
)

// writeCSV writes a set as ratings separated by commas.
func writeCSV[T sparse.Float](w io.Writer, s *Set[T]) error { return writeRatings(w, s, ',') }

// writeTSV writes a set as ratings separated by tabs.
func writeTSV[T sparse.Float](w io.Writer, s *Set[T]) error { return writeRatings(w, s, '\t') }

func writeRatings[T sparse.Float](w io.Writer, s *Set[T], sep byte) error {
	users, err := fields(s.Rows, sep)
	if err != nil {
		return err
	}
	items, err := fields(s.Cols, sep)
	if err != nil {
		return err
	}
	b := make([]byte, 0, flushAt+1<<10)
	for i, column := range []string{"user", "item", "rating", "time"} {
		if column == "time" && s.Time == nil {
			break
		}
		if i > 0 {
			b = append(b, sep)
		}
		b = append(b, column...)
	}
	b = append(b, '\n')
	bits := bitSize[T]()
	for p, v := range s.COO.Val {
		b = appendField(b, users, s.COO.Row[p])
		b = append(b, sep)
		b = appendField(b, items, s.COO.Col[p])
		b = append(b, sep)
		b = strconv.AppendFloat(b, float64(v), 'g', -1, bits)
		if s.Time != nil {
			b = append(b, sep)
			b = strconv.AppendInt(b, s.Time[p], 10)
		}
		b = append(b, '\n')
		if len(b) >= flushAt {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err = w.Write(b)
	return err
}

// appendField appends the name of an index, or the index itself where there are no names.
func appendField(b []byte, names []string, i int32) []byte {
	if names == nil {
		return strconv.AppendInt(b, int64(i), 10)
	}
	return append(b, names[i]...)
}

// fields returns the names as they must stand in a file of separated columns: quoted where they
// would be misread. Names that no quoting saves are an error.
func fields(ids *IDs, sep byte) ([]string, error) {
	if ids == nil {
		return nil, nil
	}
	out := ids.Names()
	copied := false
	for i, name := range out {
		switch {
		case strings.ContainsAny(name, "\r\n\x00"):
			return nil, fmt.Errorf("name %q breaks the line; write .npz or .parquet instead", name)
		case sep == '\t' && strings.ContainsAny(name, "\t\""):
			return nil, fmt.Errorf("name %q holds a tab or a quote; write .csv, .npz or .parquet instead", name)
		case sep == ',' && (strings.ContainsAny(name, ",\"") || strings.HasPrefix(name, "#") || strings.TrimSpace(name) != name):
			if !copied {
				out, copied = append([]string(nil), out...), true
			}
			out[i] = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return out, nil
}
