// route.hpp: against a walk node by node.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "grow_tests.hpp"
#include "route.hpp"

namespace baytree::tests {

struct FlatTree {
  std::vector<std::int32_t> feature;
  std::vector<double> threshold;
  std::vector<std::int64_t> lower, upper;

  std::size_t add_leaf() {
    feature.push_back(-2);
    threshold.push_back(0.0);
    lower.push_back(-1);
    upper.push_back(-1);
    return feature.size() - 1;
  }

  void split(std::size_t leaf, std::int32_t by, double at) {
    feature[leaf] = by;
    threshold[leaf] = at;
    lower[leaf] = static_cast<std::int64_t>(add_leaf());
    upper[leaf] = static_cast<std::int64_t>(add_leaf());
  }

  std::int64_t naive_leaf(const Table& table, std::size_t row) const {
    std::size_t at = 0;
    while (lower[at] >= 0) {
      const bool is_lower = table.at(row, static_cast<std::size_t>(feature[at])) <= threshold[at];
      at = static_cast<std::size_t>(is_lower ? lower[at] : upper[at]);
    }
    return static_cast<std::int64_t>(at);
  }

  WalkingTree walking() const {
    const std::vector<std::uint8_t> none(feature.size());
    const std::vector<std::int64_t> start(feature.size() + 1);
    return walking_tree({feature, threshold, lower, upper, none, none, start, {}, {}, start, {}, {}, {}});
  }

  std::vector<std::int64_t> routed(const Table& table, std::size_t n_threads) const {
    std::vector<std::int64_t> leaves(table.n_rows, -1);
    Interrupt interrupt = never_asked();
    check(route(table, walking(), leaves, n_threads, interrupt), "all cells are finite");
    return leaves;
  }
};

// Splits leaves at random, or always the newest, by values of the table itself: x <= t is met with equality.
inline FlatTree random_tree(const Table& table, std::size_t n_splits, bool chain, std::mt19937_64& random) {
  FlatTree tree;
  tree.add_leaf();
  std::vector<std::size_t> leaves{0};
  for (std::size_t i = 0; i < n_splits; ++i) {
    const std::size_t which = chain ? leaves.size() - 1 : random() % leaves.size();
    const std::size_t leaf = leaves[which], by = random() % table.n_columns;
    leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(which));
    tree.split(leaf, static_cast<std::int32_t>(by), table.at(random() % table.n_rows, by));
    leaves.push_back(static_cast<std::size_t>(tree.upper[leaf]));
    leaves.push_back(static_cast<std::size_t>(tree.lower[leaf]));
  }
  return tree;
}

// Row counts around the size of a group (8) and of a block (1024).
inline void routes_equal_a_naive_walk() {
  std::mt19937_64 random(21);
  for (const std::size_t n : {1, 7, 8, 9, 100, 1023, 1024, 1025, 5000})
    for (const std::size_t n_splits : {0, 1, 30, 300})
      for (const bool chain : {false, true}) {
        const During during("n = ", n, ", ", n_splits, " splits", chain ? " in a chain" : "");
        const std::vector<Values> columns = mixed_columns(n, random);
        const OwnedTable by_row(columns, Layout::row_major), by_column(columns, Layout::column_major);
        const FlatTree tree = random_tree(by_row.table, n_splits, chain, random);
        std::vector<std::int64_t> expected;
        for (std::size_t row = 0; row < n; ++row) expected.push_back(tree.naive_leaf(by_row.table, row));
        for (const std::size_t n_threads : {1, 3}) {
          check_equal(tree.routed(by_row.table, n_threads), expected);
          check_equal(tree.routed(by_column.table, n_threads), expected);
        }
      }
}

// Thresholds at the lower of the two values of a cut send the rows of a fitted tree where growth put them.
inline void training_rows_return_to_their_leaves() {
  const auto problem = make_problem<std::uint32_t>("routed", 5000, 3, false, 0.5);
  const Setting<std::uint32_t> setting(problem);
  const Table& table = setting.owned.table;
  const Tree<std::uint32_t> grown = setting.grow({64, 256, 2});
  FlatTree tree;
  for (const Node<std::uint32_t>& node : grown) {
    tree.feature.push_back(node.partition.feature);
    tree.threshold.push_back(node.partition.feature < 0 ? 0.0
                                                        : table.at(node.partition.lower_row,
                                                                   static_cast<std::size_t>(node.partition.feature)));
    tree.lower.push_back(node.lower);
    tree.upper.push_back(node.upper);
  }
  std::vector<std::vector<std::uint32_t>> counts(grown.size(), std::vector<std::uint32_t>(3));
  const std::vector<std::int64_t> leaves = tree.routed(table, 2);
  for (std::size_t row = 0; row < table.n_rows; ++row)
    ++counts.at(static_cast<std::size_t>(leaves[row]))[problem.outcome.y[row]];
  for (std::size_t i = 0; i < grown.size(); ++i)
    if (grown[i].partition.feature < 0) check_equal(counts[i], grown[i].statistics);
}

// One bad cell at a time, in tables whose rows lie back to back, far apart (part of a wider table), by column
// and backwards.
inline void infinite_cells_are_noticed() {
  constexpr double bad_values[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity()};
  std::mt19937_64 random(22);
  for (const Layout layout : {Layout::row_major, Layout::column_major, Layout::rows_backwards})
    for (const std::size_t n : {1, 5, 13, 1030})
      for (const std::size_t n_columns : {1, 3, 7}) {
        const During during("n = ", n, ", ", n_columns, " columns of 7");
        OwnedTable owned(mixed_columns(n, random), layout);
        owned.table.n_columns = n_columns;
        FlatTree tree;
        tree.add_leaf();
        tree.split(0, 0, 0.0);
        std::vector<std::int64_t> leaves(n);
        auto no_infinity = [&] {
          Interrupt interrupt = never_asked();
          return route(owned.table, tree.walking(), leaves, 2, interrupt);
        };
        check(no_infinity(), "all cells are finite");
        for (std::size_t cell = 0; cell < n * n_columns; cell += n > 100 ? 97 : 1) {
          const double* address =
              &owned.table.data[static_cast<std::ptrdiff_t>(cell / n_columns) * owned.table.row_stride +
                                static_cast<std::ptrdiff_t>(cell % n_columns) * owned.table.column_stride];
          double& value = owned.data[static_cast<std::size_t>(address - owned.data.data())];
          const double good = std::exchange(value, bad_values[cell % 3]);
          check_equal(no_infinity(), cell % 3 == 0);  // a gap is no infinity
          value = good;
        }
      }
}

inline void routing_can_be_interrupted() {
  const OwnedTable owned({Values(10'000, 1.0)}, Layout::row_major);
  FlatTree tree;
  tree.add_leaf();
  std::vector<std::int64_t> leaves(owned.table.n_rows);
  Interrupt interrupt = never_asked();
  interrupt.stop();
  check_throws<Interrupted>([&] { route(owned.table, tree.walking(), leaves, 2, interrupt); });
}

}  // namespace baytree::tests
