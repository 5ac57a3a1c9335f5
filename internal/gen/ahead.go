package main

// Rows of B are fetched before they are used: bytesAhead of them are on their way, which hides the latency of memory. More would
// push what waits for its use out of the first cache.
const bytesAhead = 8192

// Rows to wholeRow bytes are fetched whole, of longer ones firstBytes: the hardware's prefetchers follow, and to fetch each line
// twice, early and for its use, costs more than they miss.
const (
	wholeRow   = 256
	firstBytes = 128
)

// rowsAhead is the number of rows of B of the given bytes between the fetch of one and its use.
func rowsAhead(bytes int) int { return max(bytesAhead/bytes, 4) }

// fetchBytes is the number of bytes that are fetched early of a row of the given ones.
func fetchBytes(bytes int) int {
	if bytes <= wholeRow {
		return bytes
	}
	return firstBytes
}
