// What the engine asks of an outcome: additive statistics of a set of rows, and the log marginal
// likelihood they have under a conjugate prior. Everything else about trees is written once.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "data/entries.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

// An Outcome holds one record per row. `Number` is what its statistics are made of: whole numbers
// where counts are whole, float64 otherwise. A set of rows has width() numbers.
template <class T>
concept Outcome = requires(
    T root, const T outcome, typename T::Number* statistics, const typename T::Number* total, std::span<const Row> rows,
    std::vector<double> prior, std::size_t row, const typename T::Node node, std::span<const Keyed> order,
    std::span<const std::uint32_t> positions, std::span<const typename T::Number> sets, double* scores) {
  { outcome.n_rows() } -> std::convertible_to<std::size_t>;
  { outcome.width() } -> std::convertible_to<std::size_t>;
  { outcome.narrowed_to(rows) } -> std::same_as<T>;                // the same outcome, of these rows alone
  { outcome.weight_of(row) };                                      // how often the row counts
  { outcome.counts_once() } -> std::same_as<bool>;  // whether every row has a weight of 1
  { outcome.weight_in(total) } -> std::same_as<double>;            // the same of a set of rows with these statistics
  { outcome.mark_of_row(row) } -> std::same_as<std::uint64_t>;     // tells the outcome of the row from others
  { root.set_weights(prior) };                                     // gives every row a weight; none: it counts once
  { outcome.add(statistics, row) };                                // statistics += those of the row
  { outcome.same(row, row) } -> std::same_as<bool>;                // whether two rows have the same outcome
  { outcome.child_prior(prior, total, 0.0) } -> std::same_as<std::vector<double>>;  // prior, total, smoothing
  { outcome.log_likelihood(prior, total) } -> std::same_as<double>;
  { outcome.mean(prior, total, 1.0) } -> std::same_as<double>;  // prediction after so many times these rows
  { outcome.mean_unit() } -> std::convertible_to<double>;  // differences of the mean far below this are rounding
  { outcome.n_orders() } -> std::convertible_to<std::size_t>;  // ways to order sets of rows by their outcomes
  { outcome.order_key(total, total, row) } -> std::same_as<double>;  // of a set in a node, in one of these ways
  { root.prepare(prior, total, Threads{}) };  // tables for the root's prior
  { outcome.node(prior, total) } -> std::same_as<typename T::Node>;

  // A Node scores the ways to divide a set of rows whose prior and total are known: the scores
  // log L(lower) + log L(upper) of the splits behind some positions of an order, from some lower statistics on.
  { node.split_scores(outcome, order, total, positions, scores) };
  // The scores of sets whose statistics are given, one set after another.
  { node.set_scores(outcome, sets, scores) };
};

// An outcome whose splits can be bounded from the statistics at the edges of bins.
template <class T>
concept BoundedOutcome = Outcome<T> && requires(const T outcome, typename T::Number* statistics,
                                                const typename T::Number* total, std::span<const Row> rows,
                                                std::span<const std::uint8_t> bins, const typename T::Node node) {
  { outcome.add_by_bin(statistics, bins, rows) };  // add for many rows, each into its bin
  { node.split_score(total) } -> std::same_as<double>;  // of given lower statistics
  { node.upper_bound(total, total) } -> std::same_as<double>;  // of split_score over the box between two lowers
};

// Whether this outcome, of all that its type stands for, is one.
template <Outcome T>
bool has_bounds(const T& outcome) {
  if constexpr (requires { outcome.has_bounds(); }) return outcome.has_bounds();
  else return BoundedOutcome<T>;
}

// Whether sums do not depend on the order of additions: counts, whole numbers, and weights on a grid that leaves
// float64 room for all of them.
template <Outcome T>
bool has_exact_sums(const T& outcome) {
  if constexpr (requires { outcome.has_exact_sums(); }) return outcome.has_exact_sums();
  else return false;
}

// Whether trees of an outcome are grown of packed codes alone: then there are no hyperplanes and no look-ahead.
template <Outcome T>
inline constexpr bool kOfCodesAlone = std::is_same_v<typename T::Number, Int128>;

