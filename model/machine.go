package model

import (
	"slices"

	"sddmmkit/device"
)

// Op is an operation that the model knows.
type Op int

// The operations. For SpMMT the profile is that of the transpose, whose values are found by way of
// a permutation.
const (
	SDDMM Op = iota
	SpMM
	SpMMT
)

func (op Op) String() string {
	switch op {
	case SpMM:
		return "spmm"
	case SpMMT:
		return "spmm-t"
	}
	return "sddmm"
}

// Costs are what an operation takes beside the traffic, in seconds of one thread.
type Costs struct {
	Segment     float64 // each segment, in each slice: going on to it, the last group; beside that it waits, as waits says
	SegmentLine float64 // each cache line of its row of A or C
	Pass        float64 // each panel, in each slice: handing out work and waiting for the last thread
	EmptyRow    float64 // each row without non-zeros, in each slice, without panels, which do not list it
}

// Machine is a device as the model sees it.
type Machine struct {
	Measured device.Measured
	Threads  int // in use
	Line     int // bytes of a cache line
	SDDMM    Costs
	SpMM     Costs

	// Full is by how much longer a row takes from a shared cache where rows of B fill all of it that counts than where they fill little.
	Full float64

	// Beside is what the caches' prefetchers bring without use, in times of all that passes through a cache beside rows of B, whose place it
	// takes; and of rows of A and C from a panel to the next, where these are in slices.
	Beside float64

	// AtRandom says that a shared cache replaces lines as if at random: it still has some of what comes again after more than it holds.
	AtRandom bool

	// Block is the bytes of a row of C that SpMM does at a time, 0 for all of it.
	Block int

	// NearBytes are those of the private cache by which Near and OwnCopies say how large a panel may be, NearShared those of the shared one.
	NearBytes, NearShared int64
}

// NewMachine returns the machine with the given properties, threads of which are in use. Where m is not
// a valid measurement the machine is assumed to be an ordinary one with caches of the sizes that p says. Of a shared cache
// at most three quarters count, and 48 MB for each thread.
func NewMachine(p device.Props, m device.Measured, threads int) *Machine {
	threads = max(threads, 1)
	if !m.Valid() {
		m = assume(p, threads)
	}
	line := p.LineBytes
	if line <= 0 {
		line = 64
	}
	m.Levels = slices.Clone(m.Levels)
	filled := full
	for l := range m.Levels {
		level := &m.Levels[l]
		if !level.Shared || level.Bytes == 0 {
			continue
		}
		level.Bytes = min(level.Bytes, int64(threads)*perThread)
		if p.L3Bytes > 0 {
			most := usable * float64(p.L3Bytes)
			level.Bytes = min(level.Bytes, int64(most))
			filled = max(full*float64(level.Bytes)/most, fullLeast)
		}
	}
	return &Machine{Measured: m, Threads: threads, Line: line, Full: filled, Beside: beside, AtRandom: true, NearBytes: p.L2Bytes, NearShared: p.L3Bytes, SDDMM: DefaultSDDMM, SpMM: DefaultSpMM}
}

// The costs that fitted best on two cores of a Zen 5 server, those of segments of SDDMM on a Zen 3 and Xeons, of SpMM on Xeons (ADR 7). Those
// before them had been fitted to a Zen 4 as well.
var (
	DefaultSDDMM = Costs{Segment: 7e-9, SegmentLine: 0.8e-9, Pass: 2e-6, EmptyRow: 7e-9}
	DefaultSpMM  = Costs{Segment: 6e-9, SegmentLine: 0.13e-9, Pass: 2e-6}
)

