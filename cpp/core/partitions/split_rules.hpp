// The splits of a fitted tree, or of the choices of a tree space, checked once and laid out for routing.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "math/vector_math.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

// Views of parallel arrays, one entry per split. The categories of split i (all that its training rows had) start at
// category_start[i], the terms of a hyperplane at hyperplane_start[i].
struct SplitArrays {
  std::span<const std::int64_t> children_left, children_right;
  std::span<const std::uint8_t> kind;  // SplitKind
  std::span<const std::int64_t> feature;
  std::span<const double> threshold;
  std::span<const bool> missing_go_to_left, unseen_go_to_left;
  std::span<const std::int64_t> category_start, category;
  std::span<const bool> category_goes_left;
  std::span<const std::int64_t> hyperplane_start, hyperplane_feature;
  std::span<const double> hyperplane_coefficient, hyperplane_missing_value;

  std::size_t size() const { return kind.size(); }
  SplitKind kind_of(std::size_t i) const { return static_cast<SplitKind>(kind[i]); }
};

namespace detail {

// Whether `start` divides so many entries among n splits.
inline bool divides_entries(std::span<const std::int64_t> start, std::size_t n, std::size_t n_entries) {
  return start.size() == n + 1 && start.front() == 0 && std::is_sorted(start.begin(), start.end()) &&
         static_cast<std::size_t>(start.back()) == n_entries;
}

inline bool is_feature(std::int64_t feature, std::size_t n_features) {
  return feature >= 0 && static_cast<std::size_t>(feature) < n_features;
}

}  // namespace detail

// Rejects damaged arrays: nothing may lead outside of them. The caller checks the children.
void check_splits(const SplitArrays& splits, std::size_t n_features);

// Decides which way a row goes at a split.
class SplitRules {
 public:
  // Room for all splits of some arrays.
  void reserve(const SplitArrays& splits);

  // Adds a split from checked arrays.
  void add(const SplitArrays& splits, std::size_t i);

  // Must follow the last `add`.
  void finish();

  double threshold(std::size_t i) const { return rules_[i].threshold; }
  std::size_t feature(std::size_t i) const { return rules_[i].feature; }
  bool missing_goes_right(std::size_t i) const { return !rules_[i].missing_left; }
  bool thresholds_only() const { return thresholds_only_; }  // enough for rows without missing values
  const std::vector<std::size_t>& features() const { return features_; }  // those that splits use, ascending

  // The terms of a hyperplane.
  struct Terms {
    std::span<const std::uint32_t> feature;
    std::span<const double> coefficient, missing_value;
  };
  Terms terms(std::size_t i) const;

  // value(feature) is the row's.
  template <class Value>
  bool goes_right(std::size_t i, Value&& value) const {
    const Rule& rule = rules_[i];
    if (rule.kind == SplitKind::hyperplane) {
      double sum = 0.0;
      for (std::size_t k = rule.first; k < rule.first + rule.count; ++k) {
        const double x = value(term_feature_[k]);
        sum += coefficient_[k] * (x == x ? x : missing_value_[k]);
      }
      return !(sum <= rule.threshold);
    }
    const double x = value(rule.feature);
    if (x != x) return !rule.missing_left;
    if (rule.kind != SplitKind::category_set) return x > rule.threshold;
    if (!(x >= 0.0 && x < static_cast<double>(rule.count))) return !rule.unseen_left;
    return !category_left_[rule.first + static_cast<std::size_t>(x)];
  }

 private:
  struct Rule {
    SplitKind kind;
    bool missing_left, unseen_left;
    std::uint32_t feature;
    double threshold;
    std::size_t first = 0;  // in category_left_, by category, or among the terms
    std::size_t count = 0;  // of categories, those beyond were not seen; or of terms
  };

  void use(std::size_t feature);

  void add_categories(const SplitArrays& splits, std::size_t i, Rule& rule);

  void add_terms(const SplitArrays& splits, std::size_t i, Rule& rule);

  std::vector<Rule> rules_;
  std::vector<std::uint8_t> category_left_;
  std::vector<std::uint32_t> term_feature_;  // of hyperplanes, one term after the other
  std::vector<double> coefficient_, missing_value_;  // likewise
  std::vector<std::uint8_t> is_used_;  // by feature
  std::vector<std::size_t> features_;
  bool thresholds_only_ = true;
};

// The offset of a feature from the start of its row: feature f is in column f, ...
struct InOrder {
  std::ptrdiff_t column_stride;
  std::ptrdiff_t operator()(std::size_t feature) const { return static_cast<std::ptrdiff_t>(feature) * column_stride; }
};

// ... or anywhere.
struct Anywhere {
  std::vector<std::ptrdiff_t> offset;  // by feature
  std::ptrdiff_t operator()(std::size_t feature) const { return offset[feature]; }
};

// The column of each feature, -1 for those that a table does not have; none: every feature in order.
using FeatureColumns = std::optional<std::span<const std::int64_t>>;

// Calls work(place) with a function that finds the features of the rules in a table.
template <class Work>
auto with_places(const Table& table, const FeatureColumns& columns, const SplitRules& rules, std::size_t n_features,
                 Work&& work) {
  if (!columns) {
    require(table.n_columns == n_features, "the table does not have a column for each feature");
    return work(InOrder{table.column_stride});
  }
  require(columns->size() == n_features, "there is not a column for each feature");
  Anywhere places{std::vector<std::ptrdiff_t>(n_features)};
  for (const std::size_t feature : rules.features()) {
    const std::int64_t column = (*columns)[feature];
    require(detail::is_feature(column, table.n_columns), "the table does not have a feature that is used");
    places.offset[feature] = static_cast<std::ptrdiff_t>(column) * table.column_stride;
  }
  return work(std::as_const(places));
}

}  // namespace baytree
