// One feature in one node, whatever its kind: the list of its partitions, and the division of the rows by one of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "columns.hpp"
#include "cuts.hpp"
#include "levels.hpp"
#include "monotonic.hpp"
#include "node.hpp"
#include "outcome.hpp"
#include "prior.hpp"
#include "split.hpp"

namespace baytree {

template <class Number>
struct PartitionList {
  bool is_categorical = false;
  CutList cuts;              // of a categorical feature: its sets, in their order
  LevelList<Number> levels;  // categorical features only
};

// A node while its partitions are scored; the outcome is that of its rows.
template <Outcome T>
struct ScoredNode {
  const T& outcome;
  const typename T::Node& scorer;
  const Node<typename T::Number>& node;
};

// Lists the partitions of a feature; value(entry) is the column's value there.
template <Outcome T, class Entry, class Value>
void list_partitions(const ScoredNode<T>& scored, std::size_t index, const Column& column,
                     const SortedFeature<Entry>& feature, const Settings& settings,
                     PartitionList<typename T::Number>& list, Value&& value) {
  const auto& [outcome, scorer, node] = scored;
  list.is_categorical = column.is_categorical;
  if (column.is_categorical)
    list_level_sets(outcome, scorer, node.statistics.data(), feature.order, column.n_codes, settings, list.levels,
                    list.cuts);
  else list_all_cuts(outcome, scorer, feature, settings, list.cuts, value);
  if (!settings.constrained()) return;
  MonotonicNode<T> monotonic(outcome, node, settings.smoothing);
  if (column.is_categorical) monotonic.forbid(list.levels, list.cuts);
  else monotonic.forbid(feature, settings.direction(index), list.cuts);
}

// Where the gaps begin in an order that is sorted by code.
template <class Entry, class IsGap>
std::size_t count_present(std::span<const Entry> order, IsGap&& is_gap) {
  if (order.empty() || !is_gap(order.back())) return order.size();
  return static_cast<std::size_t>(
      std::partition_point(order.begin(), order.end(), [&](Entry entry) { return !is_gap(entry); }) - order.begin());
}

// The split of a partition; row_of(entry) is the row in the table.
template <class Number, class Entry, class RowOf>
Split split_of(const PartitionList<Number>& list, std::size_t index, std::size_t feature, const Column& column,
               const SortedFeature<Entry>& sorted, RowOf&& row_of) {
  if (list.is_categorical) {
    const std::vector<std::uint8_t> in_set = list.levels.members(list.levels.sets[index]);
    CategorySet set{static_cast<std::int32_t>(feature), {}};
    for (std::size_t level = 0; level < in_set.size(); ++level) {
      const Row row = row_of(sorted.order[list.levels.start[level]]);
      const Code code = column.code_of(row);
      const bool lower = in_set[level] != 0;
      if (code == column.gap_code()) set.missing = lower ? Missing::lower : Missing::upper;
      else set.categories.push_back({code, static_cast<std::int64_t>(column.low(row)), lower});
    }
    return set;
  }
  const std::uint32_t position = list.cuts.positions[index];
  const bool has_missing = sorted.n_gaps() > 0;
  if (has_missing && position + std::size_t{1} == sorted.n_present)
    return PresentMissing{static_cast<std::int32_t>(feature)};
  const Missing missing = !has_missing                        ? Missing::none
                          : list.cuts.sends_gaps_lower(index) ? Missing::lower
                                                              : Missing::upper;
  return threshold_between(feature, column, row_of(sorted.order[position]), row_of(sorted.order[position + 1]),
                           missing);
}

// Moves the entries of the lower side to the front, both sides in ascending order; returns how many they are.
template <class Number, class Entry>
std::size_t divide_order(const PartitionList<Number>& list, std::size_t index, std::size_t n_present,
                         std::span<Entry> order) {
  if (list.is_categorical) {
    const std::vector<std::uint8_t> in_set = list.levels.members(list.levels.sets[index]);
    std::vector<Entry> upper;
    std::size_t n_lower = 0;
    for (std::size_t level = 0; level < in_set.size(); ++level)
      for (std::size_t i = list.levels.start[level]; i < list.levels.start[level + 1]; ++i)
        if (in_set[level]) order[n_lower++] = order[i];
        else upper.push_back(order[i]);
    std::copy(upper.begin(), upper.end(), order.begin() + static_cast<std::ptrdiff_t>(n_lower));
    return n_lower;
  }
  const std::size_t n_lower = list.cuts.positions[index] + std::size_t{1};
  if (!list.cuts.sends_gaps_lower(index)) return n_lower;
  std::rotate(order.begin() + static_cast<std::ptrdiff_t>(n_lower),
              order.begin() + static_cast<std::ptrdiff_t>(n_present), order.end());
  return n_lower + order.size() - n_present;
}

// The rows of a node in ascending order of a column.
inline SortedFeature<Keyed> sorted_feature(const Column& column, std::span<const Row> rows, std::vector<Keyed>& order,
                                           std::vector<Keyed>& spare) {
  sort_rows(column, rows, order, spare);
  const std::span<const Keyed> sorted(order);
  return {sorted, count_present(sorted, [&](Keyed entry) { return key_of(entry) == column.gap_code(); }), true};
}

}  // namespace baytree
