// Sums over rows that are known by their codes: for every open node of a tree, feature and code how many rows there
// are, what their outcomes add up to, and the extremes of a number that tells outcomes apart. Sums of some rows and of
// others add up to those of all, whole number by whole number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "outcomes/whole.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

// A view of how rows go down a tree (growth/levels.hpp), and which of its nodes are open.
struct RouteView {
  std::span<const std::int32_t> feature, lower, upper;
  std::span<const std::int64_t> start;
  std::span<const std::uint8_t> goes_lower;
  std::span<const std::int32_t> open;  // by node: its number among the open ones, or -1
};

// Codes by column: that of a row is at [column * n_rows + row].
template <class Int>
struct CodeTable {
  const Int* codes;
  std::size_t n_rows, n_columns;
  std::span<const std::int64_t> first;  // by column: where its codes begin among those of all columns, and the end

  Int at(std::size_t column, std::size_t row) const { return codes[column * n_rows + row]; }
  std::size_t n_codes() const { return static_cast<std::size_t>(first.back()); }
};

// What each row adds: a class, or numbers.
struct TallyRows {
  std::span<const std::int64_t> numbers;  // n_numbers a row
  std::size_t n_numbers = 1;
  std::span<const std::int64_t> weight;  // empty: 1
  bool are_classes = false;              // the number is a class
  std::size_t n_classes = 0;

  std::size_t width() const { return are_classes ? n_classes : n_numbers == 1 ? 3 : n_numbers + 1; }
  std::int64_t weight_of(std::size_t row) const { return weight.empty() ? 1 : weight[row]; }
  std::int64_t key(std::size_t row) const {
    const std::int64_t* own = numbers.data() + row * n_numbers;
    return n_numbers == 1 ? own[0] : (own[0] << 31) + own[1];
  }
  void add(Whole128* sums, std::size_t row) const {
    const Whole128 w = weight_of(row);
    const std::int64_t* own = numbers.data() + row * n_numbers;
    if (are_classes) {
      sums[own[0]] += w;
    } else if (n_numbers == 1) {
      const Whole128 wu = w * own[0];
      sums[0] += w, sums[1] += wu, sums[2] += wu * own[0];
    } else {
      sums[0] += w;
      for (std::size_t k = 0; k < n_numbers; ++k) sums[k + 1] += w * own[k];
    }
  }
};

struct Tally {
  std::vector<std::int64_t> rows;       // by open node and code
  std::vector<Whole128> sums;           // width numbers each
  std::vector<std::int64_t> low, high;  // extremes of the key
};

// The open node that each row is in, or -1.
template <class Int>
std::vector<std::int32_t> open_nodes_of(const CodeTable<Int>& table, const RouteView& routes, std::size_t n_threads,
                                        Interrupt& interrupt) {
  std::vector<std::int32_t> result(table.n_rows);
  constexpr std::size_t rows_a_task = 16384;
  parallel_for(
      (table.n_rows + rows_a_task - 1) / rows_a_task, n_threads, interrupt, [&](std::size_t task, std::size_t) {
        for (std::size_t row = task * rows_a_task; row < std::min((task + 1) * rows_a_task, table.n_rows); ++row) {
          std::size_t node = 0;
          while (routes.feature[node] >= 0) {
            const std::size_t code = table.at(static_cast<std::size_t>(routes.feature[node]), row);
            const bool lower = routes.goes_lower[static_cast<std::size_t>(routes.start[node]) + code];
            node = static_cast<std::size_t>(lower ? routes.lower[node] : routes.upper[node]);
          }
          result[row] = routes.open[node];
        }
      });
  return result;
}

template <class Int>
Tally tally(const CodeTable<Int>& table, const RouteView& routes, const TallyRows& rows, std::size_t n_open,
            std::size_t n_threads, Interrupt& interrupt) {
  const std::size_t n_codes = table.n_codes(), width = rows.width();
  const std::vector<std::int32_t> open = open_nodes_of(table, routes, n_threads, interrupt);
  Tally result{std::vector<std::int64_t>(n_open * n_codes), std::vector<Whole128>(n_open * n_codes * width),
               std::vector<std::int64_t>(n_open * n_codes, std::numeric_limits<std::int64_t>::max()),
               std::vector<std::int64_t>(n_open * n_codes, std::numeric_limits<std::int64_t>::min())};
  parallel_for(table.n_columns, n_threads, interrupt, [&](std::size_t column, std::size_t) {
    const auto first = static_cast<std::size_t>(table.first[column]);
    for (std::size_t row = 0; row < table.n_rows; ++row) {
      if (open[row] < 0) continue;
      const std::size_t at = static_cast<std::size_t>(open[row]) * n_codes + first + table.at(column, row);
      const std::int64_t key = rows.key(row);
      ++result.rows[at];
      rows.add(result.sums.data() + at * width, row);
      result.low[at] = std::min(result.low[at], key);
      result.high[at] = std::max(result.high[at], key);
    }
  });
  return result;
}

}  // namespace baytree
