// counter_random.hpp, forest.hpp and forest_router.hpp: random numbers by name, trees that do not depend on threads,
// and rows that go where each tree alone sends them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "growth/forest.hpp"
#include "math/counter_random.hpp"
#include "partitions/forest_router.hpp"
#include "router_tests.hpp"

namespace baytree::tests {

// The same numbers as the naive version in Python, on every machine.
inline void random_numbers_are_those_of_the_definition() {
  const CounterRandom random(7, 1, 3);
  check_same_bits(
      std::vector<double>{random.uniform(0, 0), random.uniform(5, 2), random.uniform(std::uint64_t{1} << 40, 1)},
      std::vector<double>{0x1.7c3219e785f52p-1, 0x1.6cacc5058f821p-2, 0x1.d78812670cf82p-1});
  check_near(random.gamma(0.3, 4), 0x1.c09c694fdbb1bp-7, 1e-14);
  check_near(random.gamma(1.0, 4), 0x1.98be54809ff53p+0, 1e-14);
  check_near(random.gamma(2.5, 4), 0x1.0917e588b4262p+1, 1e-14);
  check_equal(random.choose(9, 4), std::vector<std::uint8_t>{1, 0, 0, 1, 0, 0, 1, 0, 1});
}

inline void random_numbers_have_their_moments() {
  constexpr std::size_t n = 200'000;
  for (const double shape : {0.2, 1.0, 3.7}) {
    const During during("shape ", shape);
    const CounterRandom random(1, 0, 2);
    double sum = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double x = random.gamma(shape, i);
      check(x >= 0.0, "Gamma numbers are not negative");
      sum += x, squares += (x - shape) * (x - shape);
    }
    check_near(sum / n, shape, 6.0 * std::sqrt(shape / n));
    check_near(squares / n, shape, 6.0 * std::sqrt((2.0 * shape * shape + 6.0 * shape) / n));
  }
}

inline void every_item_is_chosen_equally_often() {
  for (const std::size_t size : {0, 1, 3, 6}) {
    const During during(size, " of 6");
    std::vector<std::size_t> times(6);
    for (std::uint64_t tree = 0; tree < 6000; ++tree) {
      const std::vector<std::uint8_t> chosen = CounterRandom(3, 2, tree).choose(6, size);
      std::size_t n_chosen = 0;
      for (std::size_t i = 0; i < chosen.size(); ++i) times[i] += chosen[i], n_chosen += chosen[i];
      check_equal(n_chosen, size);
    }
    for (const std::size_t count : times)
      check_near(static_cast<double>(count), 1000.0 * static_cast<double>(size), 250.0);
  }
}

// A table with missing values and categories, a plan, and how its forest is grown.
struct ForestCase {
  const char* name;
  double oblique_share = 0.0;
  std::size_t max_bins = 0;
  ForestPlan plan = {};
  Limits limits = {};
};

inline std::vector<ForestCase> forest_cases() {
  const ForestPlan plan{11, 2, 6, false, true, 2.0, 7};
  std::vector<ForestCase> cases{{"axis"},
                                {"oblique", 0.5},
                                {"bins", 0.0, 16},
                                {"resampled", 0.5},
                                {"some features"},
                                {"some features of bins", 0.0, 16},
                                {"real weights", 0.5},
                                {"limited rows, bins", 0.0, 16}};
  for (ForestCase& one : cases) one.plan = plan;
  cases[3].plan.resample = true;
  cases[4].plan.n_features = cases[5].plan.n_features = 3;
  cases[6].plan.whole = false;
  cases[7].limits.min_samples_leaf = 4;
  return cases;
}

template <class Count>
std::vector<Tree<Count>> grow_forest(const ForestCase& one, const Columns& columns, const Problem<Count>& problem,
                                     std::size_t n_threads, std::size_t subtree_rows) {
  Settings settings{problem.prior, one.limits, 0.0, {one.oblique_share, 1.0}};
  settings.oblique.effort = {{2, 4}, 1024, 16384, 1, 1, 0, 0, false, 64, true};
  ForestGrower<Categorical<Count>> grower(columns, problem.outcome, settings, problem.root_prior, {}, one.plan, {},
                                          subtree_rows);
  std::vector<Tree<Count>> trees(one.plan.n_trees);
  Interrupt interrupt = never_asked();
  grower.grow(n_threads, interrupt, [&](std::size_t i, Tree<Count> nodes) { trees[i] = std::move(nodes); });
  // The rows that a tree has are those that it counted.
  for (std::size_t t = 0; t < trees.size(); ++t) {
    std::size_t n_rows = 0;
    for (const double count : grower.weights_of(one.plan.first + t)) n_rows += count > 0.0;
    check_equal(trees[t].at(0).n_rows, n_rows);
  }
  return trees;
}

