// The few types that every part of the core shares.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>

namespace baytree {

using Row = std::uint32_t;    // position of a row in the table
using Code = std::uint32_t;   // rank of a value among the distinct values of its column
using Class = std::uint16_t;  // position of a class among the classes

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Terms this far (in nats) below the largest leave a float64 sum as it is.
inline constexpr double kInvisible = 40.0;

// Scores this near to the best count as equal to it, so that rounding decides nothing.
inline double tie_tolerance(double best) { return 1e-9 * (1.0 + (best < 0 ? -best : best)); }

// The same where many scores are put in order.
inline double without_rounding_error(double score) {
  constexpr double unit = 1 << 20;
  return std::nearbyint(score * unit) / unit;
}

// Throws where the arguments of a call break what it asks of them.
inline void require(bool holds, const char* contract) {
  if (!holds) throw std::invalid_argument(contract);
}

// A number for each thing that can be numbered, so that the sum over a set tells sets apart.
inline std::uint64_t mark_of(std::uint64_t number) {
  std::uint64_t z = (number + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// The values of a column, owned by somebody else.
struct DenseColumn {
  const double* data = nullptr;
  std::ptrdiff_t stride = 1;  // in elements

  double at(Row row) const { return data[static_cast<std::ptrdiff_t>(row) * stride]; }
};

// The same where only the values are given that are not zero, by ascending row.
struct SparseColumn {
  std::span<const double> value;
  std::span<const std::int32_t> row;

  double at(Row of) const {
    const auto found = std::lower_bound(row.begin(), row.end(), static_cast<std::int32_t>(of));
    return found != row.end() && *found == static_cast<std::int32_t>(of)
               ? value[static_cast<std::size_t>(found - row.begin())]
               : 0.0;
  }
};

// A float64 matrix of any memory order, owned by somebody else.
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

// A float64 matrix by column, of the values that are not zero; owned by somebody else.
struct SparseTable {
  std::size_t n_rows;
  std::span<const double> value;
  std::span<const std::int32_t> row;
  std::span<const std::int64_t> start;  // of each column's values, and one more for the end

  std::size_t n_columns() const { return start.size() - 1; }
  SparseColumn column(std::size_t index) const {
    const auto first = static_cast<std::size_t>(start[index]), stop = static_cast<std::size_t>(start[index + 1]);
    return {value.subspan(first, stop - first), row.subspan(first, stop - first)};
  }
};

}  // namespace baytree
