package main

import (
	"errors"
	"fmt"
	"strings"
)

// usageError says that the command line makes no sense, whatever the files hold.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// errInterrupted ends a run that Ctrl-C cut short and that has said so in its results.
var errInterrupted = errors.New("interrupted")

// oneLine returns the text of an error without line breaks; of errors joined, with semicolons.
func oneLine(err error) string {
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return printable(strings.Join(lines, "; "))
}
