// growth: trees grown in every way against each other and against the definition, and the listing of partitions.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <thread>
#include <variant>
#include <vector>

#include "data/encode.hpp"
#include "harness.hpp"
#include "interrupts.hpp"
#include "naive_tree.hpp"
#include "partitions/mode.hpp"
#include "partitions/round_threshold.hpp"
#include "partitions/split.hpp"
#include "problems.hpp"
#include "trees.hpp"

namespace baytree::tests {

namespace {

using Count = std::uint32_t;
using Real = double;

// The threshold of a node; every split of these tests is one.
template <class Count>
const Threshold& threshold_at(const Node<Count>& node) {
  return std::get<Threshold>(node.partition.split);
}

// All real numbers of a tree.
template <class Count>
std::vector<double> numbers(const Tree<Count>& tree) {
  std::vector<double> result;
  for (const Node<Count>& node : tree) {
    result.insert(result.end(), {node.log_likelihood, node.log_prior_leaf, node.log_odds_split,
                                 node.partition.log_prior, node.partition.log_likelihood});
    for (const Count count : node.statistics) result.push_back(static_cast<double>(count));
    result.insert(result.end(), node.prior.begin(), node.prior.end());
    result.insert(result.end(), node.feature_posterior.begin(), node.feature_posterior.end());
    if (node.partition.is_split()) result.push_back(threshold_at(node).threshold);
  }
  return result;
}

// Shares of the posterior that no float64 sum can see may be left out, hence the absolute term.
void check_all_near(const std::vector<double>& actual, const std::vector<double>& expected,
                    Where where = Where::current()) {
  check_equal(actual.size(), expected.size(), where);
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i)
    check_near(actual[i], expected[i], 1e-9 * std::abs(expected[i]) + 1e-14, where);
}

// What every tree must be, however grown.
template <class Count>
void check_sound(const Tree<Count>& tree, const Problem<Count>& problem) {
  check_equal(tree[0].n_rows, problem.outcome.y.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const Node<Count>& node = tree[i];
    if (!node.feature_posterior.empty()) {
      check_equal(node.feature_posterior.size(), problem.columns.size() + 1);
      check_near(std::accumulate(node.feature_posterior.begin(), node.feature_posterior.end(), 0.0), 1.0, 1e-12);
    }
    check(node.n_rows >= problem.limits.min_samples_leaf, "no leaf below min_samples_leaf");
    check(node.rules.depth <= problem.limits.max_depth, "no node below max_depth");
    check_equal(node.lower < 0, !node.partition.is_split());
    check_equal(node.upper < 0, !node.partition.is_split());
    if (!node.partition.is_split()) continue;
    const auto feature = static_cast<std::size_t>(node.partition.feature());
    const Node<Count>& lower = tree.at(static_cast<std::size_t>(node.lower));
    const Node<Count>& upper = tree.at(static_cast<std::size_t>(node.upper));
    check_equal(node.lower, static_cast<std::int64_t>(i) + 1);  // depth first
    check_equal(lower.n_rows + upper.n_rows, node.n_rows);
    check_equal(lower.rules.depth, node.rules.depth + 1);
    check_equal(upper.rules.depth, node.rules.depth + 1);
    check(node.log_odds_split > 0.0, "only a better split makes an internal node");
    check(std::any_of(problem.columns[feature].begin(), problem.columns[feature].end(),
                      [&](double value) { return value > threshold_at(node).threshold; }),
          "the split has an upper side");
    check(feature + 1 < problem.columns.size(), "the repeated column is never preferred");
    check_near(lower.log_likelihood + upper.log_likelihood, node.partition.log_likelihood,
               problem.smoothing > 0.0 ? 1e300 : 1e-9 * std::abs(node.partition.log_likelihood));
  }
}

// Threads change no bit of a tree; the way its nodes are grown changes rounding alone.
template <class Count>
void check_all_ways(const Problem<Count>& problem, const std::vector<std::size_t>& subtree_rows,
                    const std::vector<std::size_t>& bins) {
  const During during(problem.name);
  const Setting<Count> setting(problem);
  const Tree<Count> reference = setting.grow({4096, 256, 1});
  check_sound(reference, problem);
  check(reference.size() > 5, "there is a tree to compare");
  for (const std::size_t n_bins : bins) {
    const Columns columns = setting.encoded(n_bins);
    for (const std::size_t rows : subtree_rows) {
      Tree<Count> alone;
      // Not every combination: starting threads is most of what this test costs.
      const std::vector<std::size_t> threads = n_bins == 16 ? std::vector<std::size_t>{1, 2, 3, 7}
                                                            : std::vector<std::size_t>{1, 3};
      for (const std::size_t n_threads : threads) {
        const During way("n_bins ", n_bins, ", subtree_rows ", rows, ", ", n_threads, " threads");
        Interrupt interrupt = never_asked();
        Tree<Count> tree = setting.grow(columns, rows, n_threads, interrupt);
        if (n_threads == 1) {
          check_equal(structure(tree), structure(reference));
          check_all_near(numbers(tree), numbers(reference));
          alone = std::move(tree);
          continue;
        }
        check_equal(structure(tree), structure(alone));
        check_same_bits(numbers(tree), numbers(alone));
        for (std::size_t i = 0; i < std::min(tree.size(), alone.size()); ++i)
          check(tree[i].partition.split == alone[i].partition.split, "the splits are the same");
      }
    }
  }
}

template <class Count>
void trees_do_not_depend_on_the_way() {
  for (const Problem<Count>& problem : problems<Count>(500)) check_all_ways(problem, {0, 16, 64, 4096}, {2, 16, 256});
}

// Levels, histograms and subtrees of full size in one tree.
void large_trees_do_not_depend_on_the_way() {
  check_all_ways(make_problem<std::uint32_t>("large", 9000, 2, false, 1.0), {64, 4096, 16384}, {256});
  check_all_ways(make_problem<double>("large, weights", 9000, 3, true, 1.0), {64, 4096, 16384}, {256});
}

// Thresholds lie halfway where float64 allows it, and never at the upper value.
void midpoints_lie_between() {
  constexpr double largest = std::numeric_limits<double>::max(), smallest = std::numeric_limits<double>::denorm_min();
  check_equal(midpoint(1.0, 4.0), 2.5);
  check_equal(midpoint(-largest, largest), 0.0);
  check_equal(midpoint(largest / 2, largest), 0.75 * largest);
  check_equal(midpoint(0.0, smallest), 0.0);
  check_equal(midpoint(-smallest, 0.0), -smallest);
  std::mt19937_64 random(30);
  for (int i = 0; i < 10'000; ++i) {
    const auto any = std::bit_cast<double>(random());
    if (!std::isfinite(any)) continue;
    const double next = std::nextafter(any, std::numeric_limits<double>::infinity());
    check_equal(midpoint(any, next), any);
    const auto other = std::bit_cast<double>(random());
    if (!std::isfinite(other) || other == any) continue;
    const double low = std::min(any, other), high = std::max(any, other), middle = midpoint(low, high);
    check(low <= middle && middle < high, "the threshold lies between");
  }
}

// Among partitions that only rounding tells apart no split comes first, then the first feature.
void nearly_equal_partitions_count_as_equal() {
  PartitionPrior prior{0.5, false, false, true, true, {}, {}};
  prior.set_feature_weight({0.25, 0.25, 0.5});  // prior of no split 1/2, the third feature's also
  const double log_likelihood = -1000.0;
  // The mode where the features' best splits score this much above no split.
  auto mode = [&](std::vector<double> above) {
    Node<double> node;
    node.log_likelihood = log_likelihood;
    std::vector<FeatureScore> scores;
    for (std::size_t f = 0; f < 3; ++f) {
      const double best = log_likelihood + std::log(0.5) - std::log(0.5 * prior.feature_weight[f]) + above[f];
      scores.push_back({best, best, 1});
    }
    const Mode chosen = choose_mode(node, {prior, {}}, scores);
    check_near(node.log_odds_split, *std::max_element(above.begin(), above.end()), 1e-12 * 1000.0);
    if (chosen.feature >= 0)
      check(chosen.lowest_score <= scores[static_cast<std::size_t>(chosen.feature)].best, "it is found");
    return chosen.feature;
  };
  check_equal(mode({0.0, -1.0, 0.0}), -1);
  check_equal(mode({-1.0, 5e-7, 0.0}), -1);
  check_equal(mode({-1.0, 2e-6, 0.0}), 1);
  check_equal(mode({3.0, 3.0, 3.0}), 0);
  check_equal(mode({2.0, 3.0, 3.0 + 5e-7}), 1);
  check_equal(mode({2.0, 3.0, 3.0 + 2e-6}), 2);
  check_equal(mode({kMinusInfinity, kMinusInfinity, 1.0}), 2);
}

template <class Count>
void check_equals_naive(const Tree<Count>& tree, const std::vector<NaiveNode>& naive) {
  check_equal(tree.size(), naive.size());
  for (std::size_t i = 0; i < std::min(tree.size(), naive.size()); ++i) {
    const During during("node ", i);
    check_equal(tree[i].rules.depth, naive[i].depth);
    check_equal(tree[i].n_rows, naive[i].n_rows);
    check_near(tree[i].log_likelihood, naive[i].log_likelihood, 1e-9);
    check_near(tree[i].log_prior_leaf, naive[i].log_prior_leaf, 1e-9);
    check_equal(tree[i].feature_posterior.size(), naive[i].feature_posterior.size());
    for (std::size_t f = 0; f < naive[i].feature_posterior.size(); ++f)
      check_near(tree[i].feature_posterior.at(f), naive[i].feature_posterior[f], 1e-9);
    check_equal(tree[i].partition.is_split(), !naive[i].split.empty());
    if (naive[i].split.empty()) continue;
    const NaiveSplit& split = naive[i].split[0];
    check_equal(tree[i].partition.feature(), static_cast<std::int32_t>(split.feature));
    check_equal(threshold_at(tree[i]).threshold, split.below + (split.above - split.below) / 2);
    check_near(tree[i].partition.log_prior, split.log_prior, 1e-9);
    check_near(tree[i].partition.log_likelihood, split.log_likelihood, 1e-9);
    check_near(tree[i].log_odds_split, split.score() - naive[i].log_prior_leaf - naive[i].log_likelihood, 1e-9);
  }
}

template <class Count>
void trees_equal_the_definition() {
  for (const std::size_t n : {2, 5, 40, 160})
    for (const Problem<Count>& problem : problems<Count>(n)) {
      const During during(problem.name, ", n = ", n);
      const NaiveGrower<Count> naive(problem);
      const Setting<Count> setting(problem);
      check_equals_naive(setting.grow({4096, 0, 1}), naive.nodes());
      check_equals_naive(setting.grow({0, 4, 2}), naive.nodes());
      check_equals_naive(setting.grow({20, 16, 2}), naive.nodes());
    }
}

// The listed partitions of the root, against its naive node and as a distribution.
template <class Count>
void partitions_add_up() {
  for (const Problem<Count>& problem : problems<Count>(120)) {
    const During during(problem.name);
    const Setting<Count> setting(problem);
    Interrupt interrupt = never_asked();
    const auto space = EngineOf<Count>::every_partition(setting.encoded(0), form_of(problem.outcome),
                                                        setting.settings(), problem.root_prior, interrupt);
    const NaiveNode root = NaiveGrower<Count>(problem).nodes()[0];
    check_near(space.root.log_likelihood, root.log_likelihood, 1e-9);
    check_near(space.root.log_prior_leaf, root.log_prior_leaf, 1e-9);
    double prior = std::exp(space.root.log_prior_leaf);
    std::vector<double> shares(problem.columns.size() + 1);
    shares.back() = 1.0;
    for (const Partition& partition : space.partitions) {
      prior += std::exp(partition.log_prior);
      shares[static_cast<std::size_t>(partition.feature())] += std::exp(
          partition.log_prior + partition.log_likelihood - space.root.log_prior_leaf - space.root.log_likelihood);
    }
    if (problem.prior.proper) check_near(prior, 1.0, 1e-12);
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (std::size_t f = 0; f < shares.size(); ++f) check_near(shares[f] / sum, root.feature_posterior[f], 1e-9);
  }
}

// Missing values, categories and constraints: every way of growing gives the same tree, whose counts add up and whose
// children are where their split sends the rows.
void raw_columns_grow_the_same_tree_in_every_way() {
  std::mt19937_64 random(31);
  for (int round = 0; round < 6; ++round) {
    const During during("round ", round);
    auto problem = make_problem<double>("raw", 700, 2, round % 2 == 1, 0.5);
    for (Values& column : problem.columns)
      for (double& value : column)
        if (random() % 8 == 0) value = std::numeric_limits<double>::quiet_NaN();
    problem.limits.min_samples_leaf = round == 4 ? 5 : 1;
    const OwnedTable owned(problem.columns, Layout::row_major);
    Settings settings{problem.prior, {problem.limits}, 0.1};
    settings.prior.by_distance = round == 3;
    settings.prior.subsets = round != 2;
    if (round > 2) settings.rules.monotonic = {1, 0, 0, 0, 0, -1, 0};
    std::vector<std::int64_t> expected;
    for (const std::size_t subtree_rows : {0, 40, 4096})
      for (const std::size_t n_threads : {1, 3}) {
        Interrupt interrupt = never_asked();
        const Columns columns = encode(owned.table, {{0, 1, 1, 0, 1, 0, 0}, 16, true}, n_threads, interrupt);
        const Tree<double> tree = Engine<Reals>::grow_tree(columns, form_of(problem.outcome), settings,
                                                           problem.root_prior, {}, subtree_rows, n_threads, interrupt);
        if (expected.empty()) expected = structure(tree);
        check(tree.size() > 5, "there are splits");
        check_equal(structure(tree), expected);
        for (const Node<double>& node : tree)
          if (node.partition.is_split())
            check_equal(tree.at(static_cast<std::size_t>(node.lower)).n_rows +
                            tree.at(static_cast<std::size_t>(node.upper)).n_rows,
                        node.n_rows);
      }
  }
}

// The first loop of growth has one task, which the caller runs and after which it asks.
void growth_can_be_interrupted() {
  const auto problem = make_problem<std::uint32_t>("interrupted", 3000, 2, false, 1.0);
  const Setting<std::uint32_t> setting(problem);
  const Columns columns = setting.encoded(256);
  for (const std::size_t subtree_rows : {0, 64, 4096})
    for (const std::size_t n_threads : {1, 3}) {
      const During during("subtree_rows ", subtree_rows, ", ", n_threads, " threads");
      Interrupt interrupt([] { return true; });
      wait_for_the_next_question();
      check_throws<Interrupted>([&] { setting.grow(columns, subtree_rows, n_threads, interrupt); });
    }
}

// A stop at any moment, from another thread: the whole tree or Interrupted, never a part of a tree.
void a_stop_at_any_moment_leaves_no_partial_tree() {
  const auto problem = make_problem<std::uint32_t>("stopped", 3000, 2, false, 1.0);
  const Setting<std::uint32_t> setting(problem);
  const Columns columns = setting.encoded(256);
  const auto expected = structure(setting.grow({64, 256, 1}));
  for (int moment = 0; moment < 20; ++moment)
    for (const std::size_t subtree_rows : {64, 4096}) {
      Interrupt interrupt = never_asked();
      std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(400 * moment));
        interrupt.stop();
      });
      try {
        check_equal(structure(setting.grow(columns, subtree_rows, 2, interrupt)), expected);
      } catch (const Interrupted&) {
        check(interrupt.stopped(), "interrupted because it was stopped");
      }
    }
}

const Suite suite{{
    {"midpoints lie between", midpoints_lie_between},
    {"nearly equal partitions count as equal", nearly_equal_partitions_count_as_equal},
    {"trees equal the definition, counts", trees_equal_the_definition<Count>},
    {"trees equal the definition, real", trees_equal_the_definition<Real>},
    {"trees do not depend on the way, counts", trees_do_not_depend_on_the_way<Count>},
    {"trees do not depend on the way, real", trees_do_not_depend_on_the_way<Real>},
    {"large trees do not depend on the way", large_trees_do_not_depend_on_the_way},
    {"partitions add up, counts", partitions_add_up<Count>},
    {"partitions add up, real", partitions_add_up<Real>},
    {"growth can be interrupted", growth_can_be_interrupted},
    {"a stop at any moment leaves no partial tree", a_stop_at_any_moment_leaves_no_partial_tree},
    {"raw columns grow the same tree in every way", raw_columns_grow_the_same_tree_in_every_way},
}};

}  // namespace

}  // namespace baytree::tests
