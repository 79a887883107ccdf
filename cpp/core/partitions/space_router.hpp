// Routes rows down all trees of a tree space at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "partitions/split_rules.hpp"
#include "types.hpp"

namespace baytree {

// How probably each row ends in each node: those of row i begin at start[i].
struct LeafWeights {
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> node;
  std::vector<double> weight;
};

// Rejects a graph whose choices are no splits, or whose children do not come behind their parents.
void check_graph(const SplitArrays& choices, std::span<const std::int64_t> choice_start, std::size_t n_nodes);

class SpaceRouter {
 public:
  // The splits are those of the choices, their children are nodes; the choices of node i begin at choice_start[i].
  // Shares are of the evidence of a node.
  SpaceRouter(const SplitArrays& choices, std::span<const std::int64_t> choice_start,
              std::span<const double> leaf_share, std::span<const double> choice_share, std::size_t n_features);

  LeafWeights weigh(const Table& table, const FeatureColumns& columns, std::size_t n_threads,
                    Interrupt& interrupt) const;

 private:
  static constexpr std::size_t kBlock = 256;  // rows of a task

  struct alignas(kApart) Scratch {
    std::vector<double> mass;  // by node
    std::vector<std::int64_t> level, next;
  };

  template <class Place>
  LeafWeights weigh_by(const Place& place, const Table& table, std::size_t n_threads, Interrupt& interrupt) const;

  // A level of the graph is left before the next is entered, so a node is seen once a row, however many ways lead to
  // it.
  template <class Value>
  void weigh_row(Value&& value, Scratch& scratch, LeafWeights& result) const;

  std::size_t n_features_;
  SplitRules rules_;  // by choice
  std::vector<std::int64_t> left_, right_, choice_start_;
  std::vector<double> leaf_share_, choice_share_;
};

}  // namespace baytree
