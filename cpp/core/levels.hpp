// The partitions of a categorical feature in one node: one level against the rest, and sets of levels against the
// rest. Gaps are a level like any other.
//
// The prior draws one of the sets of the column's L levels that may be the smaller side: first its size, 1 to L / 2,
// then one of the L choose k sets of that size, all alike. Where the node does not have all of its levels it cannot be
// cut by it, and stays a leaf. Without subsets the size is 1, and a level is what a dummy column would be.
// Where there are few levels, all sets are scored. Where there are many, those are scored that the levels' outcomes put
// next to each other, by their mean (by convexity the likeliest set of all is among them for two classes, counts and
// durations) and by how much they change the mean of the node (which leaves out levels of few rows).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <unordered_set>
#include <vector>

#include "cuts.hpp"
#include "log_gamma.hpp"
#include "outcome.hpp"
#include "prior.hpp"

namespace baytree {

inline constexpr std::size_t kFewLevels = 8;  // so many and fewer: every set is scored

template <class Number>
struct LevelList {
  std::vector<std::uint32_t> start;  // of each level's rows in the order, and one more for the end
  std::vector<Number> statistics;  // by level
  std::vector<double> weight;  // by level
  std::vector<std::vector<std::uint32_t>> orders;  // the levels, ordered by their outcomes in several ways
  // A set is a level alone, the levels of a bit pattern, or the first levels of an order.
  struct Set {
    enum class Kind : std::uint8_t { level, bits, first } kind;
    std::uint32_t which;  // the level, the bits, or how many
    std::uint32_t order = 0;
  };
  std::vector<Set> sets;
  std::vector<Number> lower;  // statistics of the sets

  std::size_t n_levels() const { return start.size() - 1; }
  std::size_t n_rows(std::size_t level) const { return start[level + 1] - start[level]; }

  // Whether each level is in a set.
  std::vector<std::uint8_t> members(const Set& set) const {
    std::vector<std::uint8_t> result(n_levels());
    if (set.kind == Set::Kind::level) result[set.which] = 1;
    else if (set.kind == Set::Kind::first)
      for (std::size_t i = 0; i < set.which; ++i) result[orders[set.order][i]] = 1;
    else
      for (std::size_t level = 0; level < n_levels(); ++level) result[level] = set.which >> level & 1;
    return result;
  }
};

namespace detail {

inline double log_choose(std::size_t n, std::size_t k) {
  const auto all = static_cast<double>(n), some = static_cast<double>(k);
  return log_gamma(all + 1.0) - log_gamma(some + 1.0) - log_gamma(all - some + 1.0);
}

// The prior of the partitions of a column's levels in a node that has some of them.
struct LevelPrior {
  std::size_t n_column, n_node;  // levels
  bool subsets;

  std::size_t largest() const { return subsets ? n_column / 2 : 1; }
  // Log prior that a certain set is drawn.
  double log_set(std::size_t size) const {
    return -std::log(static_cast<double>(largest())) - log_choose(n_column, size);
  }
  // Log prior of a partition with so many of the node's levels on one side: either side may have been drawn. Dummy
  // columns are two, where the column has more levels than these, and then so are the partitions.
  double log_partition(std::size_t size) const {
    if (!subsets && n_column > 2) return log_set(1);
    double share = 0.0, top = kMinusInfinity;
    for (const std::size_t side : {size, n_node - size})
      if (side <= largest()) top = std::max(top, log_set(side));
    for (const std::size_t side : {size, n_node - size})
      if (side <= largest()) share += std::exp(log_set(side) - top);
    return top + std::log(share);
  }
  // The part of the mass that cuts the node.
  double mass() const {
    double sum = 0.0;
    for (std::size_t size = 1; size <= std::min(largest(), n_node - 1); ++size)
      sum += std::exp(log_choose(n_node, size) + log_set(size));
    return sum;
  }
};

template <Outcome T, class Entry>
void gather_levels(const T& outcome, std::span<const Entry> order, LevelList<typename T::Number>& levels) {
  const std::size_t width = outcome.width();
  levels.start.clear();
  levels.statistics.clear();
  levels.weight.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !same_value(order[i - 1], order[i])) {
      levels.start.push_back(static_cast<std::uint32_t>(i));
      levels.statistics.resize(levels.statistics.size() + width);
      levels.weight.push_back(0.0);
    }
    const std::uint32_t row = row_in_node(order[i]);
    outcome.add(&levels.statistics[levels.statistics.size() - width], row);
    levels.weight.back() += static_cast<double>(outcome.weight_of(row));
  }
  levels.start.push_back(static_cast<std::uint32_t>(order.size()));
}

