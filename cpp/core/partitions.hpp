// Every partition of a table's rows: the partition space of the root, written out.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "columns.hpp"
#include "feature.hpp"
#include "outcome.hpp"
#include "prior.hpp"

namespace baytree {

struct Partition {
  std::int32_t feature;
  double log_likelihood, log_prior;
  // As in a node:
  Row lower_row, upper_row;
  Gaps gaps;
  std::vector<Row> lower_levels, upper_levels;
};

struct PartitionSpace {
  std::vector<Partition> partitions;  // feature by feature, cuts in ascending order
  double log_likelihood_trivial = 0.0;
  double log_prior_trivial = 0.0;
};

template <Outcome T>
PartitionSpace every_partition(const Columns& columns, T outcome, Settings settings,
                               const std::vector<double>& outcome_prior, Interrupt& interrupt) {
  using Number = typename T::Number;
  std::vector<Row> rows(columns.n_rows);
  std::iota(rows.begin(), rows.end(), Row{0});
  Node<Number> root;
  root.prior = outcome_prior;
  root.statistics.resize(outcome.width());
  for (const Row row : rows) outcome.add(root.statistics.data(), row);
  settings.limits.total_weight = total_weight(outcome, columns.n_rows);
  const typename T::Node scorer = outcome.node(outcome_prior, root.statistics.data());
  const ScoredNode<T> scored{outcome, scorer, root};
  settings.prior.set_feature_weight(normalised_feature_weights(settings, columns, scored, interrupt));

  PartitionSpace space;
  space.log_likelihood_trivial = outcome.log_likelihood(outcome_prior, root.statistics.data());
  const bool alone = has_one_outcome(outcome, std::span<const Row>(rows));
  if (alone || !settings.limits.allow_split(0, rows.size())) return space;

  const NodePrior log_prior(settings.prior, 0);
  double cuttable = 0.0;
  std::vector<Keyed> order, spare;
  PartitionList<Number> list;
  parallel_for(columns.columns.size(), 1, interrupt, [&](std::size_t f, std::size_t) {
    const Column& column = columns.columns[f];
    const SortedFeature<Keyed> feature = sorted_feature(column, rows, order, spare);
    list_partitions(scored, f, column, feature, settings, list,
                    [&](Keyed entry) { return column.values[key_of(entry)]; });
    if (list.cuts.n_cuts > 0) cuttable += settings.prior.feature_weight[f] * list.cuts.mass;
    for (std::size_t i = 0; i < list.cuts.positions.size(); ++i) {
      Node<Number> node;
      describe_partition(list, i, feature, node, [](Keyed entry) { return row_in_node(entry); });
      space.partitions.push_back({static_cast<std::int32_t>(f), list.cuts.log_likelihood[i],
                                  log_prior.of_feature(f) + list.cuts.location(i), node.lower_row, node.upper_row,
                                  node.gaps, std::move(node.lower_levels), std::move(node.upper_levels)});
    }
  });
  if (cuttable > 0.0) space.log_prior_trivial = settings.prior.log_trivial(0, cuttable);
  return space;
}

}  // namespace baytree
