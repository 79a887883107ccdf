// The splits of one feature in one node, whatever its kind: what they score and what they add up to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "math/vector_math.hpp"
#include "partitions/mode.hpp"
#include "types.hpp"

namespace baytree {

// The rows of a node in ascending order of a feature, missing values at the end.
template <class Entry>
struct SortedFeature {
  std::span<const Entry> order;
  std::size_t n_present;
  bool has_ties;

  std::size_t n_missing() const { return order.size() - n_present; }
};

// Splits of a feature. A threshold lies behind its position in the order of the rows. Where values are missing, the one
// behind the last value divides the present from the missing, and every other one exists twice: with the missing values
// on the upper side (those come first, in ascending order) and on the lower.
struct SplitList {
  std::span<const std::uint32_t> positions;
  std::size_t n_missing_upper = 0;  // splits before the first that sends missing values to the lower side
  std::vector<double> log_likelihood;  // log L(lower) + log L(upper)
  std::vector<double> log_location;  // log v_m; empty where all are -log n_splits
  std::vector<std::uint32_t> found;  // work space for positions
  std::vector<double> scores;  // work space for sums
  std::uint32_t n_splits = 0;  // all there are, scored or not
  double mass = 1.0;  // sum of v_m; less than one where the prior knows more than the node has

  double uniform_location() const { return -std::log(static_cast<double>(n_splits)); }
  double location(std::size_t i) const { return log_location.empty() ? uniform_location() : log_location[i]; }
  bool sends_missing_lower(std::size_t i) const { return i >= n_missing_upper; }
  std::span<const std::uint32_t> with_missing_upper() const { return positions.first(n_missing_upper); }
  std::span<const std::uint32_t> with_missing_lower() const { return positions.subspan(n_missing_upper); }
};

// Best and sum of a list; the sum is left out where all of it lies below `floor`.
inline FeatureScore summarise(SplitList& splits, double floor) {
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

// The first split from a given score on: among equals the lowest threshold, then the one with missing values on the
// upper side.
inline std::size_t first_split(const SplitList& splits, double lowest_score) {
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
