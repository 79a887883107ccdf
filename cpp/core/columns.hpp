// A column as integer codes: the rank of each value among the distinct values of the column. Ranks are
// all that an axis cut can see, so a tree grown on codes is the tree grown on the values. Gaps (NaN) have the highest
// code. The codes of a categorical column are its levels, and their order means nothing.
//
// Long columns also carry coarse bins, at most 256 intervals of codes with about equally many rows
// each: the histograms of large nodes are taken over bins, and codes settle what bins cannot.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
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
  bool is_categorical = false;
  bool has_gaps = false;       // the highest code stands for a gap
  std::variant<DenseColumn, SparseColumn> source;  // the table's values; they live as long as the columns
  std::vector<double> values;  // what the codes stand for; kept where somebody asks for it
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>> codes;
  std::vector<std::uint8_t> bins;  // by row; empty where the codes are bins already
  std::vector<Code> bin_last;      // the last code of each bin; empty likewise
  std::vector<double> bin_log_cuts;

  bool codes_are_bins() const { return bins.empty(); }
  std::size_t n_bins() const { return codes_are_bins() ? n_codes : bin_last.size(); }
  Code last_code(std::size_t bin) const { return codes_are_bins() ? static_cast<Code>(bin) : bin_last[bin]; }
  // Log of the most cuts that fall inside of a bin; -infinity: none does.
  double log_cuts_inside(std::size_t bin) const { return codes_are_bins() ? kMinusInfinity : bin_log_cuts[bin]; }
  std::span<const std::uint8_t> bin_codes() const {
    return codes_are_bins() ? std::span<const std::uint8_t>(std::get<0>(codes)) : std::span<const std::uint8_t>(bins);
  }
  Code code_of(Row row) const {
    return std::visit([row](const auto& of) { return static_cast<Code>(of[row]); }, codes);
  }
  // The lowest and the highest value that the code of a row stands for: a code stands for one value.
  double low(Row row) const { return value_of(row); }
  double high(Row row) const { return value_of(row); }
  // The value of a row in the table, NaN where it is missing.
  double value_of(Row row) const {
    return std::visit([row](const auto& of) { return of.at(row); }, source);
  }
  // The values of some rows, NaN where there is a gap.
  void read(std::span<const Row> rows, double* result) const {
    std::visit(
        [&](const auto& of) {
          for (std::size_t i = 0; i < rows.size(); ++i) result[i] = values[of[rows[i]]];
        },
        codes);
  }
  int code_bits() const { return std::bit_width(n_codes - 1); }
  // The code of gaps; no row has it where there are none.
  Code gap_code() const { return has_gaps ? n_codes - 1 : n_codes; }
};

struct Columns {
  std::size_t n_rows = 0;
  bool has_bins = false;
  std::vector<Column> columns;
};

struct Encoding {
  std::vector<std::uint8_t> is_categorical;  // by column
  std::size_t n_bins = 0;                    // up to kMostBins; 0 where no histogram is wanted
  bool keep_values = false;
};

