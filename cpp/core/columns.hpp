// A column as integer codes: the rank of each value among the distinct values of the column. Ranks are
// all that an axis cut can see, so a tree grown on codes is the tree grown on the values.
//
// Long columns also carry coarse bins, at most 256 intervals of codes with about equally many rows
// each: the histograms of large nodes are taken over bins, and codes settle what bins cannot.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

#include "parallel.hpp"
#include "sort.hpp"
#include "types.hpp"

namespace baytree {

inline constexpr std::size_t kMostBins = 256;  // what a bin's 8 bits can hold

struct Column {
  Code n_codes = 0;
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>> codes;
  std::vector<std::uint8_t> bins;  // by row; empty where the codes are bins already
  std::vector<Code> bin_last;      // the last code of each bin; empty likewise

  bool codes_are_bins() const { return bins.empty(); }
  std::size_t n_bins() const { return codes_are_bins() ? n_codes : bin_last.size(); }
  Code last_code(std::size_t bin) const { return codes_are_bins() ? static_cast<Code>(bin) : bin_last[bin]; }
  Code codes_in_bin(std::size_t bin) const { return bin == 0 ? last_code(0) + 1 : last_code(bin) - last_code(bin - 1); }
  std::span<const std::uint8_t> bin_codes() const {
    return codes_are_bins() ? std::span<const std::uint8_t>(std::get<0>(codes)) : std::span<const std::uint8_t>(bins);
  }
  int code_bits() const { return std::bit_width(n_codes - 1); }
};

struct Columns {
  std::size_t n_rows = 0;
  std::vector<Column> columns;
};

namespace detail {

// Maps float64 to uint64 so that the order of the integers is that of the numbers; -0.0 equals 0.0.
inline std::uint64_t ordered_bits(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return bits & sign ? ~bits : bits | sign;
}

struct EncodeScratch {
  std::vector<std::uint64_t> bits;  // ordered_bits of the column, by row
  std::vector<Keyed> order, spare;  // rows in ascending order of value
  std::vector<Code> ranks;          // codes in that order
};

// Orders the rows by value. Radix passes sort the 32 highest bits in which the values differ; runs that
// agree in those (few, unless the values are equal) are settled by comparison.
inline void sort_by_value(const Table& table, std::size_t column, EncodeScratch& scratch) {
  const std::size_t n = table.n_rows;
  auto& [bits, order, spare, ranks] = scratch;
  bits.resize(n);
  order.resize(n);
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for (std::size_t row = 0; row < n; ++row) {
    bits[row] = ordered_bits(table.at(row, column));
    low = std::min(low, bits[row]);
    high = std::max(high, bits[row]);
  }
  const int width = std::bit_width(high - low);
  const int shift = std::max(0, width - 32);
  for (std::size_t row = 0; row < n; ++row)
    order[row] = keyed(static_cast<std::uint32_t>((bits[row] - low) >> shift), static_cast<Row>(row));
  sort_by_key(order, spare, std::min(width, 32));
  if (shift == 0) return;
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin + 1;
    bool equal = true;
    for (; end < n && key_of(order[end]) == key_of(order[begin]); ++end)
      equal &= bits[payload_of(order[end])] == bits[payload_of(order[begin])];
    if (!equal)
      std::stable_sort(order.begin() + begin, order.begin() + end,
                       [&](Keyed a, Keyed b) { return bits[payload_of(a)] < bits[payload_of(b)]; });
    begin = end;
  }
}

// Codes of the rows in ascending order of value; returns their number.
inline Code rank_rows(EncodeScratch& scratch) {
  const auto& [bits, order, spare, ranks] = scratch;
  scratch.ranks.resize(order.size());
  Code code = 0;
  std::uint64_t previous = bits[payload_of(order[0])];
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t value = bits[payload_of(order[i])];
    code += value != previous;
    previous = value;
    scratch.ranks[i] = code;
  }
  return code + 1;
}

template <class Int>
std::vector<Int> codes_by_row(const EncodeScratch& scratch) {
  std::vector<Int> codes(scratch.order.size());
  for (std::size_t i = 0; i < codes.size(); ++i) codes[payload_of(scratch.order[i])] = static_cast<Int>(scratch.ranks[i]);
  return codes;
}

// Bin edges fall between the values nearest to the quantiles; equal values share a bin.
inline void add_bins(Column& column, std::size_t n_bins, const EncodeScratch& scratch) {
  const std::size_t n = scratch.order.size();
  column.bins.resize(n);
  // A bin starts at the first new value in a slice of the rows, of n_bins equal slices.
  auto slice_end = [&](std::size_t i) { return ((i * n_bins / n + 1) * n + n_bins - 1) / n_bins; };
  std::size_t next_edge = slice_end(0);
  for (std::size_t i = 0; i < n; ++i) {
    if (i >= next_edge && scratch.ranks[i] != scratch.ranks[i - 1]) {
      column.bin_last.push_back(scratch.ranks[i - 1]);
      next_edge = slice_end(i);
    }
    column.bins[payload_of(scratch.order[i])] = static_cast<std::uint8_t>(column.bin_last.size());
  }
  column.bin_last.push_back(column.n_codes - 1);
}

inline Column encode_column(const Table& table, std::size_t column_index, std::size_t n_bins, EncodeScratch& scratch) {
  sort_by_value(table, column_index, scratch);
  Column column;
  column.n_codes = rank_rows(scratch);
  if (column.n_codes <= 1u << 8) column.codes = codes_by_row<std::uint8_t>(scratch);
  else if (column.n_codes <= 1u << 16) column.codes = codes_by_row<std::uint16_t>(scratch);
  else column.codes = codes_by_row<std::uint32_t>(scratch);
  if (n_bins > 0 && column.n_codes > n_bins) add_bins(column, n_bins, scratch);
  return column;
}

}  // namespace detail

// Encodes every column of a table of finite values; n_bins (up to kMostBins) is 0 where no histogram is wanted.
inline Columns encode(const Table& table, std::size_t n_bins, std::size_t n_threads, Interrupt& interrupt) {
  Columns result{table.n_rows, std::vector<Column>(table.n_columns)};
  std::vector<detail::EncodeScratch> scratch(std::max<std::size_t>(n_threads, 1));
  parallel_for(table.n_columns, n_threads, interrupt, [&](std::size_t column, std::size_t worker) {
    result.columns[column] = detail::encode_column(table, column, n_bins, scratch[worker]);
  });
  return result;
}

// The rows of a node in ascending order of a column: (code, position in `rows`), equal codes in row order.
inline void sort_rows(const Column& column, std::span<const Row> rows, std::vector<Keyed>& order,
                      std::vector<Keyed>& spare) {
  order.resize(rows.size());
  std::visit(
      [&](const auto& codes) {
        for (std::size_t i = 0; i < rows.size(); ++i) order[i] = keyed(codes[rows[i]], static_cast<std::uint32_t>(i));
      },
      column.codes);
  sort_by_key(order, spare, column.code_bits());
}

}  // namespace baytree
