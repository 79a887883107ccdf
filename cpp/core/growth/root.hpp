// Where every tree of a table starts: a node of all rows, and what the settings must know of the table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "data/row_order.hpp"
#include "data/sort.hpp"
#include "growth/nodes.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/category_sets.hpp"
#include "partitions/node.hpp"
#include "partitions/node_features.hpp"
#include "partitions/partition_list.hpp"
#include "partitions/prior.hpp"
#include "partitions/thresholds.hpp"
#include "types.hpp"

namespace baytree {

// Feature weights that sum to one (less the share of hyperplanes) over the features that count. Nodes do not draw
// others.
void share_out_prior(Settings& settings, const Columns& columns, const std::vector<std::uint8_t>& counts);

// Whether a threshold of a column without missing values leaves so many rows on both sides.
bool has_threshold(const Column& column, std::span<const Row> rows, std::size_t min_rows);

// The order of rows (data/row_order.hpp) as the settings want it: where leaves must have several rows, a row of weight
// 2 is one row, and equal rows stay apart.
RowOrder order_rows(const Columns& columns, const Settings& settings, std::span<const std::uint64_t> outcome_marks,
                    std::vector<double>& weights, std::vector<Row>* stands_for = nullptr);

// By row, a number that tells its outcome from others.
template <Outcome T>
std::vector<std::uint64_t> marks_of_rows(const T& outcome) {
  std::vector<std::uint64_t> marks(outcome.n_rows());
  for (std::size_t row = 0; row < marks.size(); ++row) marks[row] = outcome.mark_of_row(row);
  return marks;
}

// The order of rows with the weights that the outcome has; it gets those that equal rows have together.
template <Outcome T>
RowOrder order_rows(const Columns& columns, T& outcome, const Settings& settings) {
  std::vector<double> weights(columns.n_rows);
  for (std::size_t row = 0; row < weights.size(); ++row) weights[row] = static_cast<double>(outcome.weight_of(row));
  RowOrder result = order_rows(columns, settings, marks_of_rows(outcome), weights);
  const bool all_once = std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 1.0; });
  outcome.set_weights(all_once ? std::vector<double>{} : weights);
  return result;
}

// The features that w_r sums to one over: those that can be split at the root, in the paper's literal prior all.
template <Outcome T>
std::vector<std::uint8_t> features_that_count(const Settings& settings, const Columns& columns,
                                              const ScoredNode<T>& root, std::size_t n_threads, Interrupt& interrupt) {
  const std::vector<Row> rows = settings.rules.limits.limit_splits() ? all_rows(columns, settings) : std::vector<Row>{};
  struct alignas(kApart) Scratch {
    std::vector<Keyed> order, spare;
    PartitionList<typename T::Number> list;
  };
  std::vector<Scratch> scratch(std::max<std::size_t>(n_threads, 1));
  std::optional<T> sorted_outcome;  // its i-th row is rows[i]
  if (settings.rules.limits.limit_splits()) sorted_outcome.emplace(root.outcome.narrowed_to(rows));
  auto can_be_split = [&](const Column& column, std::size_t worker) {
    if (!settings.rules.limits.limit_splits()) return column.n_codes > 1;
    if (!column.is_categorical && !column.has_missing && !(settings.rules.limits.min_weight_fraction_leaf > 0.0))
      return has_threshold(column, rows, settings.rules.limits.min_samples_leaf);
    auto& [order, spare, list] = scratch[worker];
    const SortedFeature<Keyed> sorted = sorted_feature(column, rows, order, spare);
    if (column.is_categorical)
      list_category_sets(*sorted_outcome, root.scorer, root.node.statistics.data(), sorted.order, column.n_codes,
                         settings, list.categories, list.splits);
    else find_allowed_thresholds(*sorted_outcome, sorted, settings.rules.limits, list.splits);
    return list.splits.n_splits > 0;
  };
  std::vector<std::uint8_t> counts(columns.columns.size());
  parallel_for(counts.size(), settings.rules.limits.limit_splits() ? n_threads : 1, interrupt,
               [&](std::size_t f, std::size_t worker) {
                 counts[f] = !settings.prior.proper ||
                             (settings.rules.uses(f) && can_be_split(columns.columns[f], worker));
               });
  return counts;
}

// The root; completes the settings and the outcome. Its rows are `all_rows` of the settings.
template <Outcome T>
Node<typename T::Number> make_root(const Columns& columns, T& outcome, Settings& settings,
                                   const std::vector<double>& root_prior, std::size_t n_threads, Interrupt& interrupt) {
  if (!settings.order && (settings.in_any_order || settings.oblique.share > 0.0))
    settings.order = std::make_shared<RowOrder>(order_rows(columns, outcome, settings));
  const std::vector<Row> rows = all_rows(columns, settings);
  Node<typename T::Number> root = make_node(
      outcome, settings, NodeRules::of_root(settings.rules), root_prior, std::span<const Row>(rows),
      [](Row row) { return row; }, Threads{n_threads, &interrupt});
  settings.rules.limits.total_weight = outcome.weight_in(root.statistics.data());
  outcome.prepare(root_prior, root.statistics.data(), Threads{n_threads, &interrupt});
  const typename T::Node scorer = outcome.node(root_prior, root.statistics.data());
  share_out_prior(settings, columns,
                  features_that_count(settings, columns, ScoredNode<T>{outcome, scorer, root}, n_threads, interrupt));
  return root;
}

}  // namespace baytree
