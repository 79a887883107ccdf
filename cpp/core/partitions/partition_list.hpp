// One feature in one node, whatever its kind: the list of its partitions, the split that each of them is, and the
// division of the ordered rows by one of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "data/sort.hpp"
#include "outcomes/outcome.hpp"
#include "partitions/category_sets.hpp"
#include "partitions/monotonic.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "partitions/split.hpp"
#include "partitions/split_list.hpp"
#include "partitions/thresholds.hpp"
#include "types.hpp"

namespace baytree {

template <class Number>
struct PartitionList {
  bool is_categorical = false;
  SplitList splits;                 // of a categorical feature: its sets, in their order
  CategoryList<Number> categories;  // of a categorical feature only
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
void list_partitions(const ScoredNode<T>& scored, std::size_t feature, const Column& column,
                     const SortedFeature<Entry>& sorted, const Settings& settings,
                     PartitionList<typename T::Number>& list, Value&& value) {
  const auto& [outcome, scorer, node] = scored;
  list.is_categorical = column.is_categorical;
  if (column.is_categorical)
    list_category_sets(outcome, scorer, node.statistics.data(), sorted.order, column.n_codes, settings, list.categories,
                       list.splits);
  else list_thresholds(outcome, scorer, sorted, settings, list.splits, value);
  if (!settings.rules.constrained()) return;
  MonotonicNode<T> monotonic(outcome, node, settings.smoothing);
  if (column.is_categorical) monotonic.forbid(list.categories, list.splits);
  else monotonic.forbid(sorted, settings.rules.direction(feature), list.splits);
}

// The number of values before the missing ones, in an order sorted by code.
template <class Entry, class IsMissing>
std::size_t count_present(std::span<const Entry> order, IsMissing&& is_missing) {
  if (order.empty() || !is_missing(order.back())) return order.size();
  return static_cast<std::size_t>(
      std::partition_point(order.begin(), order.end(), [&](Entry entry) { return !is_missing(entry); }) -
      order.begin());
}

// The rows of a node in ascending order of a column.
inline SortedFeature<Keyed> sorted_feature(const Column& column, std::span<const Row> rows, std::vector<Keyed>& order,
                                           std::vector<Keyed>& spare) {
  sort_rows(column, rows, order, spare);
  const std::span<const Keyed> sorted(order);
  return {sorted, count_present(sorted, [&](Keyed entry) { return key_of(entry) == column.missing_code(); }), true};
}

namespace detail {

template <class Number, class Entry, class RowOf>
CategorySet category_set_of(const CategoryList<Number>& list, std::size_t index, std::size_t feature,
                            const Column& column, std::span<const Entry> order, RowOf&& row_of) {
  CategorySet result{static_cast<std::int32_t>(feature), {}};
  const std::vector<std::uint8_t> in_set = list.members(list.sets[index]);
  for (std::size_t category = 0; category < in_set.size(); ++category) {
    const Row row = row_of(order[list.start[category]]);
    const Code code = column.code_of(row);
    const bool lower = in_set[category] != 0;
    if (code == column.missing_code()) result.missing = lower ? Missing::lower : Missing::upper;
    else result.categories.push_back({code, static_cast<std::int64_t>(column.low(row)), lower});
  }
  return result;
}

}  // namespace detail

// The split that a listed partition is; row_of(entry) is the row in the table.
template <class Number, class Entry, class RowOf>
Split split_of(const PartitionList<Number>& list, std::size_t index, std::size_t feature, const Column& column,
               const SortedFeature<Entry>& sorted, Thresholds thresholds, RowOf&& row_of) {
  if (list.is_categorical)
    return detail::category_set_of(list.categories, index, feature, column, sorted.order, row_of);
  const std::size_t position = list.splits.positions[index];
  const bool has_missing = sorted.n_missing() > 0;
  if (has_missing && position + 1 == sorted.n_present) return PresentMissing{static_cast<std::int32_t>(feature)};
  Missing missing = Missing::none;
  if (has_missing) missing = list.splits.sends_missing_lower(index) ? Missing::lower : Missing::upper;
  return threshold_between(feature, column, row_of(sorted.order[position]), row_of(sorted.order[position + 1]), missing,
                           thresholds);
}

// Moves the entries of the lower side to the front, both sides in ascending order; returns how many they are.
template <class Number, class Entry>
std::size_t divide_order(const PartitionList<Number>& list, std::size_t index, std::size_t n_present,
                         std::span<Entry> order) {
  if (list.is_categorical) {
    const CategoryList<Number>& categories = list.categories;
    const std::vector<std::uint8_t> in_set = categories.members(categories.sets[index]);
    std::vector<Entry> upper;
    std::size_t n_lower = 0;
    for (std::size_t category = 0; category < in_set.size(); ++category)
      for (std::size_t i = categories.start[category]; i < categories.start[category + 1]; ++i)
        if (in_set[category]) order[n_lower++] = order[i];
        else upper.push_back(order[i]);
    std::copy(upper.begin(), upper.end(), order.begin() + static_cast<std::ptrdiff_t>(n_lower));
    return n_lower;
  }
  const std::size_t n_lower = list.splits.positions[index] + std::size_t{1};
  if (!list.splits.sends_missing_lower(index)) return n_lower;
  std::rotate(order.begin() + static_cast<std::ptrdiff_t>(n_lower),
              order.begin() + static_cast<std::ptrdiff_t>(n_present), order.end());
  return n_lower + order.size() - n_present;
}

}  // namespace baytree
