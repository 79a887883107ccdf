// The ways to divide the rows of a node in two, as data. Rows go to the lower (left) or to the upper (right) side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "data/columns.hpp"
#include "types.hpp"

namespace baytree {

// The numbers that the kinds have outside of the core; the order is that of `Split`.
enum class SplitKind : std::uint8_t { none, threshold, present_missing, category_set, hyperplane };

// What number stands between two values: the roundest or the one halfway.
enum class Thresholds : std::uint8_t { round, midpoint };

// Where a split sends the missing values of the node's rows.
enum class Missing : std::uint8_t { none, lower, upper };

struct NoSplit {
  bool operator==(const NoSplit&) const = default;
};

// Values up to the threshold go to the lower side.
struct Threshold {
  std::int32_t feature;
  double threshold;
  Code last_lower;  // the highest code on the lower side
  Missing missing = Missing::none;

  bool operator==(const Threshold&) const = default;
};

// Rows with a value go to the lower side, rows without one to the upper.
struct PresentMissing {
  std::int32_t feature;

  bool operator==(const PresentMissing&) const = default;
};

// Each category that the node's rows have goes to a side.
struct CategorySet {
  struct Category {
    Code code;
    std::int64_t number;  // its value in the table
    bool goes_lower;

    bool operator==(const Category&) const = default;
  };
  std::int32_t feature;
  std::vector<Category> categories;  // ascending; a missing value is not among them
  Missing missing = Missing::none;

  bool operator==(const CategorySet&) const = default;
};

// The sum of coefficients times values, at most the threshold, goes to the lower side.
struct Hyperplane {
  struct Term {
    std::int32_t feature;
    double coefficient;
    double missing_value;  // what a missing value counts as

    bool operator==(const Term&) const = default;
  };
  std::vector<Term> terms;
  double threshold;

  bool operator==(const Hyperplane&) const = default;
};

using Split = std::variant<NoSplit, Threshold, PresentMissing, CategorySet, Hyperplane>;

inline SplitKind kind_of(const Split& split) { return static_cast<SplitKind>(split.index()); }

// The feature of a split, of a hyperplane its first; -1: there is no split.
std::int32_t feature_of(const Split& split);

// Its features; those of a hyperplane are several.
std::vector<std::int32_t> features_of(const Split& split);

// Whether two splits of a node are the same. Hyperplanes are if their features are: only the best one of them is found.
bool same_split(const Split& a, const Split& b);

// A number for each split of a node, the same for those that are one.
std::uint64_t mark_of(const Split& split);

// The split between the values of two rows that are neighbours in a node; where its threshold lies between them changes
// no probability.
Threshold threshold_between(std::size_t feature, const Column& column, Row lower, Row upper, Missing missing,
                            Thresholds thresholds);

// One way to divide the rows of a node in two, with its probability.
struct Partition {
  Split split = NoSplit{};
  double log_prior = kMinusInfinity;
  double log_likelihood = kMinusInfinity;  // log L(lower) + log L(upper)

  bool is_split() const { return kind_of(split) != SplitKind::none; }
  bool is_hyperplane() const { return kind_of(split) == SplitKind::hyperplane; }
  std::int32_t feature() const { return feature_of(split); }
  double score() const { return log_prior + log_likelihood; }
};

}  // namespace baytree
