// The trees of a forest as arrays, one tree behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "grow.hpp"
#include "growth/forest.hpp"
#include "interrupt.hpp"
#include "partitions/node.hpp"

namespace baytree::bindings {

// Of one tree or more. The lower child of a node is the next node; the upper one is numbered within its tree.
struct ForestArrays {
  std::vector<std::int64_t> tree_start{0};
  std::vector<std::int32_t> children_right, feature, n_rows;
  std::vector<std::uint8_t> kind, has_missing, missing_go_to_left;
  std::vector<float> log_prior_leaf, log_prior_split, log_odds_split;
  std::vector<double> threshold, statistics;
  std::vector<std::int32_t> category_start{0}, hyperplane_start{0};
  std::vector<std::int32_t> category, hyperplane_feature;
  std::vector<std::uint8_t> category_goes_left;
  std::vector<double> hyperplane_coefficient, hyperplane_missing_value;

  template <class Number>
  void add(const std::vector<Node<Number>>& nodes) {
    for (const Node<Number>& node : nodes) add_node(node);
    tree_start.push_back(static_cast<std::int64_t>(kind.size()));
  }

  void append(const ForestArrays& other) {
    add_shifted(tree_start, other.tree_start, kind.size());
    add_shifted(category_start, other.category_start, category.size());
    add_shifted(hyperplane_start, other.hyperplane_start, hyperplane_feature.size());
    add_all(children_right, other.children_right), add_all(feature, other.feature), add_all(n_rows, other.n_rows);
    add_all(kind, other.kind), add_all(has_missing, other.has_missing);
    add_all(missing_go_to_left, other.missing_go_to_left), add_all(threshold, other.threshold);
    add_all(log_prior_leaf, other.log_prior_leaf), add_all(log_prior_split, other.log_prior_split);
    add_all(log_odds_split, other.log_odds_split), add_all(statistics, other.statistics);
    add_all(category, other.category), add_all(category_goes_left, other.category_goes_left);
    add_all(hyperplane_feature, other.hyperplane_feature);
    add_all(hyperplane_coefficient, other.hyperplane_coefficient);
    add_all(hyperplane_missing_value, other.hyperplane_missing_value);
  }

  nb::dict to_dict(std::size_t width) && {
    const std::size_t n = kind.size();
    nb::dict result;
    result["tree_start"] = array_of(std::move(tree_start));
    result["children_right"] = array_of(std::move(children_right));
    result["kind"] = array_of(std::move(kind));
    result["feature"] = array_of(std::move(feature));
    result["threshold"] = array_of(std::move(threshold));
    result["has_missing"] = array_of_booleans(std::move(has_missing));
    result["missing_go_to_left"] = array_of_booleans(std::move(missing_go_to_left));
    result["category_start"] = array_of(std::move(category_start));
    result["category"] = array_of(std::move(category));
    result["category_goes_left"] = array_of_booleans(std::move(category_goes_left));
    result["hyperplane_start"] = array_of(std::move(hyperplane_start));
    result["hyperplane_feature"] = array_of(std::move(hyperplane_feature));
    result["hyperplane_coefficient"] = array_of(std::move(hyperplane_coefficient));
    result["hyperplane_missing_value"] = array_of(std::move(hyperplane_missing_value));
    result["n_node_samples"] = array_of(std::move(n_rows));
    result["log_prior_leaf"] = array_of(std::move(log_prior_leaf));
    result["log_prior_split"] = array_of(std::move(log_prior_split));
    result["log_odds_split"] = array_of(std::move(log_odds_split));
    result["statistics"] = array_of(std::move(statistics), {n, width});
    return result;
  }

 private:
  template <class Value>
  static void add_all(std::vector<Value>& to, const std::vector<Value>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }
  template <class Value>
  static void add_shifted(std::vector<Value>& to, const std::vector<Value>& from, std::size_t shift) {
    for (std::size_t i = 1; i < from.size(); ++i) to.push_back(from[i] + static_cast<Value>(shift));
  }

  template <class Number>
  void add_node(const Node<Number>& node) {
    const Partition& partition = node.partition;
    children_right.push_back(static_cast<std::int32_t>(node.upper));
    kind.push_back(static_cast<std::uint8_t>(kind_of(partition.split)));
    feature.push_back(partition.is_split() ? partition.feature() : kUndefined);
    threshold.push_back(threshold_of(partition.split));
    has_missing.push_back(missing_of(partition.split) != Missing::none);
    missing_go_to_left.push_back(missing_of(partition.split) == Missing::lower);
    n_rows.push_back(static_cast<std::int32_t>(node.n_rows));
    log_prior_leaf.push_back(static_cast<float>(node.log_prior_leaf));
    log_prior_split.push_back(static_cast<float>(partition.log_prior));
    log_odds_split.push_back(static_cast<float>(node.log_odds_split));
    for (const Number number : node.statistics) statistics.push_back(static_cast<double>(number));
    add_entries(partition.split);
  }

