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
  std::vector<std::uint32_t> numbers;  // work space for positions
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
FeatureScore summarise(SplitList& splits, double floor);

// The first split from a given score on: among equals the lowest threshold, then the one with missing values on the
// upper side.
std::size_t first_split(const SplitList& splits, double lowest_score);

}  // namespace baytree
