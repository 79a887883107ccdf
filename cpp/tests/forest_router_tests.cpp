// forest_router.hpp and rounded_planes.hpp: rows go where each tree alone sends them, and lie where exact sums say,
// however near or far; few of them have to be asked for.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "flat_trees.hpp"
#include "harness.hpp"
#include "interrupts.hpp"
#include "partitions/forest_router.hpp"
#include "partitions/rounded_planes.hpp"
#include "problems.hpp"
#include "tables.hpp"

namespace baytree::tests {

namespace {

// The tree in depth-first order: the left child of a node is right behind it.
FlatTree depth_first(const FlatTree& tree) {
  FlatTree result = tree;
  result.nodes.clear();
  auto add = [&](auto&& self, std::size_t from) -> std::int64_t {
    const auto place = result.nodes.size();
    result.nodes.push_back(tree.nodes[from]);
    if (tree.nodes[from].left >= 0) {
      const std::int64_t left = self(self, static_cast<std::size_t>(tree.nodes[from].left));
      const std::int64_t right = self(self, static_cast<std::size_t>(tree.nodes[from].right));
      result.nodes[place].left = left, result.nodes[place].right = right;
    }
    return static_cast<std::int64_t>(place);
  };
  add(add, 0);
  return result;
}

// Trees one behind the other, children numbered throughout.
struct FlatForest {
  std::vector<FlatTree> trees = {};
  std::vector<FlatNode> nodes = {};
  std::vector<std::int64_t> tree_start{0};
  std::vector<double> value = {};  // two of each node

  explicit FlatForest(const std::vector<FlatTree>& given) {
    for (const FlatTree& tree : given) trees.push_back(depth_first(tree));
    for (const FlatTree& tree : trees) {
      const auto first = static_cast<std::int64_t>(nodes.size());
      for (FlatNode node : tree.nodes) {
        if (node.left >= 0) node.left += first, node.right += first;
        nodes.push_back(std::move(node));
      }
      tree_start.push_back(static_cast<std::int64_t>(nodes.size()));
    }
    for (std::size_t i = 0; i < 2 * nodes.size(); ++i) value.push_back(1.0 / static_cast<double>(i + 3));
  }

