package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// recommendFlags are the flags of "sddmm recommend".
type recommendFlags struct {
	readFlags
	model       string
	users       []string
	n           int
	titles      string
	excludeSeen bool
	ratings     string
	device      string
}

func (a *app) recommendCommand() *cobra.Command {
	var f recommendFlags
	cmd := &cobra.Command{
		Use:   "recommend --model DIR --user ID [flags]",
		Short: "List what users should like, with a trained model",
		Long: `recommend lists the items with the highest scores for users of a model, best first. Items that a
user has in the training data are left out, and so are items without training data. In a model of
ratings a score is a predicted rating, in an implicit one a preference near 1 for what the user should like.

With --ratings it makes lists for new users without training again: the file holds user, item and
rating as the training file did, and their factors are solved with the item factors as they are.`,
		Example: `  sddmm recommend --model model --user 196 --titles u.item
  sddmm recommend --model model --user 196 --user 22 -n 5 --json
  sddmm recommend --model model --ratings mine.csv --titles movies.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return err
			}
			path, err := modelPath(f.model)
			if err != nil {
				return err
			}
			if wide, err := isFloat64(path); err != nil {
				return err
			} else if wide {
				return recommend[float64](cmd.Context(), a, &f, path)
			}
			return recommend[float32](cmd.Context(), a, &f, path)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.model, "model", "", "directory of --out, or a model file")
	flags.StringArrayVar(&f.users, "user", nil, "user id; repeat it for several")
	flags.IntVarP(&f.n, "n", "n", 10, "length of the list")
	flags.StringVar(&f.titles, "titles", "", "file of item ids and titles, such as u.item, movies.csv or artists.dat")
	flags.BoolVar(&f.excludeSeen, "exclude-seen", true, "leave out what the user has in the training data, or in --ratings")
	flags.StringVar(&f.ratings, "ratings", "", "file of user, item and rating of new users")
	flags.StringVar(&f.device, "device", "auto", "where to solve for new users: auto, cpu, cuda:N, opencl:N")
	f.readFlags.register(flags)
	flags.Lookup("format").DefValue = "ratings"
	f.format = "ratings"
	return cmd
}

func (f *recommendFlags) check(changed func(string) bool) error {
	switch {
	case f.model == "":
		return usagef("--model is missing; name the directory of --out, or a model file")
	case len(f.users) == 0 && f.ratings == "":
		return usagef("--user is missing; name a user of the model, or --ratings of a new one")
	case f.n < 1:
		return usagef("-n %d; want at least 1", f.n)
	case !deviceName.MatchString(f.device):
		return usagef("--device %q; want auto, cpu, cuda:N or opencl:N", f.device)
	}
	if f.ratings == "" {
		for _, flag := range []string{"format", "columns", "header", "symmetric", "device"} {
			if changed(flag) {
				return usagef("--%s is for --ratings, which is missing", flag)
			}
		}
	}
	_, err := f.readFlags.options()
	return err
}

// recommendation is the JSON event of one list.
type recommendation struct {
	Event    string   `json:"event"` // "recommendation"
	User     string   `json:"user"`
	RankedBy string   `json:"ranked_by"` // "model", or "popularity" when the model knows nothing of the user
	Seen     int      `json:"seen"`      // items of the user that are known
	Items    []listed `json:"items"`
}

// finished is the last JSON event of commands that do not train.
type finished struct {
	Event   string  `json:"event"` // "done"
	Command string  `json:"command"`
	Lists   int     `json:"lists"`
	Seconds float64 `json:"seconds"`
}

func recommend[T sparse.Float](ctx context.Context, a *app, f *recommendFlags, path string) error {
	start := time.Now()
	m, err := factors.Load[T](path)
	if err != nil {
		return err
	}
	known := items(m)
	if err := known.readTitles(ctx, f.titles); err != nil {
		return err
	}
	var lists []recommendation
	if f.ratings != "" {
		lists, err = recommendNew(ctx, a, f, m, known)
	} else {
		lists, err = recommendKnown(ctx, f, m, known)
	}
	if err != nil {
		return err
	}
	for k, l := range lists {
		if a.json {
			a.emit(l)
			continue
		}
		if k > 0 {
			a.printf("\n")
		}
		a.printf("%s\n", l.heading(m.Implicit))
		verb := "%6.3f"
		if l.RankedBy == "popularity" {
			verb = "%6.0f"
		}
		a.printList(l.Items, verb)
		if len(l.Items) == 0 {
			a.printf("  nothing is left to recommend\n")
		}
	}
	if a.json {
		a.emit(finished{Event: "done", Command: "recommend", Lists: len(lists), Seconds: time.Since(start).Seconds()})
	}
	return nil
}

// heading says what a list is.
func (l *recommendation) heading(implicit bool) string {
	what := "predicted rating"
	if implicit {
		what = "preference"
	}
	if l.RankedBy == "popularity" {
		what = "the model knows nothing of this user, so these are the most popular items and how many users have them"
	}
	return fmt.Sprintf("user %s, %s known items; %s", printable(l.User), count(l.Seen), what)
}

// recommendKnown makes lists for users of the model.
func recommendKnown[T sparse.Float](ctx context.Context, f *recommendFlags, m *factors.Model[T], known *side) ([]recommendation, error) {
	people := users(m)
	index := make([]int, len(f.users))
	for k, id := range f.users {
		var err error
		if index[k], err = people.find(id); err != nil {
			return nil, err
		}
	}
	opt := factors.TopOptions{IncludeSeen: !f.excludeSeen, Threads: f.threads}
	lists, err := m.TopNUsers(ctx, index, f.n, opt)
	if err != nil {
		return nil, err
	}
	out := make([]recommendation, len(index))
	for k, u := range index {
		out[k] = recommendation{Event: "recommendation", User: f.users[k], RankedBy: "model", Items: known.list(lists[k])}
		if m.Seen != nil {
			out[k].Seen = len(m.Seen.Row(u))
		}
		if m.ColdUser(u) && m.Seen != nil {
			p, err := factors.NewPopularity(m.Seen, m.ItemNames)
			if err != nil {
				return nil, err
			}
			top, err := p.TopNUsers(ctx, []int{u}, f.n, factors.TopOptions{})
			if err != nil {
				return nil, err
			}
			out[k].RankedBy, out[k].Items = "popularity", known.list(top[0])
		}
	}
	return out, nil
}
