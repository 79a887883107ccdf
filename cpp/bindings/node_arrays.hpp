// The nodes of trees and of tree spaces as arrays, one for each of their fields.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fields.hpp"
#include "growth/engine.hpp"
#include "parallel.hpp"
#include "partitions/node.hpp"
#include "partitions/split.hpp"

namespace baytree::bindings {

// Feature and threshold of a leaf, as in scikit-learn.
inline constexpr int kUndefined = -2;

double threshold_of(const Split& split);

// Where a split sends the missing values that the training rows have.
Missing missing_of(const Split& split);

// Things that fields are made of, which must live until these are filled.
template <class Thing>
class View {
 public:
  explicit View(std::vector<const Thing*> things)
      : things_(std::make_shared<const std::vector<const Thing*>>(std::move(things))) {}
  const Thing& operator[](std::size_t i) const { return *(*things_)[i]; }
  std::size_t size() const { return things_->size(); }

 private:
  std::shared_ptr<const std::vector<const Thing*>> things_;
};

struct NodesView {
  View<NodeFacts> nodes;
  std::size_t width;  // of their statistics
  std::function<void(std::size_t i, double* row)> statistics;
};

// The fields of partitions, of the nodes of a tree, of those of a tree space, and of those of one tree of a forest, in
// which the lower child of a node is the next node and the upper one is numbered within the tree.
Fields fields_of_partitions(const View<Partition>& partitions);
Fields fields_of_tree(const NodesView& view, std::size_t n_features);
Fields fields_of_space(const NodesView& view);
Fields fields_of_member(const NodesView& view);

// Statistics as float64.
template <Outcome T>
void convert(const T& outcome, const typename T::Number* statistics, double* result) {
  if constexpr (requires { outcome.convert(statistics, result); }) outcome.convert(statistics, result);
  else
    for (std::size_t k = 0; k < outcome.width(); ++k) result[k] = static_cast<double>(statistics[k]);
}

// A view of nodes, of which get(i) is one.
template <Outcome T, class Get>
NodesView view_of_nodes(std::size_t n, const T& outcome, Get get) {
  std::vector<const NodeFacts*> nodes(n);
  for (std::size_t i = 0; i < n; ++i) nodes[i] = &get(i);
  return {View(std::move(nodes)), outcome.width(),
          [&outcome, get](std::size_t i, double* row) { convert(outcome, get(i).statistics.data(), row); }};
}

// The filled fields of a tree, whose nodes give up their memory: on threads, for they were made on threads.
template <Outcome T>
Fields filled_fields_of_tree(std::vector<Node<typename T::Number>> nodes, const T& outcome, std::size_t n_features,
                             std::size_t n_threads, Interrupt& interrupt) {
  constexpr std::size_t block = 256;
  const auto get = [&nodes](std::size_t i) -> const auto& { return nodes[i]; };
  Fields fields = fields_of_tree(view_of_nodes(nodes.size(), outcome, get), n_features);
  fields.fill(n_threads, interrupt);
  parallel_for((nodes.size() + block - 1) / block, n_threads, interrupt, [&](std::size_t task, std::size_t) {
    for (std::size_t i = task * block; i < std::min((task + 1) * block, nodes.size()); ++i) nodes[i] = {};
  });
  return fields;
}

}  // namespace baytree::bindings
