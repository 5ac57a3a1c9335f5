package bench

import (
	"runtime"
	"runtime/debug"
	"time"

	"sddmmkit/bench/record"
)

// complete fills in a record from samples, before which there were so many calls besides the warm-ups, and
// says what built and ran it.
func complete(r *record.Record, t timed, calls int, clock string) {
	r.Event = "result"
	r.Seconds, r.CallsPerSample, r.Timing, r.Warmups = t.samples, t.calls, clock, t.warmups+calls
	r.Summarize()
	r.Commit, r.Go, r.Time = commit(), runtime.Version(), time.Now().UTC().Truncate(time.Second)
}

// commit is the version that was built: the commit where the build knows it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return revision + dirty
}
