package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version says what was built: the module's version, the commit where the build knows it, the
// Go release and the platform.
func version() string {
	v := "(devel)"
	var commit, dirty string
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = " commit " + s.Value[:min(len(s.Value), 12)]
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = " (modified)"
			}
		}
	}
	return fmt.Sprintf("%s%s%s %s %s/%s", v, commit, dirty, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
