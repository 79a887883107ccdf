// From a table to quantile bins (bins.hpp). The codes of a row are kept side by side: whatever wants to count the rows
// of a node reads one or two cache lines for each of them. A category is a bin of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "data/bins.hpp"
#include "data/columns.hpp"
#include "data/encoding.hpp"
#include "data/rank.hpp"
#include "data/read.hpp"
#include "data/table.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

namespace detail {

// Columns whose bins are found in one go: half a cache line of a row-major table. Each takes 8 bytes a row meanwhile.
inline constexpr std::size_t kBinnedColumnsAtOnce = 4;

// The bins of a column, and the lowest value of each.
struct ColumnPlan {
  ColumnEnds found;
  BinFinder finder;
};

inline ColumnEnds ends_of(const std::vector<std::uint64_t>& bits, bool is_categorical, std::size_t max_bins,
                          BinScratch& scratch) {
  if (!is_categorical) return find_ends(bits, max_bins, scratch);
  double highest = 0.0;  // categories are numbered from 0 on
  for (const std::uint64_t value : bits)
    if (value != kMissingBits) highest = std::max(highest, value_of_bits(value));
  return find_ends(bits, static_cast<std::size_t>(highest) + 1, scratch);
}

// Writes codes of some rows of a column into its place in their rows, and lowers the lowest values of the bins.
template <class Int>
void write_codes(const ColumnPlan& plan, std::span<const std::uint64_t> bits, Int* first, std::size_t stride,
                 std::vector<std::uint64_t>& lows, std::vector<std::uint16_t>& slice) {
  if (plan.found.one_value_each)
    plan.finder.find(bits, slice, [&](std::size_t i, std::uint32_t bin) { first[i * stride] = static_cast<Int>(bin); });
  else
    plan.finder.find(bits, slice, [&](std::size_t i, std::uint32_t bin) {
      first[i * stride] = static_cast<Int>(bin);
      lows[bin] = std::min(lows[bin], bits[i]);
    });
}

using ColumnLows = std::vector<std::vector<std::uint64_t>>;  // by column and bin, the last for missing values

inline ColumnLows no_lows(const std::vector<ColumnPlan>& plans) {
  ColumnLows lows;
  for (const ColumnPlan& plan : plans) lows.emplace_back(plan.finder.n_bins() + 1, kMissingBits);
  return lows;
}

// Tiles of rows, all columns of each: a line of the table is still in the cache when its next column is read.
template <class Int>
ColumnLows write_table(const Table& table, const std::vector<ColumnPlan>& plans, std::vector<Int>& codes,
                       std::size_t n_threads, Interrupt& interrupt) {
  struct Scratch {
    ColumnLows lows;
    std::vector<std::uint64_t> bits;
    std::vector<std::uint16_t> slice;
  };
  constexpr std::size_t tile = 1024, rows_a_task = 16384;
  std::vector<Scratch> scratch(std::max<std::size_t>(n_threads, 1), Scratch{no_lows(plans), {}, {}});
  const std::size_t d = table.n_columns;
  parallel_for((table.n_rows + rows_a_task - 1) / rows_a_task, n_threads, interrupt,
               [&](std::size_t task, std::size_t worker) {
                 auto& [lows, bits, slice] = scratch[worker];
                 const std::size_t stop = std::min((task + 1) * rows_a_task, table.n_rows);
                 for (std::size_t begin = task * rows_a_task; begin < stop; begin += tile)
                   for (std::size_t column = 0; column < d; ++column) {
                     bits.resize(std::min(tile, stop - begin));
                     for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = ordered_bits(table.at(begin + i, column));
                     write_codes(plans[column], bits, codes.data() + begin * d + column, d, lows[column], slice);
                   }
               });
  for (std::size_t worker = 1; worker < scratch.size(); ++worker)
    for (std::size_t column = 0; column < d; ++column)
      for (std::size_t bin = 0; bin < scratch[0].lows[column].size(); ++bin)
        scratch[0].lows[column][bin] = std::min(scratch[0].lows[column][bin], scratch[worker].lows[column][bin]);
  return std::move(scratch[0].lows);
}

template <class Int>
ColumnLows write_table(const SparseTable& table, const std::vector<ColumnPlan>& plans, std::vector<Int>& codes,
                       std::size_t n_threads, Interrupt& interrupt) {
  ColumnLows lows = no_lows(plans);
  std::vector<std::vector<std::uint16_t>> slice(std::max<std::size_t>(n_threads, 1));
  each_column(table, 1, n_threads, interrupt,
              [&](std::size_t column, const std::vector<std::uint64_t>& bits, std::size_t worker) {
                write_codes(plans[column], bits, codes.data() + column, table.n_columns, lows[column], slice[worker]);
              });
  return lows;
}

inline std::vector<double> values_of(const std::vector<std::uint64_t>& bits, std::size_t n) {
  std::vector<double> values(n);
  std::transform(bits.begin(), bits.begin() + static_cast<std::ptrdiff_t>(n), values.begin(), value_of_bits);
  return values;
}

template <class Int, class AnyTable>
Columns pack(const AnyTable& table, const std::vector<ColumnPlan>& plans, const Encoding& encoding,
             std::size_t n_threads, Interrupt& interrupt) {
  const auto codes = std::make_shared<std::vector<Int>>(table.n_rows * table.n_columns);
  const ColumnLows lows = write_table(table, plans, *codes, n_threads, interrupt);
  Columns result{table.n_rows, false, std::vector<Column>(table.n_columns)};
  for (std::size_t f = 0; f < table.n_columns; ++f) {
    const ColumnEnds& found = plans[f].found;
    Column& column = result.columns[f];
    column.is_categorical = encoding.is_categorical[f] != 0;
    column.has_missing = found.has_missing;
    column.n_codes = static_cast<Code>(found.ends.size()) + column.has_missing;
    column.codes = PackedCodes<Int>{codes, codes->data() + f, table.n_rows, table.n_columns};
    column.source = table.column(f);
    column.set_bins(values_of(found.one_value_each ? found.ends : lows[f], found.ends.size()),
                    values_of(found.ends, found.ends.size()), encoding.keep_values);
  }
  return result;
}

}  // namespace detail

// Encodes every column of a table without infinite values, as quantile bins or categories.
template <class AnyTable>
Columns encode_bins(const AnyTable& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt) {
  std::vector<ColumnEnds> ends(table.n_columns);
  {
    std::vector<BinScratch> scratch(std::max<std::size_t>(n_threads, 1));
    each_column(table, detail::kBinnedColumnsAtOnce, n_threads, interrupt,
                [&](std::size_t column, const std::vector<std::uint64_t>& bits, std::size_t worker) {
                  ends[column] = detail::ends_of(bits, encoding.is_categorical[column] != 0, encoding.max_bins,
                                                 scratch[worker]);
                });
  }
  std::vector<detail::ColumnPlan> plans;
  std::size_t most_codes = 0;
  for (const ColumnEnds& found : ends) {
    plans.push_back({found, BinFinder(found.ends, found.low)});
    most_codes = std::max(most_codes, found.ends.size() + found.has_missing);
  }
  if (most_codes <= std::size_t{1} << 8)
    return detail::pack<std::uint8_t>(table, plans, encoding, n_threads, interrupt);
  if (most_codes <= std::size_t{1} << 16)
    return detail::pack<std::uint16_t>(table, plans, encoding, n_threads, interrupt);
  return detail::pack<std::uint32_t>(table, plans, encoding, n_threads, interrupt);
}

}  // namespace baytree
