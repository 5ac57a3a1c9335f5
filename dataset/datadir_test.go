package dataset

import (
	"os"
	"path/filepath"
	"testing"
)

// dataFile returns the path of a file of the real data sets, which are not part of the module:
// $SDDMMKIT_DATA, else shared/data beside the module. Without them the test is skipped.
func dataFile(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("SDDMMKIT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
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
