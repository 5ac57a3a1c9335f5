package main

import (
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
)

// progress is one line on a terminal that says what is being done. Anywhere else, and when a
// person wants it quiet, it is nothing.
type progress struct {
	w    io.Writer // nil when it is nothing
	line bool      // there is a line to clear
	bar  *progressbar.ProgressBar
}

func newProgress(w io.Writer, quiet bool) *progress {
	if quiet || !isTerminal(w) {
		return &progress{}
	}
	return &progress{w: w}
}

// busy shows work of unknown length.
func (p *progress) busy(what string) {
	if p.w == nil {
		return
	}
	p.clear()
	fmt.Fprintf(p.w, "%s …", printable(what))
	p.line = true
}

// start shows steps to be done.
func (p *progress) start(what string, steps int) {
	if p.w == nil {
		return
	}
	p.clear()
	p.bar = progressbar.NewOptions(steps, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "░", BarStart: " ", BarEnd: " "}),
		progressbar.OptionUseANSICodes(true), progressbar.OptionClearOnFinish())
	p.bar.RenderBlank()
	p.line = true
}

// step runs write, which writes lines that must not mix with the bar, and moves the bar on.
func (p *progress) step(write func()) {
	bar := p.bar
	if bar == nil {
		write()
		return
	}
	p.erase()
	write()
	bar.Add(1) // draws the bar again; its errors are those of the terminal
}

// clear takes the line away.
func (p *progress) clear() {
	if p.line {
		p.erase()
	}
	p.bar, p.line = nil, false
}

func (p *progress) erase() { fmt.Fprint(p.w, "\x1b[2K\r") }
