// Routes rows down all trees of a forest.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "data/table.hpp"
#include "parallel.hpp"
#include "partitions/router.hpp"
#include "partitions/split_rules.hpp"
#include "types.hpp"

namespace baytree {

// All trees, checked and laid out for walking, as in Router: the children of a node lie side by side and leaves lead
// back to themselves. Nodes are numbered throughout the forest; tree t has those from tree_start[t] on.
class ForestRouter {
 public:
  // `value` has what each node predicts, n_values numbers one node after the other.
  ForestRouter(const SplitArrays& splits, std::span<const std::int64_t> tree_start, std::span<const double> value,
               std::size_t n_features)
      : n_features_(n_features), n_values_(splits.size() == 0 ? 0 : value.size() / splits.size()) {
    check_splits(splits, n_features);
    check_trees(splits, tree_start);
    require(n_values_ > 0 && n_values_ * splits.size() == value.size(), "the values of the nodes are not all there");
    for (std::size_t t = 0; t + 1 < tree_start.size(); ++t) add_tree(splits, static_cast<std::size_t>(tree_start[t]));
    rules_.finish();
    value_.reserve(value.size());
    for (const std::int32_t node : node_)
      for (std::size_t k = 0; k < n_values_; ++k)
        value_.push_back(value[static_cast<std::size_t>(node) * n_values_ + k]);
  }

  std::size_t n_trees() const { return roots_.size(); }
  std::size_t n_values() const { return n_values_; }

  // The mean over the trees of what they predict for each row; returns whether no value is infinite.
  bool mean(const Table& table, const FeatureColumns& columns, std::span<double> result, std::size_t n_threads,
            Interrupt& interrupt) const {
    return route(
        table, columns, n_threads, interrupt,
        [&](std::size_t, std::size_t row, std::size_t at) BAYTREE_INLINE {
          for (std::size_t k = 0; k < n_values_; ++k) result[row * n_values_ + k] += value_[at * n_values_ + k];
        },
        [&](std::size_t first, std::size_t stop) {
          for (std::size_t i = first * n_values_; i < stop * n_values_; ++i)
            result[i] /= static_cast<double>(n_trees());
        });
  }

  // The leaf of each row in each tree, one row after the other.
  bool leaves(const Table& table, const FeatureColumns& columns, std::span<std::int32_t> result, std::size_t n_threads,
              Interrupt& interrupt) const {
    return route(
        table, columns, n_threads, interrupt,
        [&](std::size_t tree, std::size_t row, std::size_t at)
            BAYTREE_INLINE { result[row * n_trees() + tree] = node_[at]; },
        [](std::size_t, std::size_t) {});
  }

 private:
  struct Step {
    double threshold;
    std::int32_t feature;  // -1: the rule must be asked
    std::int32_t left;
  };
  static constexpr std::size_t kGroup = 8, kBlock = 512;

  // Every node but the first of a tree has one parent, before it and in the same tree.
  static void check_trees(const SplitArrays& splits, std::span<const std::int64_t> tree_start) {
    const std::size_t n = splits.size();
    require(n < std::size_t{1} << 31 && tree_start.size() > 1 && tree_start.front() == 0 &&
                tree_start.back() == static_cast<std::int64_t>(n),
            "the trees of a forest are not all there");
    std::vector<std::uint8_t> has_parent(n);
    for (std::size_t t = 0; t + 1 < tree_start.size(); ++t) {
      require(tree_start[t] < tree_start[t + 1], "a tree has a root");
      for (std::int64_t i = tree_start[t]; i < tree_start[t + 1]; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (splits.kind_of(at) == SplitKind::none) continue;
        for (const std::int64_t child : {splits.children_left[at], splits.children_right[at]}) {
          require(child > i && child < tree_start[t + 1], "a node points back, or outside of its tree");
          require(!has_parent[static_cast<std::size_t>(child)], "a node has two parents");
          has_parent[static_cast<std::size_t>(child)] = 1;
        }
      }
    }
  }

