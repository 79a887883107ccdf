// Predictions that must rise or fall with a feature. A threshold along it must put the smaller prediction on the proper
// side, and everything below stays on its side of the middle between the two; a partition that does not has prior zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "outcomes/outcome.hpp"
#include "partitions/category_sets.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "partitions/split.hpp"
#include "partitions/split_list.hpp"
#include "partitions/thresholds.hpp"
#include "types.hpp"

namespace baytree {

template <Outcome T>
class MonotonicNode {
 public:
  using Number = typename T::Number;

  MonotonicNode(const T& outcome, const Node<Number>& node, double smoothing)
      : outcome_(outcome), node_(node), times_(1.0 + smoothing) {}

  // Gives the splits that break the order, or leave the node's bounds, a likelihood of zero.
  template <class Entry>
  void forbid(const SortedFeature<Entry>& feature, int direction, SplitList& splits) {
    std::vector<Number> lower(outcome_.width());
    forbid_from(lower, feature, direction, splits, 0, splits.n_missing_upper);
    if (splits.n_missing_upper < splits.positions.size()) lower = missing_statistics(outcome_, feature);
    forbid_from(lower, feature, direction, splits, splits.n_missing_upper, splits.positions.size());
  }

  void forbid(const CategoryList<Number>& categories, SplitList& splits) {
    forbid_some(categories.lower, 0, splits, [](std::size_t) { return 0; });
  }

  // Bounds of the children, given their statistics.
  std::pair<Bounds, Bounds> divide_bounds(const Number* lower, const Number* upper, int direction) const {
    Bounds below = node_.rules.bounds, above = node_.rules.bounds;
    const double middle = 0.5 * prediction(lower) + 0.5 * prediction(upper);
    if (direction > 0) below.high = above.low = middle;
    if (direction < 0) below.low = above.high = middle;
    return {below, above};
  }

 private:
  double prediction(const Number* statistics) const { return outcome_.mean(node_.prior, statistics, times_); }

  bool allows(double below, double above, int direction) const {
    // Predictions that only rounding tells apart are equal; from infinity nothing finite is that near.
    const double largest = std::max(std::abs(below), std::abs(above));
    const double slack = std::isfinite(largest) ? 1e-9 * largest + 1e-12 * outcome_.mean_unit() : 0.0;
    auto at_most = [&](double low, double high) { return low <= high || low - high <= slack; };
    for (const double prediction : {below, above})
      if (!at_most(node_.rules.bounds.low, prediction) || !at_most(prediction, node_.rules.bounds.high)) return false;
    return direction == 0 || (direction > 0 ? at_most(below, above) : at_most(above, below));
  }

  // Forbids splits from `first` on, by the statistics of their lower sides, which lie one behind the other.
  template <class Direction>
  void forbid_some(std::span<const Number> lower, std::size_t first, SplitList& splits, Direction&& direction) {
    const std::size_t width = outcome_.width(), n = lower.size() / width;
    sides_.resize(2 * lower.size());
    predictions_.resize(2 * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < width; ++k) {
        sides_[2 * i * width + k] = lower[i * width + k];
        sides_[(2 * i + 1) * width + k] = node_.statistics[k] - lower[i * width + k];
      }
    means_of_each(outcome_, node_.prior, std::span<const Number>(sides_), times_, predictions_.data());
    for (std::size_t i = 0; i < n; ++i)
      if (!allows(predictions_[2 * i], predictions_[2 * i + 1], direction(first + i)))
        splits.log_likelihood[first + i] = kMinusInfinity;
  }

  template <class Entry>
  void forbid_from(std::vector<Number>& lower, const SortedFeature<Entry>& feature, int direction, SplitList& splits,
                   std::size_t first, std::size_t stop) {
    const auto direction_of = [&](std::size_t i) {
      const bool divides_missing = feature.n_missing() > 0 && splits.positions[i] + 1 == feature.n_present;
      return divides_missing ? 0 : direction;
    };
    std::size_t next = 0;
    for (; first < stop; first += kAtOnce) {
      const std::size_t last = std::min(first + kAtOnce, stop);
      lowers_.clear();
      for (std::size_t i = first; i < last; ++i) {
        const std::size_t behind = splits.positions[i] + std::size_t{1};
        add_all(outcome_, feature.order.subspan(next, behind - next), lower.data());
        next = behind;
        lowers_.insert(lowers_.end(), lower.begin(), lower.end());
      }
      forbid_some(lowers_, first, splits, direction_of);
    }
  }

  static constexpr std::size_t kAtOnce = 64;

  const T& outcome_;
  const Node<Number>& node_;
  double times_;
  std::vector<Number> lowers_, sides_;  // of some splits
  std::vector<double> predictions_;
};

// Hands the bounds of a node that is split down to its children.
template <Outcome T>
void bound_children(const T& outcome, const Settings& settings, const Node<typename T::Number>& parent,
                    const Split& split, Node<typename T::Number>& lower, Node<typename T::Number>& upper) {
  // Only thresholds put rows in order.
  const auto* threshold = std::get_if<Threshold>(&split);
  const int direction = threshold ? settings.rules.direction(static_cast<std::size_t>(threshold->feature)) : 0;
  std::tie(lower.rules.bounds, upper.rules.bounds) = MonotonicNode<T>(outcome, parent, settings.smoothing)
                                                         .divide_bounds(lower.statistics.data(),
                                                                        upper.statistics.data(), direction);
}

}  // namespace baytree
