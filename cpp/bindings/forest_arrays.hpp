// The trees of a forest as arrays, one tree behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "node_arrays.hpp"
#include "partitions/node.hpp"
#include "partitions/split.hpp"

namespace baytree::bindings {

// Of one tree or more. The lower child of a node is the next node; the upper one is numbered within its tree.
struct ForestArrays {
  std::vector<std::int64_t> tree_start{0};
  std::vector<std::int32_t> children_right, feature, n_rows;
  std::vector<std::uint8_t> kind, has_missing, missing_go_to_left;
  std::vector<float> log_prior_leaf, log_prior_split, log_odds_split;
  std::vector<double> threshold, statistics;
  std::vector<std::int32_t> category_start{0}, hyperplane_start{0};
  std::vector<std::int32_t> category, hyperplane_feature;
  std::vector<std::uint8_t> category_goes_left;
  std::vector<double> hyperplane_coefficient, hyperplane_missing_value;

  void add(const NodesView& tree);

  // All trees, one behind the other; what is copied is given up, array by array.
  static ForestArrays joined(std::vector<ForestArrays> trees);

  nb::dict to_dict(std::size_t width) &&;

 private:
  void reserve(const NodesView& tree);
  void add_node(const NodeFacts& node);
  void add_entries(const Split& split);

  template <class Value>
  void take(std::vector<ForestArrays>& trees, std::vector<Value> ForestArrays::* array) {
    std::size_t size = 0;
    for (const ForestArrays& tree : trees) size += (tree.*array).size();
    (this->*array).reserve(size);
    for (ForestArrays& tree : trees) {
      const std::vector<Value> from = std::exchange(tree.*array, {});
      (this->*array).insert((this->*array).end(), from.begin(), from.end());
    }
  }
  // The same of where things begin, behind the `count` things of the trees before.
  template <class Value, class Count>
  void take_shifted(std::vector<ForestArrays>& trees, std::vector<Value> ForestArrays::* array, Count&& count) {
    std::size_t before = 0;
    for (const ForestArrays& tree : trees) {
      for (std::size_t i = 1; i < (tree.*array).size(); ++i)
        (this->*array).push_back((tree.*array)[i] + static_cast<Value>(before));
      before += count(tree);
    }
  }
};

}  // namespace baytree::bindings
