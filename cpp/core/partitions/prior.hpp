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
#include "types.hpp"

namespace baytree {

struct PartitionPrior {
  double split = 0.99;        // q
  bool by_depth = true;       // s(l) = q ** (1 + l), or q at every depth
  bool by_distance = false;   // thresholds weighted by the distance of the values around them, or all alike
  bool subsets = true;        // categorical features: sets of categories, or one against the rest, as dummies would
  bool proper = true;         // prior of no split 1 - s * (weight of the features that can be split), or 1 - s
  // w_r, one per feature, and its logarithm; they sum to one over the features that can be split at the root.
  std::vector<double> feature_weight;
  std::vector<double> log_feature_weight = {};

  void set_feature_weight(std::vector<double> weight) {
    feature_weight = std::move(weight);
    log_feature_weight.resize(feature_weight.size());
    for (std::size_t f = 0; f < feature_weight.size(); ++f) log_feature_weight[f] = std::log(feature_weight[f]);
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

// Limits are part of the prior: partitions beyond them do not exist.
struct Limits {
  std::size_t max_depth = static_cast<std::size_t>(-1);
  std::size_t min_samples_leaf = 1;
  double min_weight_fraction_leaf = 0.0;  // of the weight of the whole table
  double total_weight = 0.0;              // of the whole table

  bool limit_splits() const { return min_samples_leaf > 1 || min_weight_fraction_leaf > 0.0; }
  // Less a little, so that rounding does not decide.
  double min_weight() const { return min_weight_fraction_leaf * total_weight * (1.0 - 1e-9); }
  bool allow_split(std::size_t depth, std::size_t n_rows) const {
    return depth < max_depth && n_rows >= 2 && n_rows / 2 >= min_samples_leaf;
  }
};

// Splits along hyperplanes of several features.
struct Oblique {
  double share = 0.0;   // of the prior mass of splitting; 0: there are none
  double charge = 1.0;  // the part of the log of their number that each pays
};

// Everything but the data and the outcome's own prior that decides which tree is grown.
struct Settings {
  PartitionPrior prior;
  Limits limits;
  double smoothing = 0.0;
  Oblique oblique = {};
  std::vector<std::int8_t> monotonic = {};  // by feature: +1 rising, -1 falling, 0 free; empty: all free
  bool in_any_order = false;  // bit for bit the same tree for any order of the rows: they are put in one of their own
  std::shared_ptr<const RowOrder> order = {};  // the order, once it is known

  bool constrained() const { return !monotonic.empty(); }
  int direction(std::size_t feature) const { return constrained() ? monotonic[feature] : 0; }
  // How many rows of the table a row stands for.
  std::size_t count(Row row) const { return order ? order->count(row) : 1; }
};

}  // namespace baytree