  void add_tree(const SplitArrays& splits, std::size_t root) {
    roots_.push_back(static_cast<std::int32_t>(node_.size()));
    node_.push_back(static_cast<std::int32_t>(root));
    for (std::size_t place = static_cast<std::size_t>(roots_.back()); place < node_.size(); ++place) {
      const auto node = static_cast<std::size_t>(node_[place]);
      rules_.add(splits, node);
      const SplitKind kind = splits.kind_of(node);
      if (kind == SplitKind::none) {
        steps_.push_back({std::numeric_limits<double>::infinity(), 0, static_cast<std::int32_t>(place)});
        continue;
      }
      const bool by_threshold = kind == SplitKind::threshold || kind == SplitKind::present_missing;
      steps_.push_back({rules_.threshold(place), by_threshold ? static_cast<std::int32_t>(rules_.feature(place)) : -1,
                        static_cast<std::int32_t>(node_.size())});
      node_.push_back(static_cast<std::int32_t>(splits.children_left[node]));
      node_.push_back(static_cast<std::int32_t>(splits.children_right[node]));
    }
  }

  // Calls arrive(tree, row, place) for every row, tree after tree, and finish(first, stop) for rows that are through.
  template <class Arrive, class Finish>
  bool route(const Table& table, const FeatureColumns& columns, std::size_t n_threads, Interrupt& interrupt,
             Arrive&& arrive, Finish&& finish) const {
    std::atomic<bool> no_infinity{true};
    with_places(table, columns, rules_, n_features_, [&](const auto& place) {
      parallel_for((table.n_rows + kBlock - 1) / kBlock, n_threads, interrupt, [&](std::size_t task, std::size_t) {
        const std::size_t first = task * kBlock, stop = std::min(table.n_rows, first + kBlock);
        const bool finite = rows_are_finite(table, first, stop);
        if (!finite && rows_have_infinity(table, first, stop)) no_infinity.store(false, std::memory_order_relaxed);
        for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
          auto own = [&](std::size_t row, std::size_t at) BAYTREE_INLINE { arrive(tree, row, at); };
          if (finite) walk_together(place, table, first, stop, roots_[tree], own);
          else walk_alone(place, table, first, stop, roots_[tree], own);
        }
        finish(first, stop);
      });
    });
    return no_infinity;
  }

  // Groups of rows without missing values go down together, which hides the latency of memory.
  template <class Place, class Arrive>
  void walk_together(const Place& place, const Table& table, std::size_t first, std::size_t stop, std::int32_t root,
                     Arrive&& arrive) const {
    const Step* steps = steps_.data();
    for (; first < stop; first += kGroup) {
      const std::size_t size = std::min(kGroup, stop - first);
      std::array<std::int32_t, kGroup> at;
      at.fill(root);
      bool arrived;
      do {
        arrived = true;
        for (std::size_t k = 0; k < size; ++k) {
          const Step step = steps[at[k]];
          const double* row = table.data + static_cast<std::ptrdiff_t>(first + k) * table.row_stride;
          if (step.feature >= 0)
            at[k] = step.left + (row[place(static_cast<std::size_t>(step.feature))] > step.threshold);
          else
            at[k] = step.left + rules_.goes_right(static_cast<std::size_t>(at[k]),
                                                  [&](std::size_t feature) { return row[place(feature)]; });
          arrived &= steps[at[k]].left == at[k];
        }
      } while (!arrived);
      for (std::size_t k = 0; k < size; ++k) arrive(first + k, static_cast<std::size_t>(at[k]));
    }
  }

  template <class Place, class Arrive>
  void walk_alone(const Place& place, const Table& table, std::size_t first, std::size_t stop, std::int32_t root,
                  Arrive&& arrive) const {
    for (std::size_t row = first; row < stop; ++row) {
      const double* values = table.data + static_cast<std::ptrdiff_t>(row) * table.row_stride;
      auto at = static_cast<std::size_t>(root);
      while (static_cast<std::size_t>(steps_[at].left) != at)
        at = static_cast<std::size_t>(steps_[at].left) +
             rules_.goes_right(at, [&](std::size_t feature) { return values[place(feature)]; });
      arrive(row, at);
    }
  }

  std::size_t n_features_, n_values_;
  SplitRules rules_;  // by place
  std::vector<Step> steps_;  // by place
  std::vector<std::int32_t> node_;  // the number that each place has in the forest
  std::vector<double> value_;  // by place
  std::vector<std::int32_t> roots_;  // the place where each tree begins
};

}  // namespace baytree
