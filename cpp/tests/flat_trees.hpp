// Fitted trees as arrays, and where rows go by a walk node by node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "interrupts.hpp"
#include "partitions/router.hpp"
#include "partitions/split_rules.hpp"
#include "tables.hpp"

namespace baytree::tests {

// A node of a fitted tree with all that a split may have.
struct FlatNode {
  SplitKind kind = SplitKind::none;
  std::int64_t left = -1, right = -1, feature = -2;
  double threshold = -2.0;
  bool missing_left = false, unseen_left = false;
  std::vector<std::pair<std::int64_t, bool>> categories = {};  // and whether they go left
  std::vector<Hyperplane::Term> terms = {};

  bool goes_left(const Table& table, std::size_t row) const {
    if (kind == SplitKind::hyperplane) {
      double sum = 0.0;
      for (const auto& term : terms) {
        const double x = table.at(row, static_cast<std::size_t>(term.feature));
        sum += term.coefficient * (std::isnan(x) ? term.missing_value : x);
      }
      return sum <= threshold;
    }
    const double x = table.at(row, static_cast<std::size_t>(feature));
    if (std::isnan(x)) return missing_left;
    if (kind == SplitKind::present_missing) return true;
    if (kind == SplitKind::threshold) return x <= threshold;
    for (const auto& [category, left_side] : categories)
      if (static_cast<double>(category) == x) return left_side;
    return unseen_left;
  }
};

// The nodes of a tree as arrays.
struct FlatArrays {
  std::vector<std::int64_t> left, right, feature, category_start{0}, category, hyperplane_start{0}, hyperplane_feature;
  std::vector<std::uint8_t> kind;
  std::vector<double> threshold, coefficient, missing_value;
  std::unique_ptr<bool[]> missing_left, unseen_left, category_left;

  explicit FlatArrays(const std::vector<FlatNode>& nodes)
      : missing_left(new bool[nodes.size()]), unseen_left(new bool[nodes.size()]) {
    std::vector<bool> goes_left;
    for (const FlatNode& node : nodes) {
      missing_left[kind.size()] = node.missing_left;
      unseen_left[kind.size()] = node.unseen_left;
      left.push_back(node.left), right.push_back(node.right), feature.push_back(node.feature);
      kind.push_back(static_cast<std::uint8_t>(node.kind)), threshold.push_back(node.threshold);
      for (const auto& [of, side] : node.categories) category.push_back(of), goes_left.push_back(side);
      for (const auto& term : node.terms) {
        hyperplane_feature.push_back(term.feature);
        coefficient.push_back(term.coefficient), missing_value.push_back(term.missing_value);
      }
      category_start.push_back(static_cast<std::int64_t>(category.size()));
      hyperplane_start.push_back(static_cast<std::int64_t>(coefficient.size()));
    }
    category_left.reset(new bool[goes_left.size()]);
    std::copy(goes_left.begin(), goes_left.end(), category_left.get());
  }

  SplitArrays spans() const {
    return {left,
            right,
            kind,
            feature,
            threshold,
            {missing_left.get(), kind.size()},
            {unseen_left.get(), kind.size()},
            category_start,
            category,
            {category_left.get(), category.size()},
            hyperplane_start,
            hyperplane_feature,
            coefficient,
            missing_value};
  }
};

struct FlatTree {
  std::vector<FlatNode> nodes{FlatNode{}};

  // Gives a leaf two children.
  FlatNode& split(std::size_t leaf, SplitKind kind, std::size_t feature, double threshold) {
    const auto left = static_cast<std::int64_t>(nodes.size());
    nodes.resize(nodes.size() + 2);
    nodes[leaf] = {kind, left, left + 1, static_cast<std::int64_t>(feature), threshold};
    return nodes[leaf];
  }

  std::int64_t naive_leaf(const Table& table, std::size_t row) const {
    std::size_t at = 0;
    while (nodes[at].left >= 0)
      at = static_cast<std::size_t>(nodes[at].goes_left(table, row) ? nodes[at].left : nodes[at].right);
    return static_cast<std::int64_t>(at);
  }
  std::vector<std::int64_t> naive_leaves(const Table& table) const {
    std::vector<std::int64_t> leaves;
    for (std::size_t row = 0; row < table.n_rows; ++row) leaves.push_back(naive_leaf(table, row));
    return leaves;
  }

  Router router(std::size_t n_features) const { return Router(FlatArrays(nodes).spans(), n_features); }
};

inline std::vector<std::int64_t> routed(const Router& router, const Table& table, std::size_t n_threads,
                                        const FeatureColumns& columns = {}) {
  std::vector<std::int64_t> leaves(table.n_rows, -1);
  Interrupt interrupt = never_asked();
  check(router.route(table, columns, leaves, n_threads, interrupt), "no value is infinite");
  return leaves;
}

// Splits leaves at random, or always the newest, by values of the table itself: x <= t is met with equality.
inline FlatTree random_tree(const Table& table, std::size_t n_splits, bool chain, std::mt19937_64& random) {
  FlatTree tree;
  std::vector<std::size_t> leaves{0};
  for (std::size_t i = 0; i < n_splits; ++i) {
    const std::size_t which = chain ? leaves.size() - 1 : random() % leaves.size();
    const std::size_t leaf = leaves[which], by = random() % table.n_columns;
    leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(which));
    const FlatNode& node = tree.split(leaf, SplitKind::threshold, by, table.at(random() % table.n_rows, by));
    leaves.push_back(static_cast<std::size_t>(node.right));
    leaves.push_back(static_cast<std::size_t>(node.left));
  }
  return tree;
}

// Columns of small whole numbers, of which some may be missing and some are no category.
inline std::vector<Values> whole_columns(std::size_t n, std::size_t n_columns, bool missing, std::mt19937_64& random) {
  std::vector<Values> columns(n_columns, Values(n));
  for (Values& column : columns)
    for (double& value : column)
      value = missing && random() % 6 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                           : static_cast<double>(random() % 9) - 1.0;
  return columns;
}

// A tree with every kind of split, level by level.
inline FlatTree random_mixed_tree(std::size_t n_columns, std::size_t n_splits, std::mt19937_64& random) {
  FlatTree tree;
  for (std::size_t i = 0; i < n_splits; ++i) {
    const auto kind = static_cast<SplitKind>(1 + random() % 4);
    FlatNode& node = tree.split(i, kind, random() % n_columns, static_cast<double>(random() % 6) - 0.5);
    node.missing_left = random() % 2;
    node.unseen_left = random() % 2;
    for (std::int64_t category = 0; kind == SplitKind::category_set && category < 6; ++category)
      if (random() % 2) node.categories.push_back({category, random() % 2});
    for (std::size_t n_terms = kind == SplitKind::hyperplane ? 1 + random() % 3 : 0; n_terms > 0; --n_terms)
      node.terms.push_back({static_cast<std::int32_t>(random() % n_columns), static_cast<double>(random() % 5) - 2.0,
                            static_cast<double>(random() % 3)});
  }
  return tree;
}

}  // namespace baytree::tests