template <class Count>
void forests_do_not_depend_on_threads() {
  std::mt19937_64 random(41);
  auto problem = make_problem<Count>("forest", 400, 2, false, 0.5);
  for (std::size_t f : {0, 1, 5})
    for (double& value : problem.columns[f])
      if (random() % 12 == 0) value = std::numeric_limits<double>::quiet_NaN();
  const OwnedTable owned(problem.columns, Layout::row_major);
  for (const ForestCase& one : forest_cases()) {
    if (one.plan.whole != std::is_integral_v<Count>) continue;
    const During during(one.name);
    Interrupt interrupt = never_asked();
    const Columns columns = encode(owned.table, {{0, 0, 1, 0, 0, 0, 0}, 16, true, one.max_bins}, 1, interrupt);
    std::vector<Tree<Count>> expected;
    for (const std::size_t n_threads : {1, 2, 3, 16})
      for (const std::size_t subtree_rows : {40, 4096}) {
        const During way(n_threads, " threads, subtrees of ", subtree_rows, " rows");
        const std::vector<Tree<Count>> trees = grow_forest(one, columns, problem, n_threads, subtree_rows);
        if (expected.empty()) expected = trees;
        for (std::size_t t = 0; t < trees.size(); ++t) {
          check_equal(structure(trees[t]), structure(expected[t]));
          for (std::size_t i = 0; i < trees[t].size(); ++i) {
            check(trees[t][i].partition.split == expected[t].at(i).partition.split, "the splits are the same");
            check_equal(trees[t][i].statistics, expected[t].at(i).statistics);
          }
        }
      }
    check(expected[0].size() > 5, "there are splits");
    check(structure(expected[0]) != structure(expected[1]), "trees differ");
  }
}

// Every node draws its own: no hyperplane has more features than it may use, and a tree has more than a node.
inline void nodes_draw_their_own_features() {
  const auto problem = make_problem<std::uint32_t>("features", 600, 2, false, 0.5);
  const OwnedTable owned(problem.columns, Layout::row_major);
  for (const std::size_t max_bins : {0, 16})
    for (const std::size_t subtree_rows : {0, 4096}) {
      const During during(max_bins, " bins, subtrees of ", subtree_rows, " rows");
      ForestCase one{"features", max_bins == 0 ? 0.5 : 0.0, max_bins, {11, 0, 8, false, true, 2.0, 2}};
      Interrupt interrupt = never_asked();
      const Columns columns = encode(owned.table, {std::vector<std::uint8_t>(7), 16, true, max_bins}, 1, interrupt);
      std::size_t most = 0;
      for (const auto& tree : grow_forest(one, columns, problem, 2, subtree_rows)) {
        std::vector<std::uint8_t> used(7);
        for (const auto& node : tree) {
          if (const auto* plane = std::get_if<Hyperplane>(&node.partition.split)) {
            check(plane->terms.size() <= 2, "a hyperplane has the features of its node");
            for (const auto& term : plane->terms) used[static_cast<std::size_t>(term.feature)] = 1;
          } else if (node.partition.is_split()) {
            used[static_cast<std::size_t>(node.partition.feature())] = 1;
          }
        }
        most = std::max<std::size_t>(most, static_cast<std::size_t>(std::count(used.begin(), used.end(), 1)));
      }
      check(most > 2, "nodes draw different features");
    }
}

// The same tree, the left child of a node right behind it.
inline FlatTree depth_first(const FlatTree& tree) {
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
inline void check_forest_router(const FlatForest& forest, const Table& table, std::size_t n_features,
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
    std::vector<double> found(mean.size());
    check(router.mean(table, columns, found, n_threads, interrupt), "no value is infinite");
    check_same_bits(found, mean);
  }
}

// Every kind of split, or thresholds alone; missing values everywhere, nowhere or in the second block only; more rows
// than a block has.
inline void forests_route_like_their_trees() {
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

inline void damaged_forests_are_refused() {
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

inline void infinite_values_of_forests_are_noticed() {
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

inline void forests_can_be_interrupted() {
  const auto problem = make_problem<std::uint32_t>("forest", 300, 2, false, 0.5);
  const OwnedTable owned(problem.columns, Layout::row_major);
  Interrupt interrupt = never_asked();
  const Columns columns = encode_numbers(owned.table, 0, 1, interrupt);
  const ForestPlan plan{1, 0, 4, false, true, 2.0, 7};
  ForestGrower<Categorical<std::uint32_t>> grower(columns, problem.outcome, {problem.prior, {}, 0.0},
                                                  problem.root_prior, {}, plan, {}, 4096);
  interrupt.stop();
  check_throws<Interrupted>([&] { grower.grow(2, interrupt, [](std::size_t, const auto&) {}); });
}

}  // namespace baytree::tests
