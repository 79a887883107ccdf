// Sums over rows that are known by their codes: for every open node of a tree, feature and code how many rows there
// are, what their outcomes add up to, and the extremes of a number that tells outcomes apart. Sums of some rows and of
// others add up to those of all, whole number by whole number.
//
// The rows are put in the order of their nodes first, so that the sums of one node at a time are in the cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "outcomes/fixed_point.hpp"
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

// Codes, those of a row side by side.
template <class Int>
struct CodeTable {
  const Int* codes;
  std::size_t n_rows, n_columns;
  std::span<const std::int64_t> first;  // by column: where its codes begin among those of all columns, and the end

  const Int* of(std::size_t row) const { return codes + row * n_columns; }
  std::size_t n_codes() const { return static_cast<std::size_t>(first.back()); }
};

// The open node that each row is in, or -1.
template <class Int>
std::vector<std::int32_t> open_nodes_of(const CodeTable<Int>& table, const RouteView& routes, std::size_t n_threads,
                                        Interrupt& interrupt) {
  std::vector<std::int32_t> result(table.n_rows);
  constexpr std::size_t rows_a_task = 16384;
  parallel_for((table.n_rows + rows_a_task - 1) / rows_a_task, n_threads, interrupt,
               [&](std::size_t task, std::size_t) {
                 const std::size_t stop = std::min((task + 1) * rows_a_task, table.n_rows);
                 for (std::size_t row = task * rows_a_task; row < stop; ++row) {
                   const Int* codes = table.of(row);
                   std::size_t node = 0;
                   while (routes.feature[node] >= 0) {
                     const auto code = static_cast<std::size_t>(codes[routes.feature[node]]);
                     const bool lower = routes.goes_lower[static_cast<std::size_t>(routes.start[node]) + code];
                     node = static_cast<std::size_t>(lower ? routes.lower[node] : routes.upper[node]);
                   }
                   result[row] = routes.open[node];
                 }
               });
  return result;
}

// The rows of open nodes, node after node.
struct RowsByNode {
  std::vector<Row> rows;
  std::vector<std::size_t> start;  // by open node, and the end

  RowsByNode(std::span<const std::int32_t> open, std::size_t n_open) : start(n_open + 1) {
    for (const std::int32_t node : open)
      if (node >= 0) ++start[static_cast<std::size_t>(node) + 1];
    for (std::size_t node = 0; node < n_open; ++node) start[node + 1] += start[node];
    rows.resize(start.back());
    std::vector<std::size_t> next = start;
    for (std::size_t row = 0; row < open.size(); ++row)
      if (open[row] >= 0) rows[next[static_cast<std::size_t>(open[row])]++] = static_cast<Row>(row);
  }
  std::size_t size() const { return start.size() - 1; }
  std::span<const Row> of(std::size_t node) const { return {rows.data() + start[node], start[node + 1] - start[node]}; }
};

// Classes: by open node, code and class what the rows weigh, and by open node and code how many they are where that is
// something else.
struct ClassTally {
  std::vector<std::int64_t> weights, rows;
};

template <class Int>
ClassTally tally_classes(const CodeTable<Int>& table, const RowsByNode& nodes, std::span<const std::int64_t> classes,
                         std::optional<std::span<const std::int64_t>> weight, std::size_t n_classes,
                         std::size_t n_threads, Interrupt& interrupt) {
  const std::size_t n_codes = table.n_codes(), d = table.n_columns;
  ClassTally result{std::vector<std::int64_t>(nodes.size() * n_codes * n_classes),
                    std::vector<std::int64_t>(weight ? nodes.size() * n_codes : 0)};
  const std::size_t columns_a_task = n_threads > 1 ? (d + n_threads - 1) / n_threads : d;
  const std::size_t n_groups = (d + columns_a_task - 1) / columns_a_task;
  parallel_for(nodes.size() * n_groups, n_threads, interrupt, [&](std::size_t task, std::size_t) {
    const std::size_t node = task / n_groups, from = task % n_groups * columns_a_task;
    const std::size_t to = std::min(from + columns_a_task, d);
    std::int64_t* sums = result.weights.data() + node * n_codes * n_classes;
    for (const Row row : nodes.of(node)) {
      const Int* codes = table.of(row);
      std::int64_t* of_class = sums + classes[row];
      const std::int64_t w = weight ? (*weight)[row] : 1;
      for (std::size_t f = from; f < to; ++f)
        of_class[(static_cast<std::size_t>(table.first[f]) + codes[f]) * n_classes] += w;
    }
    if (!weight) return;
    std::int64_t* n = result.rows.data() + node * n_codes;
    for (const Row row : nodes.of(node)) {
      const Int* codes = table.of(row);
      for (std::size_t f = from; f < to; ++f) ++n[static_cast<std::size_t>(table.first[f]) + codes[f]];
    }
  });
  return result;
}