  ForestRouter router(std::size_t n_features) const {
    return ForestRouter(FlatArrays(nodes).spans(), tree_start, value, n_features);
  }
};

// Against the router of each tree alone: leaves, and the mean of the trees' values added up in their order.
void check_forest_router(const FlatForest& forest, const Table& table, std::size_t n_features,
                         const FeatureColumns& columns = {}) {
  const std::size_t n_trees = forest.trees.size();
  std::vector<std::int32_t> expected(table.n_rows * n_trees);
  std::vector<double> mean(2 * table.n_rows);
  for (std::size_t t = 0; t < n_trees; ++t) {
    const std::vector<std::int64_t> leaves = routed(forest.trees[t].router(n_features), table, 1, columns);
    for (std::size_t row = 0; row < table.n_rows; ++row) {
      const auto node = static_cast<std::size_t>(forest.tree_start[t] + leaves[row]);
      expected[row * n_trees + t] = static_cast<std::int32_t>(node);
      for (std::size_t k = 0; k < 2; ++k) mean[2 * row + k] += forest.value[2 * node + k];
    }
  }
  for (double& sum : mean) sum /= static_cast<double>(n_trees);
  const ForestRouter router = forest.router(n_features);
  check_equal(router.n_trees(), n_trees);
  check_equal(router.n_values(), std::size_t{2});
  for (const std::size_t n_threads : {1, 3}) {
    Interrupt interrupt = never_asked();
    std::vector<std::int32_t> leaves(expected.size(), -1);
    check(router.leaves(table, columns, leaves, n_threads, interrupt), "no value is infinite");
    check_equal(leaves, expected);
    std::vector<double> routed(mean.size());
    check(router.mean(table, columns, routed, n_threads, interrupt), "no value is infinite");
    check_same_bits(routed, mean);
  }
}

// Every kind of split, or thresholds alone; missing values everywhere, nowhere or in the second block only; more rows
// than a block has.
void forests_route_like_their_trees() {
  std::mt19937_64 random(42);
  for (const std::size_t n : {1, 3, 100, 4096, 9000})
    for (int round = 0; round < 6; ++round) {
      const During during("n = ", n, ", round ", round);
      std::vector<Values> columns = whole_columns(n, 4, round % 3 == 1, random);
      if (round % 3 == 2 && n > 5000) columns[1][5000] = std::numeric_limits<double>::quiet_NaN();
      const OwnedTable by_row(columns, Layout::row_major), by_column(columns, Layout::column_major);
      std::vector<FlatTree> trees;
      for (std::size_t t = 0; t < 5; ++t)
        trees.push_back(round < 3 ? random_mixed_tree(4, random() % 25, random)
                                  : random_tree(by_row.table, random() % 25, t == 0, random));
      if (round >= 3)  // thresholds are values of the table, which may be missing
        for (FlatTree& tree : trees)
          for (FlatNode& node : tree.nodes) {
            if (std::isnan(node.threshold)) node.threshold = 1.5;
            node.missing_left = random() % 2;
          }
      const FlatForest forest(trees);
      check_forest_router(forest, by_row.table, 4);
      check_forest_router(forest, by_column.table, 4);
      const OwnedTable turned({columns[3], columns[0], columns[2], columns[1]}, Layout::row_major);
      check_forest_router(forest, turned.table, 5, std::vector<std::int64_t>{1, 3, 2, 0, -1});
    }
}

void damaged_forests_are_refused() {
  FlatTree tree;
  tree.split(0, SplitKind::threshold, 0, 0.5);
  tree.split(1, SplitKind::hyperplane, 0, 0.5).terms = {{0, 1.0, 0.0}, {1, 2.0, 0.0}};
  const FlatForest sound({tree, tree});
  sound.router(2);
  auto refused = [&](auto&& damage, Where where = Where::current()) {
    FlatForest forest = sound;
    damage(forest);
    check_throws<std::invalid_argument>([&] { forest.router(2); }, where);
  };
  refused([](FlatForest& forest) { forest.tree_start = {0}; });
  refused([](FlatForest& forest) { forest.tree_start = {1, 10}; });
  refused([](FlatForest& forest) { forest.tree_start = {0, 5, 9}; });
  refused([](FlatForest& forest) { forest.tree_start = {0, 5, 5, 10}; });
  refused([](FlatForest& forest) { forest.tree_start = {0, 3, 10}; });
  refused([](FlatForest& forest) { forest.value.pop_back(); });
  refused([](FlatForest& forest) { forest.value.clear(); });
  refused([](FlatForest& forest) { forest.nodes[0].left = 6; });
  refused([](FlatForest& forest) { forest.nodes[5].left = 1; });
  refused([](FlatForest& forest) { forest.nodes[6].right = forest.nodes[5].right; });
  refused([](FlatForest& forest) { forest.nodes[6].terms[0].feature = 2; });
}

void infinite_values_of_forests_are_noticed() {
  FlatTree tree;
  tree.split(0, SplitKind::threshold, 0, 0.0);
  const ForestRouter router = FlatForest({tree, tree}).router(2);
  std::vector<Values> columns(2, Values(5000, 1.0));
  columns[1][4500] = std::numeric_limits<double>::quiet_NaN();
  for (const bool infinite : {false, true}) {
    if (infinite) columns[1][4999] = -std::numeric_limits<double>::infinity();
    const OwnedTable owned(columns, Layout::row_major);
    std::vector<double> mean(2 * 5000);
    Interrupt interrupt = never_asked();
    check_equal(router.mean(owned.table, {}, mean, 2, interrupt), !infinite);
  }
}

// Numbers of every size: whole, all zero, around a large one, with one far from all others, hardly above zero,
// subnormal, as large as can be.
std::vector<Values> columns_of_all_sizes(std::size_t n, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<Values> columns(40, Values(n));
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (double& value : columns[k]) {
      value = normal(random);
      if (k % 8 == 1) value = std::round(value);
      if (k % 8 == 2) value = 0.0;
      if (k % 8 == 3) value += 1e6;
      if (k % 8 == 5) value *= 1e-300;
      if (k % 8 == 6) value *= 1e-310;
      if (k % 8 == 7) value *= 1e300;
    }
  for (std::size_t k = 4; k < columns.size(); k += 8) columns[k][random() % n] = 1e12;
  return columns;
}

// Some rows of the table lie on each of its planes, to the last bit. Features come in any order, some twice.
FlatTree tree_of_planes(const Table& table, const std::vector<std::size_t>& features, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  FlatTree tree;
  for (std::size_t i = 0; i < 12; ++i) {
    FlatNode& node = tree.split(i, SplitKind::hyperplane, 0, 0.0);
    double sum = 0.0;
    const std::size_t row = random() % table.n_rows;
    for (std::size_t n_terms = 1 + random() % 12; n_terms > 0; --n_terms) {
      const std::size_t feature = features[random() % features.size()];
      double size = 0.0;
      for (std::size_t k = 0; k < 50; ++k) size += std::abs(table.at(k * table.n_rows / 50, feature)) / 50;
      const double coefficient = size > 1e-305 ? normal(random) / size : normal(random);
      node.terms.push_back({static_cast<std::int32_t>(feature), coefficient, 0.0});
      sum += coefficient * table.at(row, feature);
    }
    node.feature = node.terms.front().feature;
    node.threshold = sum;
  }
  return tree;
}

void planes_divide_rows_of_all_sizes() {
  std::mt19937_64 random(46);
  std::vector<std::size_t> all(40), wholes{1, 9, 17, 25, 33};
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const std::size_t n : {64, 700, 9000})
    for (const auto& features : {all, wholes}) {
      const During during("n = ", n, ", ", features.size(), " features");
      const OwnedTable owned(columns_of_all_sizes(n, random), Layout::row_major);
      std::vector<FlatTree> trees;
      for (std::size_t t = 0; t < 6; ++t) trees.push_back(tree_of_planes(owned.table, features, random));
      check_forest_router(FlatForest(trees), owned.table, 40);
    }
}

// Rows as they are, and the same with one far from all others.
void few_rows_are_too_close_to_tell() {
  std::mt19937_64 random(47);
  std::normal_distribution<double> normal;
  constexpr std::size_t n = 4003, d = 20;
  Values values(n * d);
  for (double& value : values) value = normal(random);
  std::vector<std::size_t> features(d);
  std::iota(features.begin(), features.end(), std::size_t{0});
  const std::vector<std::uint32_t> feature(features.rbegin(), features.rend());
  Values coefficient(d), missing(d);
  for (double& number : coefficient) number = normal(random);
  for (const double largest : {3.0, 1e9}) {
    const During during("largest ", largest);
    values[7] = largest;
    RoundedBlock block;
    block.fill(features, d, values.data(), n, d, true);
    if (!block.pays(n)) return;  // the processor cannot
    std::vector<std::uint32_t> rows(n), upper(n + RoundedBlock::kRoom), expected;
    std::iota(rows.begin(), rows.end(), 0U);
    std::size_t n_asked = 0;
    auto sum_of = [&](std::uint32_t row) {
      double sum = 0.0;
      for (std::size_t k = 0; k < d; ++k) sum += coefficient[k] * values[row * d + feature[k]];
      return sum;
    };
    const auto [n_divided, n_lower] = block.divide({feature, coefficient, missing}, 0.5, rows, upper.data(),
                                                   [&](std::uint32_t row) { return ++n_asked, sum_of(row) > 0.5; });
    check_equal(n_divided, std::size_t{4000});
    for (std::uint32_t row = 0; row < n_divided; ++row)
      if (sum_of(row) <= 0.5) expected.push_back(row);
    check_equal(std::vector(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n_lower)), expected);
    check(std::none_of(upper.begin(), upper.begin() + static_cast<std::ptrdiff_t>(n_divided - n_lower),
                       [&](std::uint32_t row) { return sum_of(row) <= 0.5; }),
          "the others lie beyond");
    check(largest > 3.0 ? n_asked > n / 2 : n_asked < n / 50, "rows that had to be asked for");
    check_equal(block.pays(n), largest == 3.0);
  }
}

void rows_that_are_not_finite_are_not_rounded() {
  const Values values(100, 1.0);
  RoundedBlock block;
  block.fill({0}, 1, values.data(), 100, 1, false);
  check(!block.pays(100), "rows that are not finite are not rounded");
}

const Suite suite{{
    {"forests route like their trees", forests_route_like_their_trees},
    {"damaged forests are refused", damaged_forests_are_refused},
    {"planes divide rows of all sizes", planes_divide_rows_of_all_sizes},
    {"few rows are too close to tell", few_rows_are_too_close_to_tell},
    {"rows that are not finite are not rounded", rows_that_are_not_finite_are_not_rounded},
    {"infinite values of forests are noticed", infinite_values_of_forests_are_noticed},
}};

}  // namespace

}  // namespace baytree::tests
