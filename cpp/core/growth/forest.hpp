// Grows the trees of a forest: each on the rows of one table with weights of its own.
//
// The columns are encoded once, the rows put in order once (growth/row_order.hpp: equal ones are one row with all their
// weight), and every tree draws how often each row counts. With the Bayesian bootstrap that is Gamma(w) for a row of
// weight w, exponential for a row that is there once: a draw from the posterior of the distribution that the rows come
// from. It is multiplied by a factor, which makes the tree deeper than its own evidence asks, and rounded at random to
// a whole number of the same mean, so that scores come from tables; rows that come out as 0 are not in the tree. With
// resampling, rows are drawn with replacement instead.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "data/columns.hpp"
#include "growth/grow_tree.hpp"
#include "growth/nodes.hpp"
#include "growth/row_order.hpp"
#include "math/counter_random.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/node.hpp"
#include "partitions/node_features.hpp"
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
  RowWeights(const ForestPlan& plan, std::vector<double> base, std::size_t n_rows)
      : plan_(plan), base_(std::move(base)) {
    ends_.reserve(base_.size());
    for (const double weight : base_) ends_.push_back(total_ += weight);
    n_draws_ = static_cast<std::size_t>(std::clamp(std::round(total_), 1.0, kMostDraws * static_cast<double>(n_rows)));
  }

  // What a count of 1 in a tree stands for.
  double unit() const { return (plan_.resample ? total_ / static_cast<double>(n_draws_) : 1.0) / plan_.factor; }
  double base(std::size_t place) const { return base_[place]; }
  // More than the counts of rows of a total weight add up to in a tree, but for once in a million times.
  double most(double weight) const { return plan_.factor * (weight + 6.0 * std::sqrt(weight) + 20.0); }

  std::vector<double> of_tree(std::size_t tree) const {
    const CounterRandom random(plan_.seed, 0, tree), rounding(plan_.seed, 1, tree);
    std::vector<double> counts(base_.size(), 0.0);
    if (plan_.resample) {
      for (std::size_t draw = 0; draw < n_draws_; ++draw) {
        const auto at = std::upper_bound(ends_.begin(), ends_.end(), random.uniform(draw, 0) * total_);
        counts[std::min(static_cast<std::size_t>(at - ends_.begin()), counts.size() - 1)] += plan_.factor;
      }
      return counts;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] = plan_.factor * random.gamma(base_[i], i);
      if (plan_.whole) counts[i] = std::floor(counts[i] + rounding.uniform(i, 0));
      else counts[i] = std::round(counts[i] / kGrid) * kGrid;
    }
    // A tree has a row.
    if (std::all_of(counts.begin(), counts.end(), [](double count) { return count == 0.0; }))
      counts[static_cast<std::size_t>(rounding.uniform(counts.size(), 0) * static_cast<double>(counts.size()))] =
          plan_.factor;
    return counts;
  }

 private:
  static constexpr double kMostDraws = 100.0;  // a row of the table
  static constexpr double kGrid = 0x1p-20;  // of weights that are not whole, so that sums of them are exact

  ForestPlan plan_;
  std::vector<double> base_, ends_;
  double total_ = 0.0;
  std::size_t n_draws_ = 0;
};

// Grows the trees of a forest one by one, on the weights that RowWeights draws.
template <Outcome T>
class ForestGrower {
 public:
  using Number = typename T::Number;
  using Nodes = std::vector<Node<Number>>;

  // The outcome counts every row once; `weights` are those of the rows, none: all of 1.
  ForestGrower(const Columns& columns, const T& outcome, const Settings& settings,
               const std::vector<double>& root_prior, const Lookahead& lookahead, const ForestPlan& plan,
               std::vector<double> weights, std::size_t subtree_rows)
      : columns_(columns), outcome_(outcome), settings_(settings), root_prior_(root_prior), lookahead_(lookahead),
        plan_(plan), subtree_rows_(subtree_rows), stands_for_(columns.n_rows),
        order_(order_weighted_rows(columns, outcome, settings, weights, &stands_for_)),
        weights_(plan, in_order(weights), columns.n_rows) {
    if constexpr (requires { outcome_.whole_weights; }) outcome_.whole_weights = plan.whole;
    // Every thread has such tables, and the search for hyperplanes looks up little.
    if constexpr (requires { outcome_.most_folded; })
      if (settings.oblique.share > 0.0) outcome_.most_folded = 510;
  }

  double unit() const { return weights_.unit(); }

