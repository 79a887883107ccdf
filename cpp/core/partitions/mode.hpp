// The choice of a node's modal partition from the scores of its features.
#pragma once

#include <cstdint>
#include <span>

#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

// What a node needs to know of the splits of one feature. Scores are log(v_m L(lower) L(upper)).
struct FeatureScore {
  double best = kMinusInfinity;
  double log_sum = kMinusInfinity;  // of exp(score) over all splits
  std::uint32_t n_splits = 0;
  double mass = 1.0;  // the part of the feature's prior mass that its splits have in this node
};

// The best hyperplane of a node.
struct BestHyperplane {
  double share = 0.0;  // of the prior mass of splitting, that hyperplanes have; 0: there are none
  Partition partition = {};
};

struct Mode {
  std::int32_t feature = -1;             // -1: no split
  double lowest_score = kMinusInfinity;  // splits of that feature from this score on count as the best
  bool is_hyperplane = false;            // it is the best hyperplane

  bool is_split() const { return feature >= 0; }
};

// The score of the best partition but hyperplanes, or somewhat less.
double best_without_hyperplanes(const NodeFacts& node, const PartitionPrior& prior,
                                std::span<const FeatureScore> scores);

// Tells which partition is the mode: among equals no split comes first, then the first feature, then the hyperplane.
// Fills the node's posterior over partitions too, unless nobody asks for it.
Mode choose_mode(NodeFacts& node, const Settings& settings, std::span<const FeatureScore> scores,
                 const BestHyperplane& hyperplane = {});

}  // namespace baytree
