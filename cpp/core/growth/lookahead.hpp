// Grows a tree with look-ahead: a node takes the partition whose best subtree within some further levels has the
// highest posterior, where the greedy-modal tree looks at the partition alone.
//
// V(node, 0) = max(p0 L, max_k p_k L(lower_k) L(upper_k)) and V(node, j) = max(p0 L, max_k p_k V(lower_k, j - 1)
// V(upper_k, j - 1)), with k over some partitions of the features that alone are the most probable. A level more costs
// as many times as much as there are such partitions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "growth/engine.hpp"
#include "growth/expand.hpp"
#include "growth/listing.hpp"
#include "growth/nodes.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

template <Outcome T>
class LookaheadGrower {
 public:
  using Number = typename T::Number;

  // The settings and the outcome are those that `make_root` completed.
  LookaheadGrower(const Columns& columns, const T& outcome, const Settings& settings, const Lookahead& lookahead,
                  std::size_t n_threads, Interrupt& interrupt)
      : columns_(columns), outcome_(outcome), settings_(settings), lookahead_(lookahead),
        n_threads_(std::max<std::size_t>(n_threads, 1)), interrupt_(interrupt), scratch_(n_threads_) {}

  std::vector<Node<Number>> grow(Node<Number> root) {
    nodes_.push_back(std::move(root));
    std::vector<Open> level;
    level.push_back({0, all_rows(columns_, settings_)});
    while (!level.empty()) level = grow_level(std::move(level));
    return depth_first(std::move(nodes_));
  }

 private:
  struct Open {
    std::size_t node;
    std::vector<Row> rows;
    std::vector<Partition> candidates = {};  // feature by feature, in ascending order
    std::vector<double> values = {};         // of their best subtrees
  };
  using Scratch = ListingScratch<Number>;

  std::vector<Open> grow_level(std::vector<Open> level) {
    parallel_for(level.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      Open& open = level[i];
      open.candidates = candidates_of(nodes_[open.node], open.rows, scratch_[worker]);
      open.values.resize(open.candidates.size());
    });
    std::vector<std::pair<std::size_t, std::size_t>> tasks;
    for (std::size_t i = 0; i < level.size(); ++i)
      for (std::size_t k = 0; k < level[i].candidates.size(); ++k) tasks.push_back({i, k});
    parallel_for(tasks.size(), n_threads_, interrupt_, [&](std::size_t task, std::size_t worker) {
      Open& open = level[tasks[task].first];
      const std::size_t k = tasks[task].second;
      open.values[k] = value_of(nodes_[open.node], open.candidates[k], open.rows, lookahead_.levels, scratch_[worker]);
    });
    std::vector<Open> next;
    for (Open& open : level) split(open, next);
    return next;
  }

  // Of the features with the best partitions these partitions and the thresholds in the middle: a feature that tells
  // nothing alone has its best threshold anywhere.
  std::vector<Partition> candidates_of(Node<Number>& node, std::span<const Row> rows, Scratch& scratch) const {
    std::vector<Partition> partitions = best_partitions(columns_, outcome_, settings_, rows,
                                                        {lookahead_.per_feature, true}, node, scratch);
    std::vector<double> best(columns_.columns.size(), kMinusInfinity);
    for (const Partition& partition : partitions) {
      double& of_feature = best[static_cast<std::size_t>(partition.feature())];
      of_feature = std::max(of_feature, partition.score());
    }
    for (double& score : best) score = without_rounding_error(score);
    choose_highest(best, lookahead_.width, kMinusInfinity, scratch.chosen);
    std::erase_if(partitions, [&](const Partition& partition) {
      return !std::binary_search(scratch.chosen.begin(), scratch.chosen.end(),
                                 static_cast<std::uint32_t>(partition.feature()));
    });
    return partitions;
  }

  // Of the best tree that starts with a partition and has so many levels below it.
  double value_of(const Node<Number>& node, const Partition& partition, std::span<const Row> rows, std::size_t levels,
                  Scratch& scratch) const {
    if (levels == 0 || interrupt_.stopped()) return partition.score();
    auto [sides, children] = expand_by(columns_, outcome_, settings_, node, partition.split, rows);
    const double lower = value_of(children.lower, sides.lower, levels - 1, scratch);
    return partition.log_prior + lower + value_of(children.upper, sides.upper, levels - 1, scratch);
  }

  double value_of(Node<Number>& node, std::span<const Row> rows, std::size_t levels, Scratch& scratch) const {
    if (levels == 0) {
      best_partitions(columns_, outcome_, settings_, rows, {0}, node, scratch);
      return node.log_leaf() + std::max(node.log_best_split - node.log_leaf(), 0.0);
    }
    const std::vector<Partition> candidates = candidates_of(node, rows, scratch);
    double value = node.log_leaf();
    for (const Partition& partition : candidates)
      value = std::max(value, value_of(node, partition, rows, levels, scratch));
    return value;
  }

  // The posterior over features, of the best trees that were found.
  void share_out(const Open& open, double top, Node<Number>& node) const {
    if (open.values.empty() || !settings_.fills_posterior) return;
    node.feature_posterior.assign(columns_.columns.size() + 1, 0.0);
    node.feature_posterior.back() = std::exp(node.log_leaf() - top);
    for (std::size_t k = 0; k < open.values.size(); ++k)
      node.feature_posterior[static_cast<std::size_t>(open.candidates[k].feature())] += std::exp(open.values[k] - top);
    const double sum = std::accumulate(node.feature_posterior.begin(), node.feature_posterior.end(), 0.0);
    for (double& share : node.feature_posterior) share /= sum;
  }

  void split(Open& open, std::vector<Open>& next) {
    Node<Number>& node = nodes_[open.node];
    const double no_split = node.log_leaf();
    double best = kMinusInfinity;
    for (const double value : open.values) best = std::max(best, value);
    node.log_odds_split = best - no_split;
    share_out(open, std::max(best, no_split), node);
    const double lowest = as_good_as(std::max(best, no_split));
    if (no_split >= lowest) return;
    const auto chosen = std::find_if(open.values.begin(), open.values.end(), [&](double v) { return v >= lowest; });
    node.partition = std::move(open.candidates[static_cast<std::size_t>(chosen - open.values.begin())]);
    auto [sides, children] = expand_by(columns_, outcome_, settings_, node, node.partition.split, open.rows);
    const std::size_t lower = nodes_.size();
    add_children(nodes_, open.node, std::move(children));
    next.push_back({lower, std::move(sides.lower)});
    next.push_back({lower + 1, std::move(sides.upper)});
  }

  const Columns& columns_;
  const T& outcome_;
  const Settings& settings_;
  Lookahead lookahead_;
  std::size_t n_threads_;
  Interrupt& interrupt_;
  std::vector<Node<Number>> nodes_;
  std::vector<Scratch> scratch_;
};

}  // namespace baytree
