// A node of the tree, and the choice of its modal partition from the scores of its features.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "prior.hpp"
#include "split.hpp"
#include "types.hpp"

namespace baytree {

// What a node needs to know of the cuts of one feature. Scores are log(v_m L(lower) L(upper)).
struct FeatureScore {
  double best = kMinusInfinity;
  double log_sum = kMinusInfinity;  // of exp(score) over all cuts
  std::uint32_t n_cuts = 0;
  double mass = 1.0;  // the part of the feature's prior mass that its cuts have in this node
};

// What the prediction of a node's rows must stay between, where predictions must rise or fall with a feature.
struct Bounds {
  double low = kMinusInfinity, high = -kMinusInfinity;
};

template <class Number>
struct Node {
  std::size_t depth = 0;
  std::size_t n_rows = 0;
  bool one_outcome = false;  // all rows have the same
  std::uint64_t rows_mark = 0;  // tells the set of its rows from others
  std::vector<Number> statistics;
  std::vector<double> prior;
  double log_likelihood = 0.0;  // log L of its rows
  double log_prior_leaf = 0.0;  // of the trivial partition
  Bounds bounds;
  double log_odds_split = kMinusInfinity;  // best cut against the trivial partition
  std::vector<double> feature_posterior;  // one per feature, then the trivial partition; empty: all trivial
  double log_total = kMinusInfinity;  // of prior times likelihood, over all partitions

  // Sprouts only:
  Partition partition;
  std::int64_t lower = -1, upper = -1;
};

// Puts the nodes of a tree in depth-first order, the lower child right behind its parent.
template <class Number>
std::vector<Node<Number>> depth_first(std::vector<Node<Number>> nodes) {
  std::vector<Node<Number>> ordered;
  ordered.reserve(nodes.size());
  struct Visit {
    std::int64_t node, parent_of_upper;
  };
  std::vector<Visit> stack{{0, -1}};
  while (!stack.empty()) {
    const auto [index, parent] = stack.back();
    stack.pop_back();
    const auto place = static_cast<std::int64_t>(ordered.size());
    if (parent >= 0) ordered[static_cast<std::size_t>(parent)].upper = place;
    ordered.push_back(std::move(nodes[static_cast<std::size_t>(index)]));
    Node<Number>& node = ordered.back();
    if (!node.partition.is_split()) continue;
    stack.push_back({node.upper, place});
    stack.push_back({node.lower, -1});
    node.lower = place + 1;
  }
  return ordered;
}

// Log prior of every cut of a feature, but for its location.
class NodePrior {
 public:
  NodePrior(const PartitionPrior& prior, std::size_t depth) : prior_(prior), log_split_(prior.log_split(depth)) {}
  double of_feature(std::size_t feature) const { return log_split_ + prior_.log_feature_weight[feature]; }

 private:
  const PartitionPrior& prior_;
  double log_split_;
};

// The score of the best partition but hyperplanes, or somewhat less.
template <class Number>
double best_axis(const Node<Number>& node, const PartitionPrior& prior, std::span<const FeatureScore> scores) {
  const NodePrior log_prior(prior, node.depth);
  double best = node.log_likelihood + prior.log_trivial(node.depth, 1.0);
  for (std::size_t f = 0; f < scores.size(); ++f)
    if (scores[f].n_cuts > 0) best = std::max(best, log_prior.of_feature(f) + scores[f].best);
  return best;
}

// The best hyperplane cut of a node.
struct ObliqueMode {
  double share = 0.0;  // of the split, that such cuts have; 0: there are none
  Partition partition;
};

struct Mode {
  std::int32_t feature = -1;  // -1: the trivial partition
  double lowest_score = kMinusInfinity;  // cuts of that feature from this score on count as the best
  bool is_oblique = false;  // it is the hyperplane cut
};

// Fills the node's posterior over partitions and tells which is the mode: among equals the trivial
// partition, then the first feature, then the hyperplane.
template <class Number>
Mode choose_mode(Node<Number>& node, const PartitionPrior& prior, std::span<const FeatureScore> scores,
                 const ObliqueMode& oblique = {}) {
  double cuttable = 0.0;
  for (std::size_t f = 0; f < scores.size(); ++f)
    if (scores[f].n_cuts > 0) cuttable += prior.feature_weight[f] * scores[f].mass;
  if (cuttable == 0.0) return {};
  cuttable += oblique.share;

  const NodePrior log_prior(prior, node.depth);
  node.log_prior_leaf = prior.log_trivial(node.depth, cuttable);
  const double trivial = node.log_prior_leaf + node.log_likelihood;
  double best_cut = oblique.partition.score(), top = std::max(trivial, best_cut);
  for (std::size_t f = 0; f < scores.size(); ++f) {
    if (scores[f].n_cuts == 0) continue;
    best_cut = std::max(best_cut, log_prior.of_feature(f) + scores[f].best);
    top = std::max(top, log_prior.of_feature(f) + scores[f].log_sum);
  }
  node.log_odds_split = best_cut - trivial;

  node.feature_posterior.assign(scores.size() + 1, 0.0);
  for (std::size_t f = 0; f < scores.size(); ++f)
    if (scores[f].n_cuts > 0) node.feature_posterior[f] = std::exp(log_prior.of_feature(f) + scores[f].log_sum - top);
  if (oblique.partition.is_hyperplane())
    node.feature_posterior[static_cast<std::size_t>(oblique.partition.feature())] += std::exp(
        oblique.partition.score() - top);
  node.feature_posterior.back() = std::exp(trivial - top);
  double sum = 0.0;
  for (const double share : node.feature_posterior) sum += share;
  for (double& share : node.feature_posterior) share /= sum;
  node.log_total = top + std::log(sum);

  const double best = std::max(best_cut, trivial);
  const double lowest = best - tie_tolerance(best);
  if (trivial >= lowest) return {};
  for (std::size_t f = 0; f < scores.size(); ++f)
    if (scores[f].n_cuts > 0 && log_prior.of_feature(f) + scores[f].best >= lowest)
      return {static_cast<std::int32_t>(f), lowest - log_prior.of_feature(f)};
  return {oblique.partition.feature(), lowest, true};
}

}  // namespace baytree
