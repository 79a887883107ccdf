// What the engine asks of an outcome: additive statistics of a set of rows, and the log marginal
// likelihood they have under a conjugate prior. Everything else about trees is written once.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "sort.hpp"
#include "types.hpp"

namespace baytree {

// Rows of a node in ascending order of a column are a span of entries; row_in_node(entry) is the position
// of the row among the rows that the outcome was narrowed to, same_value tells neighbours apart.
inline std::uint32_t row_in_node(Keyed entry) { return payload_of(entry); }
inline bool same_value(Keyed a, Keyed b) { return key_of(a) == key_of(b); }

// An Outcome holds one record per row. `Number` is what its statistics are made of: whole numbers
// where counts are whole, float64 otherwise. A set of rows has width() numbers.
template <class T>
concept Outcome = requires(const T outcome, typename T::Number* statistics, const typename T::Number* total,
                           std::span<const Row> rows, std::span<const std::uint8_t> bins, std::vector<double> prior, std::size_t row,
                           const typename T::Node node, std::span<const Keyed> order,
                           std::span<const std::uint32_t> positions, double* scores) {
  { outcome.width() } -> std::convertible_to<std::size_t>;
  { outcome.narrowed_to(rows) } -> std::same_as<T>;       // the same outcome, of these rows alone
  { outcome.weight_of(row) };                             // how often the row counts
  { outcome.add(statistics, row) };                       // statistics += those of the row
  { outcome.add_by_bin(statistics, bins, rows) };         // the same for many rows, each into its bin
  { outcome.has_one_value(total, row) } -> std::same_as<bool>;  // nothing left to explain in `row` rows
  { outcome.child_prior(prior, total, 0.0) } -> std::same_as<std::vector<double>>;
  { outcome.log_likelihood(prior, total) } -> std::same_as<double>;
  { outcome.node(prior, total) } -> std::same_as<typename T::Node>;

  // A Node scores the ways to divide a set of rows whose prior and total are known:
  { node.split_score(total) } -> std::same_as<double>;       // lower statistics -> log L(lower) + log L(upper)
  { node.upper_bound(total, total) } -> std::same_as<double>;  // of split_score over the box between two lowers
  // Scores of the cuts behind the given positions of an order, from given lower statistics on.
  { node.split_scores(outcome, order, total, positions, scores) };
};

}  // namespace baytree
