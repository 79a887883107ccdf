// The functions that every outcome has: growing a tree and listing a partition space.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "../core/lookahead.hpp"
#include "../core/partitions.hpp"
#include "../core/tree_space.hpp"
#include "arrays.hpp"
#include "interrupt.hpp"

namespace baytree::bindings {

// One array per field of partitions, partition(i) for i in [0, n); then the levels they divide, one behind the other: a
// row of each, and whether it goes lower.
template <class Get>
nb::dict arrays_of_partitions(std::size_t n, Get&& partition) {
  auto column = [&](auto&& field) {
    std::vector<std::decay_t<decltype(field(partition(0)))>> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = field(partition(i));
    return array_of(std::move(values));
  };
  nb::dict result;
  result["feature"] = column([](const Partition& p) { return p.feature; });
  result["lower_row"] = column([](const Partition& p) { return static_cast<std::int64_t>(p.lower_row); });
  result["upper_row"] = column([](const Partition& p) { return static_cast<std::int64_t>(p.upper_row); });
  result["gaps"] = column([](const Partition& p) { return static_cast<std::uint8_t>(p.gaps); });
  result["log_prior_split"] = column([](const Partition& p) { return p.log_prior; });
  result["log_likelihood_split"] = column([](const Partition& p) { return p.log_likelihood; });
  std::vector<std::int64_t> start{0}, row, oblique_start{0}, oblique_feature;
  std::vector<double> oblique_coefficient, oblique_gap_value;
  std::vector<std::uint8_t> is_lower;
  for (std::size_t i = 0; i < n; ++i) {
    const Partition& p = partition(i);
    oblique_feature.insert(oblique_feature.end(), p.features.begin(), p.features.end());
    oblique_coefficient.insert(oblique_coefficient.end(), p.coefficients.begin(), p.coefficients.end());
    oblique_gap_value.insert(oblique_gap_value.end(), p.gap_values.begin(), p.gap_values.end());
    oblique_start.push_back(static_cast<std::int64_t>(oblique_feature.size()));
    row.insert(row.end(), p.lower_levels.begin(), p.lower_levels.end());
    row.insert(row.end(), p.upper_levels.begin(), p.upper_levels.end());
    is_lower.resize(is_lower.size() + p.lower_levels.size(), 1);
    is_lower.resize(row.size(), 0);
    start.push_back(static_cast<std::int64_t>(row.size()));
  }
  result["oblique_threshold"] = column([](const Partition& p) { return p.threshold; });
  result["oblique_start"] = array_of(std::move(oblique_start));
  result["oblique_feature"] = array_of(std::move(oblique_feature));
  result["oblique_coefficient"] = array_of(std::move(oblique_coefficient));
  result["oblique_gap_value"] = array_of(std::move(oblique_gap_value));
  result["level_start"] = array_of(std::move(start));
  result["level_row"] = array_of(std::move(row));
  result["level_is_lower"] = array_of(std::move(is_lower));
  return result;
}

// Adds an array per field of nodes, node(i) for i in [0, n).
template <class Get>
void add_arrays_of_nodes(nb::dict& result, std::size_t n, std::size_t width, Get&& node) {
  auto column = [&](auto&& field) {
    std::vector<std::decay_t<decltype(field(node(0)))>> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = field(node(i));
    return array_of(std::move(values));
  };
  auto matrix = [&](std::size_t n_columns, auto&& field) {
    std::vector<double> values;
    values.reserve(n * n_columns);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n_columns; ++k) values.push_back(static_cast<double>(field(node(i), k)));
    return array_of(std::move(values), {n, n_columns});
  };
  result["depth"] = column([](const auto& of) { return static_cast<std::int64_t>(of.depth); });
  result["n_rows"] = column([](const auto& of) { return static_cast<std::int64_t>(of.n_rows); });
  result["log_likelihood"] = column([](const auto& of) { return of.log_likelihood; });
  result["log_prior_leaf"] = column([](const auto& of) { return of.log_prior_leaf; });
  result["statistics"] = matrix(width, [](const auto& of, std::size_t k) { return of.statistics[k]; });
  result["prior"] = matrix(node(0).prior.size(), [](const auto& of, std::size_t k) { return of.prior[k]; });
}

