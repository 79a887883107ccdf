// The prior of the partitions of a node (docs/model.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "data/row_order.hpp"
#include "partitions/rules.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

struct PartitionPrior {
  double split = 0.5;         // q
  bool by_depth = false;      // s(l) = q ** (1 + l), or q at every depth
  bool by_distance = false;   // thresholds weighted by the distance of the values around them, or all alike
  bool subsets = true;        // categorical features: sets of categories, or one against the rest, as dummies would
  bool proper = true;         // prior of no split 1 - s * (weight of the features that can be split), or 1 - s
  bool by_column = true;  // a node chooses its most probable column first, or its most probable partition at once
  // w_r, one per feature, and its logarithm; they sum to one over the features that can be split at the root.
  std::vector<double> feature_weight;
  std::vector<double> log_feature_weight = {};

  void set_feature_weight(std::vector<double> weight) {
    feature_weight = std::move(weight);
    log_feature_weight.resize(feature_weight.size());
    for (std::size_t f = 0; f < feature_weight.size(); ++f) log_feature_weight[f] = std::log(feature_weight[f]);
  }

  void multiply_feature_weight(double factor) {
    const double log_factor = std::log(factor);
    for (double& weight : feature_weight) weight *= factor;
    for (double& weight : log_feature_weight) weight += log_factor;
  }

  double log_split(std::size_t depth) const {
    return (by_depth ? 1.0 + static_cast<double>(depth) : 1.0) * std::log(split);
  }

  // splittable: the sum of w_r over the features that can be split in the node.
  double log_no_split(std::size_t depth, double splittable) const {
    const double share = proper ? std::min(splittable, 1.0) : 1.0;
    const double log_mass = log_split(depth) + std::log(share);
    return log_mass < -1e-3 ? std::log1p(-std::exp(log_mass)) : std::log(-std::expm1(log_mass));
  }
};

// How much work the search for the best hyperplane of a node is: all of it for a tree that is read, less for one of
// many that are averaged.
struct HyperplaneEffort {
  std::vector<std::size_t> sizes{2, 3, 4, 6, 8, 12, 20};  // numbers of features, ascending
  std::size_t few_rows = 4096, many_rows = 16384;  // that a large node is searched on, at first and then
  std::size_t most_responses = 8;  // orders of the outcome that directions are fitted to
  std::size_t n_refits = 3;  // widths in which directions are fitted again to the rows nearby
  int n_rounds = 12;  // of changes of one coefficient after the other
  std::size_t n_shakes = 24;  // other directions to climb from
  bool round_off = true;  // coefficients of few digits, to be read aloud
  std::size_t n_values = 256;  // of a feature that tell which are far out; at most 256
  bool fit_few = false;  // directions are fitted to few_rows, and nothing but the threshold to more
};

// Splits along hyperplanes of several features.
struct Oblique {
  double share = 0.0;  // of the prior mass of splitting; 0: there are none
  double charge = 1.0;  // the part of the log of their number that each pays
  HyperplaneEffort effort = {};
};

// What rows count beyond their weights, without being more: as planned, and what those that are in a tree came to have.
struct RowFactor {
  double planned = 1.0, of_tree = 1.0;
};

// Everything but the data and the outcome's own prior that decides which tree is grown.
struct Settings {
  PartitionPrior prior;
  Rules rules;
  double smoothing = 0.0;
  Oblique oblique = {};
  bool in_any_order = false;  // bit for bit the same tree for any order of the rows: they are put in one of their own
  std::shared_ptr<const RowOrder> order = {};  // the order, once it is known
  RowFactor row_factor = {};
  std::size_t most_in_lists = static_cast<std::size_t>(-1);  // rows of a node whose sorted lists are kept
  Thresholds thresholds = Thresholds::round;
  bool fills_posterior = true;  // nodes know their posterior over features

  // Below which score the sum of a feature's partitions does not matter, where nothing is known of the others.
  double floor_of_sums() const { return fills_posterior || prior.by_column ? kMinusInfinity : -kMinusInfinity; }
  // How many rows of the table a row stands for.
  std::size_t count(Row row) const { return order ? order->count(row) : 1; }
};

}  // namespace baytree
