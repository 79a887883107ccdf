// The functions that every outcome has: growing a tree and listing a partition space.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "../core/grow.hpp"
#include "../core/partitions.hpp"
#include "arrays.hpp"
#include "interrupt.hpp"

namespace baytree::bindings {

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
  nb::dict result;
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

inline void check_shapes(const Table& table, const Columns& columns, const PartitionPrior& prior,
                         std::size_t n_outcomes) {
  require(table.n_rows == columns.n_rows && table.n_columns == columns.columns.size(), "X is not what was encoded");
  require(n_outcomes == columns.n_rows, "one outcome per row");
  require(prior.feature_weight.size() == columns.columns.size(), "one feature weight per column");
}

template <Outcome T>
void bind_growth(nb::module_& module) {
  module.def(
      "grow",
      [](const Matrix& X, const Columns& columns, const T& outcome, const std::vector<double>& outcome_prior,
         const PartitionPrior& prior, const Limits& limits, double smoothing, std::size_t subtree_rows,
         std::size_t n_threads) {
        const Table table = table_of(X);
        check_shapes(table, columns, prior, outcome.n_rows());
        const auto nodes = without_gil([&](Interrupt& interrupt) {
          return Grower<T>(table, columns, outcome, prior, limits, smoothing, subtree_rows, n_threads, interrupt)
              .grow(outcome_prior);
        });
        return arrays_of_nodes(nodes, outcome.width(), table.n_columns);
      },
      nb::arg("X").noconvert(), nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("prior"),
      nb::arg("limits"), nb::arg("smoothing"), nb::arg("subtree_rows"), nb::arg("n_threads"),
      "Grow the greedy-modal tree; returns one array per field of its nodes.");

  module.def(
      "partition_space",
      [](const Matrix& X, const Columns& columns, const T& outcome, const std::vector<double>& outcome_prior,
         const PartitionPrior& prior, const Limits& limits) {
        const Table table = table_of(X);
        check_shapes(table, columns, prior, outcome.n_rows());
        PartitionSpace space = without_gil([&](Interrupt& interrupt) {
          return every_partition(table, columns, outcome, prior, limits, outcome_prior, interrupt);
        });
        nb::dict result;
        result["feature"] = array_of(std::move(space.feature));
        result["lower_row"] = array_of(std::vector<std::int64_t>(space.lower_row.begin(), space.lower_row.end()));
        result["upper_row"] = array_of(std::vector<std::int64_t>(space.upper_row.begin(), space.upper_row.end()));
        result["log_likelihood"] = array_of(std::move(space.log_likelihood));
        result["log_prior"] = array_of(std::move(space.log_prior));
        result["log_likelihood_trivial"] = space.log_likelihood_trivial;
        result["log_prior_trivial"] = space.log_prior_trivial;
        return result;
      },
      nb::arg("X").noconvert(), nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("prior"),
      nb::arg("limits"), "List every partition of the rows.");
}

}  // namespace baytree::bindings
