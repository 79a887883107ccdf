// Scores a given tree on rows that are not in memory, from histograms, and grows on where the structure asks for it:
// all nodes of a level are open at a time.
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
  std::vector<Node<Number>> take_nodes() override { return depth_first(std::move(nodes_)); }

  void grow(std::size_t n_nodes, std::size_t n_threads, Interrupt& interrupt,
            FunctionRef<NodeSums<Number>(std::size_t)> of) override {
    if (nodes_[0].statistics.empty()) nodes_[0] = by_code_.root_of(root_prior_, of(0), interrupt), forbid(0);
    n_threads = std::max<std::size_t>(n_threads, 1);
    std::vector<ByCodeScratch<T>> scratch(n_threads);
    std::vector<std::optional<Children<Number>>> grown(n_nodes);
    parallel_for(n_nodes, n_threads, interrupt, [&](std::size_t i, std::size_t worker) {
      if (is_given(open_[i])) expand(open_[i], of(i), scratch[worker]);
      else grown[i] = grow_below(open_[i], of(i), scratch[worker]);
    });
    std::vector<std::size_t> next(open_.begin() + static_cast<std::ptrdiff_t>(n_nodes), open_.end());
    for (std::size_t i = 0; i < n_nodes; ++i) {
      if (is_given(open_[i]) && !structure_.is_leaf(open_[i]))
        next.push_back(structure_.lower(open_[i])), next.push_back(structure_.upper(open_[i]));
      if (!grown[i]) continue;
      const bool goes_on = grows_on(open_[i]);
      add_children(nodes_, open_[i], std::move(*grown[i]));
      for (const std::size_t child : {nodes_.size() - 2, nodes_.size() - 1})
        if (goes_on && by_code_.may_be_split(nodes_[child])) next.push_back(child);
    }
    open_ = std::move(next);
  }

  Routes routes() const override {
    Routes result;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const bool is_split = nodes_[node].partition.is_split();
      result.feature.push_back(nodes_[node].partition.feature());
      result.lower.push_back(static_cast<std::int32_t>(nodes_[node].lower));
      result.upper.push_back(static_cast<std::int32_t>(nodes_[node].upper));
      result.start.push_back(static_cast<std::int64_t>(result.goes_lower.size()));
      if (!is_split) continue;
      const std::vector<std::uint8_t> lower = codes_that_go_lower(node);
      result.goes_lower.insert(result.goes_lower.end(), lower.begin(), lower.end());
    }
    return result;
  }

 private:
  // Nodes behind those of the structure are grown below its leaves.
  bool is_given(std::size_t node) const {
    return node < structure_.size() && structure_.grow(node) == TreeStructure::kNothing;
  }
  bool grows_on(std::size_t node) const {
    return node >= structure_.size() || structure_.grow(node) == TreeStructure::kAnything;
  }

  // Splits a node that is not given, and returns its children, if it is to be split.
  std::optional<Children<Number>> grow_below(std::size_t i, const NodeSums<Number>& sums, ByCodeScratch<T>& scratch) {
    Node<Number>& node = nodes_[i];
    if (node.n_rows == 0 || !by_code_.may_be_split(node)) return {};
    if (grows_on(i)) by_code_.choose_partition(node, sums.by_code(), scratch);
    else
      node.partition = by_code_.best_of_feature(node, sums.by_code(), static_cast<std::size_t>(structure_.grow(i)),
                                                scratch);
    if (!node.partition.is_split()) return {};
    return by_code_.children_of(node, sums, by_code_.codes_that_go_lower(node.partition.split));
  }

  // What the structure forbids from a node on down.
  void forbid(std::size_t i) {
    if (structure_.forbidden(i).empty()) return;
    const Rules& rules = by_code_.settings().rules;
    require(rules.paths != nullptr, "columns are forbidden by rules of paths");
    nodes_[i].rules.path = rules.paths->without(*nodes_[i].rules.path, structure_.forbidden(i));
  }

  std::vector<std::uint8_t> codes_that_go_lower(std::size_t node) const {
    if (node >= structure_.size() || structure_.is_leaf(node))
      return by_code_.codes_that_go_lower(nodes_[node].partition.split);
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
    forbid(structure_.lower(i)), forbid(structure_.upper(i));
  }

  ByCode<T> by_code_;
  std::vector<double> root_prior_;
  TreeStructure structure_;
  std::vector<Node<Number>> nodes_;
  std::vector<std::size_t> open_;
};

}  // namespace baytree
