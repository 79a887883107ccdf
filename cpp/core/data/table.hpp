// Views of float64 matrices that the caller owns, and of their columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "types.hpp"

namespace baytree {

// A view of a column.
struct DenseColumn {
  const double* data = nullptr;
  std::ptrdiff_t stride = 1;  // in elements

  double at(Row row) const { return data[static_cast<std::ptrdiff_t>(row) * stride]; }
};

// A column of which only the nonzero values are stored, in ascending order of rows.
struct SparseColumn {
  std::span<const double> value;
  std::span<const std::int32_t> row;

  double at(Row of) const {
    const auto at = std::lower_bound(row.begin(), row.end(), static_cast<std::int32_t>(of));
    return at != row.end() && *at == static_cast<std::int32_t>(of) ? value[static_cast<std::size_t>(at - row.begin())]
                                                                   : 0.0;
  }
};

// A view of a matrix in any memory order.
struct Table {
  const double* data;
  std::size_t n_rows;
  std::size_t n_columns;
  std::ptrdiff_t row_stride;     // in elements
  std::ptrdiff_t column_stride;  // in elements

  double at(std::size_t row, std::size_t column) const {
    return data[static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(column) * column_stride];
  }
  DenseColumn column(std::size_t index) const {
    return {data + static_cast<std::ptrdiff_t>(index) * column_stride, row_stride};
  }
};

// A view of a matrix in compressed sparse columns.
struct SparseTable {
  std::size_t n_rows;
  std::size_t n_columns;
  std::span<const double> value;
  std::span<const std::int32_t> row;
  std::span<const std::int64_t> start;  // of each column's values, and one more for the end

  SparseColumn column(std::size_t index) const {
    const auto first = static_cast<std::size_t>(start[index]), stop = static_cast<std::size_t>(start[index + 1]);
    return {value.subspan(first, stop - first), row.subspan(first, stop - first)};
  }
};

// Either.
using AnyColumn = std::variant<DenseColumn, SparseColumn>;
class AnyTable {
 public:
  AnyTable(const Table& table) : table_(table) {}
  AnyTable(const SparseTable& table) : table_(table) {}

  template <class Use>
  decltype(auto) visit(Use&& use) const {
    return std::visit(use, table_);
  }
  std::size_t n_rows() const {
    return visit([](const auto& of) { return of.n_rows; });
  }
  std::size_t n_columns() const {
    return visit([](const auto& of) { return of.n_columns; });
  }
  AnyColumn column(std::size_t index) const {
    return visit([=](const auto& of) { return AnyColumn(of.column(index)); });
  }

 private:
  std::variant<Table, SparseTable> table_;
};

}  // namespace baytree
