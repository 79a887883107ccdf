// Tables that own their values.
#pragma once

#include <cstdint>
#include <vector>

#include "data/columns.hpp"
#include "data/encode.hpp"
#include "data/table.hpp"
#include "parallel.hpp"

namespace baytree::tests {

using Values = std::vector<double>;

enum class Layout { row_major, column_major, rows_backwards };

// A table that owns its values; table.at gives the same in every layout.
struct OwnedTable {
  Values data;
  Table table;

  OwnedTable(const std::vector<Values>& columns, Layout layout) : data(columns.size() * columns[0].size()) {
    const std::size_t n = columns[0].size(), d = columns.size();
    const std::size_t start = layout == Layout::rows_backwards ? (n - 1) * d : 0;
    std::ptrdiff_t row_stride = static_cast<std::ptrdiff_t>(d), column_stride = 1;
    if (layout == Layout::rows_backwards) row_stride = -row_stride;
    if (layout == Layout::column_major) row_stride = 1, column_stride = static_cast<std::ptrdiff_t>(n);
    table = {data.data() + start, n, d, row_stride, column_stride};
    double* first = data.data() + start;
    for (std::size_t row = 0; row < n; ++row)
      for (std::size_t column = 0; column < d; ++column)
        first[static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(column) * column_stride] =
            columns[column][row];
  }
  OwnedTable(const OwnedTable&) = delete;  // the table points into the data
  OwnedTable& operator=(const OwnedTable&) = delete;
};

// A table with only the values that are not zero.
struct OwnedSparseTable {
  Values value;
  std::vector<std::int32_t> row;
  std::vector<std::int64_t> start{0};
  SparseTable table;

  explicit OwnedSparseTable(const std::vector<Values>& columns) {
    for (const Values& column : columns) {
      for (std::size_t i = 0; i < column.size(); ++i)
        if (column[i] != 0.0) value.push_back(column[i]), row.push_back(static_cast<std::int32_t>(i));
      start.push_back(static_cast<std::int64_t>(value.size()));
    }
    table = {columns[0].size(), columns.size(), value, row, start};
  }
  OwnedSparseTable(const OwnedSparseTable&) = delete;  // the table points into the data
  OwnedSparseTable& operator=(const OwnedSparseTable&) = delete;
};

inline Columns encode_numbers(const Table& table, std::size_t n_bins, std::size_t n_threads, Interrupt& interrupt) {
  return encode(table, {std::vector<std::uint8_t>(table.n_columns), n_bins, true}, n_threads, interrupt);
}

}  // namespace baytree::tests
