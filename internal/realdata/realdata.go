// Package realdata finds the real data sets that tests and benchmarks read and that are not part
// of the module.
package realdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file of the data sets: below the directory that SDDMMKIT_DATA names,
// else below shared/data beside the module. Without that directory the test is skipped; a file
// that is missing from it is a failure.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("SDDMMKIT_DATA")
	if dir == "" {
		dir = filepath.Join(moduleRoot(t), "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no data sets in %s; name their directory in SDDMMKIT_DATA", dir)
	}
	path := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the data sets in %s are not complete: %v", dir, err)
	}
	return path
}

// moduleRoot returns the directory with go.mod above the test's working directory.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test's directory")
		}
		dir = up
	}
}
