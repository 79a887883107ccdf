// The trees of a forest as arrays, one tree behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

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
    reserve(nodes);
    for (const Node<Number>& node : nodes) add_node(node);
    tree_start.push_back(static_cast<std::int64_t>(kind.size()));
  }

  // All trees, one behind the other; what is copied is given up, array by array.
  static ForestArrays joined(std::vector<ForestArrays> trees) {
    ForestArrays all;
    all.take_shifted(trees, &ForestArrays::tree_start, [](const ForestArrays& tree) { return tree.kind.size(); });
    all.take_shifted(trees, &ForestArrays::category_start,
                     [](const ForestArrays& tree) { return tree.category.size(); });
    all.take_shifted(trees, &ForestArrays::hyperplane_start,
                     [](const ForestArrays& tree) { return tree.hyperplane_feature.size(); });
    all.take(trees, &ForestArrays::children_right), all.take(trees, &ForestArrays::feature);
    all.take(trees, &ForestArrays::n_rows), all.take(trees, &ForestArrays::kind);
    all.take(trees, &ForestArrays::has_missing), all.take(trees, &ForestArrays::missing_go_to_left);
    all.take(trees, &ForestArrays::log_prior_leaf), all.take(trees, &ForestArrays::log_prior_split);
    all.take(trees, &ForestArrays::log_odds_split), all.take(trees, &ForestArrays::threshold);
    all.take(trees, &ForestArrays::statistics), all.take(trees, &ForestArrays::category);
    all.take(trees, &ForestArrays::category_goes_left), all.take(trees, &ForestArrays::hyperplane_feature);
    all.take(trees, &ForestArrays::hyperplane_coefficient), all.take(trees, &ForestArrays::hyperplane_missing_value);
    return all;
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
  // No array has room for more than it gets: there are many trees.
  template <class Number>
  void reserve(const std::vector<Node<Number>>& nodes) {
    std::size_t n_categories = 0, n_terms = 0;
    for (const Node<Number>& node : nodes) {
      if (const auto* set = std::get_if<CategorySet>(&node.partition.split)) n_categories += set->categories.size();
      if (const auto* plane = std::get_if<Hyperplane>(&node.partition.split)) n_terms += plane->terms.size();
    }
    for (auto* array : {&children_right, &feature, &n_rows}) array->reserve(nodes.size());
    for (auto* array : {&kind, &has_missing, &missing_go_to_left}) array->reserve(nodes.size());
    for (auto* array : {&log_prior_leaf, &log_prior_split, &log_odds_split}) array->reserve(nodes.size());
    for (auto* array : {&category_start, &hyperplane_start}) array->reserve(nodes.size() + 1);
    threshold.reserve(nodes.size()), statistics.reserve(nodes.size() * nodes[0].statistics.size());
    category.reserve(n_categories), category_goes_left.reserve(n_categories), hyperplane_feature.reserve(n_terms);
    for (auto* array : {&hyperplane_coefficient, &hyperplane_missing_value}) array->reserve(n_terms);
  }

  template <class Value>
  void take(std::vector<ForestArrays>& trees, std::vector<Value> ForestArrays::* array) {
    std::size_t size = 0;
    for (const ForestArrays& tree : trees) size += (tree.*array).size();
    (this->*array).reserve(size);
    for (ForestArrays& tree : trees) {
      const std::vector<Value> from = std::exchange(tree.*array, {});
      (this->*array).insert((this->*array).end(), from.begin(), from.end());
    }
  }
  // The same of where things begin, behind the `count` things of the trees before.
  template <class Value, class Count>
  void take_shifted(std::vector<ForestArrays>& trees, std::vector<Value> ForestArrays::* array, Count&& count) {
    std::size_t before = 0;
    for (const ForestArrays& tree : trees) {
      for (std::size_t i = 1; i < (tree.*array).size(); ++i)
        (this->*array).push_back((tree.*array)[i] + static_cast<Value>(before));
      before += count(tree);
    }
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

// Threads that ended leave what they freed to the heaps that they had; this gives it back to the system.
inline void give_back_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

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
          // What growing took on many threads, before there are arrays of all trees beside those of each.
          if (n_threads > 1) give_back_memory();
          ForestArrays result = ForestArrays::joined(std::move(trees));
          give_back_memory();  // those of each
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
        std::vector<double> counts, together;
        without_gil([&](Interrupt&) {
          const auto forest = forest_grower(columns, outcome, {}, settings, {}, plan, weight, 0);
          const auto add = [&](const std::vector<double>& of_all, std::vector<double>& of_some) {
            for (const std::int64_t row : span_of(rows)) of_some.push_back(of_all[static_cast<std::size_t>(row)]);
          };
          add(forest.weights_together(), together);
          for (std::size_t i = 0; i < plan.n_trees; ++i) {
            stop_if_asked();
            add(forest.weights_of(plan.first + i), counts);
          }
        });
        return nb::make_tuple(array_of(std::move(counts), {plan.n_trees, rows.shape(0)}),
                              array_of(std::move(together), {rows.shape(0)}));
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("settings"), nb::arg("plan"),
      nb::arg("weight").noconvert().none(), nb::arg("rows").noconvert(),
      "How often each of some rows counts in each tree, with all that are equal to it, and the weight of these "
      "together.");
}

template <Outcome T>
void bind_forest_of(nb::module_& module) {
  bind_grow_forest<T>(module);
  bind_forest_weights<T>(module);
}

}  // namespace baytree::bindings