const (
	// full is by how much longer a row takes from a shared cache of which rows of B fill the usable share than from one that holds
	// few of them: more of it is farther away, or was driven out by other programs. Of a large one threads fill a part, and it is less, but
	// not less than fullLeast.
	full, fullLeast = 0.35, 0.16

	// fullShort is the share of that which rows of no length take longer, those of SliceBytes and more all of it: narrow ones of B of half of an L3 were
	// predicted at 1.3 to 1.5 of their seconds on a Zen 4.
	fullShort = 0.5

	// beside is Machine.Beside.
	beside = 0.5

	// between is the share of a shared cache that counts where a row of A or C, or a line of values, comes again in another panel: panels also
	// touch lines of values in part and what is fetched ahead, and what comes once replaces what comes again.
	between = 0.75

	// waits is how many times what a row of one cache line takes, from the level that holds a whole call, a segment waits at
	// its beginning: its columns, its row and its values lie far from those of the one before. Without tiles, segments are the active rows.
	waits = 0.4

	// apart is how many times what it would take to gather the lines of values of a segment that do not follow those of the one before they
	// take: they are fetched ahead, but a core waits for so many lines at most, and those of memory keep rows of B from a cache waiting.
	// They keep rows that come from private caches waiting less: apartPrivate less where all do.
	apart, apartPrivate = 0.65, 0.1

	// usable is the most of a shared cache that counts, whatever was measured: it may have been in a moment when other
	// programs left all of it.
	usable = 0.75

	// perThread is how many bytes of a shared cache count for each thread at most: of one that dozens of cores share, 83 MB, 146 and 59 were
	// found for two threads of virtual machines, and panels for that much were slower than narrower ones.
	perThread = 48 << 20

	// scattered is by how much longer a row of up to shortRow bytes takes from a shared cache where rows of B are manyBytes and more than where
	// they are fewBytes; it falls to nothing for rows of SliceBytes. Two Xeons showed it.
	scattered           = 0.1
	shortRow            = 128
	fewBytes, manyBytes = 3 << 20, 9 << 20

	// larger is by how much longer rows take from a shared cache where those of B are wideBytes and more than where they are fitBytes, near which its rates
	// were measured: with 4096 rows of A and 524288 of B, K = 512, two Xeons took for panels of 32 MB 1.06 to 1.14 times as long as for 8 MB.
	larger              = 0.1
	fitBytes, wideBytes = 8 << 20, 32 << 20

	// overlap is the share of the time of streams that is not hidden behind gathers of rows of up to SliceBytes. For each SliceBytes more,
	// overlapLonger more of it is not in SpMM, whose rows of C are written back: long rows take what a cache delivers, short ones wait. Of SDDMM's
	// hiddenLonger less, down to overlapLeast, for its rows of A come beside rows of B, by fetches or by the hardware's prefetchers (with AVX-512, which it was fitted to).
	// Where all columns are together, without slices, only overlapInOrder of that is seen: there values of a row begin where those of the row before end.
	// Of streams in slices nothing is hidden, but overlap of those of SpMM from memory is seen: with 524288 rows of C, K = 512, two Xeons took 130 to 150 ms
	// in slices where gathers are 75 to 100 and reading and writing C once 75.
	overlap, overlapLonger     = 0.5, 0.1
	hiddenLonger, overlapLeast = 0.02, 0.3
	overlapInOrder             = 0.6

	// copyLonger is by how much longer pieces of rows take from memory than gathers of as many bytes where they are copied: 268 MB in slices of 512
	// bytes took 39 to 41 ms on two threads of a Xeon, and the writes are 8 to 10 of that, gathers would be 13.
	copyLonger = 0.5

	// handOver is what it takes to write a cache line that other threads have just read into their private caches, beyond writing it, or to read
	// one that another has written. Of copies of 14 MB, in four slices, on a Xeon: writing them took 0.2 to 0.3 ms longer in a call than by itself, and
	// the first of three runs on each 0.5 to 0.8 ms longer than the second; on a Zen 4 0.7 to 0.9 and 0.1 to 0.5.
	handOver = 5e-9

	// ownLine is what a line takes more where a thread copies it for itself, in a call, than to read and to write it. Of rows of 512 bytes and of 1 KB,
	// kos and 8192²: 37 to 41 and 63 to 81 ns, 55 to 65 and 90 to 115 on a Xeon and a Zen 4, where rates say 18 to 24 and 22 to 43, and 43 and 70 on
	// the Zen 4 for 8192². A copy alone takes what rates say.
	ownLine = 2e-9

	// nearSDDMM and nearSpMM are how many times as long a row of more than nearLeast bytes takes from a cache of the thread where it is near.
	// Kos and 8192² in panels that fit L2, the loops by turns: 0.96 to 1 and 0.85 to 0.96 of the time of a call, on a Xeon and a Zen 4.
	// One of a block, whose row of C fills the registers, takes nearOneBlock in SpMM: slices of 1 KB in panels that fit L2 had been predicted at 1.12 and
	// 1.37 of their seconds where whole rows of 2 KB were at 1.03 and 1.25, on two Xeons, and at 1.09 of what others were on a Zen 4.
	nearSDDMM, nearSpMM = 0.97, 0.9
	nearOneBlock        = 0.83
	nearLeast           = 256

	// nearBlock is by how much less a near row takes from a shared cache in SpMM for each block after its first: on a Xeon, rows of 2 KB 0.89 to 0.94 of the
	// time of a call from 16 to 80 MB, of 4 KB 0.72 to 0.81 from 32 to 160; of 1 KB, and in SDDMM, as long. Since the loop does all blocks of a row together
	// 0.93 to 0.98 and 0.94, but values from 0 to this one choose alike.
	nearBlock = 0.07

	// longWhole is by how much less a row of longRow bytes and more takes from a cache that threads share, and from memory, in SDDMM where all columns
	// are together. What it comes from is not known; calls of that kind were predicted at 1.05 to 1.3 times of what they take, panels of more than a
	// private cache at 1 to 1.05, on Xeons and a Zen 4.
	longWhole = 0.08
	longRow   = 2048

	// lastNonZero is what a non-zero of a column apart takes in a pass of its own, lastFused in the loop of the others. There the other columns drive
	// its elements out of the nearest cache, and it takes lastMissed times as long as a line from the next one more.
	lastNonZero, lastFused = 0.45e-9, 0.12e-9
	lastMissed             = 0.3

	// What it takes to make panels, and what a segment a non-zero adds to that, in times of NewProfile: it reads and writes as they do, so that its
	// time says how fast the machine does it at the moment: within a factor of 2.6 for tiles of ten patterns; of three
	// with few columns or non-zeros they take as little as a fifth of this.
	makePanels, makeSegment = 1.2, 10
)

