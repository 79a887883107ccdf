// The functions that every outcome has: growing a tree and listing a partition space.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <utility>
#include <variant>

#include "arrays.hpp"
#include "growth/grow_tree.hpp"
#include "growth/listing.hpp"
#include "growth/tree_space.hpp"
#include "interrupt.hpp"

namespace baytree::bindings {

// One array per field of n things, thing(i) for i in [0, n).
template <class Get>
class ArraysOf {
 public:
  ArraysOf(std::size_t n, Get thing) : n_(n), thing_(std::move(thing)) {}

  template <class Field>
  nb::object column(Field&& field) const {
    return array_of(values(field));
  }
  template <class Field>
  nb::object booleans(Field&& field) const {
    return array_of_booleans(values([&](const auto& of) { return static_cast<std::uint8_t>(field(of)); }));
  }
  template <class Field>
  nb::object matrix(std::size_t n_columns, Field&& field) const {
    std::vector<double> result;
    result.reserve(n_ * n_columns);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t k = 0; k < n_columns; ++k) result.push_back(static_cast<double>(field(thing_(i), k)));
    return array_of(std::move(result), {n_, n_columns});
  }

 private:
  template <class Field>
  auto values(Field&& field) const {
    check_signals();  // ten million partitions take their time
    std::vector<std::decay_t<decltype(field(thing_(0)))>> result(n_);
    for (std::size_t i = 0; i < n_; ++i) result[i] = field(thing_(i));
    return result;
  }

  std::size_t n_;
  Get thing_;
};

// Feature and threshold of a leaf, as in scikit-learn.
inline constexpr int kUndefined = -2;

inline double threshold_of(const Split& split) {
  if (const auto* threshold = std::get_if<Threshold>(&split)) return threshold->threshold;
  if (const auto* plane = std::get_if<Hyperplane>(&split)) return plane->threshold;
  if (std::holds_alternative<PresentMissing>(split)) return std::numeric_limits<double>::infinity();
  if (std::holds_alternative<CategorySet>(split)) return std::numeric_limits<double>::quiet_NaN();
  return kUndefined;
}

// Where a split sends the missing values that the training rows have.
inline Missing missing_of(const Split& split) {
  if (const auto* threshold = std::get_if<Threshold>(&split)) return threshold->missing;
  if (const auto* set = std::get_if<CategorySet>(&split)) return set->missing;
  return kind_of(split) == SplitKind::present_missing ? Missing::upper : Missing::none;
}

// The categories that splits divide, one split after another.
template <class Get>
void add_categories(nb::dict& result, std::size_t n, Get&& partition) {
  std::vector<std::int64_t> start{0}, category;
  std::vector<std::uint8_t> goes_left;
  for (std::size_t i = 0; i < n; ++i) {
    if (const auto* set = std::get_if<CategorySet>(&partition(i).split))
      for (const auto& of : set->categories) {
        category.push_back(of.number);
        goes_left.push_back(of.goes_lower);
      }
    start.push_back(static_cast<std::int64_t>(category.size()));
  }
  result["category_start"] = array_of(std::move(start));
  result["category"] = array_of(std::move(category));
  result["category_goes_left"] = array_of_booleans(std::move(goes_left));
}

// The terms of hyperplanes, one split after another.
template <class Get>
void add_hyperplanes(nb::dict& result, std::size_t n, Get&& partition) {
  std::vector<std::int64_t> start{0}, feature;
  std::vector<double> coefficient, missing_value;
  for (std::size_t i = 0; i < n; ++i) {
    if (const auto* plane = std::get_if<Hyperplane>(&partition(i).split))
      for (const auto& term : plane->terms) {
        feature.push_back(term.feature);
        coefficient.push_back(term.coefficient);
        missing_value.push_back(term.missing_value);
      }
    start.push_back(static_cast<std::int64_t>(feature.size()));
  }
  result["hyperplane_start"] = array_of(std::move(start));
  result["hyperplane_feature"] = array_of(std::move(feature));
  result["hyperplane_coefficient"] = array_of(std::move(coefficient));
  result["hyperplane_missing_value"] = array_of(std::move(missing_value));
}