  void add_entries(const Split& split) {
    if (const auto* set = std::get_if<CategorySet>(&split))
      for (const auto& of : set->categories) {
        category.push_back(static_cast<std::int32_t>(of.number));
        category_goes_left.push_back(of.goes_lower);
      }
    if (const auto* plane = std::get_if<Hyperplane>(&split))
      for (const auto& term : plane->terms) {
        hyperplane_feature.push_back(term.feature);
        hyperplane_coefficient.push_back(term.coefficient);
        hyperplane_missing_value.push_back(term.missing_value);
      }
    category_start.push_back(static_cast<std::int32_t>(category.size()));
    hyperplane_start.push_back(static_cast<std::int32_t>(hyperplane_feature.size()));
  }
};

template <Outcome T>
ForestGrower<T> forest_grower(const Columns& columns, const T& outcome, const std::vector<double>& outcome_prior,
                              const Settings& settings, const Lookahead& lookahead, const ForestPlan& plan,
                              const std::optional<Vector<double>>& weight, std::size_t subtree_rows) {
  check_shapes(columns, settings, outcome.n_rows());
  require(!weight || weight->shape(0) == columns.n_rows, "one weight per row");
  require(plan.n_features <= columns.columns.size(), "there are not so many features");
  return ForestGrower<T>(columns, outcome, settings, outcome_prior, lookahead, plan, copy_of(weight), subtree_rows);
}

template <Outcome T>
void bind_grow_forest(nb::module_& module) {
  module.def(
      "grow_forest",
      [](const Columns& columns, const T& outcome, const std::vector<double>& outcome_prior, const Settings& settings,
         const Lookahead& lookahead, const ForestPlan& plan, const std::optional<Vector<double>>& weight,
         std::size_t subtree_rows, std::size_t n_threads) {
        double unit = 1.0;
        ForestArrays all = without_gil([&](Interrupt& interrupt) {
          auto forest = forest_grower(columns, outcome, outcome_prior, settings, lookahead, plan, weight, subtree_rows);
          unit = forest.unit();
          std::vector<ForestArrays> trees(plan.n_trees);
          forest.grow(n_threads, interrupt, [&](std::size_t i, const auto& nodes) { trees[i].add(nodes); });
          ForestArrays result;
          for (ForestArrays& tree : trees) {
            result.append(tree);
            tree = {};
          }
          return result;
        });
        nb::dict result = std::move(all).to_dict(outcome.width());
        result["unit"] = unit;
        return result;
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"), nb::arg("lookahead"),
      nb::arg("plan"), nb::arg("weight").noconvert().none(), nb::arg("subtree_rows"), nb::arg("n_threads"),
      "Grow the trees of a forest; returns one array per field of their nodes.");
}

template <Outcome T>
void bind_forest_weights(nb::module_& module) {
  module.def(
      "forest_weights",
      [](const Columns& columns, const T& outcome, const Settings& settings, const ForestPlan& plan,
         const std::optional<Vector<double>>& weight, const Vector<std::int64_t>& rows) {
        for (const std::int64_t row : span_of(rows))
          require(row >= 0 && static_cast<std::size_t>(row) < columns.n_rows, "a row does not exist");
        std::vector<double> all = without_gil([&](Interrupt&) {
          const auto forest = forest_grower(columns, outcome, {}, settings, {}, plan, weight, 0);
          std::vector<double> result;
          for (std::size_t i = 0; i < plan.n_trees; ++i) {
            stop_if_asked();
            const std::vector<double> own = forest.weights_of(plan.first + i);
            for (const std::int64_t row : span_of(rows)) result.push_back(own[static_cast<std::size_t>(row)]);
          }
          return result;
        });
        return array_of(std::move(all), {plan.n_trees, rows.shape(0)});
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("settings"), nb::arg("plan"),
      nb::arg("weight").noconvert().none(), nb::arg("rows").noconvert(),
      "How often each of some rows counts in each tree, with all that are equal to it.");
}

template <Outcome T>
void bind_forest_of(nb::module_& module) {
  bind_grow_forest<T>(module);
  bind_forest_weights<T>(module);
}

}  // namespace baytree::bindings
