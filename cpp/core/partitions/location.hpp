// Where in the list of a feature's partitions the one is that a given split makes of the rows of a node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "partitions/category_sets.hpp"
#include "partitions/partition_list.hpp"
#include "partitions/prior.hpp"
#include "partitions/split_list.hpp"
#include "types.hpp"

namespace baytree {

namespace detail {

// The log prior of dividing the categories of a node so; -infinity: it is no partition, or beyond the limits.
template <class Number>
double log_location_of_set(const PartitionList<Number>& list, const Column& column, const Settings& settings,
                           const std::vector<std::uint8_t>& lower) {
  const CategoryList<Number>& categories = list.categories;
  const auto size = static_cast<std::size_t>(std::count(lower.begin(), lower.end(), 1));
  if (size == 0 || size == lower.size()) return kMinusInfinity;
  for (std::size_t i = 0; i < categories.sets.size(); ++i) {
    const std::vector<std::uint8_t> in_set = categories.members(categories.sets[i]);
    const bool flipped = in_set[0] != lower[0];
    if (std::equal(in_set.begin(), in_set.end(), lower.begin(),
                   [=](std::uint8_t a, std::uint8_t b) { return (a != b) == flipped; }))
      return list.splits.location(i);
  }
  // Of many categories not every set is listed, but every set is a partition.
  if (!settings.prior.subsets || lower.size() <= kFewCategories) return kMinusInfinity;
  std::size_t n_lower = 0, n_upper = 0;
  double weight_lower = 0.0, weight_upper = 0.0;
  for (std::size_t c = 0; c < lower.size(); ++c) {
    (lower[c] ? n_lower : n_upper) += categories.n_rows[c];
    (lower[c] ? weight_lower : weight_upper) += categories.weight[c];
  }
  if (std::min(n_lower, n_upper) < settings.limits.min_samples_leaf) return kMinusInfinity;
  if (settings.limits.min_weight_fraction_leaf > 0.0 &&
      std::min(weight_lower, weight_upper) < settings.limits.min_weight())
    return kMinusInfinity;
  const CategoryPrior prior{column.n_codes, lower.size(), settings.prior.subsets,
                            charge_of_sets(settings.row_factor, categories.weight)};
  return prior.log_partition(size);
}

}  // namespace detail

// The log prior, given the feature, of dividing the rows of a node as is_lower(entry) says; -infinity: that is no
// partition of the node, or one beyond the limits.
template <class Number, class Entry, class IsLower>
double log_location_of(const PartitionList<Number>& list, const SortedFeature<Entry>& sorted, const Column& column,
                       const Settings& settings, IsLower&& is_lower) {
  if (list.splits.n_splits == 0) return kMinusInfinity;
  if (list.is_categorical) {
    std::vector<std::uint8_t> lower(list.categories.size());
    for (std::size_t c = 0; c < lower.size(); ++c) lower[c] = is_lower(sorted.order[list.categories.start[c]]);
    return detail::log_location_of_set(list, column, settings, lower);
  }
  const std::span<const Entry> present = sorted.order.first(sorted.n_present);
  const auto n_lower = static_cast<std::size_t>(std::count_if(present.begin(), present.end(), is_lower));
  bool missing_lower = sorted.n_missing() > 0 && is_lower(sorted.order.back());
  std::size_t position = n_lower - 1;
  if (n_lower == 0) {  // missing against present, which is present against missing
    if (!missing_lower) return kMinusInfinity;
    position = sorted.n_present - 1, missing_lower = false;
  } else if (n_lower == sorted.n_present && (sorted.n_missing() == 0 || missing_lower)) {
    return kMinusInfinity;
  }
  const std::span<const std::uint32_t> listed = missing_lower ? list.splits.with_missing_lower()
                                                              : list.splits.with_missing_upper();
  const auto at = std::lower_bound(listed.begin(), listed.end(), position);
  if (at == listed.end() || *at != position) return kMinusInfinity;
  const auto index = static_cast<std::size_t>(at - listed.begin());
  return list.splits.location(missing_lower ? list.splits.n_missing_upper + index : index);
}

}  // namespace baytree
