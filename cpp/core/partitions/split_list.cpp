#include "partitions/split_list.hpp"

#include <algorithm>
#include <cmath>

#include "math/vector_math.hpp"

namespace baytree {

FeatureScore summarise(SplitList& splits, double floor) {
  FeatureScore result;
  result.n_splits = splits.n_splits;
  result.mass = splits.mass;
  const std::size_t n = splits.log_likelihood.size();
  if (n == 0) return result;
  const bool uniform = splits.log_location.empty();
  std::span<const double> scores(splits.log_likelihood);
  if (!uniform) {
    splits.scores = splits.log_likelihood;
    for (std::size_t i = 0; i < n; ++i) splits.scores[i] += splits.log_location[i];
    scores = splits.scores;
  }
  const double best = highest(scores);
  result.best = best + (uniform ? splits.uniform_location() : 0.0);
  const bool out_of_sight = result.best + std::log(static_cast<double>(n)) < floor;
  if (out_of_sight || best == kMinusInfinity) return result;
  result.log_sum = result.best + std::log(sum_exp(scores, best));
  return result;
}

std::size_t first_split(const SplitList& splits, double lowest_score) {
  const std::size_t n = splits.log_likelihood.size();
  const bool uniform = splits.log_location.empty();
  const double even = uniform ? splits.uniform_location() : 0.0;
  auto first_from = [&](std::size_t begin, std::size_t end) {
    std::size_t i = begin;
    while (i < end && splits.log_likelihood[i] + (uniform ? even : splits.log_location[i]) < lowest_score) ++i;
    return i;
  };
  const std::size_t upper = first_from(0, splits.n_missing_upper), lower = first_from(splits.n_missing_upper, n);
  if (upper == splits.n_missing_upper) return std::min(lower, n - 1);
  return lower == n || splits.positions[upper] <= splits.positions[lower] ? upper : lower;
}

}  // namespace baytree
