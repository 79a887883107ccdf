// Counts the rows of a node by code: what the rows of every feature and code add up to. Where sums are exact, those of
// a node less those of one child are those of the other, so that only the smaller child is counted.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/row_codes.hpp"
#include "outcomes/categorical.hpp"
#include "outcomes/fixed_point.hpp"
#include "outcomes/outcome.hpp"
#include "types.hpp"

namespace baytree {

template <class Number>
struct RowSums {
  std::vector<Number> statistics;  // width numbers a code, the codes of a column behind those of the one before
  std::vector<std::int64_t> n_rows;  // by code; empty: as many as they weigh, or nobody asks

  void clear(std::size_t n_codes, std::size_t width, bool count_rows) {
    statistics.assign(n_codes * width, Number{0});
    n_rows.assign(count_rows ? n_codes : 0, 0);
  }
  // One of so many parts of them.
  void add(const RowSums& other, std::size_t part, std::size_t n_parts) {
    const auto begin = [&](std::size_t n, std::size_t of) { return n * of / n_parts; };
    for (std::size_t i = begin(statistics.size(), part); i < begin(statistics.size(), part + 1); ++i)
      statistics[i] += other.statistics[i];
    for (std::size_t i = begin(n_rows.size(), part); i < begin(n_rows.size(), part + 1); ++i)
      n_rows[i] += other.n_rows[i];
  }
  void subtract(const RowSums& other) {
    for (std::size_t i = 0; i < statistics.size(); ++i) statistics[i] -= other.statistics[i];
    for (std::size_t i = 0; i < n_rows.size(); ++i) n_rows[i] -= other.n_rows[i];
  }
};

namespace detail {

inline constexpr std::size_t kByteCodes = 256;
inline constexpr std::size_t kFewRows = 256;

template <std::size_t known, class Count, class Int>
void count_classes(const Categorical<Count>& outcome, const CodesOfWidth<Int>& table, std::span<const Row> rows,
                   Count* statistics) {
  const std::size_t width = known > 0 ? known : outcome.n_classes, d = table.n_columns, n = rows.size();
  const std::size_t* first = table.first;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kRowsAhead < n) fetch(table.of(rows[i + kRowsAhead]));
    const Row row = rows[i];
    const Int* row_codes = table.of(row);
    Count* of_class = statistics + outcome.y[row];
    const Count weight = outcome.weight_of(row);
    for (std::size_t f = 0; f < d; ++f) of_class[(first[f] + row_codes[f]) * width] += weight;
  }
}

// Rows that count once, with codes of one byte: no more than 65535 rows are counted in 16 bits, all columns alike, so
// that the sums stay in the nearest cache.
template <std::size_t known>
void count_narrow(const Class* y, std::size_t n_classes, const CodesOfWidth<std::uint8_t>& table,
                  std::span<const Row> rows, std::uint16_t* counts) {
  const std::size_t width = known > 0 ? known : n_classes, d = table.n_columns, n = rows.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kRowsAhead < n) {
      fetch(table.of(rows[i + kRowsAhead]));
      fetch(table.of(rows[i + kRowsAhead]) + d - 1);
      fetch(y + rows[i + kRowsAhead]);
    }
    const std::uint8_t* row_codes = table.of(rows[i]);
    std::uint16_t* of_class = counts + y[rows[i]];
    std::size_t f = 0;
    for (; f + 4 <= d; f += 4, of_class += 4 * kByteCodes * width) {
      ++of_class[row_codes[f] * width];
      ++of_class[(kByteCodes + row_codes[f + 1]) * width];
      ++of_class[(2 * kByteCodes + row_codes[f + 2]) * width];
      ++of_class[(3 * kByteCodes + row_codes[f + 3]) * width];
    }
    for (; f < d; ++f, of_class += kByteCodes * width) ++of_class[row_codes[f] * width];
  }
}

template <class Count>
void count_narrow(const Categorical<Count>& outcome, const CodesOfWidth<std::uint8_t>& table, std::span<const Row> rows,
                  Count* statistics, std::vector<std::uint16_t>& counts) {
  const std::size_t width = outcome.n_classes, d = table.n_columns;
  for (std::size_t begin = 0; begin < rows.size(); begin += 65535) {
    const std::span<const Row> part = rows.subspan(begin, std::min<std::size_t>(rows.size() - begin, 65535));
    counts.assign(d * kByteCodes * width, 0);
    if (width == 2) count_narrow<2>(outcome.y.data(), 2, table, part, counts.data());
    else count_narrow<0>(outcome.y.data(), width, table, part, counts.data());
    for (std::size_t f = 0; f < d; ++f) {
      const std::uint16_t* from = counts.data() + f * kByteCodes * width;
      Count* to = statistics + table.first[f] * width;
      const std::size_t n = (table.first[f + 1] - table.first[f]) * width;
      for (std::size_t k = 0; k < n; ++k) to[k] += static_cast<Count>(from[k]);
    }
  }
}

template <class Count, class Int>
void count_at_width(const Categorical<Count>& outcome, const CodesOfWidth<Int>& table, std::span<const Row> rows,
                    Count* statistics, std::vector<std::uint16_t>& counts) {
  if constexpr (sizeof(Int) == 1) {
    // It takes as many rows to be worth clearing and adding all counts.
    if (outcome.weight.empty() && rows.size() > kFewRows) return count_narrow(outcome, table, rows, statistics, counts);
  }
  if (outcome.n_classes == 2) count_classes<2>(outcome, table, rows, statistics);
  else count_classes<0>(outcome, table, rows, statistics);
}

template <class T, class Int>
void count_at_width(const FixedPoint<T>& outcome, const CodesOfWidth<Int>& table, std::span<const Row> rows,
                    Int128* statistics, std::vector<std::uint16_t>&) {
  constexpr std::size_t width = FixedPoint<T>::kWidth;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kRowsAhead < rows.size()) fetch(table.of(rows[i + kRowsAhead]));
    std::array<Int128, width> of_row{};
    outcome.add(of_row.data(), rows[i]);
    const Int* row_codes = table.of(rows[i]);
    for (std::size_t f = 0; f < table.n_columns; ++f) {
      Int128* at = statistics + (table.first[f] + row_codes[f]) * width;
      for (std::size_t k = 0; k < width; ++k) at[k] += of_row[k];
    }
  }
}

}  // namespace detail

// Adds the statistics of some rows to those of their codes; `counts` is work space.
template <Outcome T>
void add_by_code(const T& outcome, const RowCodes& table, std::span<const Row> rows, typename T::Number* statistics,
                 std::vector<std::uint16_t>& counts) {
  if constexpr (requires { outcome.add_by_code(table, rows, statistics, counts); })
    outcome.add_by_code(table, rows, statistics, counts);
  else table.visit([&](const auto& codes) { detail::count_at_width(outcome, codes, rows, statistics, counts); });
}

// Adds some rows to the sums.
template <Outcome T>
void count_rows(const T& outcome, const RowCodes& table, std::span<const Row> rows, RowSums<typename T::Number>& sums,
                std::vector<std::uint16_t>& counts) {
  add_by_code(outcome, table, rows, sums.statistics.data(), counts);
  if (sums.n_rows.empty()) return;
  table.visit([&](const auto& codes) {
    for (const Row row : rows) {
      const auto* row_codes = codes.of(row);
      for (std::size_t f = 0; f < codes.n_columns; ++f) ++sums.n_rows[codes.first[f] + row_codes[f]];
    }
  });
}

}  // namespace baytree
