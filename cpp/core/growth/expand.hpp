// How a node is expanded, whatever grows the tree:
//   1. the partitions of each feature are listed and summarised (list_feature, score_features),
//   2. hyperplanes are searched and the modal partition is chosen (decide),
//   3. the mode is looked up in the list of its feature and described (partition_at, modal_partition),
//   4. the rows are divided and the children made (expand_by, or make_children where the rows are divided already).
// What differs between growers is where they have the rows of a node, and in what order; the steps are these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "data/entries.hpp"
#include "function_ref.hpp"
#include "growth/nodes.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/divide.hpp"
#include "partitions/mode.hpp"
#include "partitions/node.hpp"
#include "partitions/oblique.hpp"
#include "partitions/partition_list.hpp"
#include "partitions/prior.hpp"
#include "partitions/split_list.hpp"
#include "types.hpp"

namespace baytree {

// The outcome of a node's rows alone, and what scores their partitions.
template <Outcome T>
struct NodeOutcome {
  T outcome;
  typename T::Node scorer;

  NodeOutcome(const T& whole, std::span<const Row> rows, const Node<typename T::Number>& node)
      : outcome(whole.narrowed_to(rows)), scorer(outcome.node(node.prior, node.statistics.data())) {}

  ScoredNode<T> scored(const Node<typename T::Number>& node) const { return {outcome, scorer, node}; }
};

template <class Number>
struct FeatureScratch {
  std::vector<Keyed> order, spare;
  PartitionList<Number> list;
};

// Sorts the rows of a node by a feature and lists its partitions.
template <Outcome T>
SortedFeature<Keyed> list_feature(const Columns& columns, const ScoredNode<T>& scored, std::size_t feature,
                                  std::span<const Row> rows, const Settings& settings,
                                  FeatureScratch<typename T::Number>& scratch) {
  stop_if_asked();
  const Column& column = columns.columns[feature];
  const SortedFeature<Keyed> sorted = sorted_feature(column, rows, scratch.order, scratch.spare);
  list_partitions(scored, feature, column, sorted, settings, scratch.list,
                  [&](Keyed entry) { return column.values[key_of(entry)]; });
  return sorted;
}

// Scores all features of a node, one after the other. list(f) gives a list of partitions, or none (nullptr);
// floor(f) tells below which score a sum does not matter; keep(f, score) may use the list before the next is made.
void score_features(std::vector<FeatureScore>& scores, FunctionRef<SplitList*(std::size_t)> list,
                    FunctionRef<double(std::size_t)> floor, FunctionRef<void(std::size_t, const FeatureScore&)> keep);

struct Decision {
  Mode mode;
  Partition hyperplane;  // the best one; no split: there is none
};

// The best hyperplane of a node, where there are any; search(rival) finds it.
using SearchHyperplane = FunctionRef<BestHyperplane(double rival)>;
BestHyperplane best_hyperplane(const NodeFacts& node, const Settings& settings, std::span<const FeatureScore> scores,
                               SearchHyperplane search);

// Chooses the mode and fills the node's posterior.
Decision decide(NodeFacts& node, const Settings& settings, std::span<const FeatureScore> scores,
                SearchHyperplane search);

// The modal partition of a node; pick(mode) finds it where it is one of a feature.
Partition modal_partition(NodeFacts& node, const Settings& settings, std::span<const FeatureScore> scores,
                          SearchHyperplane search, FunctionRef<Partition(const Mode&)> pick);

// A split with the probability of a listed one; `log_prior` is that of the feature in its node.
Partition with_probability(Split split, const SplitList& splits, std::size_t index, double log_prior);

// A listed partition of a feature, described; row_of(entry) is the row in the table.
template <class Number, class Entry, class RowOf>
Partition partition_at(const PartitionList<Number>& list, std::size_t index, std::size_t feature,
                       const Columns& columns, const SortedFeature<Entry>& sorted, const Settings& settings,
                       double log_prior, RowOf&& row_of) {
  Split split = split_of(list, index, feature, columns.columns[feature], sorted, settings.thresholds, row_of);
  return with_probability(std::move(split), list.splits, index, log_prior);
}

// The best partition of those of a feature that are listed; no split if there is none.
template <class Number, class Entry, class RowOf>
Partition best_partition(PartitionList<Number>& list, std::size_t feature, const Columns& columns,
                         const SortedFeature<Entry>& sorted, const Settings& settings, double log_prior,
                         RowOf&& row_of) {
  if (list.splits.n_splits == 0) return {};
  const double best = summarise(list.splits, -kMinusInfinity).best;
  const std::size_t index = first_split(list.splits, as_good_as(log_prior + best) - log_prior);
  return partition_at(list, index, feature, columns, sorted, settings, log_prior, row_of);
}

// A node divided by a split.
template <class Number>
struct Expanded {
  Sides rows;
  Children<Number> children;
};

template <Outcome T>
Expanded<typename T::Number> expand_by(const Columns& columns, const T& outcome, const Settings& settings,
                                       const Node<typename T::Number>& node, const Split& split,
                                       std::span<const Row> rows) {
  Sides sides = divide_rows(columns, split, rows);
  auto children = make_children(outcome, settings, node, split, std::span<const Row>(sides.lower),
                                std::span<const Row>(sides.upper));
  return {std::move(sides), std::move(children)};
}

}  // namespace baytree
