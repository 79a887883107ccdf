// router.hpp and space_router.hpp: against a walk node by node.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "flat_trees.hpp"
#include "harness.hpp"
#include "interrupts.hpp"
#include "partitions/router.hpp"
#include "partitions/space_router.hpp"
#include "problems.hpp"
#include "tables.hpp"
#include "trees.hpp"

namespace baytree::tests {

namespace {

// Row counts around the size of a group (8) and of a block (4096).
void routes_equal_a_naive_walk() {
  std::mt19937_64 random(21);
  for (const std::size_t n : {1, 7, 8, 9, 100, 4095, 4096, 4097, 9000})
    for (const std::size_t n_splits : {0, 1, 30, 300})
      for (const bool chain : {false, true}) {
        const During during("n = ", n, ", ", n_splits, " splits", chain ? " in a chain" : "");
        const std::vector<Values> columns = mixed_columns(n, random);
        const OwnedTable by_row(columns, Layout::row_major), by_column(columns, Layout::column_major);
        const FlatTree tree = random_tree(by_row.table, n_splits, chain, random);
        const Router router = tree.router(columns.size());
        for (const std::size_t n_threads : {1, 3}) {
          check_equal(routed(router, by_row.table, n_threads), tree.naive_leaves(by_row.table));
          check_equal(routed(router, by_column.table, n_threads), tree.naive_leaves(by_row.table));
        }
      }
}

void every_kind_of_split_routes_like_a_naive_walk() {
  std::mt19937_64 random(23);
  for (int round = 0; round < 40; ++round) {
    const During during("round ", round);
    const std::vector<Values> columns = whole_columns(300, 4, true, random);
    const OwnedTable owned(columns, Layout::row_major);
    const FlatTree tree = random_mixed_tree(4, 1 + random() % 25, random);
    check_equal(routed(tree.router(4), owned.table, 2), tree.naive_leaves(owned.table));
  }
}

// A table with the features in another order, and without one that the tree does not use.
void features_may_be_in_any_column() {
  std::mt19937_64 random(24);
  for (int round = 0; round < 20; ++round) {
    const During during("round ", round);
    const std::vector<Values> columns = whole_columns(50, 4, round % 2 == 1, random);
    const OwnedTable in_order(columns, Layout::row_major),
        turned({columns[3], columns[0], columns[2], columns[1]}, Layout::row_major);
    FlatTree tree = round % 2 ? random_mixed_tree(4, 12, random) : random_tree(in_order.table, 12, false, random);
    const Router router = tree.router(5);
    const std::vector<std::int64_t> place{1, 3, 2, 0, -1}, lacking{1, 3, 2, -1, -1}, outside{1, 3, 2, 4, -1};
    check_equal(routed(router, turned.table, 1, place), tree.naive_leaves(in_order.table));
    FlatTree with_last = tree;
    with_last.split(with_last.nodes.size() - 1, SplitKind::threshold, 3, 0.0);
    for (const auto& bad : {lacking, outside, std::vector<std::int64_t>{1, 3, 2, 0}})
      check_throws<std::invalid_argument>([&] { routed(with_last.router(5), turned.table, 1, bad); });
    check_throws<std::invalid_argument>([&] { routed(router, turned.table, 1); });
  }
}

// A space of one choice at most for each node is a tree.
void weights_of_a_single_tree_are_its_leaves() {
  std::mt19937_64 random(25);
  const OwnedTable owned(whole_columns(600, 3, true, random), Layout::column_major);
  const FlatTree tree = random_mixed_tree(3, 20, random);
  std::vector<FlatNode> choices;
  std::vector<std::int64_t> start{0};
  std::vector<double> leaf_share, choice_share;
  for (const FlatNode& node : tree.nodes) {
    if (node.left >= 0) choices.push_back(node), choice_share.push_back(1.0);
    start.push_back(static_cast<std::int64_t>(choices.size()));
    leaf_share.push_back(node.left >= 0 ? 0.0 : 1.0);
  }
  const FlatArrays arrays(choices);
  const SpaceRouter router(arrays.spans(), start, leaf_share, choice_share, 3);
  Interrupt interrupt = never_asked();
  const LeafWeights weights = router.weigh(owned.table, {}, 2, interrupt);
  std::vector<std::int64_t> each(owned.table.n_rows + 1);
  std::iota(each.begin(), each.end(), std::int64_t{0});
  check_equal(weights.start, each);
  check_equal(weights.weight, Values(owned.table.n_rows, 1.0));
  check_equal(std::vector<std::int64_t>(weights.node.begin(), weights.node.end()), tree.naive_leaves(owned.table));
  start.pop_back();
  check_throws<std::invalid_argument>([&] { SpaceRouter(arrays.spans(), start, leaf_share, choice_share, 3); });
}

void damaged_trees_are_refused() {
  FlatTree sound;
  sound.split(0, SplitKind::category_set, 0, 0.0).categories = {{0, true}, {2, false}};
  sound.split(1, SplitKind::hyperplane, 0, 0.5).terms = {{0, 1.0, 0.0}, {1, 2.0, 0.0}};
  sound.split(2, SplitKind::threshold, 1, 0.5);
  sound.router(2);
  auto refused = [&](auto&& damage, Where where = Where::current()) {
    FlatTree tree = sound;
    damage(tree.nodes);
    check_throws<std::invalid_argument>([&] { tree.router(2); }, where);
  };
  using Nodes = std::vector<FlatNode>;
  refused([](Nodes& nodes) { nodes.clear(); });
  refused([](Nodes& nodes) { nodes[1].left = 0; });
  refused([](Nodes& nodes) { nodes[1].right = 7; });
  refused([](Nodes& nodes) { nodes[1].right = nodes[2].right; });
  refused([](Nodes& nodes) { nodes[6].left = 6; });
  refused([](Nodes& nodes) { nodes[2].feature = 2; });
  refused([](Nodes& nodes) { nodes[2].threshold = std::numeric_limits<double>::quiet_NaN(); });
  refused([](Nodes& nodes) { nodes[2].kind = static_cast<SplitKind>(5); });
  refused([](Nodes& nodes) { nodes[2].kind = SplitKind::none; });
  refused([](Nodes& nodes) { nodes[2].kind = SplitKind::hyperplane; });
  refused([](Nodes& nodes) { nodes[2].categories = {{0, true}}; });
  refused([](Nodes& nodes) { nodes[0].categories[1].first = -1; });
  refused([](Nodes& nodes) { nodes[1].terms[1].feature = 2; });
  FlatArrays arrays(sound.nodes);
  arrays.category_start[1] = 1;
  check_throws<std::invalid_argument>([&] { Router(arrays.spans(), 2); });
}

// A grown tree as it is fitted.
template <class Count>
FlatTree flat_tree(const Tree<Count>& grown) {
  FlatTree tree;
  tree.nodes.resize(grown.size());
  for (std::size_t i = 0; i < grown.size(); ++i) {
    const Split& split = grown[i].partition.split;
    FlatNode& node = tree.nodes[i];
    node = {kind_of(split), grown[i].lower, grown[i].upper, feature_of(split)};
    if (const auto* threshold = std::get_if<Threshold>(&split)) {
      node.threshold = threshold->threshold;
      node.missing_left = threshold->missing == Missing::lower;
    } else if (const auto* set = std::get_if<CategorySet>(&split)) {
      for (const auto& category : set->categories) node.categories.push_back({category.number, category.goes_lower});
      node.missing_left = set->missing == Missing::lower;
    } else if (const auto* plane = std::get_if<Hyperplane>(&split)) {
      node.threshold = plane->threshold;
      node.terms = plane->terms;
    }
  }
  return tree;
}

// The splits of a tree route its rows to where growth put them.
template <class Count>
void check_rows_return(const Tree<Count>& grown, const Table& table) {
  std::vector<std::size_t> n_rows(grown.size());
  for (const std::int64_t leaf : routed(flat_tree(grown).router(table.n_columns), table, 2))
    ++n_rows.at(static_cast<std::size_t>(leaf));
  for (std::size_t i = 0; i < grown.size(); ++i)
    check_equal(n_rows[i], grown[i].partition.is_split() ? 0 : grown[i].n_rows);
}

void training_rows_return_to_their_leaves() {
  const auto problem = make_problem<std::uint32_t>("routed", 5000, 3, false, 0.5);
  const Setting<std::uint32_t> setting(problem);
  check_rows_return(setting.grow({64, 256, 2}), setting.owned.table);
}

// Missing values, categories and hyperplanes, from dense and from sparse tables.
void raw_training_rows_return_to_their_leaves() {
  std::mt19937_64 random(26);
  std::vector<bool> seen(5);
  for (int round = 0; round < 8; ++round) {
    const During during("round ", round);
    auto problem = make_problem<std::uint32_t>("raw", 900, 2, false, 0.5);
    for (double& value : problem.columns[1]) value = std::abs(value);  // categories are not negative
    if (round % 2 == 1)
      for (std::size_t row = 0; row < problem.columns[0].size(); ++row)
        problem.outcome.y[row] = problem.columns[0][row] + problem.columns[4][row] / 100 > 1.5;
    for (std::size_t f = 0; f < problem.columns.size(); ++f)
      for (std::size_t row = 0; row < problem.columns[f].size(); ++row) {
        const bool telling = f == 5 && problem.outcome.y[row] == 1;  // that a value is missing says something
        if (random() % 100 < (telling ? 40 : 5)) problem.columns[f][row] = std::numeric_limits<double>::quiet_NaN();
      }
    const OwnedTable owned(problem.columns, Layout::row_major);
    const OwnedSparseTable sparse(problem.columns);
    const Settings settings{problem.prior, problem.limits, 0.0, {round % 2 ? 0.5 : 0.0, 1.0}};
    const Encoding encoding{{0, 1, 1, 0, 0, 0, 0}, 16, true};
    Interrupt interrupt = never_asked();
    const Columns columns = round < 4 ? encode(owned.table, encoding, 1, interrupt)
                                      : encode(sparse.table, encoding, 1, interrupt);
    const auto grown = Engine<Counts>::grow_tree(columns, problem.outcome, settings, problem.root_prior, {},
                                                 round % 4 < 2 ? 50 : 4096, 2, interrupt);
    for (const auto& node : grown) seen[node.partition.split.index()] = true;
    check_rows_return(grown, owned.table);
  }
  for (std::size_t kind = 0; kind < seen.size(); ++kind) {
    const During during("kind ", kind);
    check(seen[kind], "every kind of split occurs");
  }
}

// One bad value at a time, in tables whose rows lie back to back, far apart (part of a wider table), by column
// and backwards.
void infinite_values_are_noticed() {
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
        tree.split(0, SplitKind::threshold, 0, 0.0);
        const Router router = tree.router(n_columns);
        std::vector<std::int64_t> leaves(n);
        auto no_infinity = [&] {
          Interrupt interrupt = never_asked();
          return router.route(owned.table, {}, leaves, 2, interrupt);
        };
        check(no_infinity(), "all values are finite");
        for (std::size_t i = 0; i < n * n_columns; i += n > 100 ? 97 : 1) {
          const double* address =
              &owned.table.data[static_cast<std::ptrdiff_t>(i / n_columns) * owned.table.row_stride +
                                static_cast<std::ptrdiff_t>(i % n_columns) * owned.table.column_stride];
          double& value = owned.data[static_cast<std::size_t>(address - owned.data.data())];
          const double good = std::exchange(value, bad_values[i % 3]);
          check_equal(no_infinity(), i % 3 == 0);  // a missing value is no infinity
          value = good;
        }
      }
}

void routing_can_be_interrupted() {
  const OwnedTable owned({Values(10'000, 1.0)}, Layout::row_major);
  const Router router = FlatTree{}.router(1);
  std::vector<std::int64_t> leaves(owned.table.n_rows);
  Interrupt interrupt = never_asked();
  interrupt.stop();
  check_throws<Interrupted>([&] { router.route(owned.table, {}, leaves, 2, interrupt); });
}

const Suite suite{{
    {"routes equal a naive walk", routes_equal_a_naive_walk},
    {"every kind of split routes like a naive walk", every_kind_of_split_routes_like_a_naive_walk},
    {"features may be in any column", features_may_be_in_any_column},
    {"weights of a single tree are its leaves", weights_of_a_single_tree_are_its_leaves},
    {"damaged trees are refused", damaged_trees_are_refused},
    {"infinite values are noticed", infinite_values_are_noticed},
    {"training rows return to their leaves", training_rows_return_to_their_leaves},
    {"raw training rows return to their leaves", raw_training_rows_return_to_their_leaves},
    {"routing can be interrupted", routing_can_be_interrupted},
}};

}  // namespace

}  // namespace baytree::tests
