// What the engine asks of an outcome: additive statistics of a set of rows, and the log marginal
// likelihood they have under a conjugate prior. Everything else about trees is written once.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/sort.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

// Rows of a node in ascending order of a column are a span of entries; row_in_node(entry) is the position
// of the row among the rows that the outcome was narrowed to, same_value tells neighbours apart.
inline std::uint32_t row_in_node(Keyed entry) { return payload_of(entry); }
inline std::uint32_t row_in_node(Row row) { return row; }
inline bool same_value(Keyed a, Keyed b) { return key_of(a) == key_of(b); }

// An Outcome holds one record per row. `Number` is what its statistics are made of: whole numbers
// where counts are whole, float64 otherwise. A set of rows has width() numbers.
template <class T>
concept Outcome = requires(
    T root, const T outcome, typename T::Number* statistics, const typename T::Number* total, std::span<const Row> rows,
    std::vector<double> prior, std::size_t row, const typename T::Node node, std::span<const Keyed> order,
    std::span<const std::uint32_t> positions, std::span<const typename T::Number> sets, double* scores) {
  { outcome.n_rows() } -> std::convertible_to<std::size_t>;
  { outcome.width() } -> std::convertible_to<std::size_t>;
  { outcome.narrowed_to(rows) } -> std::same_as<T>;        // the same outcome, of these rows alone
  { outcome.weight_of(row) };                              // how often the row counts
  { outcome.weight_in(total) } -> std::same_as<double>;    // the same of a set of rows with these statistics
  {
    outcome.each_number(row, [](double) {})
  };             // tells what the outcome of a row consists of
  { root.set_weights(prior) };                             // gives every row a weight; none: it counts once
  { outcome.add(statistics, row) };                        // statistics += those of the row
  { outcome.same(row, row) } -> std::same_as<bool>;        // whether two rows have the same outcome
  { outcome.child_prior(prior, total, 0.0) } -> std::same_as<std::vector<double>>;  // prior, total, smoothing
  { outcome.log_likelihood(prior, total) } -> std::same_as<double>;
  { outcome.mean(prior, total, 1.0) } -> std::same_as<double>;  // prediction after so many times these rows
  { T::kMeanUnit } -> std::convertible_to<double>;  // differences of the mean far below this are rounding
  { outcome.n_orders() } -> std::convertible_to<std::size_t>;   // ways to order sets of rows by their outcomes
  { outcome.order_key(total, total, row) } -> std::same_as<double>;  // of a set in a node, in one of these ways
  { root.prepare(prior, total, Threads{}) };               // tables for the root's prior
  { outcome.node(prior, total) } -> std::same_as<typename T::Node>;

  // A Node scores the ways to divide a set of rows whose prior and total are known: the scores
  // log L(lower) + log L(upper) of the splits behind some positions of an order, from some lower statistics on.
  { node.split_scores(outcome, order, total, positions, scores) };
  // The same of sets whose statistics are given, one set after another.
  { node.set_scores(outcome, sets, scores) };
};

// An outcome whose splits can be bounded from the statistics at the edges of bins.
template <class T>
concept BoundedOutcome = Outcome<T> && requires(const T outcome, typename T::Number* statistics,
                                                const typename T::Number* total, std::span<const Row> rows,
                                                std::span<const std::uint8_t> bins, const typename T::Node node) {
  { outcome.counts_once() } -> std::same_as<bool>;             // whether every row has a weight of 1
  { outcome.add_by_bin(statistics, bins, rows) };              // add for many rows, each into its bin
  { node.split_score(total) } -> std::same_as<double>;         // of given lower statistics
  { node.upper_bound(total, total) } -> std::same_as<double>;  // of split_score over the box between two lowers
};

// How many rows of the table an entry stands for: one, unless the outcome says otherwise.
template <Outcome T>
std::size_t count_of(const T& outcome, std::size_t row) {
  if constexpr (requires { outcome.count_of(row); }) return outcome.count_of(row);
  else return 1;
}
template <class T>
concept CountedOutcome = Outcome<T> && requires(const T outcome, std::size_t row) { outcome.count_of(row); };

// Whether all rows of an ordered list have the same outcome: then there is nothing left to explain.
template <Outcome T, class Entry>
bool has_one_outcome(const T& outcome, std::span<const Entry> entries) {
  const std::uint32_t first = row_in_node(entries.front());
  for (const Entry entry : entries)
    if (!outcome.same(first, row_in_node(entry))) return false;
  return true;
}

}  // namespace baytree