template <class Number>
nb::dict arrays_of_tree(const std::vector<Node<Number>>& nodes, std::size_t width, std::size_t n_features) {
  const std::size_t n = nodes.size();
  nb::dict result = arrays_of_partitions(n, [&](std::size_t i) -> const Partition& { return nodes[i].partition; });
  add_arrays_of_nodes(result, n, width, [&](std::size_t i) -> const Node<Number>& { return nodes[i]; });
  std::vector<std::int64_t> lower, upper;
  std::vector<double> log_odds, posterior;
  for (const Node<Number>& node : nodes) {
    lower.push_back(node.lower);
    upper.push_back(node.upper);
    log_odds.push_back(node.log_odds_split);
    for (std::size_t k = 0; k <= n_features; ++k)
      posterior.push_back(node.feature_posterior.empty() ? static_cast<double>(k == n_features)
                                                         : node.feature_posterior[k]);
  }
  result["lower"] = array_of(std::move(lower));
  result["upper"] = array_of(std::move(upper));
  result["log_odds_split"] = array_of(std::move(log_odds));
  result["feature_posterior"] = array_of(std::move(posterior), {n, n_features + 1});
  return result;
}

// The nodes of a tree space, and its choices: those of node i begin at choice_start[i].
template <class Number>
nb::dict arrays_of_space(const std::vector<SpaceNode<Number>>& nodes, std::size_t width) {
  std::vector<const typename SpaceNode<Number>::Choice*> choices;
  std::vector<std::int64_t> start{0}, lower, upper;
  std::vector<std::uint8_t> complete;
  for (const SpaceNode<Number>& node : nodes) {
    for (const auto& choice : node.choices) {
      choices.push_back(&choice);
      lower.push_back(static_cast<std::int64_t>(choice.lower));
      upper.push_back(static_cast<std::int64_t>(choice.upper));
    }
    start.push_back(static_cast<std::int64_t>(choices.size()));
    complete.push_back(node.complete());
  }
  nb::dict result = arrays_of_partitions(choices.size(),
                                         [&](std::size_t i) -> const Partition& { return choices[i]->partition; });
  add_arrays_of_nodes(result, nodes.size(), width, [&](std::size_t i) -> const Node<Number>& { return nodes[i].node; });
  result["choice_start"] = array_of(std::move(start));
  result["lower"] = array_of(std::move(lower));
  result["upper"] = array_of(std::move(upper));
  result["complete"] = array_of(std::move(complete));
  return result;
}

inline void check_shapes(const Columns& columns, const Settings& settings, std::size_t n_outcomes) {
  require(n_outcomes == columns.n_rows, "one outcome per row");
  require(settings.prior.feature_weight.size() == columns.columns.size(), "one feature weight per column");
  if (settings.prior.by_distance)
    for (const Column& column : columns.columns) require(!column.values.empty(), "distances need values");
}

template <Outcome T>
void bind_growth(nb::module_& module) {
  module.def(
      "grow",
      [](const Columns& columns, const T& outcome, const std::vector<double>& outcome_prior, const Settings& settings,
         const Lookahead& lookahead, std::size_t subtree_rows, std::size_t n_threads) {
        check_shapes(columns, settings, outcome.n_rows());
        const auto nodes = without_gil([&](Interrupt& interrupt) {
          return grow_tree(columns, outcome, settings, outcome_prior, lookahead, subtree_rows, n_threads, interrupt);
        });
        return arrays_of_tree(nodes, outcome.width(), columns.columns.size());
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"), nb::arg("lookahead"),
      nb::arg("subtree_rows"), nb::arg("n_threads"), "Grow the tree; returns one array per field of its nodes.");

  module.def(
      "tree_space",
      [](const Columns& columns, const T& outcome, const std::vector<double>& outcome_prior, const Settings& settings,
         const Budget& budget, std::size_t subtree_rows, std::size_t n_threads) {
        check_shapes(columns, settings, outcome.n_rows());
        const auto nodes = without_gil([&](Interrupt& interrupt) {
          TreeSpace<T> space(columns, outcome, settings, subtree_rows, n_threads, interrupt);
          space.explore(outcome_prior, budget);
          return space.take_nodes();
        });
        const bool interrupted = was_interrupted();
        nb::dict result = arrays_of_space(nodes, outcome.width());
        result["interrupted"] = interrupted;
        return result;
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"), nb::arg("budget"),
      nb::arg("subtree_rows"), nb::arg("n_threads"),
      "Explore the tree space; returns one array per field of its nodes and of its choices.");

  module.def(
      "partition_space",
      [](const Columns& columns, const T& outcome, const std::vector<double>& outcome_prior, const Settings& settings) {
        check_shapes(columns, settings, outcome.n_rows());
        const auto space = without_gil([&](Interrupt& interrupt) {
          return every_partition(columns, outcome, settings, outcome_prior, interrupt);
        });
        nb::dict result = arrays_of_partitions(space.partitions.size(),
                                               [&](std::size_t i) -> const Partition& { return space.partitions[i]; });
        result["log_likelihood"] = space.root.log_likelihood;
        result["log_prior_leaf"] = space.root.log_prior_leaf;
        return result;
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"),
      "List every partition of the rows.");
}

}  // namespace baytree::bindings
