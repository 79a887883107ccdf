// any_outcome.hpp and fixed_point.hpp: an outcome behind a table of functions is the same, bit for bit, and one of
// whole numbers is that of the reals that these stand for.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "classes.hpp"
#include "data/entries.hpp"
#include "harness.hpp"
#include "outcomes/any_outcomes.hpp"
#include "outcomes/outcome.hpp"

namespace baytree::tests {

namespace {

constexpr std::size_t kRows = 90;

std::vector<double> random_numbers(double low, double high, std::mt19937_64& random) {
  std::vector<double> result(kRows);
  for (double& number : result) number = std::uniform_real_distribution<double>(low, high)(random);
  return result;
}

std::vector<double> random_weights(bool weighted, std::mt19937_64& random) {
  return weighted ? random_numbers(0.1, 3.0, random) : std::vector<double>{};
}

template <class T>
T random_rates(bool weighted, std::mt19937_64& random) {
  return {random_numbers(0.0, 5.0, random), random_numbers(0.5, 2.0, random), random_numbers(-1.0, 0.0, random),
          random_weights(weighted, random), weighted};
}

// Some rows of an outcome in an order, as entries of both kinds.
struct Ordered {
  std::vector<Row> rows;
  std::vector<Keyed> keyed_rows;
  std::vector<SmallEntry> small;

