// counter_random.hpp, forest_rows.hpp and forests: random numbers by name, and trees that do not depend on threads.
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

#include "data/encode.hpp"
#include "growth/forest_rows.hpp"
#include "growth/root.hpp"
#include "harness.hpp"
#include "interrupts.hpp"
#include "math/counter_random.hpp"
#include "problems.hpp"
#include "tables.hpp"
#include "trees.hpp"

namespace baytree::tests {

namespace {

using Count = std::uint32_t;
using Real = double;

// They equal those of the naive version in Python, on every machine.
void random_numbers_are_those_of_the_definition() {
  const CounterRandom random(7, 1, 3);
  check_same_bits(
      std::vector<double>{random.uniform(0, 0), random.uniform(5, 2), random.uniform(std::uint64_t{1} << 40, 1)},
      std::vector<double>{0x1.7c3219e785f52p-1, 0x1.6cacc5058f821p-2, 0x1.d78812670cf82p-1});
  check_near(random.gamma(0.3, 4), 0x1.c09c694fdbb1bp-7, 1e-14);
  check_near(random.gamma(1.0, 4), 0x1.98be54809ff53p+0, 1e-14);
  check_near(random.gamma(2.5, 4), 0x1.0917e588b4262p+1, 1e-14);
  check_equal(random.choose(9, 4), std::vector<std::uint8_t>{1, 0, 0, 1, 0, 0, 1, 0, 1});
}

void random_numbers_have_their_moments() {
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

void every_item_is_chosen_equally_often() {
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

std::vector<ForestCase> forest_cases() {
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
  Settings settings{problem.prior, {one.limits}, 0.0, {one.oblique_share, 1.0}};
  settings.oblique.effort = {{2, 4}, 1024, 16384, 1, 1, 0, 0, false, 64, true};
  std::vector<Tree<Count>> trees(one.plan.n_trees);
  Interrupt interrupt = never_asked();
  EngineOf<Count>::grow_forest(columns, form_of(problem.outcome), settings, problem.root_prior, {}, one.plan, {},
                               subtree_rows, n_threads, interrupt,
                               [&](std::size_t i, const Tree<Count>& nodes) { trees[i] = nodes; });
  // The rows that a tree has are those that it counted.
  const ForestRows rows(columns, marks_of_rows(problem.outcome), settings, one.plan, {});
  for (std::size_t t = 0; t < trees.size(); ++t) {
    std::size_t n_rows = 0;
    for (const double count : rows.weights_of(one.plan.first + t)) n_rows += count > 0.0;
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
void nodes_draw_their_own_features() {
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

void forests_can_be_interrupted() {
  const auto problem = make_problem<std::uint32_t>("forest", 300, 2, false, 0.5);
  const OwnedTable owned(problem.columns, Layout::row_major);
  Interrupt interrupt = never_asked();
  const Columns columns = encode_numbers(owned.table, 0, 1, interrupt);
  const ForestPlan plan{1, 0, 4, false, true, 2.0, 7};
  interrupt.stop();
  check_throws<Interrupted>([&] {
    Engine<Counts>::grow_forest(columns, problem.outcome, {problem.prior, {}, 0.0}, problem.root_prior, {}, plan, {},
                                4096, 2, interrupt, [](std::size_t, const auto&) {});
  });
}

const Suite suite{{
    {"random numbers are those of the definition", random_numbers_are_those_of_the_definition},
    {"random numbers have their moments", random_numbers_have_their_moments},
    {"every item is chosen equally often", every_item_is_chosen_equally_often},
    {"forests do not depend on threads, counts", forests_do_not_depend_on_threads<Count>},
    {"forests do not depend on threads, real", forests_do_not_depend_on_threads<Real>},
    {"nodes draw their own features", nodes_draw_their_own_features},
    {"forests can be interrupted", forests_can_be_interrupted},
}};

}  // namespace

}  // namespace baytree::tests