namespace detail {

inline constexpr std::uint64_t kSign = std::uint64_t{1} << 63, kGap = ~std::uint64_t{0};

// Maps float64 to uint64 so that the order of the integers is that of the numbers; -0.0 equals 0.0, NaN comes last.
inline std::uint64_t ordered_bits(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  if (value != value) return kGap;
  return bits & kSign ? ~bits : bits | kSign;
}

inline double value_of_bits(std::uint64_t bits) {
  return bits == kGap ? std::numeric_limits<double>::quiet_NaN()
                      : std::bit_cast<double>(bits & kSign ? bits ^ kSign : ~bits);
}

// Columns that are read in one go: in a row-major table they share cache lines.
inline constexpr std::size_t kColumnsAtOnce = 6;
using ColumnBits = std::array<std::vector<std::uint64_t>, kColumnsAtOnce>;  // ordered_bits by row

struct EncodeScratch {
  std::vector<Keyed> order, spare;  // in ascending order of value: (sorting key, then code; row)
};

inline void read_rows(const Table& table, std::size_t first_row, std::size_t last_row, std::size_t first_column,
                      std::size_t n_columns, ColumnBits& bits) {
  // Tiles of rows: a line of the table is still in the nearest cache when its next column is read.
  constexpr std::size_t tile = 64;
  for (std::size_t begin = first_row; begin < last_row; begin += tile)
    for (std::size_t k = 0; k < n_columns; ++k)
      for (std::size_t row = begin; row < std::min(begin + tile, last_row); ++row)
        bits[k][row] = ordered_bits(table.at(row, first_column + k));
}

// Ranks items that share a key from `code` on; returns the next code.
inline Code rank_run(const std::vector<std::uint64_t>& bits, std::span<Keyed> run, Code code) {
  auto value = [&](Keyed item) { return bits[payload_of(item)]; };
  const bool equal = std::all_of(run.begin(), run.end(),
                                 [&, first = value(run[0])](Keyed item) { return value(item) == first; });
  if (!equal) std::stable_sort(run.begin(), run.end(), [&](Keyed a, Keyed b) { return value(a) < value(b); });
  std::uint64_t previous = value(run[0]);
  for (Keyed& item : run) {
    code += value(item) != previous;
    previous = value(item);
    item = keyed(code, payload_of(item));
  }
  return code + 1;
}

// Orders the rows by value and ranks them; returns the number of distinct values. Radix passes sort by a
// key, the 32 highest bits in which the values differ; values that share a key (few, unless they are
// equal) are told apart by comparison.
inline Code rank_rows(const std::vector<std::uint64_t>& bits, EncodeScratch& scratch) {
  const std::size_t n = bits.size();
  auto& order = scratch.order;
  const auto [low, high] = std::minmax_element(bits.begin(), bits.end());
  const std::uint64_t start = *low;
  const int width = std::bit_width(*high - start);
  const int shift = std::max(0, width - 32);
  const std::uint64_t cut_off = (std::uint64_t{1} << shift) - 1;
  std::uint64_t lost = 0;  // bits below the keys
  order.resize(n);
  for (std::size_t row = 0; row < n; ++row) {
    const std::uint64_t offset = bits[row] - start;
    lost |= offset & cut_off;
    order[row] = keyed(static_cast<std::uint32_t>(offset >> shift), static_cast<Row>(row));
  }
  sort_by_key(order, scratch.spare, std::min(width, 32));

  Code code = 0;
  for (std::size_t begin = 0, end; begin < n; begin = end) {
    end = begin + 1;
    while (end < n && key_of(order[end]) == key_of(order[begin])) ++end;
    if (end - begin > 1 && lost != 0) {
      code = rank_run(bits, std::span(order).subspan(begin, end - begin), code);
    } else {
      for (std::size_t i = begin; i < end; ++i) order[i] = keyed(code, payload_of(order[i]));
      ++code;
    }
  }
  return code;
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
    column.bin_log_cuts.push_back(std::log(column.bin_last[bin] - (bin == 0 ? 0.0 : column.bin_last[bin - 1] + 1.0)));
}

inline Column encode_column(const std::vector<std::uint64_t>& bits, bool is_categorical, const Encoding& encoding,
                            EncodeScratch& scratch) {
  Column column;
  column.n_codes = rank_rows(bits, scratch);
  column.is_categorical = is_categorical;
  column.has_gaps = bits[payload_of(scratch.order.back())] == kGap;
  if (encoding.keep_values) {
    column.values.resize(column.n_codes);
    for (const Keyed item : scratch.order) column.values[key_of(item)] = value_of_bits(bits[payload_of(item)]);
  }
  if (column.n_codes <= 1u << 8) column.codes = codes_by_row<std::uint8_t>(scratch.order);
  else if (column.n_codes <= 1u << 16) column.codes = codes_by_row<std::uint16_t>(scratch.order);
  else column.codes = codes_by_row<std::uint32_t>(scratch.order);
  const bool in_order = !is_categorical && !column.has_gaps;
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
  constexpr std::size_t group = detail::kColumnsAtOnce, rows_a_task = 16384;
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

// The same for a table by column whose cells are zero where they are not given; one column at a time is spread out.
inline Columns encode(const SparseTable& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt) {
  Columns result{table.n_rows, encoding.n_bins > 0, std::vector<Column>(table.n_columns())};
  struct Scratch {
    detail::EncodeScratch encode;
    std::vector<std::uint64_t> bits;
  };
  std::vector<Scratch> scratch(std::max<std::size_t>(n_threads, 1));
  parallel_for(table.n_columns(), n_threads, interrupt, [&](std::size_t column, std::size_t worker) {
    auto& bits = scratch[worker].bits;
    bits.assign(table.n_rows, detail::ordered_bits(0.0));
    for (auto i = static_cast<std::size_t>(table.start[column]); i < static_cast<std::size_t>(table.start[column + 1]);
         ++i)
      bits[static_cast<std::size_t>(table.row[i])] = detail::ordered_bits(table.value[i]);
    result.columns[column] = detail::encode_column(bits, encoding.is_categorical[column], encoding,
                                                   scratch[worker].encode);
    result.columns[column].source = table.column(column);
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
