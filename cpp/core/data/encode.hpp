// From a table to columns of codes. The columns keep a view of the table.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "data/bins.hpp"
#include "data/columns.hpp"
#include "data/rank.hpp"
#include "data/sort.hpp"
#include "data/table.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

struct Encoding {
  std::vector<std::uint8_t> is_categorical;  // by column
  std::size_t n_bins = 0;                    // up to kMostBins; 0 where no histogram is wanted
  std::size_t max_bins = 0;                  // quantile bins of a column of numbers; 0: a code for every value
  bool keep_values = false;
};

namespace detail {

// Columns that are read in one go: in a row-major table they share cache lines. Fewer where memory is to be saved.
inline constexpr std::size_t kColumnsAtOnce = 6, kBinnedColumnsAtOnce = 3;
using ColumnBits = std::array<std::vector<std::uint64_t>, kColumnsAtOnce>;  // ordered_bits by row

inline void read_rows(const Table& table, std::size_t first_row, std::size_t last_row, std::size_t first_column,
                      std::size_t n_columns, ColumnBits& bits) {
  // Tiles of rows: a line of the table is still in the nearest cache when its next column is read.
  constexpr std::size_t tile = 64;
  for (std::size_t begin = first_row; begin < last_row; begin += tile)
    for (std::size_t k = 0; k < n_columns; ++k)
      for (std::size_t row = begin; row < std::min(begin + tile, last_row); ++row)
        bits[k][row] = ordered_bits(table.at(row, first_column + k));
}

template <class Int>
std::vector<Int> codes_by_row(const std::vector<Keyed>& order) {
  std::vector<Int> codes(order.size());
  for (const Keyed item : order) codes[payload_of(item)] = static_cast<Int>(key_of(item));
  return codes;
}

// Bin edges fall between the values nearest to the quantiles; equal values share a bin.
inline void add_bins(Column& column, std::size_t n_bins, const std::vector<Keyed>& order) {
  const std::size_t n = order.size();
  column.bins.resize(n);
  // A bin starts at the first new value in a slice of the rows, of n_bins equal slices.
  auto slice_end = [&](std::size_t i) { return ((i * n_bins / n + 1) * n + n_bins - 1) / n_bins; };
  std::size_t next_edge = slice_end(0);
  for (std::size_t i = 0; i < n; ++i) {
    if (i >= next_edge && key_of(order[i]) != key_of(order[i - 1])) {
      column.bin_last.push_back(key_of(order[i - 1]));
      next_edge = slice_end(i);
    }
    column.bins[payload_of(order[i])] = static_cast<std::uint8_t>(column.bin_last.size());
  }
  column.bin_last.push_back(column.n_codes - 1);
  for (std::size_t bin = 0; bin < column.bin_last.size(); ++bin)
    column.bin_log_splits.push_back(std::log(column.bin_last[bin] - (bin == 0 ? 0.0 : column.bin_last[bin - 1] + 1.0)));
}

struct EncodeScratch {
  RankScratch rank;
  BinScratch bin;
};

// A column of quantile bins.
inline Column encode_bins(const std::vector<std::uint64_t>& bits, const Encoding& encoding, BinScratch& scratch) {
  const std::vector<std::uint64_t> ends = bin_ends(bits, encoding.max_bins, scratch);
  Column column;
  column.has_missing = std::find(bits.begin(), bits.end(), kMissingBits) != bits.end();
  column.n_codes = static_cast<Code>(ends.size()) + column.has_missing;
  std::vector<std::uint64_t> lows;
  if (column.n_codes <= 1u << 8) column.codes = bin_codes<std::uint8_t>(bits, ends, lows, scratch);
  else column.codes = bin_codes<std::uint16_t>(bits, ends, lows, scratch);
  auto values_of = [](const std::vector<std::uint64_t>& of) {
    std::vector<double> values(of.size());
    std::transform(of.begin(), of.end(), values.begin(), value_of_bits);
    return values;
  };
  column.set_bins(values_of(lows), values_of(ends), encoding.keep_values);
  return column;
}

inline Column encode_column(const std::vector<std::uint64_t>& bits, bool is_categorical, const Encoding& encoding,
                            EncodeScratch& all_scratch) {
  if (encoding.max_bins > 0 && !is_categorical) return encode_bins(bits, encoding, all_scratch.bin);
  RankScratch& scratch = all_scratch.rank;
  Column column;
  column.n_codes = rank_rows(bits, scratch);
  column.is_categorical = is_categorical;
  column.has_missing = bits[payload_of(scratch.order.back())] == kMissingBits;
  if (encoding.keep_values) {
    column.values.resize(column.n_codes);
    for (const Keyed item : scratch.order) column.values[key_of(item)] = value_of_bits(bits[payload_of(item)]);
  }
  if (column.n_codes <= 1u << 8) column.codes = codes_by_row<std::uint8_t>(scratch.order);
  else if (column.n_codes <= 1u << 16) column.codes = codes_by_row<std::uint16_t>(scratch.order);
  else column.codes = codes_by_row<std::uint32_t>(scratch.order);
  const bool in_order = !is_categorical && !column.has_missing;
  if (in_order && encoding.n_bins > 0 && column.n_codes > encoding.n_bins)
    add_bins(column, encoding.n_bins, scratch.order);
  return column;
}

}  // namespace detail

