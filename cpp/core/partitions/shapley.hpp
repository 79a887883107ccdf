// Path-dependent Shapley values of the trees of a graph: what each feature of a row adds to its prediction.
//
// The value of a set of features: a split is known where all of its features are, and then the row takes its side;
// otherwise both sides count, by the weight of their training rows. So a path is a product of factors
// share + [features known] (taken - share), and multiplied out a sum of games "all of U are known", whose Shapley value
// is 1 / |U| for each feature of U. A walk down the graph collects the sets U with their weights; equal sets in a node
// are added up, and a split whose features are in U already goes one way only. Where there are more sets than allowed,
// orders of the features are drawn instead: antithetic pairs, the same ones for every row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "partitions/space_router.hpp"
#include "partitions/split_rules.hpp"
#include "types.hpp"

namespace baytree {

// What the nodes predict, by row (or once for all rows), node and number.
struct NodeValues {
  std::span<const double> values;
  std::size_t n_rows, n_nodes, n_values;

  const double* of_row(std::size_t row) const { return values.data() + (n_rows == 1 ? 0 : row) * n_nodes * n_values; }
};

// How many sets of features a row may need before orders are drawn, and how many pairs of orders then.
struct ShapleyEffort {
  std::size_t max_sets, n_pairs;
  std::uint64_t stream;  // of random numbers
};

struct Contributions {
  std::vector<double> values;  // by row, feature and number
  std::vector<double> variance;  // of each value, as far as orders were drawn; otherwise 0
  std::vector<double> base;  // without any feature, by row and number
};

class Shapley {
 public:
  // As of SpaceRouter; `left_share` is the share of the training rows of a split that its left side has.
  Shapley(const SplitArrays& choices, std::span<const std::int64_t> choice_start, std::span<const double> leaf_share,
          std::span<const double> choice_share, std::span<const double> left_share, std::size_t n_features);

  Contributions contributions(const Table& table, const NodeValues& value, const ShapleyEffort& effort,
                              std::size_t n_threads, Interrupt& interrupt) const;

 private:
  struct Scratch;  // of one thread
  struct RowContributions;  // the part of the result that is a row's

  template <std::size_t n_words>
  class WeightedSets;

  // Passes the sets of a node on to the children of one of its choices.
  template <std::size_t n_words>
  void pass_on(std::size_t choice, bool to_right, const WeightedSets<n_words>& here, WeightedSets<n_words>& left,
               WeightedSets<n_words>& right) const;

  // Returns false where a row needs too many sets.
  template <std::size_t n_words>
  bool add_exactly(const Scratch& scratch, const double* value, std::size_t max_sets, RowContributions row) const;

  void add_drawn(Scratch& scratch, const double* value, const ShapleyEffort& effort, RowContributions row) const;

  // Adds, by the numbers of an order, what each feature adds where features become known in this order.
  void add_order(Scratch& scratch, const double* value, std::vector<double>& added) const;

  // What is predicted where the splits are known that become so up to a step.
  void predict(Scratch& scratch, const double* value, std::uint32_t step, std::vector<double>& result) const;

  std::size_t n_nodes() const { return leaf_share_.size(); }
  std::span<const std::uint32_t> features_of(std::size_t choice) const {
    return std::span(choice_feature_)
        .subspan(feature_start_[choice], feature_start_[choice + 1] - feature_start_[choice]);
  }

  std::size_t n_features_;
  SplitRules rules_;  // by choice
  std::vector<std::int64_t> left_, right_, choice_start_;
  std::vector<double> leaf_share_, choice_share_, left_share_;
  std::vector<std::uint32_t> choice_feature_;  // positions in rules_.features()
  std::vector<std::size_t> feature_start_;
};

}  // namespace baytree
