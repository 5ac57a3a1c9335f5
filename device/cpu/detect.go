package cpu

import (
	"bufio"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"sddmmkit/device"
)

// detect reads the processor's properties. What cannot be known stays zero.
func detect() device.Props {
	c := cpuid.CPU
	features := c.FeatureSet()
	slices.Sort(features)
	return device.Props{
		Name:         "cpu",
		Kind:         device.CPU,
		Model:        strings.TrimSpace(c.BrandName),
		Units:        runtime.NumCPU(),
		MemoryBytes:  memoryBytes(),
		LineBytes:    max(c.CacheLine, 0),
		L1Bytes:      int64(max(c.Cache.L1D, 0)),
		L2Bytes:      int64(max(c.Cache.L2, 0)),
		L3Bytes:      int64(max(c.Cache.L3, 0)),
		Architecture: runtime.GOARCH,
		Features:     features,
	}
}

// memoryBytes returns the machine's memory where the system says it in /proc/meminfo, else 0.
func memoryBytes() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