// How many rows of the table an entry stands for: one, unless the outcome says otherwise.
template <Outcome T>
std::size_t count_of(const T& outcome, std::size_t row) {
  if constexpr (requires { outcome.count_of(row); }) return outcome.count_of(row);
  else return 1;
}
template <class T>
concept CountedOutcome = Outcome<T> && requires(const T outcome, std::size_t row) { outcome.count_of(row); };

// A number for some others, in their order; and for one more behind those that have a mark.
inline std::uint64_t mark_of_number(std::uint64_t before, double number) {
  return mark_of(before + std::bit_cast<std::uint64_t>(number + 0.0));
}
inline std::uint64_t mark_of_numbers(std::initializer_list<double> numbers) {
  std::uint64_t mark = 0;
  for (const double number : numbers) mark = mark_of_number(mark, number);
  return mark;
}

// What follows does the same for many rows. An outcome behind a table of functions (any_outcome.hpp) is asked once.

// Whether all rows of an ordered list have the same outcome: then there is nothing left to explain.
template <Outcome T, class Entry>
bool has_one_outcome(const T& outcome, std::span<const Entry> entries) {
  if constexpr (requires { outcome.has_one(entries); }) {
    return outcome.has_one(entries);
  } else {
    const std::uint32_t first = row_in_node(entries.front());
    for (const Entry entry : entries)
      if (!outcome.same(first, row_in_node(entry))) return false;
    return true;
  }
}

// Adds the statistics of some rows to others.
template <Outcome T, class Entry>
void add_all(const T& outcome, std::span<const Entry> entries, typename T::Number* statistics) {
  if constexpr (requires { outcome.add_all(entries, statistics); }) outcome.add_all(entries, statistics);
  else
    for (const Entry entry : entries) outcome.add(statistics, row_in_node(entry));
}

// The statistics of each of some rows, one behind the other.
template <Outcome T>
void statistics_of_each(const T& outcome, std::span<const Row> rows, typename T::Number* result) {
  if constexpr (requires { outcome.statistics_of_each(rows, result); }) {
    outcome.statistics_of_each(rows, result);
  } else {
    std::fill_n(result, rows.size() * outcome.width(), typename T::Number{0});
    for (std::size_t i = 0; i < rows.size(); ++i) outcome.add(result + i * outcome.width(), rows[i]);
  }
}

// The prediction after so many times the rows of each of some sets.
template <Outcome T>
void means_of_each(const T& outcome, const std::vector<double>& prior, std::span<const typename T::Number> sets,
                   double times, double* result) {
  if constexpr (requires { outcome.means_of_each(prior, sets, times, result); })
    outcome.means_of_each(prior, sets, times, result);
  else
    for (std::size_t i = 0; i * outcome.width() < sets.size(); ++i)
      result[i] = outcome.mean(prior, &sets[i * outcome.width()], times);
}

// The ways to order sets that tell most in a node, at most so many, in ascending order.
template <Outcome T>
std::vector<std::size_t> orders_of(const T& outcome, const typename T::Number* node, std::size_t most) {
  if constexpr (requires { outcome.orders_of(node, most); }) {
    return outcome.orders_of(node, most);
  } else {
    std::vector<std::size_t> orders(std::min(outcome.n_orders(), most));
    std::iota(orders.begin(), orders.end(), std::size_t{0});
    return orders;
  }
}

// Where each of some rows alone is, in one of the ways to order sets.
template <Outcome T>
void order_keys_of_each(const T& outcome, std::span<const Row> rows, const typename T::Number* node, std::size_t order,
                        double* result) {
  if constexpr (requires { outcome.order_keys_of_each(rows, node, order, result); }) {
    outcome.order_keys_of_each(rows, node, order, result);
  } else if constexpr (requires { outcome.order_key_of_row(rows[0], order); }) {
    for (std::size_t i = 0; i < rows.size(); ++i) result[i] = outcome.order_key_of_row(rows[i], order);
  } else {
    std::vector<typename T::Number> row(outcome.width());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::fill(row.begin(), row.end(), typename T::Number{0});
      outcome.add(row.data(), rows[i]);
      result[i] = outcome.order_key(row.data(), node, order);
    }
  }
}

}  // namespace baytree
