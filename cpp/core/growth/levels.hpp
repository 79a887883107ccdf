// Grows a tree level by level from the sums of its open nodes (LevelGrower in engine.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "growth/by_code.hpp"
#include "growth/engine.hpp"
#include "growth/node_sums.hpp"
#include "growth/nodes.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

template <Outcome T>
class Levels final : public LevelGrower<typename T::Number> {
 public:
  using Number = typename T::Number;

  // The outcome has no rows.
  Levels(Columns columns, T outcome, Settings settings, std::vector<double> root_prior)
      : by_code_(std::move(columns), std::move(outcome), std::move(settings)), root_prior_(std::move(root_prior)),
        nodes_(1), open_{0} {}

  std::size_t n_codes() const override { return by_code_.n_codes(); }
  const std::vector<std::size_t>& open() const override { return open_; }
  std::vector<Node<Number>> take_nodes() override { return depth_first(nodes_); }

  void grow(std::size_t n_nodes, std::size_t n_threads, Interrupt& interrupt,
            FunctionRef<NodeSums<Number>(std::size_t)> of) override {
    if (nodes_[0].statistics.empty()) nodes_[0] = by_code_.root_of(root_prior_, of(0), interrupt);
    n_threads = std::max<std::size_t>(n_threads, 1);
    std::vector<std::optional<Children<Number>>> children(n_nodes);
    std::vector<ByCodeScratch<T>> scratch(n_threads);
    parallel_for(n_nodes, n_threads, interrupt, [&](std::size_t i, std::size_t worker) {
      Node<Number>& node = nodes_[open_[i]];
      if (!by_code_.may_be_split(node)) return;
      const Sums sums = of(i);
      by_code_.choose_partition(node, sums.by_code(), scratch[worker]);
      if (node.partition.is_split())
        children[i] = by_code_.children_of(node, sums, by_code_.codes_that_go_lower(node.partition.split));
    });
    std::vector<std::size_t> next(open_.begin() + static_cast<std::ptrdiff_t>(n_nodes), open_.end());
    for (std::size_t i = 0; i < n_nodes; ++i) {
      if (!children[i]) continue;
      add_children(nodes_, open_[i], std::move(*children[i]));
      for (const std::size_t child : {nodes_.size() - 2, nodes_.size() - 1})
        if (by_code_.may_be_split(nodes_[child])) next.push_back(child);
    }
    open_ = std::move(next);
  }

  Routes routes() const override {
    Routes result;
    for (const Node<Number>& node : nodes_) {
      result.feature.push_back(node.partition.feature());
      result.lower.push_back(static_cast<std::int32_t>(node.lower));
      result.upper.push_back(static_cast<std::int32_t>(node.upper));
      result.start.push_back(static_cast<std::int64_t>(result.goes_lower.size()));
      const std::vector<std::uint8_t> lower = by_code_.codes_that_go_lower(node.partition.split);
      result.goes_lower.insert(result.goes_lower.end(), lower.begin(), lower.end());
    }
    return result;
  }

 private:
  using Sums = NodeSums<Number>;

  ByCode<T> by_code_;
  std::vector<double> root_prior_;
  std::vector<Node<Number>> nodes_;
  std::vector<std::size_t> open_;
};

}  // namespace baytree
