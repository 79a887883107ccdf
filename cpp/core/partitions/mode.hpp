// The choice of a node's partition from the scores of its features: the best split of the column whose splits together
// are the most probable, or the most probable split of all; in either case if it is more probable than no split. The
// best hyperplane stands beside the columns as one more, with a single split.
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

// Ranks the features of a node while they are scored one after the other.
class FeatureRanking {
 public:
  FeatureRanking(const NodeFacts& node, const Settings& settings);

  // Below which score the sum of a feature's splits changes neither the choice nor the posterior.
  double floor(std::size_t feature) const;
  // Takes note of a feature; whether it is the first choice so far.
  bool add(std::size_t feature, const FeatureScore& score);

 private:
  const Settings& settings_;
  NodePrior log_prior_;
  double best_;   // score of the best split or of no split
  double first_;  // what the first choice is ranked by
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

// The score of what a hyperplane must beat to be the choice, or somewhat less.
double rival_of_hyperplanes(const NodeFacts& node, const PartitionPrior& prior, std::span<const FeatureScore> scores);

// Tells which partition a node takes: among equals no split comes first, then the first feature, then the hyperplane.
// Fills the node's posterior over partitions too, unless nobody asks for it.
Mode choose_mode(NodeFacts& node, const Settings& settings, std::span<const FeatureScore> scores,
                 const BestHyperplane& hyperplane = {});

}  // namespace baytree