// One array per field of partitions, partition(i) for i in [0, n).
template <class Get>
nb::dict arrays_of_partitions(std::size_t n, Get&& partition) {
  const ArraysOf arrays(n, partition);
  nb::dict result;
  result["kind"] = arrays.column([](const Partition& p) { return static_cast<std::uint8_t>(kind_of(p.split)); });
  result["feature"] = arrays.column(
      [](const Partition& p) { return p.is_split() ? std::int64_t{p.feature()} : std::int64_t{kUndefined}; });
  result["threshold"] = arrays.column([](const Partition& p) { return threshold_of(p.split); });
  result["has_missing"] = arrays.booleans([](const Partition& p) { return missing_of(p.split) != Missing::none; });
  result["missing_go_to_left"] = arrays.booleans(
      [](const Partition& p) { return missing_of(p.split) == Missing::lower; });
  result["log_prior_split"] = arrays.column([](const Partition& p) { return p.log_prior; });
  result["log_likelihood_split"] = arrays.column([](const Partition& p) { return p.log_likelihood; });
  add_categories(result, n, partition);
  add_hyperplanes(result, n, partition);
  return result;
}

// Adds an array per field of nodes, node(i) for i in [0, n).
template <class T, class Get>
void add_arrays_of_nodes(nb::dict& result, std::size_t n, const T& outcome, Get&& node) {
  const ArraysOf arrays(n, node);
  result["depth"] = arrays.column([](const auto& of) { return static_cast<std::int64_t>(of.depth); });
  result["n_rows"] = arrays.column([](const auto& of) { return static_cast<std::int64_t>(of.n_rows); });
  result["log_likelihood"] = arrays.column([](const auto& of) { return of.log_likelihood; });
  result["log_prior_leaf"] = arrays.column([](const auto& of) { return of.log_prior_leaf; });
  result["statistics"] = arrays.matrix(outcome.width(), [&](const auto& of, std::size_t k) {
    if constexpr (requires { outcome.converted(of.statistics.data()); })
      return outcome.converted(of.statistics.data())[k];
    else return of.statistics[k];
  });
  result["prior"] = arrays.matrix(node(0).prior.size(), [](const auto& of, std::size_t k) { return of.prior[k]; });
}

template <Outcome T>
nb::dict arrays_of_tree(const std::vector<Node<typename T::Number>>& nodes, const T& outcome, std::size_t n_features) {
  using Number = typename T::Number;
  const std::size_t n = nodes.size();
  nb::dict result = arrays_of_partitions(n, [&](std::size_t i) -> const Partition& { return nodes[i].partition; });
  add_arrays_of_nodes(result, n, outcome, [&](std::size_t i) -> const Node<Number>& { return nodes[i]; });
  std::vector<std::int64_t> lower, upper;
  std::vector<double> log_odds, posterior;
  posterior.reserve(n * (n_features + 1));
  for (const Node<Number>& node : nodes) {
    lower.push_back(node.lower);
    upper.push_back(node.upper);
    log_odds.push_back(node.log_odds_split);
    posterior.insert(posterior.end(), node.feature_posterior.begin(), node.feature_posterior.end());
    posterior.resize(lower.size() * (n_features + 1));
    if (node.feature_posterior.empty()) posterior.back() = 1.0;  // no split
  }
  result["children_left"] = array_of(std::move(lower));
  result["children_right"] = array_of(std::move(upper));
  result["log_odds_split"] = array_of(std::move(log_odds));
  result["feature_posterior"] = array_of(std::move(posterior), {n, n_features + 1});
  return result;
}

// The nodes of a tree space, and its choices: those of node i begin at choice_start[i].
template <Outcome T>
nb::dict arrays_of_space(const std::vector<SpaceNode<typename T::Number>>& nodes, const T& outcome) {
  using Number = typename T::Number;
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
  add_arrays_of_nodes(result, nodes.size(), outcome,
                      [&](std::size_t i) -> const Node<Number>& { return nodes[i].node; });
  result["choice_start"] = array_of(std::move(start));
  result["children_left"] = array_of(std::move(lower));
  result["children_right"] = array_of(std::move(upper));
  result["complete"] = array_of_booleans(std::move(complete));
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
        return arrays_of_tree(nodes, outcome, columns.columns.size());
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
        nb::dict result = arrays_of_space(nodes, outcome);
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
