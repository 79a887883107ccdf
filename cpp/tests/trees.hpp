// Problems whose trees are grown.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "growth/engine.hpp"
#include "interrupts.hpp"
#include "outcomes/any_outcomes.hpp"
#include "problems.hpp"
#include "tables.hpp"

namespace baytree::tests {

template <class Count>
using Tree = std::vector<Node<Count>>;

// The engine that grows trees of such counts, and its form of an outcome.
template <class Count>
using EngineOf = Engine<std::conditional_t<std::is_integral_v<Count>, Counts, Reals>>;
inline Counts form_of(const Categorical<std::uint32_t>& outcome) { return outcome; }
inline Reals form_of(const Categorical<double>& outcome) { return any_outcome(outcome); }

// How a tree is grown; none of it may change the tree.
struct Way {
  std::size_t subtree_rows, n_bins, n_threads;
};

// A problem whose table is laid out.
template <class Count>
struct Setting {
  const Problem<Count>& problem;
  OwnedTable owned;

  explicit Setting(const Problem<Count>& p) : problem(p), owned(p.columns, Layout::row_major) {}

  Settings settings() const {
    Settings result{problem.prior, {problem.limits}, problem.smoothing};
    result.thresholds = Thresholds::midpoint;  // as the naive grower has them; Python holds the round ones to an oracle
    return result;
  }

  Columns encoded(std::size_t n_bins) const {
    Interrupt interrupt = never_asked();
    return encode_numbers(owned.table, n_bins, 1, interrupt);
  }

  Tree<Count> grow(const Columns& columns, std::size_t subtree_rows, std::size_t n_threads,
                   Interrupt& interrupt) const {
    return EngineOf<Count>::grow_tree(columns, form_of(problem.outcome), settings(), problem.root_prior, {},
                                      subtree_rows, n_threads, interrupt);
  }

  Tree<Count> grow(const Way& way) const {
    Interrupt interrupt = never_asked();
    return grow(encoded(way.n_bins), way.subtree_rows, way.n_threads, interrupt);
  }
};

template <class Count>
std::vector<std::int64_t> structure(const Tree<Count>& tree) {
  std::vector<std::int64_t> result;
  for (const Node<Count>& node : tree)
    result.insert(result.end(),
                  {node.lower, node.upper, node.partition.feature(), static_cast<std::int64_t>(node.rules.depth),
                   static_cast<std::int64_t>(node.n_rows), node.one_outcome});
  return result;
}

}  // namespace baytree::tests
