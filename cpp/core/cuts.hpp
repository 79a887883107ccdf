// The cuts of one feature in one node: where they are, what they score, what they add up to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "node.hpp"
#include "outcome.hpp"
#include "prior.hpp"
#include "types.hpp"
#include "vector_math.hpp"

namespace baytree {

// The rows of a node in ascending order of a feature, gaps at the end.
template <class Entry>
struct SortedFeature {
  std::span<const Entry> order;
  std::size_t n_present;
  bool has_ties;

  std::size_t n_gaps() const { return order.size() - n_present; }
};

// Cuts of a feature. A cut lies behind its position in the order of the rows. Where there are gaps, the cut behind
// the last value divides the present from the missing, and every other one exists twice: with the gaps on the
// upper side (those come first, in ascending order) and on the lower.
struct CutList {
  std::span<const std::uint32_t> positions;
  std::size_t n_gaps_upper = 0;        // cuts before the first that sends gaps to the lower side
  std::vector<double> log_likelihood;  // log L(lower) + log L(upper)
  std::vector<double> log_location;    // log v_m; empty where all are -log n_cuts
  std::vector<std::uint32_t> found;    // work space for positions
  std::vector<double> scores;          // work space for sums
  std::uint32_t n_cuts = 0;            // all there are, scored or not
  double mass = 1.0;                   // sum of v_m; less than one where the prior knows more than the node has