// costs returns those of an operation.
func (m *Machine) costs(op Op) Costs {
	if op == SDDMM {
		return m.SDDMM
	}
	return m.SpMM
}

// shortVectors reports whether Block is that of AVX2.
func (m *Machine) shortVectors() bool { return 0 < m.Block && m.Block < SliceBytes }

// longVectors reports whether it is that of AVX-512.
func (m *Machine) longVectors() bool { return m.Block >= SliceBytes }

// assume returns what an ordinary machine does, for caches of the sizes in p or usual ones. Half of
// a shared cache is thought to be in use by others.
func assume(p device.Props, threads int) device.Measured {
	l1, l2 := p.L1Bytes, p.L2Bytes
	if l1 <= 0 {
		l1 = 32 << 10
	}
	if l2 <= l1 {
		l2 = max(1<<20, 2*l1)
	}
	m := device.Measured{Threads: threads, Loop: "assumed"}
	level := func(name string, bytes int64, shared bool, perSecond, latency, most float64) {
		l := device.Level{Name: name, Bytes: bytes, Shared: shared}
		for _, row := range []int{64, 128, 512, 2048} {
			one := float64(row) / (latency + float64(row)/perSecond)
			l.Gather = append(l.Gather, device.Rate{RowBytes: row, One: one, All: one * min(float64(threads), most)})
		}
		l.Stream = device.Rate{RowBytes: 512, One: perSecond, All: perSecond * min(float64(threads), most)}
		m.Levels = append(m.Levels, l)
	}
	all := float64(threads)
	level("L1", l1, false, 200e9, 0.5e-9, all)
	level("L2", l2*3/4, false, 150e9, 0.5e-9, all)
	if p.L3Bytes > l2 {
		level("L3", max(p.L3Bytes/2, l2), true, 100e9, 1e-9, all)
	}
	level("memory", 0, true, 30e9, 8e-9, 8)
	return m
}
