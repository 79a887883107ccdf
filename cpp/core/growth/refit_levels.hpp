// Scores a given tree on rows that are not in memory, from histograms: all nodes of a level are open at a time.
#pragma once

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
#include "growth/refit.hpp"
#include "growth/tree_structure.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

template <Outcome T>
class RefitLevels final : public LevelGrower<typename T::Number> {
 public:
  using Number = typename T::Number;

  // The outcome has no rows.
  RefitLevels(Columns columns, T outcome, Settings settings, std::vector<double> root_prior, TreeStructure structure)
      : by_code_(std::move(columns), std::move(outcome), std::move(settings)), root_prior_(std::move(root_prior)),
        structure_(std::move(structure)), nodes_(structure_.size()), open_{0} {}

  std::size_t n_codes() const override { return by_code_.n_codes(); }
  const std::vector<std::size_t>& open() const override { return open_; }
  std::vector<Node<Number>> take_nodes() override { return std::move(nodes_); }

  void grow(std::size_t n_nodes, std::size_t n_threads, Interrupt& interrupt,
            FunctionRef<NodeSums<Number>(std::size_t)> of) override {
    if (nodes_[0].statistics.empty()) nodes_[0] = by_code_.root_of(root_prior_, of(0), interrupt);
    n_threads = std::max<std::size_t>(n_threads, 1);
    std::vector<ByCodeScratch<T>> scratch(n_threads);
    parallel_for(n_nodes, n_threads, interrupt,
                 [&](std::size_t i, std::size_t worker) { expand(open_[i], of(i), scratch[worker]); });
    std::vector<std::size_t> next(open_.begin() + static_cast<std::ptrdiff_t>(n_nodes), open_.end());
    for (std::size_t i = 0; i < n_nodes; ++i)
      if (!structure_.is_leaf(open_[i]))
        next.push_back(structure_.lower(open_[i])), next.push_back(structure_.upper(open_[i]));
    open_ = std::move(next);
  }

  Routes routes() const override {
    Routes result;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const bool is_split = nodes_[node].partition.is_split();
      result.feature.push_back(is_split ? nodes_[node].partition.feature() : -1);
      result.lower.push_back(is_split ? static_cast<std::int32_t>(structure_.lower(node)) : -1);
      result.upper.push_back(is_split ? static_cast<std::int32_t>(structure_.upper(node)) : -1);
      result.start.push_back(static_cast<std::int64_t>(result.goes_lower.size()));
      if (!is_split) continue;
      const std::vector<std::uint8_t> lower = codes_that_go_lower(node);
      result.goes_lower.insert(result.goes_lower.end(), lower.begin(), lower.end());
    }
    return result;
  }

 private:
  std::vector<std::uint8_t> codes_that_go_lower(std::size_t node) const {
    const auto feature = static_cast<std::size_t>(feature_of(structure_.split(node)));
    std::vector<std::uint8_t> lower(by_code_.n_codes_of(feature));
    for (std::size_t code = 0; code < lower.size(); ++code)
      lower[code] = structure_.goes_lower(node, by_code_.columns(), static_cast<Row>(code));
    return lower;
  }

  void expand(std::size_t i, const NodeSums<Number>& sums, ByCodeScratch<T>& scratch) {
    Node<Number>& node = nodes_[i];
    const std::vector<std::uint8_t> lower = structure_.is_leaf(i) ? std::vector<std::uint8_t>{}
                                                                  : codes_that_go_lower(i);
    double log_prior = kMinusInfinity;
    if (node.n_rows > 0 && by_code_.may_be_split(node))
      log_prior = by_code_.score_given(node, sums.by_code(), structure_.split(i), lower, scratch);
    if (structure_.is_leaf(i)) return;
    node.partition.split = structure_.split(i);
    Children<Number> children = by_code_.children_of(node, sums, lower);
    const T& outcome = by_code_.outcome();
    node.partition.log_prior = log_prior;
    node.partition.log_likelihood = node.n_rows == 0
                                        ? 0.0
                                        : outcome.log_likelihood(node.prior, children.lower.statistics.data()) +
                                              outcome.log_likelihood(node.prior, children.upper.statistics.data());
    node.lower = static_cast<std::int64_t>(structure_.lower(i)),
    node.upper = static_cast<std::int64_t>(structure_.upper(i));
    nodes_[structure_.lower(i)] = std::move(children.lower), nodes_[structure_.upper(i)] = std::move(children.upper);
  }

  ByCode<T> by_code_;
  std::vector<double> root_prior_;
  TreeStructure structure_;
  std::vector<Node<Number>> nodes_;
  std::vector<std::size_t> open_;
};

}  // namespace baytree
