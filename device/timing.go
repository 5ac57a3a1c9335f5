package device

import "time"

// Time returns how long a device takes for what f puts on the stream, by events around it. It waits until that is done.
func Time(s Stream, f func() error) (time.Duration, error) {
	begin, err := s.Record()
	if err != nil {
		return 0, err
	}
	defer begin.Close()
	if err := f(); err != nil {
		return 0, err
	}
	end, err := s.Record()
	if err != nil {
		return 0, err
	}
	defer end.Close()
	return end.Since(begin)
}
