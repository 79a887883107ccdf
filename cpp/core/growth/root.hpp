// Where every tree of a table starts: a node of all rows, and what the settings must know of the table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "data/columns.hpp"
#include "data/sort.hpp"
#include "growth/nodes.hpp"
#include "growth/row_order.hpp"
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

// Whether there are features enough for a hyperplane, somewhere.
inline bool has_hyperplanes(const Settings& settings, const Columns& columns) {
  std::size_t count = 0;
  for (std::size_t f = 0; f < columns.columns.size(); ++f) count += is_in_hyperplanes(settings, columns, f);
  return settings.oblique.share > 0.0 && count > 1;
}

// Feature weights that sum to one (less the share of hyperplanes) over the features that count. Nodes do not draw
// others.
inline void share_out_prior(Settings& settings, const Columns& columns, const std::vector<std::uint8_t>& counts) {
  if (settings.draw.n_features > 0) {
    settings.use.resize(counts.size(), Use::everything);
    for (std::size_t f = 0; f < counts.size(); ++f)
      if (!counts[f]) settings.use[f] = Use::nothing;
  }
  std::vector<double> weights = settings.prior.feature_weight;
  double sum = 0.0;
  for (std::size_t f = 0; f < weights.size(); ++f)
    if (counts[f]) sum += weights[f];
  const double share = has_hyperplanes(settings, columns) ? 1.0 - settings.oblique.share : 1.0;
  if (sum > 0.0)
    for (double& weight : weights) weight *= share / sum;
  settings.prior.set_feature_weight(std::move(weights));
}

// Whether a threshold of a column without missing values leaves so many rows on both sides.
inline bool has_threshold(const Column& column, std::span<const Row> rows, std::size_t min_rows) {
  std::vector<std::uint32_t> count(column.n_codes);
  std::visit(
      [&](const auto& codes) {
        for (const Row row : rows) ++count[codes[row]];
      },
      column.codes);
  std::size_t lower = 0;
  for (std::size_t code = 0; lower < min_rows && code < count.size(); ++code) lower += count[code];
  return lower >= min_rows && rows.size() - lower >= min_rows;
}

// The features that w_r sums to one over: those that can be split at the root, in the paper's literal prior all.
template <Outcome T>
std::vector<std::uint8_t> features_that_count(const Settings& settings, const Columns& columns,
                                              const ScoredNode<T>& root, std::size_t n_threads, Interrupt& interrupt) {
  const std::vector<Row> rows = settings.limits.limit_splits() ? all_rows(columns, settings) : std::vector<Row>{};
  struct alignas(kApart) Scratch {
    std::vector<Keyed> order, spare;
    PartitionList<typename T::Number> list;
  };
  std::vector<Scratch> scratch(std::max<std::size_t>(n_threads, 1));
  std::optional<T> own;  // its i-th row is rows[i]
  if (settings.limits.limit_splits()) own.emplace(root.outcome.narrowed_to(rows));
  auto can_be_split = [&](const Column& column, std::size_t worker) {
    if (!settings.limits.limit_splits()) return column.n_codes > 1;
    if (!column.is_categorical && !column.has_missing && !(settings.limits.min_weight_fraction_leaf > 0.0))
      return has_threshold(column, rows, settings.limits.min_samples_leaf);
    auto& [order, spare, list] = scratch[worker];
    const SortedFeature<Keyed> sorted = sorted_feature(column, rows, order, spare);
    if (column.is_categorical)
      list_category_sets(*own, root.scorer, root.node.statistics.data(), sorted.order, column.n_codes, settings,
                         list.categories, list.splits);
    else find_allowed_thresholds(*own, sorted, settings.limits, list.splits);
    return list.splits.n_splits > 0;
  };
  std::vector<std::uint8_t> counts(columns.columns.size());
  parallel_for(counts.size(), settings.limits.limit_splits() ? n_threads : 1, interrupt,
               [&](std::size_t f, std::size_t worker) {
                 counts[f] = !settings.prior.proper || (settings.uses(f) && can_be_split(columns.columns[f], worker));
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
      outcome, settings, 0, root_prior, std::span<const Row>(rows), [](Row row) { return row; },
      Threads{n_threads, &interrupt});
  settings.limits.total_weight = outcome.weight_in(root.statistics.data());
  outcome.prepare(root_prior, root.statistics.data(), Threads{n_threads, &interrupt});
  const typename T::Node scorer = outcome.node(root_prior, root.statistics.data());
  share_out_prior(settings, columns,
                  features_that_count(settings, columns, ScoredNode<T>{outcome, scorer, root}, n_threads, interrupt));
  return root;
}

}  // namespace baytree