  double uniform_location() const { return -std::log(static_cast<double>(n_cuts)); }
  double location(std::size_t i) const { return log_location.empty() ? uniform_location() : log_location[i]; }
  bool sends_gaps_lower(std::size_t i) const { return i >= n_gaps_upper; }
  std::span<const std::uint32_t> with_gaps_upper() const { return positions.first(n_gaps_upper); }
  std::span<const std::uint32_t> with_gaps_lower() const { return positions.subspan(n_gaps_upper); }
};

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

// Finds the cuts that leave at least `min_rows` on both sides.
template <class Entry>
void find_cuts(const SortedFeature<Entry>& feature, std::size_t min_rows, CutList& cuts) {
  const std::span<const Entry> order = feature.order;
  const std::size_t n = order.size();
  if (n < 2 * min_rows) {
    cuts.positions = {};
    cuts.n_gaps_upper = 0;
  } else if (!feature.has_ties && feature.n_gaps() == 0) {
    cuts.positions = whole_numbers(n).subspan(min_rows - 1, n - 2 * min_rows + 1);
    cuts.n_gaps_upper = cuts.positions.size();
  } else {
    cuts.found.resize(2 * n);
    std::size_t count = cuts.n_gaps_upper = find_changes(order, min_rows - 1, n - min_rows, cuts.found.data());
    if (feature.n_gaps() > 0) {
      const std::size_t first = min_rows > feature.n_gaps() ? min_rows - feature.n_gaps() - 1 : 0;
      const std::size_t stop = feature.n_present > min_rows ? feature.n_present - min_rows : 0;
      count += find_changes(order, first, stop, cuts.found.data() + count);
    }
    cuts.positions = {cuts.found.data(), count};
  }
  cuts.n_cuts = static_cast<std::uint32_t>(cuts.positions.size());
}

// Drops the cuts that leave less than `min_weight` on a side.
template <Outcome T, class Entry>
void drop_light_cuts(const T& outcome, const SortedFeature<Entry>& feature, double min_weight, CutList& cuts) {
  auto weight_of = [&](Entry entry) { return static_cast<double>(outcome.weight_of(row_in_node(entry))); };
  double total = 0.0, of_gaps = 0.0;
  for (const Entry entry : feature.order) total += weight_of(entry);
  for (const Entry entry : feature.order.subspan(feature.n_present)) of_gaps += weight_of(entry);
  std::vector<std::uint32_t> kept;
  auto keep_heavy = [&](std::span<const std::uint32_t> positions, double lower) {
    std::size_t next = 0;
    for (const std::uint32_t position : positions) {
      for (; next <= position; ++next) lower += weight_of(feature.order[next]);
      if (lower >= min_weight && total - lower >= min_weight) kept.push_back(position);
    }
  };
  keep_heavy(cuts.with_gaps_upper(), 0.0);
  const std::size_t n_gaps_upper = kept.size();
  keep_heavy(cuts.with_gaps_lower(), of_gaps);
  cuts.found = std::move(kept);
  cuts.positions = cuts.found;
  cuts.n_gaps_upper = n_gaps_upper;
  cuts.n_cuts = static_cast<std::uint32_t>(cuts.positions.size());
}

template <Outcome T, class Entry>
void find_allowed_cuts(const T& outcome, const SortedFeature<Entry>& feature, const Limits& limits, CutList& cuts) {
  find_cuts(feature, limits.min_samples_leaf, cuts);
  if (limits.min_weight_fraction_leaf > 0.0) drop_light_cuts(outcome, feature, limits.min_weight(), cuts);
}

// Statistics of the rows without a value.
template <Outcome T, class Entry>
std::vector<typename T::Number> gap_statistics(const T& outcome, const SortedFeature<Entry>& feature) {
  std::vector<typename T::Number> result(outcome.width());
  for (const Entry entry : feature.order.subspan(feature.n_present)) outcome.add(result.data(), row_in_node(entry));
  return result;
}

template <Outcome T, class Entry>
void score_cuts(const T& outcome, const typename T::Node& node, const SortedFeature<Entry>& feature, CutList& cuts) {
  cuts.log_likelihood.resize(cuts.positions.size());
  double* scores = cuts.log_likelihood.data();
  const std::vector<typename T::Number> none(outcome.width());
  node.split_scores(outcome, feature.order, none.data(), cuts.with_gaps_upper(), scores);
  if (cuts.with_gaps_lower().empty()) return;
  node.split_scores(outcome, feature.order, gap_statistics(outcome, feature).data(), cuts.with_gaps_lower(),
                    scores + cuts.n_gaps_upper);
}

// log(high - low), also where the difference overflows.
inline double log_difference(double high, double low) {
  const double difference = high - low;
  return std::isfinite(difference) ? std::log(difference) : std::log(high / 2 - low / 2) + std::log(2.0);
}

// Weighs each cut by the distance it falls in; value(entry) is the column's value there. Present against missing has
// no distance: it keeps its even share, and the others divide the rest.
template <class Entry, class Value>
void locate_by_distance(const SortedFeature<Entry>& feature, CutList& cuts, Value&& value) {
  const std::size_t n = cuts.positions.size();
  cuts.log_location.resize(n);
  auto divides_missing = [&](std::size_t i) { return cuts.positions[i] + 1 == feature.n_present; };
  double log_total = kMinusInfinity;
  std::size_t n_even = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t at = cuts.positions[i];
    if (divides_missing(i)) {
      ++n_even;
      continue;
    }
    cuts.log_location[i] = log_difference(value(feature.order[at + 1]), value(feature.order[at]));
    log_total = std::max(log_total, cuts.log_location[i]);
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    if (!divides_missing(i)) sum += std::exp(cuts.log_location[i] - log_total);
  log_total += std::log(sum);
  const double log_rest = std::log1p(-static_cast<double>(n_even) / static_cast<double>(n));
  for (std::size_t i = 0; i < n; ++i)
    cuts.log_location[i] = divides_missing(i) ? cuts.uniform_location() : cuts.log_location[i] - log_total + log_rest;
}

// All cuts of a node's ordered rows, with scores and locations.
template <Outcome T, class Entry, class Value>
void list_all_cuts(const T& outcome, const typename T::Node& node, const SortedFeature<Entry>& feature,
                   const Settings& settings, CutList& cuts, Value&& value) {
  find_allowed_cuts(outcome, feature, settings.limits, cuts);
  cuts.mass = 1.0;
  score_cuts(outcome, node, feature, cuts);
  if (settings.prior.by_distance) locate_by_distance(feature, cuts, value);
  else cuts.log_location.clear();
}

// Best and sum of a list; the sum is left out where all of it lies below `floor`.
inline FeatureScore summarise(CutList& cuts, double floor) {
  FeatureScore result;
  result.n_cuts = cuts.n_cuts;
  result.mass = cuts.mass;
  const std::size_t n = cuts.log_likelihood.size();
  if (n == 0) return result;
  const bool uniform = cuts.log_location.empty();
  std::span<const double> scores(cuts.log_likelihood);
  if (!uniform) {
    cuts.scores = cuts.log_likelihood;
    for (std::size_t i = 0; i < n; ++i) cuts.scores[i] += cuts.log_location[i];
    scores = cuts.scores;
  }
  const double best = highest(scores);
  result.best = best + (uniform ? cuts.uniform_location() : 0.0);
  const bool out_of_sight = result.best + std::log(static_cast<double>(n)) < floor;
  if (out_of_sight || best == kMinusInfinity) return result;
  result.log_sum = result.best + std::log(sum_exp(scores, best));
  return result;
}

// The first cut from a given score on: among equals the lowest threshold, then the one with gaps on the upper side.
inline std::size_t first_cut(const CutList& cuts, double lowest_score) {
  const std::size_t n = cuts.log_likelihood.size();
  const bool uniform = cuts.log_location.empty();
  const double even = uniform ? cuts.uniform_location() : 0.0;
  auto first_from = [&](std::size_t begin, std::size_t end) {
    std::size_t i = begin;
    while (i < end && cuts.log_likelihood[i] + (uniform ? even : cuts.log_location[i]) < lowest_score) ++i;
    return i;
  };
  const std::size_t upper = first_from(0, cuts.n_gaps_upper), lower = first_from(cuts.n_gaps_upper, n);
  if (upper == cuts.n_gaps_upper) return std::min(lower, n - 1);
  return lower == n || cuts.positions[upper] <= cuts.positions[lower] ? upper : lower;
}

}  // namespace baytree
