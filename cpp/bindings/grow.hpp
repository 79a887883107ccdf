// The functions that every outcome has: growing a tree and listing a partition space.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "../core/grow.hpp"
#include "../core/partitions.hpp"
#include "arrays.hpp"
#include "interrupt.hpp"

namespace baytree::bindings {

// The levels that nodes (or partitions) divide, one behind the other: a row of each, and whether it goes lower.
template <class Divided>
nb::dict levels_of(const std::vector<Divided>& nodes) {
  std::vector<std::int64_t> start{0}, row;
  std::vector<std::uint8_t> is_lower;
  for (const Divided& node : nodes) {
    row.insert(row.end(), node.lower_levels.begin(), node.lower_levels.end());
    row.insert(row.end(), node.upper_levels.begin(), node.upper_levels.end());
    is_lower.resize(is_lower.size() + node.lower_levels.size(), 1);
    is_lower.resize(row.size(), 0);
    start.push_back(static_cast<std::int64_t>(row.size()));
  }
  nb::dict result;
  result["level_start"] = array_of(std::move(start));
  result["level_row"] = array_of(std::move(row));
  result["level_is_lower"] = array_of(std::move(is_lower));
  return result;
}

// One array per field of the nodes.
template <class Number>
nb::dict arrays_of_nodes(const std::vector<Node<Number>>& nodes, std::size_t width, std::size_t n_features) {
  const std::size_t n = nodes.size();
  auto column = [&](auto&& field) {
    using Value = std::decay_t<decltype(field(nodes[0]))>;
    std::vector<Value> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = field(nodes[i]);
    return array_of(std::move(values));
  };
  auto matrix = [&](std::size_t n_columns, auto&& field) {
    std::vector<double> values;
    values.reserve(n * n_columns);
    for (const Node<Number>& node : nodes)
      for (std::size_t k = 0; k < n_columns; ++k) values.push_back(static_cast<double>(field(node, k)));
    return array_of(std::move(values), {n, n_columns});
  };
  nb::dict result = levels_of(nodes);
  result["gaps"] = column([](const auto& node) { return static_cast<std::uint8_t>(node.gaps); });
  result["lower"] = column([](const auto& node) { return node.lower; });
  result["upper"] = column([](const auto& node) { return node.upper; });
  result["feature"] = column([](const auto& node) { return node.feature; });
  result["lower_row"] = column([](const auto& node) { return static_cast<std::int64_t>(node.lower_row); });
  result["upper_row"] = column([](const auto& node) { return static_cast<std::int64_t>(node.upper_row); });
  result["depth"] = column([](const auto& node) { return static_cast<std::int64_t>(node.depth); });
  result["n_rows"] = column([](const auto& node) { return static_cast<std::int64_t>(node.n_rows); });
  result["log_likelihood"] = column([](const auto& node) { return node.log_likelihood; });
  result["log_prior_leaf"] = column([](const auto& node) { return node.log_prior_leaf; });
  result["log_prior_split"] = column([](const auto& node) { return node.log_prior_split; });
  result["log_likelihood_split"] = column([](const auto& node) { return node.log_likelihood_split; });
  result["log_odds_split"] = column([](const auto& node) { return node.log_odds_split; });
  result["statistics"] = matrix(width, [](const auto& node, std::size_t k) { return node.statistics[k]; });
  result["prior"] = matrix(nodes[0].prior.size(), [](const auto& node, std::size_t k) { return node.prior[k]; });
  result["feature_posterior"] = matrix(n_features + 1, [&](const auto& node, std::size_t k) {
    return node.feature_posterior.empty() ? static_cast<double>(k == n_features) : node.feature_posterior[k];
  });
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
         std::size_t subtree_rows, std::size_t n_threads) {
        check_shapes(columns, settings, outcome.n_rows());
        const auto nodes = without_gil([&](Interrupt& interrupt) {
          return Grower<T>(columns, outcome, settings, subtree_rows, n_threads, interrupt).grow(outcome_prior);
        });
        return arrays_of_nodes(nodes, outcome.width(), columns.columns.size());
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"), nb::arg("subtree_rows"),
      nb::arg("n_threads"), "Grow the greedy-modal tree; returns one array per field of its nodes.");

  module.def(
      "partition_space",
      [](const Columns& columns, const T& outcome, const std::vector<double>& outcome_prior, const Settings& settings) {
        check_shapes(columns, settings, outcome.n_rows());
        const PartitionSpace space = without_gil([&](Interrupt& interrupt) {
          return every_partition(columns, outcome, settings, outcome_prior, interrupt);
        });
        auto column = [&](auto&& field) {
          std::vector<std::decay_t<decltype(field(space.partitions[0]))>> values;
          for (const Partition& partition : space.partitions) values.push_back(field(partition));
          return array_of(std::move(values));
        };
        nb::dict result = levels_of(space.partitions);
        result["feature"] = column([](const Partition& partition) { return partition.feature; });
        result["lower_row"] = column([](const Partition& p) { return static_cast<std::int64_t>(p.lower_row); });
        result["upper_row"] = column([](const Partition& p) { return static_cast<std::int64_t>(p.upper_row); });
        result["gaps"] = column([](const Partition& partition) { return static_cast<std::uint8_t>(partition.gaps); });
        result["log_likelihood"] = column([](const Partition& partition) { return partition.log_likelihood; });
        result["log_prior"] = column([](const Partition& partition) { return partition.log_prior; });
        result["log_likelihood_trivial"] = space.log_likelihood_trivial;
        result["log_prior_trivial"] = space.log_prior_trivial;
        return result;
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"),
      "List every partition of the rows.");
}

}  // namespace baytree::bindings
