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
inline std::int32_t feature_of(const Split& split) {
  return std::visit(
      [](const auto& of) -> std::int32_t {
        using Kind = std::decay_t<decltype(of)>;
        if constexpr (std::is_same_v<Kind, NoSplit>) return -1;
        else if constexpr (std::is_same_v<Kind, Hyperplane>) return of.terms.front().feature;
        else return of.feature;
      },
      split);
}

// Whether two splits of a node are the same. Hyperplanes are if their features are: only the best one of them is found.
inline bool same_split(const Split& a, const Split& b) {
  const auto* plane = std::get_if<Hyperplane>(&a);
  const auto* other = std::get_if<Hyperplane>(&b);
  if (!plane || !other) return a == b;
  return std::equal(plane->terms.begin(), plane->terms.end(), other->terms.begin(), other->terms.end(),
                    [](const auto& x, const auto& y) { return x.feature == y.feature; });
}

// A number for each split of a node, the same for those that are one.
inline std::uint64_t mark_of(const Split& split) {
  std::uint64_t mark = mark_of(split.index());
  auto add = [&](std::uint64_t number) { mark = mark_of(mark + number); };
  if (const auto* threshold = std::get_if<Threshold>(&split)) {
    add(threshold->last_lower);
    add(static_cast<std::uint64_t>(threshold->missing));
  } else if (const auto* set = std::get_if<CategorySet>(&split)) {
    for (const auto& category : set->categories) add(2 * std::uint64_t{category.code} + category.goes_lower);
    add(static_cast<std::uint64_t>(set->missing));
  } else if (const auto* plane = std::get_if<Hyperplane>(&split)) {
    for (const auto& term : plane->terms) add(static_cast<std::uint64_t>(term.feature));
  }
  add(static_cast<std::uint64_t>(feature_of(split)));
  return mark;
}

// Halfway between two values where float64 allows it, and always below the upper one: a value that equals the
// threshold goes to the lower side.
inline double midpoint(double lower, double upper) {
  const double distance = upper - lower;
  const double halfway = std::isfinite(distance) ? lower + distance / 2 : lower / 2 + upper / 2;
  return halfway >= lower && halfway < upper ? halfway : lower;
}

// The split between the values of two rows that are neighbours in a node.
inline Threshold threshold_between(std::size_t feature, const Column& column, Row lower, Row upper, Missing missing) {
  return {static_cast<std::int32_t>(feature), midpoint(column.high(lower), column.low(upper)), column.code_of(lower),
          missing};
}

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
