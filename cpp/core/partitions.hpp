// Every partition of a table's rows: the partition space of the root, written out.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "columns.hpp"
#include "cuts.hpp"
#include "outcome.hpp"
#include "prior.hpp"

namespace baytree {

// Cuts in ascending order, feature by feature.
struct PartitionSpace {
  std::vector<std::int32_t> feature;
  std::vector<Row> lower_row, upper_row;  // the rows whose values the cut falls between
  std::vector<double> log_likelihood, log_prior;
  double log_likelihood_trivial = 0.0;
  double log_prior_trivial = 0.0;
};

template <Outcome T>
PartitionSpace every_partition(const Table& table, const Columns& columns, T outcome, PartitionPrior prior,
                               Limits limits, const std::vector<double>& outcome_prior, Interrupt& interrupt) {
  std::vector<Row> rows(columns.n_rows);
  std::iota(rows.begin(), rows.end(), Row{0});
  std::vector<typename T::Number> total(outcome.width());
  for (const Row row : rows) outcome.add(total.data(), row);
  limits.total_weight = total_weight(outcome, columns.n_rows);
  prior.set_feature_weight(normalised_feature_weights(prior, columns, outcome, limits, interrupt));

  PartitionSpace space;
  space.log_likelihood_trivial = outcome.log_likelihood(outcome_prior, total.data());
  if (!limits.allow_split(0, rows.size()) || has_one_outcome(outcome, std::span<const Row>(rows))) return space;

  const typename T::Node scorer = outcome.node(outcome_prior, total.data());
  const NodePrior log_prior(prior, 0);
  double cuttable = 0.0;
  std::vector<Keyed> order, spare;
  CutList cuts;
  parallel_for(columns.columns.size(), 1, interrupt, [&](std::size_t feature, std::size_t) {
    sort_rows(columns.columns[feature], rows, order, spare);
    list_all_cuts(outcome, scorer, std::span<const Keyed>(order), true, prior, limits, cuts,
                  [&](Keyed entry) { return table.at(row_in_node(entry), feature); });
    if (cuts.n_cuts > 0) cuttable += prior.feature_weight[feature];
    for (std::size_t i = 0; i < cuts.positions.size(); ++i) {
      space.feature.push_back(static_cast<std::int32_t>(feature));
      space.lower_row.push_back(row_in_node(order[cuts.positions[i]]));
      space.upper_row.push_back(row_in_node(order[cuts.positions[i] + 1]));
      space.log_likelihood.push_back(cuts.log_likelihood[i]);
      space.log_prior.push_back(log_prior.of_feature(feature) + cuts.location(i));
    }
  });
  if (cuttable > 0.0) space.log_prior_trivial = prior.log_trivial(0, cuttable);
  return space;
}

}  // namespace baytree
