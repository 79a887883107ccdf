// Grows the greedy-modal tree of rows that live elsewhere. Of the rows nothing is known but, for every open node,
// feature and code, how many there are and what their outcomes add up to. Whoever has the rows sends them down the tree
// so far
// (`routes`) and answers with the sums of the open nodes (`grow`), until no node is open.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "growth/by_code.hpp"
#include "growth/nodes.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

// How rows go down a tree by their codes, as arrays: a row of code c in node i goes to the lower child where
// goes_lower[start[i] + c] is 1.
struct Routes {
  std::vector<std::int32_t> feature, lower, upper;  // by node; feature -1: the rows stay
  std::vector<std::int64_t> start;
  std::vector<std::uint8_t> goes_lower;
};

// The sums of one open node: by code, the codes of a column behind those of the one before.
template <class Number>
struct NodeSums {
  std::span<const std::int64_t> rows;
  std::vector<Number> statistics;  // width numbers a code
  std::span<const std::int64_t> low_key, high_key;  // the extremes of a number that tells outcomes apart
  std::vector<std::int64_t> own = {};  // what spans may point to

  CodeSums<Number> by_code() const { return {statistics.data(), rows.data()}; }
};

// What the rows of each class weigh, by code, however that lies in memory.
template <class Int>
struct ClassWeights {
  const Int* first;
  std::ptrdiff_t code_step, class_step;

  std::int64_t of(std::size_t code, std::size_t of_class) const {
    return first[static_cast<std::ptrdiff_t>(code) * code_step + static_cast<std::ptrdiff_t>(of_class) * class_step];
  }
};

// The same of classes. No rows: as many as they weigh.
template <class Number, class Int>
NodeSums<Number> sums_of_classes(const ClassWeights<Int>& weights, const std::int64_t* rows, std::size_t n_codes,
                                 std::size_t n_classes, double unit) {
  NodeSums<Number> result;
  result.statistics.resize(n_codes * n_classes);
  result.own.resize(3 * n_codes);
  std::int64_t *n = result.own.data(), *low = n + n_codes, *high = low + n_codes;
  for (std::size_t code = 0; code < n_codes; ++code) {
    low[code] = static_cast<std::int64_t>(n_classes), high[code] = -1;
    for (std::size_t k = 0; k < n_classes; ++k) {
      const std::int64_t weight = weights.of(code, k);
      if (weight == 0) continue;
      low[code] = std::min(low[code], static_cast<std::int64_t>(k)), high[code] = static_cast<std::int64_t>(k);
      n[code] += weight;
      result.statistics[code * n_classes + k] = static_cast<Number>(static_cast<double>(weight) * unit);
    }
  }
  result.rows = {rows ? rows : n, n_codes};
  result.low_key = {low, n_codes}, result.high_key = {high, n_codes};
  return result;
}

template <Outcome T>
class Levels {
 public:
  using Number = typename T::Number;

  // The outcome has no rows.
  Levels(Columns columns, T outcome, Settings settings, std::vector<double> root_prior)
      : by_code_(std::move(columns), std::move(outcome), std::move(settings)), root_prior_(std::move(root_prior)),
        nodes_(1), open_{0} {}

  std::size_t n_codes() const { return by_code_.n_codes(); }
  std::size_t width() const { return by_code_.width(); }
  const std::vector<std::size_t>& open() const { return open_; }
  const T& outcome() const { return by_code_.outcome(); }
  std::vector<Node<Number>> take_nodes() { return depth_first(nodes_); }

  // Splits the first open nodes; of(i) gives the sums of open node i. The others stay open, before the children.
  template <class Of>
  void grow(std::size_t n_nodes, std::size_t n_threads, Interrupt& interrupt, Of&& of) {
    if (nodes_[0].statistics.empty()) make_root_of(of(0), interrupt);
    n_threads = std::max<std::size_t>(n_threads, 1);
    std::vector<std::optional<Children<Number>>> children(n_nodes);
    std::vector<ByCodeScratch<T>> scratch(n_threads);
    parallel_for(n_nodes, n_threads, interrupt, [&](std::size_t i, std::size_t worker) {
      Node<Number>& node = nodes_[open_[i]];
      if (!by_code_.may_be_split(node)) return;
      const Sums sums = of(i);
      by_code_.choose_partition(node, sums.by_code(), scratch[worker]);
      if (node.partition.is_split()) children[i] = make_children_of(node, sums);
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

  Routes routes() const {
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

  // A node of the rows whose codes of a feature are chosen.
  template <class Chosen>
  Node<Number> sum_up(const Sums& sums, std::size_t feature, std::size_t n_codes, Chosen&& chosen) const {
    Node<Number> node;
    node.statistics = by_code_.sum_up(sums.by_code(), feature, chosen);
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
    for (Code code = 0; code < n_codes; ++code) {
      const std::size_t at = by_code_.first_code(feature) + code;
      if (sums.rows[at] == 0 || !chosen(code)) continue;
      node.n_rows += static_cast<std::size_t>(sums.rows[at]);
      low = std::min(low, sums.low_key[at]), high = std::max(high, sums.high_key[at]);
    }
    node.one_outcome = low == high;
    return node;
  }

  void make_root_of(const Sums& sums, Interrupt& interrupt) {
    nodes_[0] = sum_up(sums, 0, by_code_.n_codes_of(0), [](Code) { return true; });
    by_code_.complete_root(root_prior_, sums.by_code(), nodes_[0], interrupt);
  }

  Children<Number> make_children_of(const Node<Number>& node, const Sums& sums) const {
    const auto feature = static_cast<std::size_t>(node.partition.feature());
    const std::vector<std::uint8_t> lower = by_code_.codes_that_go_lower(node.partition.split);
    Children<Number> children{sum_up(sums, feature, lower.size(), [&](Code code) { return lower[code] != 0; }),
                              sum_up(sums, feature, lower.size(), [&](Code code) { return lower[code] == 0; })};
    by_code_.complete_children(node, children);
    return children;
  }

  ByCode<T> by_code_;
  std::vector<double> root_prior_;
  std::vector<Node<Number>> nodes_;
  std::vector<std::size_t> open_;
};

}  // namespace baytree
