// oblique.hpp and what it stands on (hyperplane, directions).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "harness.hpp"
#include "interrupts.hpp"
#include "partitions/directions.hpp"
#include "partitions/divide.hpp"
#include "partitions/hyperplane.hpp"
#include "partitions/oblique.hpp"
#include "problems.hpp"
#include "trees.hpp"

namespace baytree::tests {

namespace {

using Count = std::uint32_t;
using Real = double;

// Classes on two sides of a diagonal of the first two columns, some values missing, some far out.
template <class Count>
Problem<Count> diagonal_problem(std::size_t n) {
  auto problem = make_problem<Count>("diagonal", n, 2, false, 1.0);
  std::mt19937_64 random(n);
  std::normal_distribution<double> normal;
  for (std::size_t row = 0; row < n; ++row) {
    problem.columns[0][row] = normal(random);
    problem.columns[1][row] = normal(random);
    problem.outcome.y[row] = problem.columns[0][row] + 0.5 * problem.columns[1][row] + 0.1 * normal(random) > 0.0;
    if (random() % 16 == 0) problem.columns[0][row] = std::numeric_limits<double>::quiet_NaN();
    if (random() % 64 == 0) problem.columns[4][row] = 1e9 * normal(random);
  }
  return problem;
}

// Whatever the way of growing: the same tree with hyperplanes in it, whose rows lie where it says.
void hyperplanes_do_not_depend_on_the_way() {
  for (const std::size_t n : {60, 700, 6000, 20000}) {
    const During during(n, " rows");
    const auto problem = diagonal_problem<std::uint32_t>(n);
    const OwnedTable owned(problem.columns, Layout::row_major);
    const Settings settings{problem.prior, {problem.limits}, 0.0, {0.5, 1.0}};
    std::vector<std::int64_t> expected;
    for (const std::size_t subtree_rows : {std::size_t{40}, std::size_t{4096}})
      for (const std::size_t n_threads : {1, 3}) {
        Interrupt interrupt = never_asked();
        const Columns columns = encode(owned.table, {std::vector<std::uint8_t>(7), 16, true}, n_threads, interrupt);
        const Tree<std::uint32_t> tree = Engine<Counts>::grow_tree(
            columns, problem.outcome, settings, problem.root_prior, {}, subtree_rows, n_threads, interrupt);
        if (expected.empty()) expected = structure(tree);
        check_equal(structure(tree), expected);
        const Partition& root = tree.at(0).partition;
        check(root.is_hyperplane(), "the root is split by a hyperplane");
        std::vector<Row> every_row(columns.n_rows);
        std::iota(every_row.begin(), every_row.end(), Row{0});
        std::size_t n_lower = 0;
        for (const std::uint8_t is_lower : go_lower(columns, root.split, every_row)) n_lower += is_lower;
        check_equal(n_lower, tree.at(static_cast<std::size_t>(tree.at(0).lower)).n_rows);
      }
  }
}

// With few points every way to divide them can be counted by hand.
void hyperplane_splits_are_counted() {
  check_near(baytree::detail::log_hyperplane_splits(2, 2), 0.0, 1e-12);              // one way
  check_near(baytree::detail::log_hyperplane_splits(3, 2), std::log(3.0), 1e-12);    // any of three points alone
  check_near(baytree::detail::log_hyperplane_splits(4, 2), std::log(6.0), 1e-12);    // of seven all but a diagonal
  check_near(baytree::detail::log_hyperplane_splits(9, 1), std::log(8.0), 1e-12);
}

// Bounds lie a range beyond the numbers that one in twenty come before or behind, whatever the order and the ties.
void bounds_are_those_of_sorted_numbers() {
  std::mt19937_64 random(8);
  for (std::size_t n = 1; n <= 300; ++n)
    for (const std::size_t most : {64, 256}) {
      const During during(n, " numbers, at most ", most);
      std::vector<double> x(n), some;
      for (double& number : x) number = static_cast<double>(random() % (n % 3 == 0 ? 5 : 1000));
      for (std::size_t i = 0, size = std::min(n, most); i < size; ++i) some.push_back(x[i * n / size]);
      std::sort(some.begin(), some.end());
      const double low = some[some.size() / 20], high = some[some.size() - 1 - some.size() / 20];
      const auto [lowest, highest] = baytree::detail::bounds_of(x, most);
      check_equal(lowest, high > low ? low - (high - low) : kMinusInfinity);
      check_equal(highest, high > low ? high + (high - low) : -kMinusInfinity);
    }
}

// Moments are means of products of what is within bounds, about the centre, however many rows are added up at once.
void moments_are_means_of_products() {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  for (const std::size_t n : {1, 7, 63, 64, 65, 127, 255, 256, 257, 320, 600}) {
    const During during(n, " points");
    Points points{n, {0, 1, 2}, {}, {}, {{-1.0, 1.5, 0.1, 0.7}, {-9.0, 9.0, -0.2, 1.3}, {-1.0, 0.5, 0.0, 2.0}}};
    std::vector<std::vector<double>> responses(2, std::vector<double>(n));
    std::vector<double> weight(n);
    for (std::size_t part = 0; part < 3; ++part)
      for (points.x.emplace_back(); points.x[part].size() < n;) points.x[part].push_back(normal(random));
    for (std::size_t i = 0; i < n; ++i)
      weight[i] = static_cast<double>(random() % 4 + 1), responses[0][i] = normal(random), responses[1][i] = i % 2;
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    const std::vector<std::size_t> parts{2, 0};
    const std::vector<Standard> standard{points.standard[2], points.standard[0]};
    auto z = [&](std::size_t a, std::size_t i) {
      const Standard& scaling = standard[a];
      return (std::clamp(points.x[parts[a]][i], scaling.lowest, scaling.highest) - scaling.centre) / scaling.scale;
    };
    const Moments moments = find_moments(points, parts, standard, weight, 2,
                                         [&](std::size_t r, std::size_t begin, std::span<double> found_responses) {
                                           std::copy_n(responses[r].begin() + static_cast<std::ptrdiff_t>(begin),
                                                       found_responses.size(), found_responses.begin());
                                         });
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t b = 0; b < 2; ++b) {
        double with_part = 0.0, with_response = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
          with_part += weight[i] / total * z(a, i) * z(b, i);
          with_response += weight[i] / total * z(a, i) * responses[b][i];
        }
        check_near(moments.gram[a * 2 + b], with_part, 1e-12);
        check_near(moments.with[b][a], with_response, 1e-12);
      }
  }
}

