package cuda

import (
	"bytes"
	"regexp"
	"strconv"
)

// parameter is a declaration in the list of an entry of PTX: .param .u64 name, .param .u64 .ptr .global .align 16 name,
// .param .align 8 .b8 name[16].
var parameter = regexp.MustCompile(`^\.param\b.*?\.[busf](8|16|32|64)\b[^\[]*(?:\[(\d+)\])?\s*$`)

// parameterSizes returns the sizes in bytes of the parameters of a kernel as its PTX declares them, or nil where
// it does not tell.
func parameterSizes(ptx []byte, name string) []int {
	at := regexp.MustCompile(`\.entry\s+` + regexp.QuoteMeta(name) + `\s*\(([^)]*)\)`).FindSubmatch(ptx)
	if at == nil {
		return nil
	}
	sizes := []int{}
	list := bytes.TrimSpace(at[1])
	if len(list) == 0 {
		return sizes
	}
	for _, one := range bytes.Split(list, []byte(",")) {
		m := parameter.FindSubmatch(bytes.TrimSpace(bytes.ReplaceAll(one, []byte("\n"), []byte(" "))))
		if m == nil {
			return nil
		}
		bits, err := strconv.Atoi(string(m[1]))
		if err != nil {
			return nil
		}
		count := 1
		if len(m[2]) > 0 {
			if count, err = strconv.Atoi(string(m[2])); err != nil {
				return nil
			}
		}
		sizes = append(sizes, bits/8*count)
	}
	return sizes
}
