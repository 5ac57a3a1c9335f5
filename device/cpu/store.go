package cpu

import (
	"fmt"

	"sddmmkit/device"
	"sddmmkit/internal/remember"
)

// CacheVariable names the environment variable that says where measurements are kept: a folder, or
// off. Without it they are kept in a folder sddmmkit of the user's cache folder.
const CacheVariable = remember.Variable

// storeVersion changes whenever what is measured does.
const storeVersion = 16

// store keeps one measurement: a file that holds no good one is none.
type store struct {
	remember.Store[device.Measured]
}

func newStore(p device.Props, loop string) store {
	key := fmt.Sprintf("%s %s, %d CPUs, %d threads, caches %d %d %d, loop %s",
		p.Architecture, p.Model, p.Units, p.Threads, p.L1Bytes, p.L2Bytes, p.L3Bytes, loop)
	return store{remember.NewStore[device.Measured]("cpu", key, storeVersion)}
}

// load returns the measurement, if there is a good one.
func (s store) load() (device.Measured, bool) {
	m, ok := s.Load()
	if !ok || !m.Valid() {
		return device.Measured{}, false
	}
	return m, true
}

// save keeps m where that is possible.
func (s store) save(m device.Measured) { s.Save(m) }
