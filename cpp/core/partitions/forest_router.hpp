// Routes rows down all trees of a forest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/table.hpp"
#include "parallel.hpp"
#include "partitions/rounded_planes.hpp"
#include "partitions/router.hpp"
#include "partitions/split_rules.hpp"
#include "types.hpp"

namespace baytree {

// All trees, checked and laid out for walking: depth first, the left child of a node right behind it, which is the
// order in which they are walked, so that the caches see it coming. Nodes are numbered throughout the forest; tree t
// has those from tree_start[t] on.
class ForestRouter {
 public:
  // `value` has what each node predicts, n_values numbers one node after the other.
  ForestRouter(const SplitArrays& splits, std::span<const std::int64_t> tree_start, std::span<const double> value,
               std::size_t n_features);

  std::size_t n_trees() const { return roots_.size(); }
  std::size_t n_values() const { return n_values_; }

  // The mean over the trees of what they predict for each row; returns whether no value is infinite.
  bool mean(const Table& table, const FeatureColumns& columns, std::span<double> result, std::size_t n_threads,
            Interrupt& interrupt) const;

  // The leaf of each row in each tree, one row after the other.
  bool leaves(const Table& table, const FeatureColumns& columns, std::span<std::int32_t> result, std::size_t n_threads,
              Interrupt& interrupt) const;

 private:
  struct Step {
    double threshold;
    std::int32_t feature;  // of a threshold; kPlane: it is a hyperplane; kRule: the rule must be asked
    std::int32_t right;  // child; none in a leaf
  };
  struct Part {
    std::size_t node, begin, end;  // its rows
  };
  static constexpr std::int32_t kPlane = -1, kRule = -2, kNone = -1;
  static constexpr std::size_t kAtOnce = 8;  // rows that a hyperplane is evaluated for
  // Rows that are walked together: many, for most nodes to have some of them, but not more values than a cache holds.
  static constexpr std::size_t kMostRows = 8192, kLeastRows = 256, kMostValues = std::size_t{1} << 18;

  // Every node but the first of a tree has one parent, before it and in the same tree; a left child is the next node.
  static void check_trees(const SplitArrays& splits, std::span<const std::int64_t> tree_start);

  void add(const SplitArrays& splits, std::size_t node);

  // Rows of a table, laid out for the splits of this forest.
  struct alignas(kApart) Block {
    bool finite = true;  // no value is missing or infinite
    std::vector<double> values;
    std::vector<std::uint32_t> rows, upper;  // of a node: positions in the block
    RoundedBlock rounded;  // the same values
    std::vector<Part> parts;
  };

  // Calls arrive(tree, row, leaf) for every row, tree after tree, and finish(first, stop) for rows that are through.
  template <class Arrive, class Finish>
  bool route(const Table& table, const FeatureColumns& columns, std::size_t n_threads, Interrupt& interrupt,
             Arrive&& arrive, Finish&& finish) const;

  // As few blocks as keep all threads busy to the end.
  std::size_t block_size(std::size_t n_rows, std::size_t n_threads) const;

  template <class Place>
  void fill(Block& block, const Table& table, const Place& place, std::size_t first, std::size_t stop) const;

  // Sends all rows of a block down a tree, node by node: what a split looks at is looked up once for many rows.
  template <class Arrive>
  void walk(Block& block, std::size_t n_rows, std::size_t root, Arrive&& arrive) const;

  // Puts the rows of a node that go left first; returns where the others begin.
  std::size_t split(Block& block, std::size_t at, std::size_t begin, std::size_t end) const;

  std::size_t split_by_threshold(Block& block, std::size_t at, std::size_t begin, std::size_t end) const;

  std::size_t split_by_plane(Block& block, std::size_t at, std::size_t begin, std::size_t end) const;

  std::size_t split_rounded(Block& block, std::size_t at, std::size_t begin, std::size_t end) const;

  // Splits by the sums of some rows at once, which do not wait for each other.
  template <class Filled>
  std::size_t split_by_sums(Block& block, std::size_t at, std::size_t begin, std::size_t end, Filled filled) const;

  template <class GoesRight>
  static std::size_t divide(Block& block, std::size_t begin, std::size_t end, GoesRight goes_right);

  // Goes on where the rows before were divided: those that go left end at `middle`, the others are in `upper`. Both
  // writes always happen and one counts: no branch that could be mispredicted.
  template <class GoesRight>
  static std::size_t divide(Block& block, std::size_t begin, std::size_t end, GoesRight goes_right, std::size_t middle,
                            std::size_t n_upper);

  std::size_t n_features_, n_values_, most_rows_;
  std::size_t row_step_ = 1, feature_step_ = 1;  // from a value of a block to that of the next row, or feature
  SplitRules rules_;  // by node
  std::vector<Step> steps_;  // by node
  std::vector<double> value_;  // by node
  std::vector<std::size_t> roots_;  // by tree
};

}  // namespace baytree
