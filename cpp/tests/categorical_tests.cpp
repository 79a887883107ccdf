// outcomes/categorical.hpp: scores against the closed form, bounds against every point of their box.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "classes.hpp"
#include "data/entries.hpp"
#include "harness.hpp"
#include "outcomes/categorical.hpp"
#include "outcomes/outcome.hpp"

namespace baytree::tests {

namespace {

using Count = std::uint32_t;
using Real = double;

static_assert(BoundedOutcome<Categorical<std::uint32_t>> && BoundedOutcome<Categorical<double>>);

// The parts of a score are of size n log n and cancel.
double score_tolerance(double n) { return 1e-14 * (100.0 + n * std::log(n + 2.0)); }

template <class Count>
void likelihood_equals_the_closed_form() {
  std::mt19937_64 random(11);
  for (std::size_t n_classes = 1; n_classes <= 6; ++n_classes)
    for (const double most : {0.0, 3.0, 50.0, 1e4, 1e8}) {
      const During during(n_classes, " classes, counts up to ", most);
      const Categorical<Count> outcome{n_classes, {}, {}, {}};
      const std::vector<double> prior = random_prior(n_classes, random);
      std::vector<Count> counts(n_classes);
      for (Count& count : counts) count = random_count<Count>(most, random);
      const double n = most * static_cast<double>(n_classes);
      check_near(outcome.log_likelihood(prior, counts.data()), closed_form(prior, counts), score_tolerance(n));
    }
}

// Independent of log-gamma: the likelihood is the product of what each row is predicted from those before.
void likelihood_is_a_product_of_predictions() {
  std::mt19937_64 random(12);
  for (std::size_t n_classes = 2; n_classes <= 5; ++n_classes) {
    const auto outcome = random_outcome<std::uint32_t>(500, n_classes, false, random);
    const std::vector<double> prior = random_prior(n_classes, random);
    std::vector<double> seen = prior;
    std::vector<std::uint32_t> total(n_classes);
    double expected = 0.0;
    for (std::size_t row = 0; row < outcome.y.size(); ++row) {
      expected += std::log(seen[outcome.y[row]] / std::accumulate(seen.begin(), seen.end(), 0.0));
      seen[outcome.y[row]] += 1.0;
      outcome.add(total.data(), row);
    }
    check_near(outcome.log_likelihood(prior, total.data()), expected, 1e-10);
  }
}

template <class Count>
void split_score_equals_the_closed_form() {
  std::mt19937_64 random(13);
  for (std::size_t n_classes = 2; n_classes <= 5; ++n_classes)
    for (int repeat = 0; repeat < 20; ++repeat) {
      const double most = std::pow(10.0, repeat % 5);
      const During during(n_classes, " classes, counts up to ", most);
      const std::vector<double> prior = random_prior(n_classes, random);
      std::vector<Count> total(n_classes), root(n_classes), lower(n_classes);
      for (std::size_t c = 0; c < n_classes; ++c) {
        total[c] = random_count<Count>(most, random);
        root[c] = total[c] + random_count<Count>(most, random);
      }
      Categorical<Count> outcome{n_classes, {}, {}, {}};
      const CategoricalNode<Count> node = outcome.node(prior, total.data());
      outcome.prepare(prior, root.data());  // tables that belong to a larger set, the root
      const CategoricalNode<Count> with_tables = outcome.node(prior, total.data());
      outcome.prepare(random_prior(n_classes, random), root.data());  // tables of another prior must not be used
      const CategoricalNode<Count> with_wrong_tables = outcome.node(prior, total.data());
      for (int split = 0; split < 20; ++split) {
        for (std::size_t c = 0; c < n_classes; ++c)
          lower[c] = split == 0   ? Count{0}
                     : split == 1 ? total[c]
                                  : random_count<Count>(static_cast<double>(total[c]), random);
        const double score = node.split_score(lower.data());
        check_near(score, closed_form_of_split(prior, total, lower), score_tolerance(most * 5));
        check_equal(with_tables.split_score(lower.data()), score);
        check_equal(with_wrong_tables.split_score(lower.data()), score);
      }
    }
}

// The scan from given lower statistics, behind some positions of an order, for both kinds of entries.
template <class Count, class Entry, class MakeEntry>
void check_scan(std::size_t n_classes, bool weighted, std::mt19937_64& random, MakeEntry&& entry) {
  const std::size_t n = 1 + random() % 200;
  const auto outcome = random_outcome<Count>(n, n_classes, weighted, random);
  std::vector<Entry> order;
  for (std::uint32_t i = 0; i < n; ++i) order.push_back(entry(i, i));
  std::shuffle(order.begin(), order.end(), random);
  // Stretches between positions that are short and long, compared with the number of classes.
  std::vector<std::uint32_t> positions;
  const std::uint64_t stretch = 1 + random() % 12;
  for (std::uint32_t i = 0; i < n; ++i)
    if (random() % stretch == 0) positions.push_back(i);

  std::vector<Count> start(n_classes), total(n_classes);
  for (Count& count : start) count = random_count<Count>(20.0, random);
  total = start;
  for (std::size_t row = 0; row < n; ++row) outcome.add(total.data(), row);
  for (Count& count : total) count += random_count<Count>(20.0, random);  // rows behind the scan
  const std::vector<double> prior = random_prior(n_classes, random);

  std::vector<double> scores(positions.size());
  outcome.node(prior, total.data())
      .split_scores(outcome, std::span<const Entry>(order), start.data(), positions, scores.data());
  std::vector<Count> lower = start;
  std::size_t next = 0;
  for (std::size_t j = 0; j < positions.size(); ++j) {
    while (next <= positions[j]) outcome.add(lower.data(), row_in_node(order[next++]));
    check_near(scores[j], closed_form_of_split(prior, total, lower), 1e-10);
  }
}

template <class Count>
void split_scores_equal_the_closed_form() {
  std::mt19937_64 random(14);
  for (std::size_t n_classes = 2; n_classes <= 5; ++n_classes)
    for (const bool weighted : {false, true})
      for (int repeat = 0; repeat < 20; ++repeat) {
        const During during(n_classes, " classes, ", weighted ? "weighted" : "unweighted");
        check_scan<Count, Keyed>(n_classes, weighted, random, keyed);
        check_scan<Count, SmallEntry>(n_classes, weighted, random, small_entry);
      }
}

// Steps `point` through the box between two corners, on a grid of whole steps; false: all were seen.
template <class Count>
bool next_point(std::vector<Count>& point, const std::vector<Count>& from, const std::vector<Count>& to) {
  for (std::size_t c = 0; c < point.size(); ++c) {
    if (point[c] + 1 <= to[c]) return point[c] += 1, true;
    point[c] = from[c];
  }
  return false;
}

// Every box of whole corners within `total`, every whole point of it.
template <class Count>
void check_all_boxes(const std::vector<Count>& total, const std::vector<double>& prior) {
  const std::vector<Count> none(total.size());
  const CategoricalNode<Count> node = Categorical<Count>{total.size(), {}, {}, {}}.node(prior, total.data());
  std::vector<Count> from = none;
  do {
    std::vector<Count> to = from;
    do {
      const double bound = node.upper_bound(from.data(), to.data());
      double best = kMinusInfinity;
      std::vector<Count> point = from;
      do best = std::max(best, node.split_score(point.data()));
      while (next_point(point, from, to));
      check(bound >= best - 1e-12 * (1.0 + std::abs(best)), "the bound lies above the box");
      if (from == to) check_near(bound, best, 1e-12 * (1.0 + std::abs(best)));  // and on a single point
    } while (next_point(to, from, total));
  } while (next_point(from, none, total));
}

template <class Count>
void upper_bound_holds_in_all_small_boxes() {
  std::mt19937_64 random(15);
  const std::vector<std::vector<Count>> totals{{12, 9},         {20, 1}, {4, 5, 3}, {2, 3, 2, 2},
                                               {2, 1, 2, 1, 2}, {0, 6},  {0, 0, 4}};
  for (const std::vector<Count>& total : totals) {
    const During during(total.size(), " classes");
    for (const double alpha : {1e-3, 0.5, 10.0}) check_all_boxes(total, std::vector<double>(total.size(), alpha));
    check_all_boxes(total, random_prior(total.size(), random));
  }
}

// Large boxes: their corners, where the maximum of a convex function is, and points inside.
template <class Count>
void upper_bound_holds_in_random_boxes() {
  std::mt19937_64 random(16);
  for (int repeat = 0; repeat < 1500; ++repeat) {
    const std::size_t n_classes = 2 + static_cast<std::size_t>(repeat) % 4;
    const double most = std::pow(10.0, repeat % 5);
    const During during(n_classes, " classes, counts up to ", most);
    const std::vector<double> prior = random_prior(n_classes, random);
    std::vector<Count> total(n_classes), from(n_classes), to(n_classes), point(n_classes);
    for (std::size_t c = 0; c < n_classes; ++c) {
      total[c] = random_count<Count>(most, random);
      to[c] = random_count<Count>(static_cast<double>(total[c]), random);
      from[c] = random_count<Count>(static_cast<double>(to[c]), random);
    }
    const CategoricalNode<Count> node = Categorical<Count>{n_classes, {}, {}, {}}.node(prior, total.data());
    const double bound = node.upper_bound(from.data(), to.data()) + score_tolerance(most * 5);
    for (std::uint32_t corner = 0; corner < 1u << n_classes; ++corner) {
      for (std::size_t c = 0; c < n_classes; ++c) point[c] = corner >> c & 1 ? to[c] : from[c];
      check(bound >= node.split_score(point.data()), "the bound lies above the corner");
    }
    for (int inside = 0; inside < 30; ++inside) {
      for (std::size_t c = 0; c < n_classes; ++c)
        point[c] = from[c] + random_count<Count>(static_cast<double>(to[c] - from[c]), random);
      check(bound >= node.split_score(point.data()), "the bound lies above the point");
    }
  }
}

template <class Count>
void add_by_bin_equals_add() {
  std::mt19937_64 random(17);
  for (const bool weighted : {false, true})
    for (std::size_t n_classes = 1; n_classes <= 5; ++n_classes) {
      const During during(n_classes, " classes, ", weighted ? "weighted" : "unweighted");
      constexpr std::size_t n = 300, n_bins = 7;
      const auto outcome = random_outcome<Count>(n, n_classes, weighted, random);
      std::vector<std::uint8_t> bins(n);
      for (std::uint8_t& bin : bins) bin = static_cast<std::uint8_t>(random() % n_bins);
      std::vector<Row> rows;
      for (Row row = 0; row < n; ++row)
        if (random() % 2) rows.push_back(row);
      std::shuffle(rows.begin(), rows.end(), random);

      std::vector<Count> actual(n_bins * n_classes), expected(n_bins * n_classes);
      outcome.narrowed_to(rows).add_by_bin(actual.data(), bins, rows);
      for (const Row row : rows) outcome.add(expected.data() + bins[row] * n_classes, row);
      check_equal(actual, expected);
    }
}

template <class Count>
void small_parts_of_an_outcome() {
  const Categorical<Count> outcome{3, {0, 2, 2, 1}, {1, 2, 3, 4}, {}};
  const std::vector<Row> rows{3, 1};
  const Categorical<Count> part = outcome.narrowed_to(rows);
  check_equal(part.y, {1, 2});
  check_equal(part.weight, {4, 2});
  check_equal(part.n_classes, 3);
  check_equal(Categorical<Count>{3, {0, 1}, {}, {}}.weight_of(1), Count{1});

  const std::vector<Row> alike{1, 2}, mixed{1, 2, 3};
  check(has_one_outcome(outcome, std::span<const Row>(rows).first(1)), "one row has one outcome");
  check(has_one_outcome(outcome, std::span<const Row>(alike)), "rows of one class, whatever their weights");
  check(!has_one_outcome(outcome, std::span<const Row>(mixed)), "rows of two classes");

  const std::vector<Count> two{1, 0, 2};
  check_equal(outcome.child_prior({1.0, 2.0, 3.0}, two.data(), 0.5), {1.5, 2.0, 4.0});
  check_equal(outcome.child_prior({1.0, 2.0, 3.0}, two.data(), 0.0), {1.0, 2.0, 3.0});
}

const Suite suite{{
    {"likelihood equals the closed form, counts", likelihood_equals_the_closed_form<Count>},
    {"likelihood equals the closed form, real", likelihood_equals_the_closed_form<Real>},
    {"likelihood is a product of predictions", likelihood_is_a_product_of_predictions},
    {"split_score equals the closed form, counts", split_score_equals_the_closed_form<Count>},
    {"split_score equals the closed form, real", split_score_equals_the_closed_form<Real>},
    {"split_scores equal the closed form, counts", split_scores_equal_the_closed_form<Count>},
    {"split_scores equal the closed form, real", split_scores_equal_the_closed_form<Real>},
    {"upper_bound holds in all small boxes, counts", upper_bound_holds_in_all_small_boxes<Count>},
    {"upper_bound holds in all small boxes, real", upper_bound_holds_in_all_small_boxes<Real>},
    {"upper_bound holds in random boxes, counts", upper_bound_holds_in_random_boxes<Count>},
    {"upper_bound holds in random boxes, real", upper_bound_holds_in_random_boxes<Real>},
    {"add_by_bin equals add, counts", add_by_bin_equals_add<Count>},
    {"add_by_bin equals add, real", add_by_bin_equals_add<Real>},
    {"small parts of an outcome, counts", small_parts_of_an_outcome<Count>},
    {"small parts of an outcome, real", small_parts_of_an_outcome<Real>},
}};

}  // namespace

}  // namespace baytree::tests
