// From a table to columns of codes. The columns keep a view of the table.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "data/encoding.hpp"
#include "data/pack.hpp"
#include "data/rank.hpp"
#include "data/read.hpp"
#include "data/sort.hpp"
#include "data/table.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

namespace detail {

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

inline Column encode_column(const std::vector<std::uint64_t>& bits, bool is_categorical, const Encoding& encoding,
                            RankScratch& scratch) {
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

// Encodes every column of a table without infinite values: a code for every value.
template <class AnyTable>
Columns encode_exactly(const AnyTable& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt) {
  Columns result{table.n_rows, encoding.n_bins > 0, std::vector<Column>(table.n_columns)};
  std::vector<RankScratch> scratch(std::max<std::size_t>(n_threads, 1));
  each_column(table, kMostColumnsAtOnce, n_threads, interrupt,
              [&](std::size_t column, const std::vector<std::uint64_t>& bits, std::size_t worker) {
                result.columns[column] = detail::encode_column(bits, encoding.is_categorical[column], encoding,
                                                               scratch[worker]);
                result.columns[column].source = table.column(column);
              });
  return result;
}

// The same, with a code for every value or for every quantile bin.
template <class AnyTable>
Columns encode(const AnyTable& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt) {
  return encoding.max_bins > 0 ? encode_bins(table, encoding, n_threads, interrupt)
                               : encode_exactly(table, encoding, n_threads, interrupt);
}

}  // namespace baytree