// What each row adds: its weight and weighted numbers; of a single number its square, of two the log of a factor, which
// is 0 here.
struct TallyRows {
  std::span<const std::int64_t> numbers;  // n_numbers a row
  std::size_t n_numbers = 1;
  std::span<const std::int64_t> weight;  // empty: 1

  std::size_t width() const { return n_numbers == 1 ? 3 : 4; }
  std::int64_t key(std::size_t row) const {
    const std::int64_t* of_row = numbers.data() + row * n_numbers;
    return n_numbers == 1 ? of_row[0] : (of_row[0] << 31) + of_row[1];
  }
  template <std::size_t width>
  std::array<Int128, width> of(std::size_t row) const {
    const Int128 w = weight.empty() ? 1 : weight[row];
    const std::int64_t* of_row = numbers.data() + row * n_numbers;
    std::array<Int128, width> result{w};
    if (n_numbers == 1) result[1] = w * of_row[0], result[2] = result[1] * of_row[0];
    else result[1] = w * of_row[0], result[2] = w * of_row[1];
    return result;
  }
};

struct Tally {
  std::vector<std::int64_t> rows;  // by open node and code
  std::vector<Int128> sums;  // width numbers each
  std::vector<std::int64_t> low, high;  // extremes of the key
};

namespace detail {

// The sums of a code.
template <std::size_t width>
struct CodeTally {
  std::array<Int128, width> sums{};
  std::int64_t rows = 0, low = std::numeric_limits<std::int64_t>::max(),
               high = std::numeric_limits<std::int64_t>::min();
};

template <std::size_t width, class Int>
void tally_node(const CodeTable<Int>& table, std::span<const Row> node_rows, const TallyRows& rows, std::size_t node,
                Tally& result) {
  const std::size_t n_codes = table.n_codes();
  std::vector<CodeTally<width>> codes(n_codes);
  for (const Row row : node_rows) {
    const std::array<Int128, width> of_row = rows.of<width>(row);
    const std::int64_t key = rows.key(row);
    const Int* at = table.of(row);
    for (std::size_t f = 0; f < table.n_columns; ++f) {
      CodeTally<width>& code = codes[static_cast<std::size_t>(table.first[f]) + at[f]];
      for (std::size_t k = 0; k < width; ++k) code.sums[k] += of_row[k];
      ++code.rows;
      code.low = std::min(code.low, key), code.high = std::max(code.high, key);
    }
  }
  for (std::size_t i = 0, at = node * n_codes; i < n_codes; ++i, ++at) {
    result.rows[at] = codes[i].rows, result.low[at] = codes[i].low, result.high[at] = codes[i].high;
    std::copy(codes[i].sums.begin(), codes[i].sums.end(),
              result.sums.begin() + static_cast<std::ptrdiff_t>(at * width));
  }
}

}  // namespace detail

// Numbers, one or two.
template <class Int>
Tally tally(const CodeTable<Int>& table, const RowsByNode& nodes, const TallyRows& rows, std::size_t n_threads,
            Interrupt& interrupt) {
  const std::size_t n = nodes.size() * table.n_codes();
  Tally result{std::vector<std::int64_t>(n), std::vector<Int128>(n * rows.width()), std::vector<std::int64_t>(n),
               std::vector<std::int64_t>(n)};
  parallel_for(nodes.size(), n_threads, interrupt, [&](std::size_t node, std::size_t) {
    if (rows.width() == 3) detail::tally_node<3>(table, nodes.of(node), rows, node, result);
    else detail::tally_node<4>(table, nodes.of(node), rows, node, result);
  });
  return result;
}

}  // namespace baytree
