// The graph of a tree space: nodes, the partitions of them that were opened, and what all trees below them weigh.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "partitions/node.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

inline double log_add(double a, double b) {
  const double high = std::max(a, b);
  return high == kMinusInfinity ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

template <class Number>
struct SpaceNode {
  struct Choice {
    Partition partition;
    std::size_t lower = 0, upper = 0;
    double share = 0.0;  // of what all choices of its node add to Z
  };
  Node<Number> node;
  std::vector<Choice> choices;  // the partitions that were opened
  std::vector<Partition> listed;  // the most probable ones that were not, the best last
  std::size_t n_asked = 0;  // how many were asked for when they were listed; 0: they never were
  bool all_listed = false;
  std::size_t parent = 0, choice = 0;  // how its rows are found
  bool is_lower = false;
  std::span<const Row> rows = {};  // where they are kept: in a list of all rows, or in its own
  std::vector<Row> own_rows = {};
  double log_opened = kMinusInfinity;  // sum over the choices of what they score alone
  double log_choices = kMinusInfinity;  // the same with all that is below them
  double log_evidence = 0.0, log_reach = 0.0;  // Z, and the probability that a tree has this node

  double log_leaf() const { return node.log_leaf(); }
  bool complete() const { return all_listed && listed.empty(); }
};

template <class Number>
class SpaceGraph {
 public:
  // Where a node hangs: below a choice of another one; the root below none.
  struct Origin {
    std::size_t parent = 0, choice = 0;
    bool is_lower = false, is_root = true;
  };

  std::size_t size() const { return nodes_.size(); }
  std::size_t n_choices() const { return n_choices_; }
  SpaceNode<Number>& operator[](std::size_t index) { return nodes_[index]; }
  const SpaceNode<Number>& operator[](std::size_t index) const { return nodes_[index]; }

  // Adds a choice to a node; its sides are added, or linked, next.
  std::size_t add_choice(std::size_t index, Partition partition) {
    SpaceNode<Number>& node = nodes_[index];
    node.log_opened = log_add(node.log_opened, partition.score());
    node.choices.push_back({std::move(partition)});
    ++n_choices_;
    return node.choices.size() - 1;
  }

  // Lets a node stand below a choice.
  void link(const Origin& origin, std::size_t index) {
    if (origin.is_root) return;
    auto& choice = nodes_[origin.parent].choices[origin.choice];
    (origin.is_lower ? choice.lower : choice.upper) = index;
  }

  // Adds a tree below a choice; where the graph has a node of the same rows already, that one stands for it. Returns
  // which node its top is.
  std::size_t absorb(std::vector<Node<Number>> tree, const Origin& origin) {
    std::optional<std::size_t> top;
    std::vector<std::pair<std::size_t, Origin>> waiting{{0, origin}};
    while (!waiting.empty()) {
      const auto [local, from] = waiting.back();
      waiting.pop_back();
      Node<Number>& node = tree[local];
      const std::optional<std::size_t> known = find(node);
      const std::size_t index = known ? *known : nodes_.size();
      link(from, index);
      if (!top) top = index;
      if (known) continue;
      if (node.partition.is_split()) {
        waiting.push_back({static_cast<std::size_t>(node.upper), {index, 0, false, false}});
        waiting.push_back({static_cast<std::size_t>(node.lower), {index, 0, true, false}});
      }
      insert(std::move(node), from);
    }
    return *top;
  }

  // The node of the same rows that is there, if there is one.
  std::optional<std::size_t> find(const Node<Number>& node) const {
    return find(key_of(node), [&](const Node<Number>& other) { return same(other, node); });
  }
  // For nodes of one prior: nothing but the rows and the rules tells them apart.
  std::optional<std::size_t> find(std::uint64_t rows_mark, std::size_t n_rows, const NodeRules& rules) const {
    return find(key_of(rows_mark, rules), [&](const Node<Number>& other) {
      return other.rules == rules && other.rows_mark == rows_mark && other.n_rows == n_rows;
    });
  }

  static std::uint64_t key_of(const Node<Number>& node) { return key_of(node.rows_mark, node.rules); }
  // Whether the same trees can be below two nodes.
  static bool same(const Node<Number>& a, const Node<Number>& b) {
    return a.rules == b.rules && a.rows_mark == b.rows_mark && a.n_rows == b.n_rows && a.prior == b.prior;
  }

  // Z from the leaves up, then the probabilities of the nodes from the root down.
  void weigh() {
    std::vector<double> evidence(nodes_.size()), reach(nodes_.size());
    for (std::size_t depth = by_depth_.size(); depth-- > 0;)
      for (const std::size_t index : by_depth_[depth]) {
        weigh_choices(nodes_[index], evidence);
        evidence[index] = nodes_[index].log_evidence;
      }
    reach[0] = 1.0;
    for (const auto& level : by_depth_)
      for (const std::size_t index : level) {
        SpaceNode<Number>& node = nodes_[index];
        node.log_reach = std::log(reach[index]);
        const double below = reach[index] * std::exp(node.log_choices - node.log_evidence);
        for (const auto& choice : node.choices)
          reach[choice.lower] += below * choice.share, reach[choice.upper] += below * choice.share;
      }
  }

  // In the order of their depth, so that children come behind their parents.
  std::vector<SpaceNode<Number>> take_nodes() {
    std::vector<std::size_t> place(nodes_.size());
    std::vector<SpaceNode<Number>> ordered;
    ordered.reserve(nodes_.size());
    for (const auto& level : by_depth_)
      for (const std::size_t index : level) {
        place[index] = ordered.size();
        ordered.push_back(std::move(nodes_[index]));
      }
    for (auto& node : ordered)
      for (auto& choice : node.choices) choice.lower = place[choice.lower], choice.upper = place[choice.upper];
    return ordered;
  }

 private:
  static std::uint64_t key_of(std::uint64_t rows_mark, const NodeRules& rules) { return rows_mark + rules.mark(); }

  template <class IsIt>
  std::optional<std::size_t> find(std::uint64_t key, IsIt&& is_it) const {
    const auto [first, last] = index_of_.equal_range(key);
    for (auto entry = first; entry != last; ++entry)
      if (is_it(nodes_[entry->second].node)) return entry->second;
    return {};
  }

  static void weigh_choices(SpaceNode<Number>& node, const std::vector<double>& evidence) {
    double top = kMinusInfinity, sum = 0.0;
    for (auto& choice : node.choices) {
      choice.share = choice.partition.log_prior + evidence[choice.lower] + evidence[choice.upper];
      top = std::max(top, choice.share);
    }
    for (auto& choice : node.choices) sum += choice.share = std::exp(choice.share - top);
    for (auto& choice : node.choices) choice.share /= sum;
    node.log_choices = top + std::log(sum);
    node.log_evidence = log_add(node.log_leaf(), node.log_choices);
  }

  void insert(Node<Number> node, const Origin& from) {
    const std::size_t index = nodes_.size();
    index_of_.emplace(key_of(node), index);
    by_depth_.resize(std::max(by_depth_.size(), node.rules.depth + 1));
    by_depth_[node.rules.depth].push_back(index);
    SpaceNode<Number>& added = nodes_.emplace_back();
    added.parent = from.parent, added.choice = from.choice, added.is_lower = from.is_lower;
    added.all_listed = node.feature_posterior.empty();  // there is nothing to list
    added.node = std::move(node);
    added.node.feature_posterior = {};  // that of the node alone, which nobody asks of a space
    if (added.node.partition.is_split()) add_choice(index, std::exchange(added.node.partition, {}));
  }

  std::vector<SpaceNode<Number>> nodes_;
  std::size_t n_choices_ = 0;
  std::vector<std::vector<std::size_t>> by_depth_;
  std::unordered_multimap<std::uint64_t, std::size_t> index_of_;  // by what the rows add up to and the rules
};

}  // namespace baytree