// Encodes every column of a table without infinite values.
inline Columns encode(const Table& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt) {
  Columns result{table.n_rows, encoding.n_bins > 0, std::vector<Column>(table.n_columns)};
  std::vector<detail::EncodeScratch> scratch(std::max<std::size_t>(n_threads, 1));
  detail::ColumnBits bits;
  constexpr std::size_t rows_a_task = 16384;
  const std::size_t group = encoding.max_bins > 0 ? detail::kBinnedColumnsAtOnce : detail::kColumnsAtOnce;
  for (std::size_t first = 0; first < table.n_columns; first += group) {
    const std::size_t n_columns = std::min(group, table.n_columns - first);
    for (std::size_t k = 0; k < group; ++k)
      if (k < n_columns) bits[k].resize(table.n_rows);
      else bits[k] = {};  // the last columns may be few
    parallel_for((table.n_rows + rows_a_task - 1) / rows_a_task, n_threads, interrupt,
                 [&](std::size_t task, std::size_t) {
                   detail::read_rows(table, task * rows_a_task, std::min((task + 1) * rows_a_task, table.n_rows), first,
                                     n_columns, bits);
                 });
    parallel_for(n_columns, n_threads, interrupt, [&](std::size_t k, std::size_t worker) {
      result.columns[first + k] = detail::encode_column(bits[k], encoding.is_categorical[first + k], encoding,
                                                        scratch[worker]);
      result.columns[first + k].source = table.column(first + k);
    });
  }
  return result;
}

// The same for a sparse table; one column at a time is spread out.
inline Columns encode(const SparseTable& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt) {
  Columns result{table.n_rows, encoding.n_bins > 0, std::vector<Column>(table.n_columns())};
  struct Scratch {
    detail::EncodeScratch encode;
    std::vector<std::uint64_t> bits;
  };
  std::vector<Scratch> scratch(std::max<std::size_t>(n_threads, 1));
  parallel_for(table.n_columns(), n_threads, interrupt, [&](std::size_t column, std::size_t worker) {
    auto& bits = scratch[worker].bits;
    bits.assign(table.n_rows, ordered_bits(0.0));
    for (auto i = static_cast<std::size_t>(table.start[column]); i < static_cast<std::size_t>(table.start[column + 1]);
         ++i)
      bits[static_cast<std::size_t>(table.row[i])] = ordered_bits(table.value[i]);
    result.columns[column] = detail::encode_column(bits, encoding.is_categorical[column], encoding,
                                                   scratch[worker].encode);
    result.columns[column].source = table.column(column);
  });
  return result;
}

}  // namespace baytree
