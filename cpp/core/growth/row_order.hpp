// Puts the rows of a table in an order that their contents decide and makes equal ones one row with all their weight. A
// tree that is grown from these rows is the same for any order of the table, bit for bit, and a row of weight 2 is the
// row twice: sums that decide, samples and what is taken from the middle see the same rows with the same weights.
//
// The order is that of two marks, of 64 bits each, that codes and outcome add up to; rows with equal marks are equal.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "data/columns.hpp"
#include "data/row_order.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

namespace detail {

struct MarkedRow {
  std::uint64_t of_point = 0, of_all = 0;  // of the columns that hyperplanes can use; of all of them and the outcome
  double weight = 0.0;
  Row row = 0;

  bool equals(const MarkedRow& other) const { return of_point == other.of_point && of_all == other.of_all; }
  bool operator<(const MarkedRow& other) const {
    return std::tie(of_point, of_all, weight) < std::tie(other.of_point, other.of_all, other.weight);
  }
};

template <Outcome T>
std::vector<MarkedRow> mark_rows(const Columns& columns, const T& outcome, const Settings& settings,
                                 const std::vector<double>& weights) {
  std::vector<MarkedRow> marked(columns.n_rows);
  for (std::size_t row = 0; row < marked.size(); ++row) {
    marked[row].row = static_cast<Row>(row);
    marked[row].weight = weights.empty() ? 1.0 : weights[row];
    outcome.each_number(row, [&mark = marked[row].of_all](double number) {
      mark = mark_of(mark + std::bit_cast<std::uint64_t>(number + 0.0));
    });
  }
  for (std::size_t f = 0; f < columns.columns.size(); ++f) {
    stop_if_asked();
    const Column& column = columns.columns[f];
    if (column.n_codes < 2) continue;
    const bool is_part = !column.is_categorical && settings.direction(f) == 0;
    std::visit(
        [&](const auto& codes) {
          for (std::size_t row = 0; row < marked.size(); ++row) {
            const std::uint64_t mark = mark_of(std::uint64_t{f} << 32 | codes[row]);
            marked[row].of_point += is_part ? mark : 0;
            marked[row].of_all += std::rotl(mark, 29);
          }
        },
        column.codes);
  }
  return marked;
}

}  // namespace detail

// The order of rows with given weights (none: all of 1), which become those that equal rows have together. Where leaves
// must have several rows, a row of weight 2 is one row, and equal rows stay apart. `stands_for` tells of every row
// which one it is part of.
template <Outcome T>
RowOrder order_weighted_rows(const Columns& columns, const T& outcome, const Settings& settings,
                             std::vector<double>& weights, std::vector<Row>* stands_for = nullptr) {
  std::vector<detail::MarkedRow> marked = detail::mark_rows(columns, outcome, settings, weights);
  std::sort(marked.begin(), marked.end());
  stop_if_asked();
  const bool join = settings.limits.min_samples_leaf < 2;
  std::vector<Row> rows;
  std::vector<std::uint32_t> points(marked.size()), times(join ? marked.size() : 0, 1);
  weights.assign(marked.size(), 1.0);
  std::uint32_t point = 0;
  for (std::size_t first = 0, next = 0; first < marked.size(); first = next) {
    if (first > 0 && marked[first].of_point != marked[first - 1].of_point) ++point;
    double weight = 0.0;
    while (next == first || (join && next < marked.size() && marked[first].equals(marked[next]))) {
      const std::size_t begin = next;  // of those that have the same weight too
      do ++next;
      while (join && next < marked.size() && marked[begin].equals(marked[next]) &&
             marked[begin].weight == marked[next].weight);
      weight += static_cast<double>(next - begin) * marked[begin].weight;
    }
    const Row row = marked[first].row;
    rows.push_back(row);
    points[row] = point;
    if (join) times[row] = static_cast<std::uint32_t>(next - first);
    weights[row] = weight;
    for (std::size_t i = first; stands_for && i < next; ++i) (*stands_for)[marked[i].row] = row;
  }
  auto shared = [](std::vector<std::uint32_t> numbers) {
    return std::make_shared<const std::vector<std::uint32_t>>(std::move(numbers));
  };
  return {std::move(rows), join ? shared(std::move(times)) : nullptr, shared(std::move(points))};
}

// The same of rows with the weights that the outcome has; it gets those that equal rows have together.
template <Outcome T>
RowOrder order_rows(const Columns& columns, T& outcome, const Settings& settings) {
  std::vector<double> weights(columns.n_rows);
  for (std::size_t row = 0; row < weights.size(); ++row) weights[row] = static_cast<double>(outcome.weight_of(row));
  RowOrder result = order_weighted_rows(columns, outcome, settings, weights);
  const bool all_once = std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 1.0; });
  outcome.set_weights(all_once ? std::vector<double>{} : weights);
  return result;
}

}  // namespace baytree
