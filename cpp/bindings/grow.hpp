// The functions that every outcome has: growing a tree and listing a partition space.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "fields.hpp"
#include "growth/grow_tree.hpp"
#include "growth/listing.hpp"
#include "growth/tree_space.hpp"
#include "interrupt.hpp"

namespace baytree::bindings {

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
void add_categories(Fields& fields, std::size_t n, Get partition) {
  struct Found {
    std::vector<std::int64_t> start{0}, category;
    std::vector<std::uint8_t> goes_left;
  };
  const auto found = std::make_shared<Found>();
  fields.add_whole(
      [=] {
        for (std::size_t i = 0; i < n; ++i) {
          if (const auto* set = std::get_if<CategorySet>(&partition(i).split))
            for (const auto& of : set->categories) {
              found->category.push_back(of.number);
              found->goes_left.push_back(of.goes_lower);
            }
          found->start.push_back(static_cast<std::int64_t>(found->category.size()));
        }
      },
      [=](nb::dict& result) {
        result["category_start"] = array_of(std::move(found->start));
        result["category"] = array_of(std::move(found->category));
        result["category_goes_left"] = array_of_booleans(std::move(found->goes_left));
      });
}

// The terms of hyperplanes, one split after another.
template <class Get>
void add_hyperplanes(Fields& fields, std::size_t n, Get partition) {
  struct Found {
    std::vector<std::int64_t> start{0}, feature;
    std::vector<double> coefficient, missing_value;
  };
  const auto found = std::make_shared<Found>();
  fields.add_whole(
      [=] {
        for (std::size_t i = 0; i < n; ++i) {
          if (const auto* plane = std::get_if<Hyperplane>(&partition(i).split))
            for (const auto& term : plane->terms) {
              found->feature.push_back(term.feature);
              found->coefficient.push_back(term.coefficient);
              found->missing_value.push_back(term.missing_value);
            }
          found->start.push_back(static_cast<std::int64_t>(found->feature.size()));
        }
      },
      [=](nb::dict& result) {
        result["hyperplane_start"] = array_of(std::move(found->start));
        result["hyperplane_feature"] = array_of(std::move(found->feature));
        result["hyperplane_coefficient"] = array_of(std::move(found->coefficient));
        result["hyperplane_missing_value"] = array_of(std::move(found->missing_value));
      });
}

// Those of partitions, partition(i) for i in [0, n).
template <class Get>
void add_partitions(Fields& fields, std::size_t n, Get partition) {
  fields.add("kind", [=](std::size_t i) { return static_cast<std::uint8_t>(kind_of(partition(i).split)); });
  fields.add("feature", [=](std::size_t i) {
    return partition(i).is_split() ? std::int64_t{partition(i).feature()} : std::int64_t{kUndefined};
  });
  fields.add("threshold", [=](std::size_t i) { return threshold_of(partition(i).split); });
  fields.add("has_missing", [=](std::size_t i) { return missing_of(partition(i).split) != Missing::none; });
  fields.add("missing_go_to_left", [=](std::size_t i) { return missing_of(partition(i).split) == Missing::lower; });
  fields.add("log_prior_split", [=](std::size_t i) { return partition(i).log_prior; });
  fields.add("log_likelihood_split", [=](std::size_t i) { return partition(i).log_likelihood; });
  add_categories(fields, n, partition);
  add_hyperplanes(fields, n, partition);
}

// Those of nodes, node(i) for i in [0, n).
template <class T, class Get>
void add_nodes(Fields& fields, const T& outcome, Get node) {
  fields.add("depth", [=](std::size_t i) { return static_cast<std::int64_t>(node(i).depth); });
  fields.add("n_rows", [=](std::size_t i) { return static_cast<std::int64_t>(node(i).n_rows); });
  fields.add("log_likelihood", [=](std::size_t i) { return node(i).log_likelihood; });
  fields.add("log_prior_leaf", [=](std::size_t i) { return node(i).log_prior_leaf; });
  fields.add_rows("statistics", outcome.width(), [=, &outcome](std::size_t i, double* row) {
    const auto* own = node(i).statistics.data();
    const auto set = [&](const auto& numbers) {
      for (std::size_t k = 0; k < outcome.width(); ++k) row[k] = static_cast<double>(numbers[k]);
    };
    if constexpr (requires { outcome.converted(own); }) set(outcome.converted(own));
    else set(own);
  });
  fields.add_rows("prior", node(0).prior.size(),
                  [=](std::size_t i, double* row) { std::ranges::copy(node(i).prior, row); });
}

// Those of a tree, which must live until they are filled.
template <Outcome T>
Fields fields_of_tree(const std::vector<Node<typename T::Number>>& nodes, const T& outcome, std::size_t n_features) {
  using Number = typename T::Number;
  const auto node = [&nodes](std::size_t i) -> const Node<Number>& { return nodes[i]; };
  Fields fields(nodes.size());
  add_partitions(fields, nodes.size(), [=](std::size_t i) -> const Partition& { return node(i).partition; });
  add_nodes(fields, outcome, node);
  fields.add("children_left", [=](std::size_t i) { return node(i).lower; });
  fields.add("children_right", [=](std::size_t i) { return node(i).upper; });
  fields.add("log_odds_split", [=](std::size_t i) { return node(i).log_odds_split; });
  fields.add_rows("feature_posterior", n_features + 1, [=](std::size_t i, double* row) {
    const std::vector<double>& own = node(i).feature_posterior;
    std::fill(std::ranges::copy(own, row).out, row + n_features + 1, 0.0);
    if (own.empty()) row[n_features] = 1.0;  // no split
  });
  return fields;
}

// Of a tree, and gives up the memory of its nodes: on threads, for they were made on threads.
template <Outcome T>
Fields filled_fields_of_tree(std::vector<Node<typename T::Number>> nodes, const T& outcome, std::size_t n_features,
                             std::size_t n_threads, Interrupt& interrupt) {
  constexpr std::size_t block = 256;
  Fields fields = fields_of_tree(nodes, outcome, n_features);
  fields.fill(n_threads, interrupt);
  parallel_for((nodes.size() + block - 1) / block, n_threads, interrupt, [&](std::size_t task, std::size_t) {
    for (std::size_t i = task * block; i < std::min((task + 1) * block, nodes.size()); ++i) nodes[i] = {};
  });
  return fields;
}

// The nodes of a tree space, and its choices: those of node i begin at choice_start[i].
template <Outcome T>
nb::dict arrays_of_space(const std::vector<SpaceNode<typename T::Number>>& nodes, const T& outcome,
                         std::size_t n_threads) {
  using Number = typename T::Number;
  using Choice = typename SpaceNode<Number>::Choice;
  std::vector<const Choice*> choices;
  std::vector<std::int64_t> start{0};
  for (const SpaceNode<Number>& node : nodes) {
    for (const Choice& choice : node.choices) choices.push_back(&choice);
    start.push_back(static_cast<std::int64_t>(choices.size()));
  }
  Fields of_choices(choices.size()), of_nodes(nodes.size());
  const auto choice = [&choices](std::size_t i) -> const Choice& { return *choices[i]; };
  add_partitions(of_choices, choices.size(), [=](std::size_t i) -> const Partition& { return choice(i).partition; });
  of_choices.add("children_left", [=](std::size_t i) { return static_cast<std::int64_t>(choice(i).lower); });
  of_choices.add("children_right", [=](std::size_t i) { return static_cast<std::int64_t>(choice(i).upper); });
  add_nodes(of_nodes, outcome, [&nodes](std::size_t i) -> const Node<Number>& { return nodes[i].node; });
  of_nodes.add("complete", [&nodes](std::size_t i) { return nodes[i].complete(); });
  without_gil([&](Interrupt& interrupt) {
    for (Fields* fields : {&of_choices, &of_nodes}) fields->fill(n_threads, interrupt);
  });
  nb::dict result = of_choices.to_dict();
  result.update(of_nodes.to_dict());
  result["choice_start"] = array_of(std::move(start));
  return result;
}

inline void check_shapes(const Columns& columns, const Settings& settings, std::size_t n_outcomes) {
  require(n_outcomes == columns.n_rows, "one outcome per row");
  require(settings.prior.feature_weight.size() == columns.columns.size(), "one feature weight per column");
  if (settings.prior.by_distance)
    for (const Column& column : columns.columns) require(!column.values.empty(), "distances need values");
}

template <Outcome T>
void bind_spaces(nb::module_& module) {
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
        nb::dict result = arrays_of_space(nodes, outcome, n_threads);
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
        const auto [fields, root] = without_gil([&](Interrupt& interrupt) {
          const auto space = every_partition(columns, outcome, settings, outcome_prior, interrupt);
          Fields own(space.partitions.size());
          add_partitions(own, space.partitions.size(),
                         [&space](std::size_t i) -> const Partition& { return space.partitions[i]; });
          own.fill(1, interrupt);
          return std::pair(std::move(own), space.root);
        });
        nb::dict result = fields.to_dict();
        result["log_likelihood"] = root.log_likelihood;
        result["log_prior_leaf"] = root.log_prior_leaf;
        return result;
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"),
      "List every partition of the rows.");
}

template <Outcome T>
void bind_growth(nb::module_& module) {
  module.def(
      "grow",
      [](const Columns& columns, const T& outcome, const std::vector<double>& outcome_prior, const Settings& settings,
         const Lookahead& lookahead, std::size_t subtree_rows, std::size_t n_threads) {
        check_shapes(columns, settings, outcome.n_rows());
        const Fields fields = without_gil([&](Interrupt& interrupt) {
          return filled_fields_of_tree(
              grow_tree(columns, outcome, settings, outcome_prior, lookahead, subtree_rows, n_threads, interrupt),
              outcome, columns.columns.size(), n_threads, interrupt);
        });
        return fields.to_dict();
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"), nb::arg("lookahead"),
      nb::arg("subtree_rows"), nb::arg("n_threads"), "Grow the tree; returns one array per field of its nodes.");
  bind_spaces<T>(module);
}

}  // namespace baytree::bindings
