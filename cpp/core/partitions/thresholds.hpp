// The thresholds of one feature in one node: where they are and what they score.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "outcomes/outcome.hpp"
#include "partitions/prior.hpp"
#include "partitions/split_list.hpp"
#include "types.hpp"

namespace baytree {

// 0, 1, 2, ..., n - 1: the positions of a list without ties, kept for all such lists.
inline std::span<const std::uint32_t> whole_numbers(std::size_t n) {
  thread_local std::vector<std::uint32_t> numbers;
  if (numbers.size() < n) {
    numbers.resize(n);
    std::iota(numbers.begin(), numbers.end(), 0u);
  }
  return {numbers.data(), n};
}

// Writes down the positions in [first, stop) behind which the value changes; returns how many they are.
template <class Entry>
std::size_t find_changes(std::span<const Entry> order, std::size_t first, std::size_t stop, std::uint32_t* found) {
  std::size_t count = 0;
  for (std::size_t i = first; i < stop; ++i) {
    found[count] = static_cast<std::uint32_t>(i);
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
    splits.found.resize(feature.n_missing() > 0 ? 2 * n : n);
    std::size_t count = splits.n_missing_upper = find_changes(order, min_rows - 1, n - min_rows, splits.found.data());
    if (feature.n_missing() > 0) {
      const std::size_t first = min_rows > feature.n_missing() ? min_rows - feature.n_missing() - 1 : 0;
      const std::size_t stop = feature.n_present > min_rows ? feature.n_present - min_rows : 0;
      count += find_changes(order, first, stop, splits.found.data() + count);
    }
    splits.positions = {splits.found.data(), count};
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
  splits.found = std::move(kept);
  splits.positions = splits.found;
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
  for (const Entry entry : feature.order.subspan(feature.n_present)) outcome.add(result.data(), row_in_node(entry));
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
inline double log_difference(double high, double low) {
  const double difference = high - low;
  return std::isfinite(difference) ? std::log(difference) : std::log(high / 2 - low / 2) + std::log(2.0);
}

// Weighs each threshold by the distance of the values around it; value(entry) is the column's value there. Present
// against missing has no distance: it keeps its even share, and the others divide the rest.
template <class Entry, class Value>
void locate_by_distance(const SortedFeature<Entry>& feature, SplitList& splits, Value&& value) {
  const std::size_t n = splits.positions.size();
  splits.log_location.resize(n);
  auto divides_missing = [&](std::size_t i) { return splits.positions[i] + 1 == feature.n_present; };
  double log_total = kMinusInfinity;
  std::size_t n_even = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t at = splits.positions[i];
    if (divides_missing(i)) {
      ++n_even;
      continue;
    }
    splits.log_location[i] = log_difference(value(feature.order[at + 1]), value(feature.order[at]));
    log_total = std::max(log_total, splits.log_location[i]);
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    if (!divides_missing(i)) sum += std::exp(splits.log_location[i] - log_total);
  log_total += std::log(sum);
  const double log_rest = std::log1p(-static_cast<double>(n_even) / static_cast<double>(n));
  for (std::size_t i = 0; i < n; ++i)
    splits.log_location[i] = divides_missing(i) ? splits.uniform_location()
                                                : splits.log_location[i] - log_total + log_rest;
}

// All thresholds of a node's ordered rows, with scores and locations.
template <Outcome T, class Entry, class Value>
void list_thresholds(const T& outcome, const typename T::Node& node, const SortedFeature<Entry>& feature,
                     const Settings& settings, SplitList& splits, Value&& value) {
  find_allowed_thresholds(outcome, feature, settings.limits, splits);
  splits.mass = 1.0;
  score_thresholds(outcome, node, feature, splits);
  if (settings.prior.by_distance) locate_by_distance(feature, splits, value);
  else splits.log_location.clear();
}

}  // namespace baytree