// Sets that the outcomes put next to each other, each once. Levels with equal outcomes stay together.
template <Outcome T>
void list_neighbours(const T& outcome, const typename T::Number* total, LevelList<typename T::Number>& levels) {
  using Set = typename LevelList<typename T::Number>::Set;
  const std::size_t n = levels.n_levels(), width = outcome.width();
  std::uint64_t all = 0;
  for (std::size_t level = 0; level < n; ++level) all += mark_of(level);
  std::unordered_set<std::uint64_t> listed;
  std::vector<double> key(n);
  levels.orders.resize(2 * outcome.n_orders());
  for (std::size_t k = 0; k < levels.orders.size(); ++k) {
    const double of_node = outcome.order_key(total, total, k / 2);
    double size = 0.0;
    for (std::size_t level = 0; level < n; ++level) {
      key[level] = outcome.order_key(&levels.statistics[level * width], total, k / 2);
      if (k % 2 == 1) key[level] = levels.weight[level] * (key[level] - of_node);
      size = std::max(size, std::abs(key[level]));
    }
    auto& order = levels.orders[k];
    order.resize(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
    std::uint64_t mark = mark_of(order[0]);
    for (std::size_t length = 2; length + 2 <= n; ++length) {
      mark += mark_of(order[length - 1]);
      const bool apart = key[order[length]] - key[order[length - 1]] > 1e-9 * size;
      if (apart && listed.insert(std::min(mark, all - mark)).second)
        levels.sets.push_back({Set::Kind::first, static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(k)});
    }
  }
}

template <Outcome T>
void list_sets(const T& outcome, const typename T::Number* total, const LevelPrior& prior,
               LevelList<typename T::Number>& levels) {
  using Set = typename LevelList<typename T::Number>::Set;
  const auto n = static_cast<std::uint32_t>(levels.n_levels());
  const bool one_says_all = n == 2 && (prior.subsets || prior.n_column == 2);
  levels.sets.clear();
  for (std::uint32_t level = 0; level < (one_says_all ? 1 : n < 2 ? 0 : n); ++level)
    levels.sets.push_back({Set::Kind::level, level});
  if (!prior.subsets || n < 4) return;
  if (n > kFewLevels) return list_neighbours(outcome, total, levels);
  for (std::uint32_t bits = 1; bits < 1u << (n - 1); ++bits)  // the last level stays on the upper side
    if (std::popcount(bits) > 1 && std::popcount(bits) + 1 < static_cast<int>(n))
      levels.sets.push_back({Set::Kind::bits, bits});
}

}  // namespace detail

// Lists the sets of levels within the limits, with scores and locations. `order` is sorted by level; the whole column
// has `n_column_levels`.
template <Outcome T, class Entry>
void list_level_sets(const T& outcome, const typename T::Node& node, const typename T::Number* total,
                     std::span<const Entry> order, std::size_t n_column_levels, const Settings& settings,
                     LevelList<typename T::Number>& levels, CutList& cuts) {
  using Set = typename LevelList<typename T::Number>::Set;
  const std::size_t width = outcome.width();
  detail::gather_levels(outcome, order, levels);
  const std::size_t n_levels = levels.n_levels();
  const detail::LevelPrior prior{n_column_levels, n_levels, settings.prior.subsets};
  detail::list_sets(outcome, total, prior, levels);

  std::vector<double> log_share(n_levels);  // by size, for there are many sets of a size
  for (std::size_t size = 1; size < n_levels; ++size) log_share[size] = prior.log_partition(size);

  const double weight_of_all = std::accumulate(levels.weight.begin(), levels.weight.end(), 0.0);
  const double min_weight = settings.limits.min_weight();
  levels.lower.clear();
  cuts.log_location.clear();
  std::vector<typename T::Number> sum(width);
  std::size_t n_kept = 0, n_rows = 0, size = 0;
  double weight = 0.0;
  auto add_level = [&](std::size_t level) {
    for (std::size_t k = 0; k < width; ++k) sum[k] += levels.statistics[level * width + k];
    n_rows += levels.n_rows(level);
    size += 1;
    weight += levels.weight[level];
  };
  std::uint32_t of_order = 0, length = 0;  // how much of an order `sum` holds; length 0: something else
  for (const Set set : levels.sets) {
    const bool goes_on = set.kind == Set::Kind::first && length > 0 && set.order == of_order;
    if (!goes_on) {
      std::fill(sum.begin(), sum.end(), typename T::Number{0});
      n_rows = 0, size = 0, weight = 0.0, length = 0;
    }
    if (set.kind == Set::Kind::first) {
      for (; length < set.which; ++length) add_level(levels.orders[set.order][length]);
      of_order = set.order;
    } else if (set.kind == Set::Kind::level) {
      add_level(set.which);
    } else {
      for (std::size_t level = 0; level < n_levels; ++level)
        if (set.which >> level & 1) add_level(level);
    }
    const std::size_t n_upper = order.size() - n_rows;
    if (std::min(n_rows, n_upper) < settings.limits.min_samples_leaf) continue;
    if (settings.limits.min_weight_fraction_leaf > 0.0 && std::min(weight, weight_of_all - weight) < min_weight)
      continue;
    levels.lower.insert(levels.lower.end(), sum.begin(), sum.end());
    cuts.log_location.push_back(log_share[size]);
    levels.sets[n_kept++] = set;
  }
  levels.sets.resize(n_kept);
  cuts.n_cuts = static_cast<std::uint32_t>(n_kept);
  // Sets beyond the limits leave their share to the trivial partition; those that are not listed are there all the
  // same.
  cuts.mass = 0.0;
  if (settings.prior.subsets && n_levels > kFewLevels) cuts.mass = prior.mass();
  else
    for (const double location : cuts.log_location) cuts.mass += std::exp(location);
  cuts.found.resize(n_kept);
  std::iota(cuts.found.begin(), cuts.found.end(), 0u);
  cuts.positions = cuts.found;
  cuts.n_gaps_upper = n_kept;
  cuts.log_likelihood.resize(n_kept);
  node.set_scores(outcome, levels.lower, cuts.log_likelihood.data());
}

}  // namespace baytree
