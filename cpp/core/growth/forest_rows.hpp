// The rows of a forest: in order, each with the weight that it has in each tree.
//
// The columns are encoded once, the rows put in order once (growth/row_order.hpp: equal ones are one row with all their
// weight), and every tree draws how often each row counts. With the Bayesian bootstrap that is Gamma(w) for a row of
// weight w, exponential for a row that is there once: a draw from the posterior of the distribution that the rows come
// from. It is multiplied by a factor, which makes the tree deeper than its own evidence asks, and rounded at random to
// a whole number of the same mean, so that scores come from tables; rows that come out as 0 are not in the tree. With
// resampling, rows are drawn with replacement instead.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "data/row_order.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

struct ForestPlan {
  std::uint64_t seed = 0;
  std::size_t first = 0, n_trees = 0;  // those of numbers first, first + 1, ...
  bool resample = false;  // rows are drawn with replacement; otherwise all of them have random weights
  bool whole = true;  // weights are whole numbers, for which there may be tables
  double factor = 1.0;  // on the weights
  std::size_t n_features = 0;  // that each node may use
};

// How often the rows of the order count in one tree; zero: not at all.
class RowWeights {
 public:
  // `base` has the weights of the rows, by their place in the order; n_rows are those of the table.
  RowWeights(const ForestPlan& plan, std::vector<double> base, std::size_t n_rows);

  // What a count of 1 in a tree stands for.
  double unit() const { return (plan_.resample ? total_ / static_cast<double>(n_draws_) : 1.0) / plan_.factor; }
  double base(std::size_t place) const { return base_[place]; }
  // More than the counts of rows of a total weight add up to in a tree, but for once in a million times.
  double most(double weight) const { return plan_.factor * (weight + 6.0 * std::sqrt(weight) + 20.0); }

  std::vector<double> of_tree(std::size_t tree) const;

 private:
  static constexpr double kMostDraws = 100.0;  // a row of the table
  static constexpr double kGrid = 0x1p-20;  // of weights that are not whole, so that sums of them are exact

  ForestPlan plan_;
  std::vector<double> base_, ends_;
  double total_ = 0.0;
  std::size_t n_draws_ = 0;
};

class ForestRows {
 public:
  // `outcome_marks` tell the outcomes of rows apart; `weights` are those of the rows, none: all of 1.
  ForestRows(const Columns& columns, std::span<const std::uint64_t> outcome_marks, const Settings& settings,
             const ForestPlan& plan, std::vector<double> weights);

  const RowOrder& order() const { return order_; }
  const RowWeights& weights() const { return weights_; }

  // By row of the table, how often it counts in a tree, equal ones together; zero: it is not in it.
  std::vector<double> weights_of(std::size_t tree) const;

  // By row of the table, the weight that it and those that are equal to it have together.
  std::vector<double> weights_together() const;

  // The weights of a tree, by row of the table; `rows` gets the rows that are in it, in their order.
  std::vector<double> draw(std::size_t tree, std::vector<Row>& rows, RowFactor& factor) const;

  // What a tree can use each feature for, which may have one value in the rows of the tree.
  std::vector<Use> use(std::span<const Row> rows) const;

 private:
  std::vector<double> in_order(const std::vector<double>& weights) const;

  const Columns& columns_;
  ForestPlan plan_;
  std::vector<Row> stands_for_;  // by row of the table, the one of the order that it is part of
  RowOrder order_;
  RowWeights weights_;
};

}  // namespace baytree
