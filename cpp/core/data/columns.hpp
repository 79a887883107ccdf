// A column as integer codes: the rank of each value among the distinct values of the column. A threshold sees nothing
// but ranks, so a tree grown on codes is the tree grown on the values. Missing values (NaN) have the highest code. The
// codes of a categorical column are its categories, and their order means nothing. Where quantile bins are asked for
// (bins.hpp), a code stands for all values of a bin.
//
// Long columns also carry coarse bins, at most 256 intervals of codes with about equally many rows each: the
// histograms of large nodes are taken over bins, and codes settle what bins cannot.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "data/buffer.hpp"
#include "data/entries.hpp"
#include "data/table.hpp"
#include "types.hpp"

namespace baytree {

inline constexpr std::size_t kMostBins = 256;  // what a bin's 8 bits can hold

// The codes of a column of a table whose codes are kept row by row: a row is in one or two cache lines.
template <class Int>
struct PackedCodes {
  std::shared_ptr<const Int[]> table;
  const Int* first;  // the column's code in the first row
  std::size_t n_rows, stride;

  Int operator[](std::size_t row) const { return first[row * stride]; }
  std::size_t size() const { return n_rows; }
};

struct Column {
  Code n_codes = 0;
  bool is_categorical = false;
  bool has_missing = false;                        // the highest code stands for a missing value
  AnyColumn source;                                // the table's values, which must outlive the column
  std::vector<double> values;                      // what the codes stand for; kept on request
  std::vector<double> lows, highs;                 // of quantile bins: the lowest and the highest value of each
  std::variant<Buffer<std::uint8_t>, Buffer<std::uint16_t>, Buffer<std::uint32_t>, PackedCodes<std::uint8_t>,
               PackedCodes<std::uint16_t>, PackedCodes<std::uint32_t>>
      codes;
  Buffer<std::uint8_t> bins;  // by row; empty where the codes are bins already
  std::vector<Code> bin_last;      // the last code of each bin; empty likewise
  std::vector<double> bin_log_splits;

  bool codes_are_bins() const { return bins.empty(); }
  std::size_t n_bins() const { return codes_are_bins() ? n_codes : bin_last.size(); }
  Code last_code(std::size_t bin) const { return codes_are_bins() ? static_cast<Code>(bin) : bin_last[bin]; }
  // Log of the most thresholds that fall inside a bin; -infinity: none does.
  double log_splits_inside(std::size_t bin) const { return codes_are_bins() ? kMinusInfinity : bin_log_splits[bin]; }
  std::span<const std::uint8_t> bin_codes() const {
    return codes_are_bins() ? std::span<const std::uint8_t>(std::get<0>(codes)) : std::span<const std::uint8_t>(bins);
  }
  Code code_of(Row row) const {
    return std::visit([row](const auto& of) { return static_cast<Code>(of[row]); }, codes);
  }
  bool is_packed() const { return codes.index() > 2; }  // the codes are kept row by row
  bool has_quantile_bins() const { return !lows.empty(); }
  // The lowest and the highest value that the code of a row stands for.
  double low(Row row) const { return has_quantile_bins() ? lows[code_of(row)] : value_of(row); }
  double high(Row row) const { return has_quantile_bins() ? highs[code_of(row)] : value_of(row); }
  // The value of a row in the table, NaN where it is missing.
  double value_of(Row row) const {
    return std::visit([row](const auto& of) { return of.at(row); }, source);
  }
  // The values of some rows, NaN where they are missing.
  void read(std::span<const Row> rows, double* result) const;
  // Gives the codes the lowest and the highest value of their bins; where values are kept, that of a bin is its middle.
  void set_bins(std::vector<double> low_values, std::vector<double> high_values, bool keep_values);
  int code_bits() const { return std::bit_width(n_codes - 1); }
  // The code of missing values; no row has it where there are none.
  Code missing_code() const { return has_missing ? n_codes - 1 : n_codes; }
};

// A column of a table whose rows are elsewhere: row c has code c, so that a code can be asked what a row is.
Column column_without_rows(std::vector<double> lows, std::vector<double> highs, bool has_missing, bool is_categorical,
                           bool keep_values);

struct Columns {
  std::size_t n_rows = 0;
  bool has_bins = false;
  std::vector<Column> columns;

  bool are_packed() const { return !columns.empty() && columns.front().is_packed(); }
};

// The rows of a node in ascending order of a column: (code, position in `rows`), equal codes in row order.
void sort_rows(const Column& column, std::span<const Row> rows, std::vector<Keyed>& order, std::vector<Keyed>& spare);

}  // namespace baytree
