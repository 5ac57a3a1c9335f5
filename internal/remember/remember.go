// Package remember keeps small results of measurements of a machine in the user's cache folder.
package remember

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"

	"sddmmkit/internal/atomicfile"
)

// Variable names the environment variable that says where measurements are kept: a folder, or
// off. Without it they are kept in a folder sddmmkit of the user's cache folder.
const Variable = "SDDMMKIT_CACHE"

// Store keeps one measurement in a file. A file that is missing, damaged or of another machine is
// no measurement, and where nothing can be written nothing is: measuring again costs little.
type Store[T any] struct {
	Path    string // "" keeps nothing
	Key     string // what the measurement is of
	Version int    // changes whenever what is measured does
}

// stored is the file's content.
type stored[T any] struct {
	Version  int    `json:"version"`
	Key      string `json:"key"`
	Measured T      `json:"measured"`
}

// NewStore returns the store of what key says. The file's name begins with kind.
func NewStore[T any](kind, key string, version int) Store[T] {
	dir := os.Getenv(Variable)
	switch dir {
	case "off":
		return Store[T]{}
	case "":
		user, err := os.UserCacheDir()
		if err != nil {
			return Store[T]{}
		}
		dir = filepath.Join(user, "sddmmkit")
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, key)
	return Store[T]{Path: filepath.Join(dir, fmt.Sprintf("%s-%016x.json", kind, h.Sum64())), Key: key, Version: version}
}

// Load returns the measurement, if there is one.
func (s Store[T]) Load() (m T, ok bool) {
	if s.Path == "" {
		return m, false
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return m, false
	}
	defer f.Close()
	var got stored[T]
	const most = 1 << 20
	if err := json.NewDecoder(io.LimitReader(f, most)).Decode(&got); err != nil || got.Version != s.Version || got.Key != s.Key {
		return m, false
	}
	return got.Measured, true
}

// Save keeps m where that is possible, and reports whether it was.
func (s Store[T]) Save(m T) bool {
	if s.Path == "" || os.MkdirAll(filepath.Dir(s.Path), 0o755) != nil {
		return false
	}
	return atomicfile.Write(s.Path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "\t")
		return e.Encode(stored[T]{s.Version, s.Key, m})
	}) == nil
}
