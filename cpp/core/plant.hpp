// Where every tree of a table starts: a node of all rows, and what the settings must know of the table.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "columns.hpp"
#include "feature.hpp"
#include "node.hpp"
#include "outcome.hpp"
#include "parallel.hpp"
#include "prior.hpp"

namespace baytree {

// A node of some rows; `parent_prior` is that of the node above, or of the root itself.
template <Outcome T>
Node<typename T::Number> make_node(const T& outcome, double smoothing, std::size_t depth,
                                   const std::vector<double>& parent_prior, std::span<const Row> rows) {
  Node<typename T::Number> node;
  node.depth = depth;
  node.n_rows = rows.size();
  node.one_outcome = has_one_outcome(outcome, rows);
  node.statistics.resize(outcome.width());
  for (const Row row : rows) {
    outcome.add(node.statistics.data(), row);
    node.rows_mark += mark_of(row);
  }
  node.prior = depth > 0 ? outcome.child_prior(parent_prior, node.statistics.data(), smoothing) : parent_prior;
  node.log_likelihood = outcome.log_likelihood(node.prior, node.statistics.data());
  return node;
}

inline std::vector<Row> all_rows(const Columns& columns) {
  std::vector<Row> rows(columns.n_rows);
  std::iota(rows.begin(), rows.end(), Row{0});
  return rows;
}

// Whether there are features enough for a hyperplane, somewhere.
inline bool has_hyperplanes(const Settings& settings, const Columns& columns) {
  std::size_t count = 0;
  for (std::size_t f = 0; f < columns.columns.size(); ++f) {
    const Column& column = columns.columns[f];
    count += !column.is_categorical && column.n_codes - column.has_gaps > 1 && settings.direction(f) == 0;
  }
  return settings.oblique.share > 0.0 && count > 1;
}

// w_r: sums to one (less the share of hyperplanes) over the features that can be cut at the root, in the paper's
// literal prior over all.
template <Outcome T>
std::vector<double> normalised_feature_weights(const Settings& settings, const Columns& columns,
                                               const ScoredNode<T>& root, Interrupt& interrupt) {
  const std::vector<Row> rows = settings.limits.limit_cuts() ? all_rows(columns) : std::vector<Row>{};
  std::vector<Keyed> order, spare;
  PartitionList<typename T::Number> list;
  auto can_be_cut = [&](const Column& column) {
    if (!settings.limits.limit_cuts()) return column.n_codes > 1;
    const SortedFeature<Keyed> feature = sorted_feature(column, rows, order, spare);
    if (column.is_categorical)
      list_level_sets(root.outcome, root.scorer, root.node.statistics.data(), feature.order, column.n_codes, settings,
                      list.levels, list.cuts);
    else find_allowed_cuts(root.outcome, feature, settings.limits, list.cuts);
    return list.cuts.n_cuts > 0;
  };
  std::vector<double> weights = settings.prior.feature_weight;
  double sum = 0.0;
  parallel_for(weights.size(), 1, interrupt, [&](std::size_t f, std::size_t) {
    if (!settings.prior.proper || can_be_cut(columns.columns[f])) sum += weights[f];
  });
  const double share = has_hyperplanes(settings, columns) ? 1.0 - settings.oblique.share : 1.0;
  if (sum > 0.0)
    for (double& weight : weights) weight *= share / sum;
  return weights;
}

// The root; completes the settings and the outcome's tables.
template <Outcome T>
Node<typename T::Number> plant(const Columns& columns, T& outcome, Settings& settings,
                               const std::vector<double>& root_prior, Interrupt& interrupt) {
  settings.limits.total_weight = 0.0;
  for (std::size_t row = 0; row < columns.n_rows; ++row)
    settings.limits.total_weight += static_cast<double>(outcome.weight_of(row));
  Node<typename T::Number> root = make_node(outcome, settings.smoothing, 0, root_prior, all_rows(columns));
  outcome.prepare(root_prior, root.statistics.data());
  const typename T::Node scorer = outcome.node(root_prior, root.statistics.data());
  settings.prior.set_feature_weight(
      normalised_feature_weights(settings, columns, ScoredNode<T>{outcome, scorer, root}, interrupt));
  return root;
}

}  // namespace baytree
