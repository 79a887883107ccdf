#include "data/scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "data/read.hpp"
#include "math/vector_math.hpp"

namespace baytree {

namespace {

// Of numbers that were scanned; comparisons with NaN are false, so that missing values change nothing but the sum.
struct Numbers {
  std::uint64_t bit_sum = 0;
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();
  std::uint64_t has_fraction = 0;

  void add(const Numbers& other) {
    bit_sum += other.bit_sum;
    lowest = std::min(lowest, other.lowest);
    highest = std::max(highest, other.highest);
    has_fraction |= other.has_fraction;
  }
};

// Scans numbers that lie side by side, as many as there are lanes, then those a step further, and so on.
template <std::size_t lanes>
std::array<Numbers, lanes> scan_lanes(const double* first, std::ptrdiff_t step, std::size_t n_steps) {
  return call_wide([=]() BAYTREE_INLINE {
    std::array<std::uint64_t, lanes> sum{}, has_fraction{};
    std::array<double, lanes> lowest, highest;
    lowest.fill(Numbers{}.lowest);
    highest.fill(Numbers{}.highest);
    const double* numbers = first;
    for (std::size_t i = 0; i < n_steps; ++i, numbers += step)
      for (std::size_t k = 0; k < lanes; ++k) {
        const double number = numbers[k];
        sum[k] += std::bit_cast<std::uint64_t>(number);
        lowest[k] = number < lowest[k] ? number : lowest[k];
        highest[k] = number > highest[k] ? number : highest[k];
        has_fraction[k] |= std::floor(number) < number ? 1 : 0;
      }
    std::array<Numbers, lanes> result;
    for (std::size_t k = 0; k < lanes; ++k) result[k] = {sum[k], lowest[k], highest[k], has_fraction[k]};
    return result;
  });
}

void scan_rows(const Table& table, std::size_t begin, std::size_t end, std::vector<Numbers>& columns) {
  constexpr std::size_t lanes = 8;
  const std::size_t n = end - begin;
  auto at = [&](std::size_t row, std::size_t column) {
    return table.column(column).data + static_cast<std::ptrdiff_t>(row) * table.row_stride;
  };
  std::size_t column = 0;
  if (table.row_stride == 1) {  // the lanes are rows
    for (; column < table.n_columns; ++column) {
      for (const Numbers& lane : scan_lanes<lanes>(at(begin, column), lanes, n / lanes)) columns[column].add(lane);
      columns[column].add(scan_lanes<1>(at(begin + n / lanes * lanes, column), 1, n % lanes)[0]);
    }
  } else if (table.column_stride == 1) {
    for (; column + lanes <= table.n_columns; column += lanes) {
      const std::array<Numbers, lanes> scanned = scan_lanes<lanes>(at(begin, column), table.row_stride, n);
      for (std::size_t k = 0; k < lanes; ++k) columns[column + k].add(scanned[k]);
    }
  }
  for (; column < table.n_columns; ++column)
    columns[column].add(scan_lanes<1>(at(begin, column), table.row_stride, n)[0]);
}

ColumnScan scan_of(const Numbers& numbers) {
  const bool has_numbers = numbers.lowest <= numbers.highest;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  return {numbers.bit_sum, has_numbers ? numbers.lowest + 0.0 : none,  // never -0: that depends on the order
          has_numbers ? numbers.highest + 0.0 : none, numbers.has_fraction == 0};
}

}  // namespace

std::vector<ColumnScan> scan(const Table& table, std::size_t n_threads, Interrupt& interrupt) {
  struct alignas(kApart) Part {
    std::vector<Numbers> columns;
  };
  std::vector<Part> parts(std::max<std::size_t>(n_threads, 1));
  for (Part& part : parts) part.columns.resize(table.n_columns);
  each_tile(table.n_rows, n_threads, interrupt, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    scan_rows(table, begin, end, parts[worker].columns);
  });
  std::vector<ColumnScan> result(table.n_columns);
  for (std::size_t k = 0; k < table.n_columns; ++k) {
    for (std::size_t i = 1; i < parts.size(); ++i) parts[0].columns[k].add(parts[i].columns[k]);
    result[k] = scan_of(parts[0].columns[k]);
  }
  return result;
}

}  // namespace baytree
