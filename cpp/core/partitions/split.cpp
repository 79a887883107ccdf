#include "partitions/split.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "partitions/round_threshold.hpp"

namespace baytree {

std::int32_t feature_of(const Split& split) {
  return std::visit(
      [](const auto& of) -> std::int32_t {
        using Kind = std::decay_t<decltype(of)>;
        if constexpr (std::is_same_v<Kind, NoSplit>) return -1;
        else if constexpr (std::is_same_v<Kind, Hyperplane>) return of.terms.front().feature;
        else return of.feature;
      },
      split);
}

std::vector<std::int32_t> features_of(const Split& split) {
  std::vector<std::int32_t> result;
  if (const auto* plane = std::get_if<Hyperplane>(&split))
    for (const Hyperplane::Term& term : plane->terms) result.push_back(term.feature);
  else if (kind_of(split) != SplitKind::none) result.push_back(feature_of(split));
  return result;
}

bool same_split(const Split& a, const Split& b) {
  const auto* plane = std::get_if<Hyperplane>(&a);
  const auto* other = std::get_if<Hyperplane>(&b);
  if (!plane || !other) return a == b;
  return std::equal(plane->terms.begin(), plane->terms.end(), other->terms.begin(), other->terms.end(),
                    [](const auto& x, const auto& y) { return x.feature == y.feature; });
}

std::uint64_t mark_of(const Split& split) {
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

Threshold threshold_between(std::size_t feature, const Column& column, Row lower, Row upper, Missing missing,
                            Thresholds thresholds) {
  const auto between = thresholds == Thresholds::round ? roundest_between : midpoint;
  return {static_cast<std::int32_t>(feature), between(column.high(lower), column.low(upper)), column.code_of(lower),
          missing};
}

}  // namespace baytree
