package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sddmmkit/dataset"
	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// modelPath returns the file of --model, which may be the directory of --out.
func modelPath(path string) (string, error) {
	if path == "" {
		return "", usagef("--model is missing; name the directory of --out, or a model file")
	}
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%w; train a model first, with --out %s", err, path)
		}
		return "", err
	}
	if !info.IsDir() {
		return path, nil
	}
	file := filepath.Join(path, modelFile)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s holds no %s; name the directory that --out named", path, modelFile)
	}
	return file, nil
}

// side is the users or the items of a model: names, and where they come from.
type side struct {
	kind   string // "user" or "item"
	place  string // "the model", or a file
	names  []string
	count  int
	index  map[string]int
	titles map[string]string // nil when there are none
}

func users[T sparse.Float](m *factors.Model[T]) *side {
	return newSide("user", "the model", m.UserNames, m.Users.Rows)
}

func items[T sparse.Float](m *factors.Model[T]) *side {
	return newSide("item", "the model", m.ItemNames, m.Items.Rows)
}

func newSide(kind, place string, names []string, count int) *side {
	s := &side{kind: kind, place: place, names: names, count: count}
	if names != nil {
		s.index = make(map[string]int, count)
		for i, n := range names {
			s.index[n] = i
		}
	}
	return s
}

func (s *side) name(i int) string {
	if s.names == nil {
		return fmt.Sprint(i)
	}
	return s.names[i]
}

// find returns the index of an id, or an error that says what ids there are.
func (s *side) find(id string) (int, error) {
	if i, ok := s.lookup(id); ok {
		return i, nil
	}
	msg := fmt.Sprintf("there is no %s %q in %s, which has %s %ss", s.kind, id, s.place, count(s.count), s.kind)
	if s.names == nil {
		return 0, fmt.Errorf("%s, numbered from 0 to %d", msg, s.count-1)
	}
	if near := s.titled(id); len(near) > 0 {
		return 0, fmt.Errorf("%s; of that title there are %s", msg, strings.Join(near, ", "))
	}
	return 0, fmt.Errorf("%s; ids are as in the ratings they came from, such as %s", msg, strings.Join(s.samples(), ", "))
}

func (s *side) lookup(id string) (int, bool) {
	if s.names != nil {
		i, ok := s.index[id]
		return i, ok
	}
	i, err := strconv.Atoi(id)
	if err != nil || i < 0 || i >= s.count || strconv.Itoa(i) != id {
		return 0, false
	}
	return i, true
}

// samples returns a few ids in quotes.
func (s *side) samples() []string {
	var out []string
	for i := range min(s.count, 5) {
		out = append(out, fmt.Sprintf("%q", s.name(i)))
	}
	return out
}

// titled returns ids whose title, or whose own text, contains the given text.
func (s *side) titled(text string) []string {
	text = strings.ToLower(text)
	if len(text) < 3 {
		return nil
	}
	var out []string
	for _, n := range s.names {
		if title := s.title(n); strings.Contains(strings.ToLower(title), text) || strings.Contains(strings.ToLower(n), text) {
			if title == "" {
				out = append(out, fmt.Sprintf("%q", n))
			} else {
				out = append(out, fmt.Sprintf("%q (%s)", n, title))
			}
		}
		if len(out) == 5 {
			break
		}
	}
	return out
}

func (s *side) title(id string) string { return s.titles[id] }

// readTitles gives a side titles from a file; "" is no file.
func (s *side) readTitles(ctx context.Context, path string) error {
	if path == "" {
		return nil
	}
	titles, err := dataset.ReadTitles(ctx, path)
	if err != nil {
		return err
	}
	known := 0
	for i := range s.count {
		if _, ok := titles[s.name(i)]; ok {
			known++
		}
	}
	if known == 0 && s.count > 0 {
		return fmt.Errorf("%s: none of its %s ids is an %s of the model; ids must be those of the training file", path, count(len(titles)), s.kind)
	}
	s.titles = titles
	return nil
}

// listed is a line of a list of items or users.
type listed struct {
	Place int    `json:"place"` // from 1
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Score number `json:"score"`
}

func (s *side) list(scored []factors.Scored) []listed {
	out := make([]listed, len(scored))
	for k, e := range scored {
		id := s.name(e.Item)
		out[k] = listed{Place: k + 1, ID: id, Title: s.title(id), Score: number(e.Score)}
	}
	return out
}

// label is what people call an id: its title where there is one.
func (s *side) label(id string) string {
	if t := s.title(id); t != "" {
		return fmt.Sprintf("%s (%s)", id, t)
	}
	return id
}

// printList prints a list for people. Ids are left out when they are the titles.
func (a *app) printList(list []listed, verb string) {
	width := 0
	for _, l := range list {
		width = max(width, len([]rune(l.ID)))
	}
	titled := slices.ContainsFunc(list, func(l listed) bool { return l.Title != "" })
	for _, l := range list {
		line := fmt.Sprintf("%4d  %s  %s", l.Place, l.Score.format(verb), printable(l.ID))
		if titled && l.Title != "" {
			line = fmt.Sprintf("%4d  %s  %-*s  %s", l.Place, l.Score.format(verb), width, printable(l.ID), printable(l.Title))
		}
		a.printf("%s\n", line)
	}
}

// isFloat64 reports whether the factors in a model file are float64, and not float32.
func isFloat64(path string) (bool, error) {
	t, err := factors.ElementType(path)
	return t == "float64", err
}
