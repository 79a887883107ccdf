// What the nodes of a tree may do: how far they may be split, with which features, and between which predictions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "partitions/path_rules.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

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

// What a tree uses a feature for.
enum class Use : std::uint8_t { nothing, splits, everything };  // splits: but not hyperplanes

// How many features each node may use, which are drawn by the seed, the number of the tree and the way to the node.
struct FeatureDraw {
  std::uint64_t seed = 0, tree = 0;
  std::size_t n_features = 0;  // 0: all
};

// The rules of a tree, the same in all of its nodes.
struct Rules {
  Limits limits = {};
  std::vector<std::int8_t> monotonic = {};  // by feature: +1 rising, -1 falling, 0 free; empty: all free
  std::vector<Use> use = {};  // by feature: what a tree uses it for; empty: all of them for everything
  FeatureDraw draw = {};
  std::shared_ptr<const PathRules> paths = {};  // none: all columns may stand together

  bool constrained() const { return !monotonic.empty(); }
  int direction(std::size_t feature) const { return constrained() ? monotonic[feature] : 0; }
  bool uses(std::size_t feature) const { return use.empty() || use[feature] != Use::nothing; }
  bool in_hyperplanes(std::size_t feature) const {
    return direction(feature) == 0 && (use.empty() || use[feature] == Use::everything);
  }
};

// What the prediction of a node's rows must stay between, where predictions must rise or fall with a feature.
struct Bounds {
  double low = kMinusInfinity, high = -kMinusInfinity;

  bool operator==(const Bounds&) const = default;
};

// What the way from the root leaves to a node. It travels with the node: the same trees can be below two nodes of the
// same rows only where these are the same too.
struct NodeRules {
  std::size_t depth = 0;
  Bounds bounds = {};
  std::uint64_t way = 0;  // by which the features of the node are drawn; 0 where it may use all
  const PathState* path = nullptr;  // which columns its path allows; null: all

  bool operator==(const NodeRules&) const = default;

  static NodeRules of_root(const Rules& rules) { return {0, {}, 0, rules.paths ? rules.paths->root() : nullptr}; }

  bool allows(std::size_t feature) const { return !path || path->allows(feature); }
  // What tells the rules of nodes of the same rows apart, but for their bounds.
  std::uint64_t mark() const { return mark_of(way + depth) + (path ? path->mark : 0); }

  // Those of a child; a split by a feature that predictions must rise or fall with narrows its bounds.
  NodeRules below(const Rules& rules, const Split& split, bool is_upper) const {
    return {depth + 1, bounds, rules.draw.n_features > 0 ? mark_of(way + 1 + is_upper) : 0,
            path ? rules.paths->below(*path, split) : nullptr};
  }
};

}  // namespace baytree
