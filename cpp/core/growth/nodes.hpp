// Making the nodes of a tree, and putting them in order.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/divide.hpp"
#include "partitions/monotonic.hpp"
#include "partitions/node.hpp"
#include "partitions/node_features.hpp"
#include "partitions/prior.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

// The rows of the root.
inline std::vector<Row> all_rows(const Columns& columns, const Settings& settings = {}) {
  if (settings.order) return settings.order->rows;
  std::vector<Row> rows(columns.n_rows);
  std::iota(rows.begin(), rows.end(), Row{0});
  return rows;
}

// The prior and the likelihood of a node whose rows are counted. `parent_prior` is that of the node above, or of the
// root itself.
template <Outcome T>
void complete_node(const T& outcome, const Settings& settings, const std::vector<double>& parent_prior,
                   Node<typename T::Number>& node) {
  const auto* statistics = node.statistics.data();
  node.prior = node.rules.depth > 0 ? outcome.child_prior(parent_prior, statistics, settings.smoothing) : parent_prior;
  node.log_likelihood = outcome.log_likelihood(node.prior, statistics);
}

// Adds some rows to a node.
template <Outcome T, class Entry, class RowOf>
void add_rows(const T& outcome, const Settings& settings, std::span<const Entry> entries, RowOf&& row_of,
              Node<typename T::Number>& node) {
  node.statistics.resize(outcome.width());
  add_all(outcome, entries, node.statistics.data());
  for (const Entry entry : entries) node.rows_mark += mark_of(row_of(entry));
  node.n_rows += entries.size();
  if (settings.order)
    for (const Entry entry : entries) node.n_rows += settings.count(row_of(entry)) - 1;
}

// A node of some rows, given as entries of the outcome; row_of(entry) is the row in the table. Several threads add up
// whole numbers; other sums would depend on how many they are.
template <Outcome T, class Entry, class RowOf>
Node<typename T::Number> make_node(const T& outcome, const Settings& settings, const NodeRules& rules,
                                   const std::vector<double>& parent_prior, std::span<const Entry> entries,
                                   RowOf&& row_of, const Threads& threads = {}) {
  Node<typename T::Number> node;
  node.rules = rules;
  node.one_outcome = has_one_outcome(outcome, entries);
  const Blocks blocks = std::integral<typename T::Number> ? threads.blocks(entries.size()) : Blocks(entries.size());
  std::vector<Node<typename T::Number>> parts(blocks.size() - 1);  // but the first
  blocks.each([&](std::size_t block, std::size_t begin, std::size_t end) {
    add_rows(outcome, settings, entries.subspan(begin, end - begin), row_of, block == 0 ? node : parts[block - 1]);
  });
  for (const Node<typename T::Number>& part : parts) {
    for (std::size_t k = 0; k < node.statistics.size(); ++k) node.statistics[k] += part.statistics[k];
    node.rows_mark += part.rows_mark;
    node.n_rows += part.n_rows;
  }
  complete_node(outcome, settings, parent_prior, node);
  return node;
}

template <class Number>
struct Children {
  Node<Number> lower, upper;
};

// The children of a node, given what goes to either side.
template <Outcome T, class Entry, class RowOf>
Children<typename T::Number> make_children(const T& outcome, const Settings& settings,
                                           const Node<typename T::Number>& parent, const Split& split,
                                           std::span<const Entry> lower, std::span<const Entry> upper, RowOf&& row_of,
                                           const Threads& threads = {}) {
  auto child = [&](std::span<const Entry> entries, bool is_upper) {
    const NodeRules rules = parent.rules.below(settings.rules, split, is_upper);
    return make_node(outcome, settings, rules, parent.prior, entries, row_of, threads);
  };
  Children<typename T::Number> children{child(lower, false), child(upper, true)};
  if (settings.rules.constrained()) bound_children(outcome, settings, parent, split, children.lower, children.upper);
  return children;
}

// For an outcome that is that of the whole table.
template <Outcome T>
Children<typename T::Number> make_children(const T& outcome, const Settings& settings,
                                           const Node<typename T::Number>& parent, const Split& split,
                                           std::span<const Row> lower, std::span<const Row> upper,
                                           const Threads& threads = {}) {
  return make_children(outcome, settings, parent, split, lower, upper, [](Row row) { return row; }, threads);
}

// Adds the children of a node to the nodes of its tree.
template <class Number>
void add_children(std::vector<Node<Number>>& nodes, std::size_t parent, Children<Number> children) {
  nodes[parent].lower = static_cast<std::int64_t>(nodes.size());
  nodes[parent].upper = nodes[parent].lower + 1;
  nodes.push_back(std::move(children.lower));
  nodes.push_back(std::move(children.upper));
}

// The root of a grown subtree takes the node's place; its other nodes go to the end.
template <class Number>
void graft(std::vector<Node<Number>>& nodes, std::size_t index, std::vector<Node<Number>> grown) {
  const auto shift = static_cast<std::int64_t>(nodes.size()) - 1;
  for (std::size_t i = 0; i < grown.size(); ++i) {
    if (grown[i].partition.is_split()) grown[i].lower += shift, grown[i].upper += shift;
    if (i == 0) nodes[index] = std::move(grown[i]);
    else nodes.push_back(std::move(grown[i]));
  }
}

// Puts the nodes of a tree in depth-first order, the lower child right behind its parent. Some of it may have been
// grown apart: a part has its nodes, the part that it hangs from (none: the tree itself), and the node there whose
// place it takes.
template <class Number, class Part>
std::vector<Node<Number>> depth_first(std::vector<Node<Number>> nodes, std::deque<Part>& parts) {
  using Nodes = std::vector<Node<Number>>;
  std::size_t n_nodes = nodes.size();
  std::unordered_map<const Node<Number>*, Nodes*> instead;
  for (Part& part : parts) {
    instead[(part.parent ? part.parent->nodes : nodes).data() + part.node] = &part.nodes;
    n_nodes += part.nodes.size() - 1;
  }
  Nodes ordered;
  ordered.reserve(n_nodes);
  struct Visit {
    Nodes* nodes;
    std::int64_t node, parent_of_upper;
  };
  std::vector<Visit> stack{{&nodes, 0, -1}};
  while (!stack.empty()) {
    auto [of, index, parent] = stack.back();
    stack.pop_back();
    Node<Number>* visited = of->data() + index;
    for (auto other = instead.find(visited); other != instead.end(); other = instead.find(visited))
      of = other->second, visited = of->data();
    const auto place = static_cast<std::int64_t>(ordered.size());
    if (parent >= 0) ordered[static_cast<std::size_t>(parent)].upper = place;
    ordered.push_back(std::move(*visited));
    Node<Number>& node = ordered.back();
    if (!node.partition.is_split()) continue;
    stack.push_back({of, node.upper, place});
    stack.push_back({of, node.lower, -1});
    node.lower = place + 1;
  }
  return ordered;
}

// For a tree that was grown as a whole.
template <class Number>
std::vector<Node<Number>> depth_first(std::vector<Node<Number>> nodes) {
  struct Part {
    Part* parent;
    std::size_t node;
    std::vector<Node<Number>> nodes;
  };
  std::deque<Part> none;
  return depth_first(std::move(nodes), none);
}

}  // namespace baytree