  // Calls keep(i, nodes) with every tree, on any thread.
  template <class Keep>
  void grow(std::size_t n_threads, Interrupt& interrupt, Keep&& keep) {
    if (plan_.whole) prepare_tables();
    const std::size_t inside = std::max<std::size_t>(n_threads / std::max<std::size_t>(plan_.n_trees, 1), 1);
    parallel_for(plan_.n_trees, n_threads, interrupt,
                 [&](std::size_t i, std::size_t) { keep(i, grow_one(plan_.first + i, inside, interrupt)); });
  }

  // By row of the table, how often it counts in a tree, equal ones together; zero: it is not in it.
  std::vector<double> weights_of(std::size_t tree) const {
    const std::vector<double> counts = weights_.of_tree(tree);
    std::vector<double> result(columns_.n_rows);
    for (std::size_t i = 0; i < counts.size(); ++i) result[order_.rows[i]] = counts[i];
    for (std::size_t row = 0; row < result.size(); ++row) result[row] = result[stands_for_[row]];
    return result;
  }

  // By row of the table, the weight that it and those that are equal to it have together.
  std::vector<double> weights_together() const {
    std::vector<double> result(columns_.n_rows);
    for (std::size_t i = 0; i < order_.rows.size(); ++i) result[order_.rows[i]] = weights_.base(i);
    for (std::size_t row = 0; row < result.size(); ++row) result[row] = result[stands_for_[row]];
    return result;
  }

 private:
  std::vector<double> in_order(const std::vector<double>& weights) const {
    std::vector<double> result;
    for (const Row row : order_.rows) result.push_back(weights[row]);
    return result;
  }

  // Tables that are large enough for all trees; one that needs larger ones makes its own.
  void prepare_tables() {
    std::vector<double> weight(outcome_.width());
    std::vector<Number> row(outcome_.width()), total(outcome_.width());
    for (std::size_t i = 0; i < order_.rows.size(); ++i) {
      std::fill(row.begin(), row.end(), Number{0});
      outcome_.add(row.data(), order_.rows[i]);
      for (std::size_t k = 0; k < row.size(); ++k) weight[k] += weights_.base(i) * static_cast<double>(row[k]);
    }
    for (std::size_t k = 0; k < total.size(); ++k)
      total[k] = static_cast<Number>(weights_.most(std::max(weight[k], 0.0)));
    outcome_.prepare(root_prior_, total.data());
  }

  Nodes grow_one(std::size_t tree, std::size_t n_threads, Interrupt& interrupt) const {
    auto order = std::make_shared<RowOrder>(RowOrder{{}, order_.times, order_.point});
    T outcome(outcome_);
    Settings settings(settings_);
    outcome.set_weights(draw(tree, order->rows, settings.row_factor));
    settings.use = use(order->rows);
    if (plan_.n_features < columns_.columns.size()) settings.draw = {plan_.seed, tree, plan_.n_features};
    // The search for the hyperplane of a root takes the most memory, that of a node with all the points it ever takes
    // too: there are no sorted lists beside these. Sums that are not exact would depend on the order of the lists.
    if (kExactSums<T> && settings.oblique.share > 0.0)
      settings.most_in_lists = std::min(order->rows.size() / 2, settings.oblique.effort.few_rows);
    settings.order = std::move(order);
    settings.fills_posterior = false;
    return grow_tree(columns_, std::move(outcome), std::move(settings), root_prior_, lookahead_, subtree_rows_,
                     n_threads, interrupt);
  }

  // The weights of a tree, by row of the table; `rows` gets the rows that are in it, in their order.
  std::vector<double> draw(std::size_t tree, std::vector<Row>& rows, RowFactor& factor) const {
    const std::vector<double> counts = weights_.of_tree(tree);
    std::vector<double> weights(columns_.n_rows, 1.0);
    double count = 0.0, base = 0.0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (!(counts[i] > 0.0)) continue;
      rows.push_back(order_.rows[i]);
      weights[order_.rows[i]] = counts[i];
      count += counts[i], base += weights_.base(i);
    }
    factor = {plan_.factor, count / base};
    return weights;
  }

  // What a tree can use each feature for, which may have one value in the rows of the tree.
  std::vector<Use> use(std::span<const Row> rows) const {
    std::vector<Use> result;
    for (const Column& column : columns_.columns)
      result.push_back(!varies(column, rows)        ? Use::nothing
                       : varies(column, rows, true) ? Use::everything
                                                    : Use::splits);
    return result;
  }

  const Columns& columns_;
  T outcome_;
  Settings settings_;
  std::vector<double> root_prior_;
  Lookahead lookahead_;
  ForestPlan plan_;
  std::size_t subtree_rows_;
  std::vector<Row> stands_for_;  // by row of the table, the one of the order that it is part of
  RowOrder order_;
  RowWeights weights_;
};

}  // namespace baytree
