// Package factors holds what every matrix factorisation ends with: a trained model, and what is
// done with it. Solvers make a [Model]; predictions, top-N lists, similar items, accuracy, ranking
// figures and files are the same for all of them.
//
// # Scores
//
// A model of M users, N items and rank K scores item i for user u with
//
//	s_ui = μ + b_u + c_i + ⟨x_u, θ_i⟩
//
// where x_u and θ_i are rows of Users (M×K) and Items (N×K), μ the mean, b and c the biases; a model
// without mean and biases has zeros in their place. In a model of ratings s_ui is the predicted rating;
// in an implicit one it is a preference, near 1 for what the user should like. Scores are computed in
// float64 from factors of either type, and a pair has the same score, bit for bit, from Predict,
// ScoreUser and top-N lists, for any number of threads.
//
// # Lists
//
// [Model.TopN], [Model.TopNUsers] and [Model.TopNFor] return the items of highest score, best first and the
// lower index first among equals. What the user has seen, what a filter refuses and scores that are
// NaN are never returned; a list is shorter than asked for when fewer items are left.
//
// A user or an item without ratings has zero factors and is called cold. A cold item's score says
// nothing about the item, and lists leave it out unless asked ([TopOptions]). A cold user's list is
// the items by their biases; in a model without biases all are equal, and [Popularity] is the better
// answer, or folding the user in once there are ratings.
//
// [Cosine], [Model.SimilarItems] and [Model.SimilarUsers] list neighbours by
//
//	cos(i, j) = ⟨θ_i, θ_j⟩ / (‖θ_i‖·‖θ_j‖)
//
// # How good it is
//
// [Model.Accuracy] compares predictions with test ratings (RMSE, MAE). [Evaluate] compares top-N lists with
// the items users turned to later (recall, precision, NDCG, MAP, hit rate; formulas at [Ranking]), of a
// model or of any other [Ranker], such as the popularity baseline.
//
// # Files
//
// [Model.Save] writes one .npz archive that NumPy opens, [Load] reads it back with the same bits.
package factors
