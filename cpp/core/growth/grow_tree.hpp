// The tree of a table: the greedy-modal one, or one with look-ahead.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "growth/binned.hpp"
#include "growth/greedy.hpp"
#include "growth/lookahead.hpp"
#include "growth/nodes.hpp"
#include "growth/root.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"

namespace baytree {

// Of rows, which may have to be put in order first.
template <Outcome T>
std::vector<Node<typename T::Number>> grow_of_rows(const Columns& columns, T outcome, Settings settings,
                                                   const std::vector<double>& root_prior, const Lookahead& lookahead,
                                                   std::size_t subtree_rows, std::size_t n_threads,
                                                   Interrupt& interrupt) {
  auto root = make_root(columns, outcome, settings, root_prior, n_threads, interrupt);
  if (lookahead.levels > 0)
    return LookaheadGrower<T>(columns, outcome, settings, lookahead, n_threads, interrupt).grow(std::move(root));
  std::vector<Row> rows = all_rows(columns, settings);
  if (settings.order)  // the grower has the rows, and nobody needs them twice
    settings.order = std::make_shared<RowOrder>(RowOrder{{}, settings.order->times, settings.order->point});
  return GreedyGrower<T>(columns, outcome, settings, subtree_rows, n_threads, interrupt)
      .grow(std::move(root), std::move(rows));
}

template <Outcome T>
std::vector<Node<typename T::Number>> grow_tree(const Columns& columns, T outcome, Settings settings,
                                                const std::vector<double>& root_prior, const Lookahead& lookahead,
                                                std::size_t subtree_rows, std::size_t n_threads, Interrupt& interrupt) {
  settings.in_any_order = lookahead.levels > 0;
  if (has_exact_sums(outcome) && lookahead.levels == 0 && settings.oblique.share == 0.0 && columns.are_packed())
    return BinnedGrower<T>(columns, outcome, settings, subtree_rows, n_threads, interrupt).grow(root_prior);
  if constexpr (kOfCodesAlone<T>) throw std::invalid_argument("trees of this outcome are grown of packed codes alone");
  else
    return grow_of_rows(columns, std::move(outcome), std::move(settings), root_prior, lookahead, subtree_rows,
                        n_threads, interrupt);
}

}  // namespace baytree
