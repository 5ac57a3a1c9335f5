package remember

import (
	"os"
	"path/filepath"
	"testing"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(Variable, dir)
	s := NewStore[[]int]("thing", "a thing", 3)
	if _, ok := s.Load(); ok {
		t.Error("loaded before anything was saved")
	}
	if !s.Save([]int{1, 2}) || filepath.Dir(s.Path) != dir {
		t.Errorf("not saved in %s", s.Path)
	}
	if got, ok := s.Load(); !ok || len(got) != 2 || got[1] != 2 {
		t.Errorf("loaded %v, %t", got, ok)
	}
	for what, other := range map[string]Store[[]int]{
		"another thing":   NewStore[[]int]("thing", "another thing", 3),
		"another kind":    NewStore[[]int]("kind", "a thing", 3),
		"another version": {Path: s.Path, Key: s.Key, Version: 4},
		"another key":     {Path: s.Path, Key: "b", Version: 3},
	} {
		if got, ok := other.Load(); ok {
			t.Errorf("%s: loaded %v", what, got)
		}
	}
	if err := os.WriteFile(s.Path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Load(); ok {
		t.Errorf("from a damaged file: loaded %v", got)
	}
}

func TestNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"off", filepath.Join(file, "below")} {
		t.Setenv(Variable, dir)
		s := NewStore[int]("thing", "a thing", 1)
		if s.Save(1) {
			t.Errorf("%s: saved", dir)
		}
		if _, ok := s.Load(); ok {
			t.Errorf("%s: loaded", dir)
		}
	}
	t.Setenv(Variable, "")
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	if s := NewStore[int]("thing", "a thing", 1); s.Path == "" && s.Save(1) {
		t.Error("saved without a folder")
	}
}
