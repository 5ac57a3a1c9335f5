// Package record is what measurements leave: a Record of each, files of them, and what follows from several.
//
//	Write, Read  files, a JSON object a line
//	Compare      two files, case by case: the ratio of median times with a 95 % interval by the bootstrap
//	Cliffs       a sweep over K: how far each K lies from the curve through the round ones
//	PairUp       ours beside the fastest of a peer
//	SumUp        searches for tiles: what the model and plans lose to the fastest
//
// The figure of a record is the median of its samples, with an interval from order statistics (Summarize). Package bench says
// how samples are taken and what is counted.
package record
