// Grows the trees of a forest, one by one, on the weights that their rows have (forest_rows.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "function_ref.hpp"
#include "growth/forest_rows.hpp"
#include "growth/grow_tree.hpp"
#include "growth/root.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

template <Outcome T>
class ForestGrower {
 public:
  using Number = typename T::Number;
  using Nodes = std::vector<Node<Number>>;

  // The outcome counts every row once; `weights` are those of the rows, none: all of 1.
  ForestGrower(const Columns& columns, const T& outcome, const Settings& settings,
               const std::vector<double>& root_prior, const Lookahead& lookahead, const ForestPlan& plan,
               std::vector<double> weights, std::size_t subtree_rows)
      : columns_(columns), outcome_(outcome), settings_(settings), root_prior_(root_prior), lookahead_(lookahead),
        plan_(plan), subtree_rows_(subtree_rows),
        rows_(columns, marks_of_rows(outcome), settings, plan, std::move(weights)) {
    if constexpr (requires { outcome_.set_whole_weights(plan.whole); }) outcome_.set_whole_weights(plan.whole);
    // Every thread has such tables, and the search for hyperplanes looks up little.
    if constexpr (requires { outcome_.most_folded; })
      if (settings.oblique.share > 0.0) outcome_.most_folded = 510;
  }

  const ForestRows& rows() const { return rows_; }

  // Calls keep(i, nodes) with every tree, on any thread.
  void grow(std::size_t n_threads, Interrupt& interrupt, FunctionRef<void(std::size_t, const Nodes&)> keep) {
    if (plan_.whole) prepare_tables();
    const std::size_t inside = std::max<std::size_t>(n_threads / std::max<std::size_t>(plan_.n_trees, 1), 1);
    parallel_for(plan_.n_trees, n_threads, interrupt,
                 [&](std::size_t i, std::size_t) { keep(i, grow_one(plan_.first + i, inside, interrupt)); });
  }

 private:
  // Tables that are large enough for all trees; one that needs larger ones makes its own.
  void prepare_tables() {
    std::vector<double> weight(outcome_.width());
    const std::vector<Row>& rows = rows_.order().rows;
    std::vector<Number> row(outcome_.width()), total(outcome_.width());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::fill(row.begin(), row.end(), Number{0});
      outcome_.add(row.data(), rows[i]);
      for (std::size_t k = 0; k < row.size(); ++k) weight[k] += rows_.weights().base(i) * static_cast<double>(row[k]);
    }
    for (std::size_t k = 0; k < total.size(); ++k)
      total[k] = static_cast<Number>(rows_.weights().most(std::max(weight[k], 0.0)));
    outcome_.prepare(root_prior_, total.data());
  }

  Nodes grow_one(std::size_t tree, std::size_t n_threads, Interrupt& interrupt) const {
    auto order = std::make_shared<RowOrder>(RowOrder{{}, rows_.order().times, rows_.order().point});
    T outcome(outcome_);
    Settings settings(settings_);
    outcome.set_weights(rows_.draw(tree, order->rows, settings.row_factor));
    settings.use = rows_.use(order->rows);
    if (plan_.n_features < columns_.columns.size()) settings.draw = {plan_.seed, tree, plan_.n_features};
    // The search for the hyperplane of a root takes the most memory, that of a node with all the points it ever takes
    // too: there are no sorted lists beside these. Sums that are not exact would depend on the order of the lists.
    if (has_exact_sums(outcome_) && settings.oblique.share > 0.0)
      settings.most_in_lists = std::min(order->rows.size() / 2, settings.oblique.effort.few_rows);
    settings.order = std::move(order);
    settings.fills_posterior = false;
    return grow_tree(columns_, std::move(outcome), std::move(settings), root_prior_, lookahead_, subtree_rows_,
                     n_threads, interrupt);
  }

  const Columns& columns_;
  T outcome_;
  Settings settings_;
  std::vector<double> root_prior_;
  Lookahead lookahead_;
  ForestPlan plan_;
  std::size_t subtree_rows_;
  ForestRows rows_;
};

}  // namespace baytree
