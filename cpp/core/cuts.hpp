// The cuts of one feature in one node: where they are, what they score, what they add up to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "columns.hpp"
#include "node.hpp"
#include "outcome.hpp"
#include "types.hpp"
#include "vector_math.hpp"

namespace baytree {

// Cuts in ascending order. A cut lies behind its position in the order of the rows.
struct CutList {
  std::span<const std::uint32_t> positions;
  std::vector<double> log_likelihood;  // log L(lower) + log L(upper)
  std::vector<double> log_location;    // log v_m; empty where all are -log n_cuts
  std::vector<std::uint32_t> found;    // work space for positions
  std::vector<double> scores;          // work space for sums
  std::uint32_t n_cuts = 0;            // all there are, scored or not

  double uniform_location() const { return -std::log(static_cast<double>(n_cuts)); }
  double location(std::size_t i) const { return log_location.empty() ? uniform_location() : log_location[i]; }
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

// Finds the cuts of an ordered list that leave at least `min_rows` on both sides.
template <class Entry>
void find_cuts(std::span<const Entry> order, std::size_t min_rows, bool has_ties, CutList& cuts) {
  const std::size_t n = order.size();
  if (n < 2 * min_rows) {
    cuts.positions = {};
  } else if (!has_ties) {
    cuts.positions = whole_numbers(n).subspan(min_rows - 1, n - 2 * min_rows + 1);
  } else {
    cuts.found.resize(n);
    std::size_t count = 0;
    for (std::size_t i = min_rows - 1; i + min_rows < n; ++i) {
      cuts.found[count] = static_cast<std::uint32_t>(i);
      count += !same_value(order[i], order[i + 1]);
    }
    cuts.positions = {cuts.found.data(), count};
  }
  cuts.n_cuts = static_cast<std::uint32_t>(cuts.positions.size());
}

// Drops the cuts that leave less than `min_weight` on a side.
template <Outcome T, class Entry>
void drop_light_cuts(const T& outcome, std::span<const Entry> order, double min_weight, CutList& cuts) {
  double total = 0.0;
  for (const Entry entry : order) total += static_cast<double>(outcome.weight_of(row_in_node(entry)));
  double lower = 0.0;
  std::size_t next = 0, first = 0, last = 0;
  for (std::size_t i = 0; i < cuts.positions.size(); ++i) {
    for (; next <= cuts.positions[i]; ++next) lower += static_cast<double>(outcome.weight_of(row_in_node(order[next])));
    if (lower < min_weight) first = i + 1;
    if (total - lower >= min_weight) last = i + 1;
  }
  cuts.positions = first < last ? cuts.positions.subspan(first, last - first) : std::span<const std::uint32_t>{};
  cuts.n_cuts = static_cast<std::uint32_t>(cuts.positions.size());
}

template <Outcome T, class Entry>
void score_cuts(const T& outcome, const typename T::Node& node, std::span<const Entry> order, CutList& cuts) {
  const std::vector<typename T::Number> none(outcome.width());
  cuts.log_likelihood.resize(cuts.positions.size());
  node.split_scores(outcome, order, none.data(), cuts.positions, cuts.log_likelihood.data());
}

// log(high - low), also where the difference overflows.
inline double log_difference(double high, double low) {
  const double difference = high - low;
  return std::isfinite(difference) ? std::log(difference) : std::log(high / 2 - low / 2) + std::log(2.0);
}

// Weighs each cut by the gap it falls in; value(entry) is the column's value there.
template <class Entry, class Value>
void locate_by_distance(std::span<const Entry> order, CutList& cuts, Value&& value) {
  cuts.log_location.resize(cuts.positions.size());
  if (cuts.positions.empty()) return;
  auto before = [&](std::size_t i) { return value(order[cuts.positions[i]]); };
  auto behind = [&](std::size_t i) { return value(order[cuts.positions[i] + 1]); };
  // The gaps add up to the range they span.
  const double log_range = log_difference(behind(cuts.positions.size() - 1), before(0));
  for (std::size_t i = 0; i < cuts.positions.size(); ++i)
    cuts.log_location[i] = log_difference(behind(i), before(i)) - log_range;
}

template <Outcome T, class Entry>
void find_allowed_cuts(const T& outcome, std::span<const Entry> order, bool has_ties, const Limits& limits,
                       CutList& cuts) {
  find_cuts(order, limits.min_samples_leaf, has_ties, cuts);
  if (limits.min_weight_fraction_leaf > 0.0) drop_light_cuts(outcome, order, limits.min_weight(), cuts);
}

// All cuts of a node's ordered rows, with scores and locations.
template <Outcome T, class Entry, class Value>
void list_all_cuts(const T& outcome, const typename T::Node& node, std::span<const Entry> order, bool has_ties,
                   const PartitionPrior& prior, const Limits& limits, CutList& cuts, Value&& value) {
  find_allowed_cuts(outcome, order, has_ties, limits, cuts);
  score_cuts(outcome, node, order, cuts);
  if (prior.by_distance) locate_by_distance(order, cuts, value);
  else cuts.log_location.clear();
}

// Best and sum of a list; the sum is left out where all of it lies below `floor`.
inline FeatureScore summarise(CutList& cuts, double floor) {
  FeatureScore result;
  result.n_cuts = cuts.n_cuts;
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
  if (result.best + std::log(static_cast<double>(n)) < floor) return result;
  result.log_sum = result.best + std::log(sum_exp(scores, best));
  return result;
}

// The first cut from a given score on: among equals the lowest threshold.
inline std::size_t first_cut(const CutList& cuts, double lowest_score) {
  std::size_t i = 0;
  while (i + 1 < cuts.log_likelihood.size() && cuts.log_likelihood[i] + cuts.location(i) < lowest_score) ++i;
  return i;
}

// w_r: sums to one over the features that can be cut at the root, in the paper's literal prior over all.
template <Outcome T>
std::vector<double> normalised_feature_weights(const PartitionPrior& prior, const Columns& columns, const T& outcome,
                                               const Limits& limits, Interrupt& interrupt) {
  std::vector<Row> rows(limits.limit_cuts() ? columns.n_rows : 0);
  std::iota(rows.begin(), rows.end(), Row{0});
  std::vector<Keyed> order, spare;
  CutList cuts;
  auto can_be_cut = [&](const Column& column) {
    if (!limits.limit_cuts()) return column.n_codes > 1;
    sort_rows(column, rows, order, spare);
    find_allowed_cuts(outcome, std::span<const Keyed>(order), true, limits, cuts);
    return cuts.n_cuts > 0;
  };
  std::vector<double> weights = prior.feature_weight;
  double sum = 0.0;
  parallel_for(weights.size(), 1, interrupt, [&](std::size_t f, std::size_t) {
    if (!prior.proper || can_be_cut(columns.columns[f])) sum += weights[f];
  });
  if (sum > 0.0)
    for (double& weight : weights) weight /= sum;
  return weights;
}

// The weight of all rows, which a share of the weight refers to.
template <Outcome T>
double total_weight(const T& outcome, std::size_t n_rows) {
  double total = 0.0;
  for (std::size_t row = 0; row < n_rows; ++row) total += static_cast<double>(outcome.weight_of(row));
  return total;
}

}  // namespace baytree
