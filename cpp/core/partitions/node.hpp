// A node of a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "partitions/prior.hpp"
#include "partitions/rules.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

// All of a node but what its statistics are made of.
struct NodeFacts {
  NodeRules rules;
  std::size_t n_rows = 0;
  bool one_outcome = false;     // all rows have the same
  std::uint64_t rows_mark = 0;  // tells the set of its rows from others
  std::vector<double> prior;
  double log_likelihood = 0.0;  // log L of its rows
  double log_prior_leaf = 0.0;  // of no split
  double log_best_split = kMinusInfinity;  // prior times likelihood of the most probable split
  double log_odds_split = kMinusInfinity;  // the best split of the node's choice (docs/model.md) against none
  std::vector<double> feature_posterior;   // one per feature, then no split; empty: it cannot be split
  double log_total = kMinusInfinity;       // of prior times likelihood, over all partitions

  // Internal nodes only:
  Partition partition;
  std::int64_t lower = -1, upper = -1;

  double log_leaf() const { return log_prior_leaf + log_likelihood; }
};

template <class Number>
struct Node : NodeFacts {
  std::vector<Number> statistics;
};

// Whether a node may be split at all.
inline bool may_split(const NodeFacts& node, const Rules& rules) {
  return !node.one_outcome && rules.limits.allow_split(node.rules.depth, node.n_rows);
}

// Log prior of every split of a feature, but for its location.
class NodePrior {
 public:
  NodePrior(const PartitionPrior& prior, std::size_t depth) : prior_(prior), log_split_(prior.log_split(depth)) {}
  double of_feature(std::size_t feature) const { return log_split_ + prior_.log_feature_weight[feature]; }

 private:
  const PartitionPrior& prior_;
  double log_split_;
};

}  // namespace baytree
