package factors

import (
	"context"
	"fmt"
	"math"

	"sddmmkit/sparse"
)

// Ranker makes top-N lists. A Model is one, and so is Popularity.
type Ranker interface {
	// TopNUsers returns for each of the users the n best items that opt lets them have, best
	// first, fewer when there are fewer. Indices out of range are errors.
	TopNUsers(ctx context.Context, users []int, n int, opt TopOptions) ([][]Scored, error)
}

// Ranking says how well top-N lists hit the items that users turned to later. For a user, R is the set of
// their test items that are not among their training items, L_1, L_2, … their list of at most N items,
// rel_k = 1 when L_k ∈ R and 0 otherwise, and hits = Σ_k rel_k. Each figure is the mean over the users
// with R ≠ ∅ of
//
//	Recall     hits / |R|
//	Precision  hits / N, also when the list is shorter than N
//	NDCG       Σ_k rel_k / log2(k+1), over the same sum for a list that begins with min(N, |R|) hits
//	MAP        Σ_k rel_k · (hits among L_1 … L_k) / k, over min(N, |R|)
//	HitRate    1 when hits > 0 and 0 otherwise
//
// Recall and NDCG are those of the LightGCN paper and its code. With N < |R| a perfect list has a
// recall below 1.
type Ranking struct {
	N                                     int
	Users                                 int // users with R ≠ ∅
	Recall, Precision, NDCG, MAP, HitRate float64
}

// EvaluateOptions says how Evaluate makes lists.
type EvaluateOptions struct {
	N       int // length of the lists, at least 1
	Threads int // number of goroutines; 0 means all CPUs
}

// usersPerCall bounds the lists that Evaluate holds at a time.
const usersPerCall = 1 << 12

// Evaluate asks a ranker for a list for every user with test items, leaving out the items of train, and
// says how well the lists hit the items of test. Both patterns are M×N, and any stored entry counts,
// whatever its value: to count only good ratings as hits give a pattern of those. The ranker orders all
// items outside train, cold ones too, as in published evaluations; a model's own Seen is not
// looked at. The result does not depend on Threads. A test without a user to count is an error.
func Evaluate(ctx context.Context, r Ranker, train, test *sparse.Pattern, opt EvaluateOptions) (Ranking, error) {
	if err := checkCount(opt.N); err != nil {
		return Ranking{}, err
	}
	if err := checkPattern("factors.Evaluate", "training items", train, test.Rows, test.Cols); err != nil {
		return Ranking{}, err
	}
	if err := checkPattern("factors.Evaluate", "test items", test, test.Rows, test.Cols); err != nil {
		return Ranking{}, err
	}
	var users []int
	var relevant [][]int32
	sum := Ranking{N: opt.N}
	flush := func() error {
		lists, err := r.TopNUsers(ctx, users, opt.N, TopOptions{
			Exclude: train, IncludeSeen: true, IncludeCold: true, Threads: opt.Threads,
		})
		if err != nil {
			return err
		}
		if len(lists) != len(users) {
			return fmt.Errorf("factors: the ranker made %d lists for %d users", len(lists), len(users))
		}
		for k, list := range lists {
			if err := sum.add(list, relevant[k], train.Row(users[k])); err != nil {
				return fmt.Errorf("factors: list for user %d: %w", users[k], err)
			}
		}
		users, relevant = users[:0], relevant[:0]
		return nil
	}
	for u := range test.Rows {
		later, err := patternRow(test, u)
		if err != nil {
			return Ranking{}, err
		}
		earlier, err := patternRow(train, u)
		if err != nil {
			return Ranking{}, err
		}
		if r := minus(later, earlier); len(r) > 0 {
			users, relevant = append(users, u), append(relevant, r)
		}
		if len(users) == usersPerCall {
			if err := flush(); err != nil {
				return Ranking{}, err
			}
		}
	}
	if len(users) > 0 {
		if err := flush(); err != nil {
			return Ranking{}, err
		}
	}
	if sum.Users == 0 {
		return Ranking{}, fmt.Errorf("factors: no user has a test item that is not among their training items")
	}
	return sum.mean(), nil
}

// minus returns the elements of a that are not in b, in a's order.
func minus(a, b []int32) []int32 {
	known := set(b)
	var rest []int32
	for _, i := range a {
		if !known[i] {
			rest = append(rest, i)
		}
	}
	return rest
}

func set(items []int32) map[int32]bool {
	s := make(map[int32]bool, len(items))
	for _, i := range items {
		s[i] = true
	}
	return s
}

// add adds the figures of one user to the sums. A list that is too long, that repeats an item or holds
// one from training would make the figures mean nothing: it is an error.
func (s *Ranking) add(list []Scored, relevant, train []int32) error {
	if len(list) > s.N {
		return fmt.Errorf("%d items; want at most %d", len(list), s.N)
	}
	taken := set(train)
	wanted := set(relevant)
	hits := 0
	var dcg, precisions float64
	for k, c := range list {
		i := int32(c.Item)
		if taken[i] {
			return fmt.Errorf("item %d is there twice, or is a training item", i)
		}
		taken[i] = true
		if !wanted[i] {
			continue
		}
		hits++
		dcg += discount(k)
		precisions += float64(hits) / float64(k+1)
	}
	ideal := min(s.N, len(relevant))
	var idcg float64
	for k := range ideal {
		idcg += discount(k)
	}
	s.Users++
	s.Recall += float64(hits) / float64(len(relevant))
	s.Precision += float64(hits) / float64(s.N)
	s.NDCG += dcg / idcg
	s.MAP += precisions / float64(ideal)
	if hits > 0 {
		s.HitRate++
	}
	return nil
}

// discount is the weight of a hit at place k, counted from 0.
func discount(k int) float64 { return 1 / math.Log2(float64(k+2)) }

// mean turns sums over users into means.
func (s Ranking) mean() Ranking {
	u := float64(s.Users)
	s.Recall /= u
	s.Precision /= u
	s.NDCG /= u
	s.MAP /= u
	s.HitRate /= u
	return s
}
