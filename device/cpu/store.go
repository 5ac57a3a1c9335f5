package cpu

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"

	"sddmmkit/device"
	"sddmmkit/internal/atomicfile"
)

// CacheVariable names the environment variable that says where measurements are kept: a folder, or
// off. Without it they are kept in a folder sddmmkit of the user's cache folder.
const CacheVariable = "SDDMMKIT_CACHE"

// storeVersion changes whenever what is measured does.
const storeVersion = 3

// store keeps one measurement in a file. A file that is missing, damaged or of another machine is
// no measurement, and where nothing can be written nothing is: measuring again costs a second.
type store struct {
	path string // "" keeps nothing
	key  string
}

// stored is the file's content.
type stored struct {
	Version  int             `json:"version"`
	Key      string          `json:"key"`
	Measured device.Measured `json:"measured"`
}

func newStore(p device.Props, loop string) store {
	dir := os.Getenv(CacheVariable)
	switch dir {
	case "off":
		return store{}
	case "":
		user, err := os.UserCacheDir()
		if err != nil {
			return store{}
		}
		dir = filepath.Join(user, "sddmmkit")
	}
	key := fmt.Sprintf("%s %s, %d CPUs, %d threads, caches %d %d %d, loop %s",
		p.Architecture, p.Model, p.Units, p.Threads, p.L1Bytes, p.L2Bytes, p.L3Bytes, loop)
	h := fnv.New64a()
	_, _ = io.WriteString(h, key)
	return store{path: filepath.Join(dir, fmt.Sprintf("cpu-%016x.json", h.Sum64())), key: key}
}

// load returns the measurement, if there is a good one.
func (s store) load() (device.Measured, bool) {
	if s.path == "" {
		return device.Measured{}, false
	}
	f, err := os.Open(s.path)
	if err != nil {
		return device.Measured{}, false
	}
	defer f.Close()
	var got stored
	const most = 1 << 20
	if err := json.NewDecoder(io.LimitReader(f, most)).Decode(&got); err != nil {
		return device.Measured{}, false
	}
	return got.Measured, got.Version == storeVersion && got.Key == s.key && got.Measured.Valid()
}

// save keeps m where that is possible.
func (s store) save(m device.Measured) {
	if s.path == "" || os.MkdirAll(filepath.Dir(s.path), 0o755) != nil {
		return
	}
	_ = atomicfile.Write(s.path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "\t")
		return e.Encode(stored{storeVersion, s.key, m})
	})
}
