package dataset

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// idName is a name as it stood in a file. A plain decimal number below 10^18, without sign or
// leading zeros, is kept as a number, for that is what most ids are; text is empty then.
type idName struct {
	num  uint64
	text string
}

// plainNumber returns the value of a name that is kept as a number.
func plainNumber(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 18 || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	var u uint64
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		u = u*10 + uint64(d)
	}
	return u, true
}

// idTable gives names the indices 0, 1, 2, … in order of first appearance. Small numbers are
// found by position, large ones in an open-addressed table, other names in a map; the kinds
// cannot be equal.
type idTable struct {
	small []smallSlot // by number
	slots []idSlot
	shift uint8
	gen   uint32 // a slot of another generation is empty, so that reset costs nothing
	large int    // slots in use
	text  map[string]int32
	names []idName

	last   uint64 // the number asked for last: files are often sorted by user
	lastID int32
}

// maxSmall bounds the table of small numbers to 1 MiB.
const maxSmall = 1 << 17

type smallSlot struct {
	id  int32
	gen uint32
}

type idSlot struct {
	num uint64
	id  int32
	gen uint32
}

// noNumber is no plain number.
const noNumber = math.MaxUint64

// hashSeed keeps a file from choosing ids that collide. Indices do not depend on it.
var hashSeed = maphash.Comparable(maphash.MakeSeed(), 0)

func newIDTable() *idTable {
	t := &idTable{gen: 1, text: map[string]int32{}, last: noNumber}
	t.resize(8)
	return t
}

func (t *idTable) resize(logSize int) {
	old := t.slots
	t.slots = make([]idSlot, 1<<logSize)
	t.shift = uint8(64 - logSize)
	for _, s := range old {
		if s.gen == t.gen {
			*t.slot(s.num) = s
		}
	}
}

// slot returns the slot of num, or the empty one where it belongs.
func (t *idTable) slot(num uint64) *idSlot {
	hi, lo := bits.Mul64(num^hashSeed, 0x9e3779b97f4a7c15)
	mask := uint64(len(t.slots) - 1)
	for i := (hi ^ lo) >> t.shift; ; i++ {
		s := &t.slots[i&mask]
		if s.gen != t.gen || s.num == num {
			return s
		}
	}
}

// id returns the index of the name b, a new one where the name is new.
func (t *idTable) id(b []byte) int32 {
	if u, ok := plainNumber(b); ok {
		if u == t.last {
			return t.lastID
		}
		return t.number(u)
	}
	if id, ok := t.text[string(b)]; ok {
		return id
	}
	return t.addText(string(b))
}

// merge returns the index of a name that another table has found.
func (t *idTable) merge(n idName) int32 {
	if n.text == "" {
		return t.number(n.num)
	}
	if id, ok := t.text[n.text]; ok {
		return id
	}
	return t.addText(n.text)
}

func (t *idTable) number(u uint64) int32 {
	if u < maxSmall {
		if u >= uint64(len(t.small)) {
			more := make([]smallSlot, 1<<bits.Len64(u|1023))
			copy(more, t.small)
			t.small = more
		}
		s := &t.small[u]
		if s.gen != t.gen {
			*s = smallSlot{t.addNumber(u), t.gen}
		}
		t.last, t.lastID = u, s.id
		return s.id
	}
	s := t.slot(u)
	id := s.id
	if s.gen != t.gen {
		id = t.addNumber(u)
		*s = idSlot{u, id, t.gen}
		t.large++
		if t.large > len(t.slots)/2 {
			t.resize(bits.Len(uint(len(t.slots))))
		}
	}
	t.last, t.lastID = u, id
	return id
}

func (t *idTable) addNumber(u uint64) int32 {
	t.names = append(t.names, idName{num: u})
	return int32(len(t.names) - 1)
}

func (t *idTable) addText(s string) int32 {
	id := int32(len(t.names))
	t.text[s] = id
	t.names = append(t.names, idName{text: s})
	return id
}

// reset forgets all names and keeps the memory.
func (t *idTable) reset() {
	t.gen++
	if t.gen == 0 { // wrapped: old slots would look alive
		clear(t.slots)
		clear(t.small)
		t.gen = 1
	}
	t.large = 0
	clear(t.text)
	t.names = t.names[:0]
	t.last = noNumber
}

// seed enters the names of an id map, which keep their indices.
func (t *idTable) seed(ids *IDs) {
	for _, name := range ids.Names() {
		if u, ok := plainNumber(unsafe.Slice(unsafe.StringData(name), len(name))); ok {
			t.number(u)
		} else {
			t.addText(name)
		}
	}
}

// ids returns the table as an id map; base is the map it was seeded with, or nil. Where nothing
// came after base, base itself is returned.
func (t *idTable) ids(base *IDs) *IDs {
	known := 0
	if base != nil {
		known = base.Len()
		if known == len(t.names) {
			return base
		}
	}
	names := make([]string, len(t.names))
	if base != nil {
		copy(names, base.Names())
	}
	// All numbers are written into one string and cut from it: one allocation for all names.
	var buf []byte
	ends := make([]int, 0, len(t.names)-known)
	for _, n := range t.names[known:] {
		if n.text == "" {
			buf = strconv.AppendUint(buf, n.num, 10)
		}
		ends = append(ends, len(buf))
	}
	all, from := string(buf), 0
	for i, n := range t.names[known:] {
		if n.text != "" {
			names[known+i] = n.text
		} else {
			names[known+i] = all[from:ends[i]]
		}
		from = ends[i]
	}
	return NewIDs(names)
}

// checkCount says when there are more names than indices.
func (t *idTable) checkCount(file string) error {
	if len(t.names) > maxIndex+1 {
		return &ParseError{File: file, Got: fmt.Sprintf("%d different ids", len(t.names)),
			Want: fmt.Sprintf("at most %d in one column", maxIndex+1)}
	}
	return nil
}