// A row alone has the key of the set that it is.
template <class Count>
void single_rows_have_the_keys_of_sets() {
  for (const std::size_t n_classes : {2, 3}) {
    Categorical<Count> outcome;
    outcome.n_classes = n_classes;
    for (std::size_t row = 0; row < 12; ++row) {
      outcome.y.push_back(static_cast<Class>(row % n_classes));
      outcome.weight.push_back(static_cast<Count>(row % 5 + 1) * static_cast<Count>(3));
    }
    for (std::size_t order = 0; order < outcome.n_orders(); ++order)
      for (std::size_t row = 0; row < outcome.n_rows(); ++row) {
        std::vector<Count> set(n_classes);
        outcome.add(set.data(), row);
        check_equal(outcome.order_key_of_row(row, order), outcome.order_key(set.data(), set.data(), order));
      }
  }
}

// Every row goes where its own sum sends it, however many are divided at once.
void hyperplanes_divide_rows_of_any_number() {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  std::vector<Values> values(2, Values(2000));
  for (Values& column : values)
    for (double& x : column) x = random() % 10 == 0 ? std::numeric_limits<double>::quiet_NaN() : normal(random);
  const OwnedTable owned(values, Layout::row_major);
  Interrupt interrupt = never_asked();
  const Columns columns = encode(owned.table, {std::vector<std::uint8_t>(2), 0, true, 0}, 1, interrupt);
  const Hyperplane plane{{{0, 1.0, 0.3}, {1, -0.7, -0.2}}, 0.1};
  auto part = [&](std::size_t term, Row row) {
    const double x = values[term][row];
    return plane.terms[term].coefficient * (std::isnan(x) ? plane.terms[term].missing_value : x);
  };
  for (const std::size_t n : {0, 1, 511, 512, 513, 1024, 2000}) {
    const During during(n, " rows");
    std::vector<Row> rows;
    for (std::size_t i = 0; i < n; ++i) rows.push_back(static_cast<Row>(1999 - i));
    std::vector<std::uint8_t> expected;
    for (const Row row : rows) expected.push_back(part(0, row) + part(1, row) <= plane.threshold);
    check_equal(go_lower(columns, plane, rows), expected);
  }
}

// A rounded hyperplane divides the points as before and cannot be rounded further.
void rounding_moves_no_point() {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 200; ++round) {
    Points points;
    points.n = 5 + random() % 40;
    for (std::vector<double>& x : points.x = {Values(points.n), Values(points.n)})
      for (double& value : x) value = normal(random);
    CandidatePlane plane{{0, 1}, {1.0, normal(random)}, 0, 0.3 * normal(random), 0.0, 0.0};
    std::vector<double> before, after;
    points.project(plane.parts, plane.coefficients, before);
    const double threshold = plane.threshold;
    if (std::all_of(before.begin(), before.end(), [=](double p) { return p > threshold; })) continue;
    if (std::all_of(before.begin(), before.end(), [=](double p) { return p <= threshold; })) continue;
    std::vector<double> scratch;
    round_off(points, plane, scratch);
    points.project(plane.parts, plane.coefficients, after);
    for (std::size_t i = 0; i < points.n; ++i)
      check((before[i] <= threshold) == (after[i] <= plane.threshold), "a point stays on its side");
  }
}

const Suite suite{{
    {"hyperplanes do not depend on the way", hyperplanes_do_not_depend_on_the_way},
    {"hyperplane splits are counted", hyperplane_splits_are_counted},
    {"rounding moves no point", rounding_moves_no_point},
    {"hyperplanes divide rows of any number", hyperplanes_divide_rows_of_any_number},
    {"bounds are those of sorted numbers", bounds_are_those_of_sorted_numbers},
    {"moments are means of products", moments_are_means_of_products},
    {"single rows have the keys of sets, counts", single_rows_have_the_keys_of_sets<Count>},
    {"single rows have the keys of sets, real", single_rows_have_the_keys_of_sets<Real>},
}};

}  // namespace

}  // namespace baytree::tests
