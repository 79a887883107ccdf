// Values of columns that are seen part by part: how many lie between some numbers, which of them lie where the end of a
// bin is looked for, and, once the bins are known, their codes. An interval reaches up to one of the numbers and begins
// behind the one before; the last begins behind the last number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "data/bins.hpp"
#include "data/distinct.hpp"
#include "data/table.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

// Finds the intervals of values: bins, of which the last has no end. The ends are in ascending order.
inline BinFinder interval_finder(std::vector<double> ends) {
  if (ends.empty() || !std::isinf(ends.back())) ends.push_back(std::numeric_limits<double>::infinity());
  return BinFinder(std::move(ends), false);
}

namespace detail {

inline constexpr std::size_t kTileRows = 1024;  // values that are in the nearest cache until they are done with

inline void read_values(const Table& table, std::size_t column, std::size_t begin, std::size_t end,
                        std::vector<double>& values) {
  values.resize(end - begin);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = table.at(begin + i, column) + 0.0;  // -0.0 is 0.0
}

// each(values) for some values of a column after the other, all in all every one.
template <class Each>
void each_tile(const Table& table, std::size_t column, Each&& each) {
  std::vector<double> values;
  for (std::size_t begin = 0; begin < table.n_rows; begin += kTileRows) {
    stop_if_asked();
    read_values(table, column, begin, std::min(begin + kTileRows, table.n_rows), values);
    each(std::span<const double>(values));
  }
}

}  // namespace detail

struct IntervalCounts {
  std::vector<std::int64_t> counts;  // by interval: the values, or the weight of their rows
  std::vector<double> lows;  // the lowest value of each; NaN: there is none
  std::vector<double> distinct;  // all values, in ascending order; none where there are too many
};

// Counts the values of a column, by the positive weights of their rows where there are weights; lists the distinct
// values where they are `most_distinct` at most.
IntervalCounts count_intervals(const Table& table, std::size_t column, const BinFinder& finder,
                               std::size_t most_distinct, std::span<const std::int64_t> weight = {});

// The values of a column that lie in chosen intervals, in the order of the rows, and the weights of these rows.
struct ChosenValues {
  std::vector<double> values;
  std::vector<std::int64_t> weight;  // none where the rows have no weights
};
ChosenValues values_in(const Table& table, std::size_t column, const BinFinder& finder,
                       std::span<const std::uint8_t> chosen, std::span<const std::int64_t> weight = {});

// How the values of a column become codes. The last of the bins may have no end, and takes all values then.
struct CodedColumn {
  BinFinder finder;
  std::size_t n_bins;
  bool has_missing, is_left_out;  // all codes are 0

  Code code_of(std::uint32_t interval) const {
    const bool is_missing = interval == finder.n_bins();
    if (is_missing ? !has_missing : interval >= n_bins)
      throw std::invalid_argument("the rows of a part are not those that were seen before: read the same each time");
    return static_cast<Code>(is_missing ? n_bins : interval);
  }
};

// The codes of all rows of a part, those of a row side by side.
template <class Int>
std::vector<Int> encode_part(const Table& table, const std::vector<CodedColumn>& columns, std::size_t n_threads,
                             Interrupt& interrupt) {
  constexpr std::size_t rows_a_task = 16384;
  const std::size_t d = table.n_columns;
  std::vector<Int> codes(table.n_rows * d);
  auto encode_tile = [&](std::size_t begin, std::size_t end, std::vector<double>& values) {
    for (std::size_t column = 0; column < d; ++column) {
      const CodedColumn& coded = columns[column];
      if (coded.is_left_out) continue;
      detail::read_values(table, column, begin, end, values);
      Int* into = codes.data() + begin * d + column;
      coded.finder.find(values, [&coded, into, d](std::size_t i, std::uint32_t interval) {
        into[i * d] = static_cast<Int>(coded.code_of(interval));
      });
    }
  };
  parallel_for((table.n_rows + rows_a_task - 1) / rows_a_task, n_threads, interrupt,
               [&](std::size_t task, std::size_t) {
                 std::vector<double> values;
                 const std::size_t stop = std::min((task + 1) * rows_a_task, table.n_rows);
                 for (std::size_t begin = task * rows_a_task; begin < stop; begin += detail::kTileRows)
                   encode_tile(begin, std::min(begin + detail::kTileRows, stop), values);
               });
  return codes;
}

}  // namespace baytree
