package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// On a terminal the bar is taken away before a line is written and drawn again after it.
func TestProgress(t *testing.T) {
	var w bytes.Buffer
	p := &progress{w: &w}
	p.busy("reading \x1b[2Jx")
	if s := w.String(); s != "reading ?[2Jx …" {
		t.Errorf("%q", s)
	}
	p.start("training", 2)
	for k := range 2 {
		p.step(func() { fmt.Fprintf(&w, "row %d\n", k+1) })
	}
	p.clear()
	p.clear()
	s := w.String()
	for _, want := range []string{"…\x1b[2K\r", "training   0% ", "\x1b[2K\rrow 1\n", "training  50% ", "\x1b[2K\rrow 2\n"} {
		_, rest, ok := strings.Cut(s, want)
		if !ok {
			t.Fatalf("want %q in %q of %q", want, s, w.String())
		}
		s = rest
	}
	if !strings.HasSuffix(w.String(), "\x1b[2K\r") {
		t.Errorf("the line stays: %q", w.String())
	}
}

// Anywhere else there is no bar, only the rows.
func TestNoProgress(t *testing.T) {
	var w bytes.Buffer
	p := newProgress(&w, false)
	p.busy("reading")
	p.start("training", 2)
	p.step(func() { w.WriteString("row\n") })
	p.clear()
	if w.String() != "row\n" {
		t.Errorf("%q", w.String())
	}
}