  explicit Ordered(std::mt19937_64& random) {
    for (Row row = 0; row < kRows; ++row) rows.push_back(row);
    std::shuffle(rows.begin(), rows.end(), random);
    for (std::uint32_t i = 0; i < kRows; ++i) {
      keyed_rows.push_back(keyed(i / 3, rows[i]));
      small.push_back(small_entry(i / 3, rows[i]));
    }
  }
};

// What the rows of an outcome are asked for: the plain outcome and the one behind a table must answer alike.
template <Outcome T>
std::vector<double> answers_of_rows(const T& outcome, const Ordered& ordered, const std::vector<double>& prior) {
  std::vector<double> total(outcome.width()), other(outcome.width()), result;
  add_all(outcome, std::span<const Row>(ordered.rows), total.data());
  add_all(outcome, std::span<const Keyed>(ordered.keyed_rows).first(20), other.data());
  add_all(outcome, std::span<const SmallEntry>(ordered.small).last(30), other.data());
  result.insert(result.end(), total.begin(), total.end());
  result.insert(result.end(), other.begin(), other.end());
  std::vector<double> each(kRows * outcome.width());
  statistics_of_each(outcome, std::span<const Row>(ordered.rows), each.data());
  result.insert(result.end(), each.begin(), each.end());
  for (std::size_t order = 0; order < outcome.n_orders(); ++order) {
    std::vector<double> keys(kRows);
    order_keys_of_each(outcome, std::span<const Row>(ordered.rows), total.data(), order, keys.data());
    result.insert(result.end(), keys.begin(), keys.end());
    result.push_back(outcome.order_key(other.data(), total.data(), order));
  }
  std::vector<double> means(kRows);
  means_of_each(outcome, prior, std::span<const double>(each), 1.5, means.data());
  result.insert(result.end(), means.begin(), means.end());
  for (const Row row : ordered.rows) result.push_back(static_cast<double>(outcome.weight_of(row)));
  for (const double number : outcome.child_prior(prior, other.data(), 0.25)) result.push_back(number);
  result.insert(result.end(), {outcome.log_likelihood(prior, total.data()), outcome.weight_in(total.data()),
                               outcome.mean(prior, total.data(), 1.0), outcome.mean_unit()});
  return result;
}

template <Outcome T>
std::vector<double> answers_of_splits(const T& outcome, const Ordered& ordered, const std::vector<double>& prior) {
  std::vector<double> total(outcome.width()), none(outcome.width()), result(3 * kRows / 2);
  add_all(outcome, std::span<const Row>(ordered.rows), total.data());
  const auto node = outcome.node(prior, total.data());
  std::vector<std::uint32_t> positions;
  for (std::uint32_t i = 0; 2 * i < kRows; ++i) positions.push_back(2 * i);
  node.split_scores(outcome, std::span<const Keyed>(ordered.keyed_rows), none.data(), positions, result.data());
  node.split_scores(outcome, std::span<const SmallEntry>(ordered.small), none.data(), positions,
                    result.data() + kRows / 2);
  std::vector<double> sets;
  for (std::size_t i = 0; 2 * i < kRows; ++i) {
    add_all(outcome, std::span<const Row>(ordered.rows).subspan(i, 1), none.data());
    sets.insert(sets.end(), none.begin(), none.end());
  }
  node.set_scores(outcome, std::span<const double>(sets), result.data() + kRows);
  if (has_bounds(outcome)) {
    if constexpr (BoundedOutcome<T>) {
      result.push_back(node.split_score(none.data()));
      result.push_back(node.upper_bound(sets.data(), none.data()));
    }
  }
  return result;
}

template <Outcome T>
void check_behind_a_table(T plain, const std::vector<double>& prior, std::mt19937_64& random) {
  const Ordered ordered(random);
  auto any = any_outcome(plain);
  for (const bool prepared : {false, true}) {
    const During during(prepared ? "prepared" : "not prepared");
    check_same_bits(answers_of_rows(any, ordered, prior), answers_of_rows(plain, ordered, prior));
    check_same_bits(answers_of_splits(any, ordered, prior), answers_of_splits(plain, ordered, prior));
    const std::span<const Row> some = std::span<const Row>(ordered.rows).first(25);
    const T narrow = plain.narrowed_to(some);
    const auto any_narrow = any.narrowed_to(some);
    check_equal(any_narrow.n_rows(), narrow.n_rows());
    for (std::size_t row = 0; row < 25; ++row) check_equal(any_narrow.mark_of_row(row), narrow.mark_of_row(row));
    check_equal(any.counts_once(), plain.counts_once());
    check_equal(any.has_bounds(), BoundedOutcome<T>);
    check_equal(any.has_one(some), has_one_outcome(plain, some));
    check_equal(any.has_one(some.first(1)), true);
    // A copy is another outcome, whose weights are its own.
    auto heavy = any;
    heavy.set_weights(std::vector<double>(kRows, 2.0)), plain.set_weights(std::vector<double>(kRows, 2.0));
    check_equal(heavy.weight_of(3), 2.0);
    any = heavy;
    std::vector<double> total(any.width());
    add_all(any, std::span<const Row>(ordered.rows), total.data());
    any.set_whole_weights(true);
    if constexpr (requires { plain.set_whole_weights(true); }) plain.set_whole_weights(true);
    any.prepare(prior, total.data()), plain.prepare(prior, total.data());
  }
}

void outcomes_behind_tables_are_the_same() {
  std::mt19937_64 random(51);
  for (const bool weighted : {false, true}) {
    const During during(weighted ? "weighted" : "unweighted");
    check_behind_a_table(random_outcome<double>(kRows, 3, weighted, random), {0.5, 1.0, 2.0}, random);
    check_behind_a_table(Normal{random_numbers(-2.0, 2.0, random), random_weights(weighted, random), false, {}},
                         {0.1, 0.5, 1.5, 0.8}, random);
    check_behind_a_table(random_rates<GammaRate>(weighted, random), {2.0, 1.5}, random);
    check_behind_a_table(random_rates<BetaRate>(weighted, random), {2.0, 3.0}, random);
  }
}

std::vector<std::int64_t> random_wholes(std::int64_t low, std::int64_t high, std::mt19937_64& random) {
  std::vector<std::int64_t> result(kRows);
  for (std::int64_t& number : result) number = std::uniform_int_distribution<std::int64_t>(low, high)(random);
  return result;
}

// Sums of whole numbers, as statistics, are those of the reals; large numbers about a centre too.
template <class T>
void check_reals(const FixedPoint<T>& whole, const std::vector<double>& prior, std::mt19937_64& random) {
  const Ordered ordered(random);
  const auto any = any_outcome(whole);
  const AnyOutcome<double> reals = any.as_reals();
  const std::span<const Row> some = std::span<const Row>(ordered.rows).first(40);
  std::vector<Int128> sums(any.width());
  std::vector<double> converted(any.width()), expected(any.width());
  add_all(any, some, sums.data());
  add_all(reals, some, expected.data());
  any.convert(sums.data(), converted.data());
  for (std::size_t k = 0; k < converted.size(); ++k)
    check_near(converted[k], expected[k], 1e-12 * (1.0 + std::abs(expected[k])));
  for (const Row row : some) check_equal(any.weight_of(row), reals.weight_of(row));
  check_near(any.log_likelihood(prior, sums.data()), reals.log_likelihood(prior, expected.data()), 1e-9);
  check(any.has_exact_sums() && !reals.has_exact_sums(), "whole numbers add up exactly");
}

void fixed_points_are_reals() {
  std::mt19937_64 random(52);
  for (const bool weighted : {false, true}) {
    const During during(weighted ? "weighted" : "unweighted");
    const std::vector<std::int64_t> weight = weighted ? random_wholes(1, 9, random) : std::vector<std::int64_t>{};
    const double one = weighted ? 0.25 : 1.0, unit = std::ldexp(1.0, -20);
    const std::int64_t centre = std::int64_t{1} << 30;
    check_reals(FixedPoint<Normal>{{},
                                   {{one, one * unit, one * unit * unit}, centre},
                                   {random_wholes(centre - 3'000'000, centre + 3'000'000, random), {}},
                                   weight,
                                   one},
                {0.1, 0.5, 1.5, 0.8}, random);
    check_reals(FixedPoint<GammaRate>{{},
                                      {{one, one, one * 0.5, one * unit}, 0},
                                      {random_wholes(0, 9, random), random_wholes(1, 4, random),
                                       random_wholes(-1'000'000, 0, random)},
                                      weight,
                                      one},
                {2.0, 1.5}, random);
  }
}

const Suite suite{{
    {"outcomes behind tables are the same", outcomes_behind_tables_are_the_same},
    {"whole numbers are reals", fixed_points_are_reals},
}};

}  // namespace

}  // namespace baytree::tests
