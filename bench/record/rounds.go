package record

import "slices"

// rounds returns the records round by round, in the order in which rounds begin.
func rounds(records []Record) [][]Record {
	at := map[int]int{}
	var all [][]Record
	for _, r := range records {
		i, ok := at[r.Round]
		if !ok {
			i, at[r.Round] = len(all), len(all)
			all = append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	return all
}

// Scaling is how a case compares with the same one in another type or with another number of threads.
type Scaling struct {
	Record, Base Record  // of the first round that has both
	Ratio        float64 // of their flops per second: the median of what each round says
}

// Scalings compares each record with the first of its round that differs from it in the element type only, and with the first that
// differs in the number of threads only.
func Scalings(records []Record) []Scaling {
	type pair struct{ of, base key }
	at := map[pair]int{}
	var all []Scaling
	var ratios [][]float64
	for _, round := range rounds(records) {
		first := map[key]Record{}
		for _, r := range round {
			full := keyOf(r, true)
			anyType, anyThreads := full, full
			anyType.typ, anyThreads.threads = "", -1
			for _, k := range []key{anyType, anyThreads} {
				base, ok := first[k]
				if !ok {
					first[k] = r
					continue
				}
				p := pair{full, keyOf(base, true)}
				if p.of == p.base { // the same once more
					continue
				}
				i, ok := at[p]
				if !ok {
					i, at[p] = len(all), len(all)
					all, ratios = append(all, Scaling{Record: r, Base: base}), append(ratios, nil)
				}
				ratios[i] = append(ratios[i], float64(r.Flops)/r.Median/(float64(base.Flops)/base.Median))
			}
		}
	}
	for i := range all {
		all[i].Ratio = Summarize(ratios[i]).Median
	}
	return all
}

// Pool joins the records of each case to one with all of their samples; beside them it has what the first of them has.
func Pool(records []Record) []Record {
	at := map[key]int{}
	var out []Record
	for _, r := range records {
		k := keyOf(r, true)
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			r.Seconds = slices.Clone(r.Seconds)
			r.Summarize() // by whatever program the record was made
			out = append(out, r)
			continue
		}
		out[i].add(&r)
	}
	return out
}
