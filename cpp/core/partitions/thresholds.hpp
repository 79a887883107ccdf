// The thresholds of one feature in one node: where they are and what they score.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "math/vector_math.hpp"
#include "outcomes/outcome.hpp"
#include "partitions/prior.hpp"
#include "partitions/split_list.hpp"
#include "types.hpp"

namespace baytree {

// 0, 1, 2, ..., n - 1: the positions of a list without ties, kept for all such lists; all threads share those of few.
std::span<const std::uint32_t> whole_numbers(std::size_t n);

// Writes down the positions in [first, stop) behind which the value changes; returns how many they are.
template <class Entry>
std::size_t find_changes(std::span<const Entry> order, std::size_t first, std::size_t stop, std::uint32_t* positions) {
  std::size_t count = 0;
  for (std::size_t i = first; i < stop; ++i) {
    positions[count] = static_cast<std::uint32_t>(i);
    count += !same_value(order[i], order[i + 1]);
  }
  return count;
}

// Finds the thresholds that leave at least `min_rows` on both sides.
template <class Entry>
void find_thresholds(const SortedFeature<Entry>& feature, std::size_t min_rows, SplitList& splits) {
  const std::span<const Entry> order = feature.order;
  const std::size_t n = order.size();
  if (n < 2 * min_rows) {
    splits.positions = {};
    splits.n_missing_upper = 0;
  } else if (!feature.has_ties && feature.n_missing() == 0) {
    splits.positions = whole_numbers(n).subspan(min_rows - 1, n - 2 * min_rows + 1);
    splits.n_missing_upper = splits.positions.size();
  } else {
    splits.numbers.resize(feature.n_missing() > 0 ? 2 * n : n);
    std::size_t count = splits.n_missing_upper = find_changes(order, min_rows - 1, n - min_rows, splits.numbers.data());
    if (feature.n_missing() > 0) {
      const std::size_t first = min_rows > feature.n_missing() ? min_rows - feature.n_missing() - 1 : 0;
      const std::size_t stop = feature.n_present > min_rows ? feature.n_present - min_rows : 0;
      count += find_changes(order, first, stop, splits.numbers.data() + count);
    }
    splits.positions = {splits.numbers.data(), count};
  }
  splits.n_splits = static_cast<std::uint32_t>(splits.positions.size());
}

// Drops the thresholds that leave less than `min_weight` on a side; weight_of(entry) may be any that adds up.
template <class Entry, class WeightOf>
void drop_light_thresholds(const SortedFeature<Entry>& feature, double min_weight, WeightOf&& weight_of,
                           SplitList& splits) {
  double total = 0.0, of_missing = 0.0;
  for (const Entry entry : feature.order) total += weight_of(entry);
  for (const Entry entry : feature.order.subspan(feature.n_present)) of_missing += weight_of(entry);
  std::vector<std::uint32_t> kept;
  auto keep_heavy = [&](std::span<const std::uint32_t> positions, double lower) {
    std::size_t next = 0;
    for (const std::uint32_t position : positions) {
      for (; next <= position; ++next) lower += weight_of(feature.order[next]);
      if (lower >= min_weight && total - lower >= min_weight) kept.push_back(position);
    }
  };
  keep_heavy(splits.with_missing_upper(), 0.0);
  const std::size_t n_missing_upper = kept.size();
  keep_heavy(splits.with_missing_lower(), of_missing);
  splits.numbers = std::move(kept);
  splits.positions = splits.numbers;
  splits.n_missing_upper = n_missing_upper;
  splits.n_splits = static_cast<std::uint32_t>(splits.positions.size());
}

template <Outcome T, class Entry>
void find_allowed_thresholds(const T& outcome, const SortedFeature<Entry>& feature, const Limits& limits,
                             SplitList& splits) {
  if constexpr (CountedOutcome<T>) {
    find_thresholds(feature, 1, splits);
    if (limits.min_samples_leaf > 1)
      drop_light_thresholds(
          feature, static_cast<double>(limits.min_samples_leaf),
          [&](Entry entry) { return static_cast<double>(outcome.count_of(row_in_node(entry))); }, splits);
  } else {
    find_thresholds(feature, limits.min_samples_leaf, splits);
  }
  if (limits.min_weight_fraction_leaf > 0.0)
    drop_light_thresholds(
        feature, limits.min_weight(),
        [&](Entry entry) { return static_cast<double>(outcome.weight_of(row_in_node(entry))); }, splits);
}

// Statistics of the rows without a value.
template <Outcome T, class Entry>
std::vector<typename T::Number> missing_statistics(const T& outcome, const SortedFeature<Entry>& feature) {
  std::vector<typename T::Number> result(outcome.width());
  add_all(outcome, feature.order.subspan(feature.n_present), result.data());
  return result;
}

template <Outcome T, class Entry>
void score_thresholds(const T& outcome, const typename T::Node& node, const SortedFeature<Entry>& feature,
                      SplitList& splits) {
  splits.log_likelihood.resize(splits.positions.size());
  double* scores = splits.log_likelihood.data();
  const std::vector<typename T::Number> none(outcome.width());
  node.split_scores(outcome, feature.order, none.data(), splits.with_missing_upper(), scores);
  if (splits.with_missing_lower().empty()) return;
  node.split_scores(outcome, feature.order, missing_statistics(outcome, feature).data(), splits.with_missing_lower(),
                    scores + splits.n_missing_upper);
}

// log(high - low), also where the difference overflows.
double log_difference(double high, double low);

// Logarithms of the distances of the values around some positions of an order; value(entry) is the column's.
template <class Entry, class Value>
void log_distances(std::span<const Entry> order, std::span<const std::uint32_t> positions, std::vector<double>& result,
                   Value&& value) {
  result.resize(positions.size());
  double lowest = 1.0, highest = 1.0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    result[i] = value(order[positions[i] + 1]) - value(order[positions[i]]);
    lowest = std::min(lowest, result[i]);
    highest = std::max(highest, result[i]);
  }
  if (lowest < std::numeric_limits<double>::min() || !std::isfinite(highest)) {
    for (std::size_t i = 0; i < positions.size(); ++i)
      result[i] = log_difference(value(order[positions[i] + 1]), value(order[positions[i]]));
    return;
  }
  call_wide([data = result.data(), n = result.size()]() BAYTREE_INLINE {
    for (std::size_t i = 0; i < n; ++i) data[i] = log_of_positive(data[i]);
  });
}

