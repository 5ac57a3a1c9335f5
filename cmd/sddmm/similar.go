package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"sddmmkit/dense"
	"sddmmkit/factors"
	"sddmmkit/sparse"
)

// similarFlags are the flags of "sddmm similar".
type similarFlags struct {
	model, titles string
	items, users  []string
	n             int
}

func (a *app) similarCommand() *cobra.Command {
	var f similarFlags
	cmd := &cobra.Command{
		Use:   "similar --model DIR (--item ID | --user ID) [flags]",
		Short: "List items like an item, or users like a user",
		Long: `similar lists the items whose factors point the same way as those of an item: the cosine, 1 for
the same direction, is the score. With --user it lists users like a user.`,
		Example: `  sddmm similar --model model --item 50 --titles u.item
  sddmm similar --model model --user 196 -n 5 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.model == "":
				return usagef("--model is missing; name the directory of --out, or a model file")
			case len(f.items)+len(f.users) == 0:
				return usagef("--item is missing; name an item of the model, or a --user")
			case len(f.items) > 0 && len(f.users) > 0:
				return usagef("--item and --user make two kinds of lists; leave one out")
			case f.n < 1:
				return usagef("-n %d; want at least 1", f.n)
			}
			path, err := modelPath(f.model)
			if err != nil {
				return err
			}
			if wide, err := isFloat64(path); err != nil {
				return err
			} else if wide {
				return similar[float64](cmd.Context(), a, &f, path)
			}
			return similar[float32](cmd.Context(), a, &f, path)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.model, "model", "", "directory of --out, or a model file")
	flags.StringArrayVar(&f.items, "item", nil, "item id; repeat it for several")
	flags.StringArrayVar(&f.users, "user", nil, "user id, for users like this one; repeat it for several")
	flags.IntVarP(&f.n, "n", "n", 10, "length of the list")
	flags.StringVar(&f.titles, "titles", "", "file of ids and titles, such as u.item, movies.csv or artists.dat")
	return cmd
}

// similarity is the JSON event of one list.
type similarity struct {
	Event   string   `json:"event"` // "similar"
	Kind    string   `json:"kind"`  // "item" or "user"
	ID      string   `json:"id"`
	Title   string   `json:"title,omitempty"`
	Similar []listed `json:"similar"`
}

func similar[T sparse.Float](ctx context.Context, a *app, f *similarFlags, path string) error {
	start := time.Now()
	m, err := factors.Load[T](path)
	if err != nil {
		return err
	}
	who, rows, ids := items(m), m.Items, f.items
	if len(f.users) > 0 {
		who, rows, ids = users(m), m.Users, f.users
	}
	if err := who.readTitles(ctx, f.titles); err != nil {
		return err
	}
	lists, err := similarLists(ctx, who, rows, ids, f.n)
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
		a.printf("like %s %s; cosine\n", who.kind, printable(who.label(l.ID)))
		a.printList(l.Similar, "%6.3f")
		if len(l.Similar) == 0 {
			a.printf("  nothing: without training data there is nothing to compare\n")
		}
	}
	if a.json {
		a.emit(finished{Event: "done", Command: "similar", Lists: len(lists), Seconds: time.Since(start).Seconds()})
	}
	return nil
}

func similarLists[T sparse.Float](ctx context.Context, who *side, rows dense.Matrix[T], ids []string, n int) ([]similarity, error) {
	index, err := chosen(who, ids)
	if err != nil {
		return nil, err
	}
	cosine, err := factors.NewCosine(rows, who.names)
	if err != nil {
		return nil, err
	}
	out := make([]similarity, len(ids))
	for k, i := range index {
		near, err := cosine.Similar(ctx, i, n, nil)
		if err != nil {
			return nil, err
		}
		out[k] = similarity{Event: "similar", Kind: who.kind, ID: ids[k], Title: who.title(ids[k]), Similar: who.list(near)}
	}
	return out, nil
}
