// Routes rows down a fitted tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "partitions/split_rules.hpp"
#include "types.hpp"

namespace baytree {

// Whether all values of some rows are finite: x * 0 is 0 for those and NaN for the others.
bool rows_are_finite(const Table& table, std::size_t first, std::size_t stop);
bool rows_have_infinity(const Table& table, std::size_t first, std::size_t stop);

// A tree, checked and laid out for walking: 16 bytes per node, the two children of a node side by side, and leaves that
// lead back to themselves, so that a row takes a step without a test whether it has arrived.
class Router {
 public:
  Router(const SplitArrays& splits, std::size_t n_features);

  // Finds the leaf of each row; returns whether no value is infinite, which is cheap to check while they are in cache.
  bool route(const Table& table, const FeatureColumns& columns, std::span<std::int64_t> leaves, std::size_t n_threads,
             Interrupt& interrupt) const;

  // Counts, at each node, the rows that come there without a value of its feature; leaves count nothing.
  std::vector<std::int64_t> count_missing(const Table& table, const FeatureColumns& columns, std::size_t n_threads,
                                          Interrupt& interrupt) const;

 private:
  struct Step {
    double threshold;
    std::int32_t feature;
    std::int32_t left;  // x <= threshold; the right child follows it
  };
  static constexpr std::size_t kGroup = 8, kBlock = 4096;  // rows that are walked together, and that make a task

  // A node comes before its children and has one parent.
  static void check_children(const SplitArrays& splits);

  template <class Place>
  bool route_by(const Place& place, const Table& table, std::span<std::int64_t> leaves, std::size_t n_threads,
                Interrupt& interrupt) const;

  template <class Place>
  std::vector<std::int64_t> count_missing_by(const Place& place, const Table& table, std::size_t n_threads,
                                             Interrupt& interrupt) const;

  // Groups of rows go down together, which hides the latency of memory.
  template <class Place>
  void walk_together(const Place& place, const Table& table, std::size_t first, std::size_t stop,
                     std::span<std::int64_t> leaves) const;

  bool is_leaf(std::size_t place) const { return static_cast<std::size_t>(steps_[place].left) == place; }

  // The child that a row goes to; `value` gives the row's features.
  template <class Value>
  std::size_t child(std::size_t place, Value&& value) const {
    return static_cast<std::size_t>(steps_[place].left) + rules_.goes_right(place, value);
  }

  // Rows with missing values, and trees with other splits than thresholds.
  template <class Place>
  void walk_alone(const Place& place, const Table& table, std::size_t first, std::size_t stop,
                  std::span<std::int64_t> leaves) const;

  std::size_t n_features_;
  SplitRules rules_;  // by place
  std::vector<Step> steps_;  // by place
  std::vector<std::int64_t> node_;  // the number that each place has in the fitted tree
};

}  // namespace baytree