// Weighs each threshold by the distance of the values around it; value(entry) is the column's value there. Present
// against missing has no distance: it keeps its even share, and the others divide the rest. Between the first and the
// last position of either list no threshold is left out, so that the distances add up to that of the values at its
// ends.
template <class Entry, class Value>
void locate_by_distance(const SortedFeature<Entry>& feature, SplitList& splits, Value&& value) {
  std::span<const std::uint32_t> upper = splits.with_missing_upper(), lower = splits.with_missing_lower();
  const bool divides_missing = !upper.empty() && upper.back() + 1 == feature.n_present;
  if (divides_missing) upper = upper.first(upper.size() - 1);
  double log_total = kMinusInfinity;
  for (const auto& positions : {upper, lower}) {
    if (positions.empty()) continue;
    const double log_width = log_difference(value(feature.order[positions.back() + 1]),
                                            value(feature.order[positions[0]]));
    const double top = std::max(log_width, log_total);
    log_total = log_total == kMinusInfinity ? log_width
                                            : top + std::log1p(std::exp(std::min(log_width, log_total) - top));
  }
  log_distances(feature.order, splits.positions, splits.log_location, value);
  const double n = static_cast<double>(splits.positions.size());
  const double shift = (divides_missing ? std::log1p(-1.0 / n) : 0.0) - log_total;
  for (double& location : splits.log_location) location += shift;
  if (divides_missing) splits.log_location[upper.size()] = splits.uniform_location();
}

// All thresholds of a node's ordered rows, with scores and locations.
template <Outcome T, class Entry, class Value>
void list_thresholds(const T& outcome, const typename T::Node& node, const SortedFeature<Entry>& feature,
                     const Settings& settings, SplitList& splits, Value&& value) {
  find_allowed_thresholds(outcome, feature, settings.rules.limits, splits);
  splits.mass = 1.0;
  score_thresholds(outcome, node, feature, splits);
  if (settings.prior.by_distance) locate_by_distance(feature, splits, value);
  else splits.log_location.clear();
}

}  // namespace baytree
