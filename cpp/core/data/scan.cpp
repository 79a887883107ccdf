#include "data/scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "data/read.hpp"
#include "math/vector_math.hpp"

namespace baytree {

namespace {

// Looks at numbers that lie side by side, as many as there are lanes, then at those a step further, and so on.
template <std::size_t lanes>
void scan_lanes(const double* first, std::ptrdiff_t step, std::size_t n_steps, std::uint64_t* sums,
                bool& has_infinity) {
  has_infinity |= call_wide([=]() BAYTREE_INLINE {
    constexpr std::uint64_t infinity = std::uint64_t{0x7ff} << 53;  // without the sign
    std::array<std::uint64_t, lanes> sum{}, infinite{};
    const double* numbers = first;
    for (std::size_t i = 0; i < n_steps; ++i, numbers += step)
      for (std::size_t k = 0; k < lanes; ++k) {
        const auto bits = std::bit_cast<std::uint64_t>(numbers[k]);
        sum[k] += bits;
        infinite[k] |= bits << 1 == infinity ? 1 : 0;
      }
    std::uint64_t any = 0;
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += sum[k], any |= infinite[k];
    return any != 0;
  });
}

void scan_rows(const Table& table, std::size_t begin, std::size_t end, TableScan& result) {
  constexpr std::size_t lanes = 8;
  const std::size_t n = end - begin;
  auto at = [&](std::size_t row, std::size_t column) {
    return table.column(column).data + static_cast<std::ptrdiff_t>(row) * table.row_stride;
  };
  std::size_t column = 0;
  if (table.row_stride == 1) {  // the lanes are rows
    for (; column < table.n_columns; ++column) {
      std::array<std::uint64_t, lanes> sums{};
      scan_lanes<lanes>(at(begin, column), lanes, n / lanes, sums.data(), result.has_infinity);
      scan_lanes<1>(at(begin + n / lanes * lanes, column), 1, n % lanes, sums.data(), result.has_infinity);
      for (const std::uint64_t sum : sums) result.bit_sums[column] += sum;
    }
  } else if (table.column_stride == 1) {
    for (; column + lanes <= table.n_columns; column += lanes)
      scan_lanes<lanes>(at(begin, column), table.row_stride, n, &result.bit_sums[column], result.has_infinity);
  }
  for (; column < table.n_columns; ++column)
    scan_lanes<1>(at(begin, column), table.row_stride, n, &result.bit_sums[column], result.has_infinity);
}

}  // namespace

TableScan scan(const Table& table, std::size_t n_threads, Interrupt& interrupt) {
  struct alignas(kApart) Part {
    TableScan scan;
  };
  std::vector<Part> parts(std::max<std::size_t>(n_threads, 1));
  for (Part& part : parts) part.scan.bit_sums.resize(table.n_columns);
  each_tile(table.n_rows, n_threads, interrupt, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    scan_rows(table, begin, end, parts[worker].scan);
  });
  TableScan total = std::move(parts[0].scan);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    for (std::size_t k = 0; k < table.n_columns; ++k) total.bit_sums[k] += parts[i].scan.bit_sums[k];
    total.has_infinity |= parts[i].scan.has_infinity;
  }
  return total;
}

}  // namespace baytree
