package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// sink is standard output. It remembers the first failure, so that a full disk behind a pipe or
// a redirection is not taken for success.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

func (s *sink) failure() error {
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("cannot write to standard output: %w", s.err)
}

// printf writes for people; with --json it writes nothing.
func (a *app) printf(format string, args ...any) {
	if !a.json {
		fmt.Fprintf(a.out, format, args...)
	}
}

// notef writes a remark to standard error.
func (a *app) notef(format string, args ...any) {
	fmt.Fprintf(a.err, "sddmm: %s\n", printable(fmt.Sprintf(format, args...)))
}

// emit writes one JSON object on a line of its own.
func (a *app) emit(event any) {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(event); err != nil && a.out.err == nil {
		a.out.err = err
	}
}

// errorEvent tells of a failure.
type errorEvent struct {
	Event   string `json:"event"` // "error" or "interrupted"
	Message string `json:"message"`
}

// number is a float64 that JSON can hold: NaN and infinities, which stand for what is not
// known, become null.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if !n.known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func (n *number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = unknown
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

func (n number) known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// unknown is a number that was not computed.
var unknown = number(math.NaN())

// format writes a number with the given verb, a dash when it is unknown.
func (n number) format(verb string) string {
	if !n.known() {
		return "–"
	}
	return fmt.Sprintf(verb, float64(n))
}

// isTerminal says whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printable returns s with control characters replaced: names come from files, and a terminal
// obeys what it is sent.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return '?'
		}
		return r
	}, s)
}

// count writes a whole number with thin groups of three: 1 682, 100 000.
func count[I int | int32 | int64](n I) string {
	s := fmt.Sprint(n)
	if n < 0 {
		return s
	}
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// byteSize writes a number of bytes for people.
func byteSize(n int64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	v, u := float64(n)/1024, 0
	for v >= 1024 && u < len(units)-1 {
		v /= 1024
		u++
	}
	return fmt.Sprintf("%.3g %ciB", v, units[u])
}
