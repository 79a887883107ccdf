// A column as integer codes: the rank of each value among the distinct values of the column. A threshold sees nothing
// but ranks, so a tree grown on codes is the tree grown on the values. Missing values (NaN) have the highest code. The
// codes of a categorical column are its categories, and their order means nothing.
//
// Long columns also carry coarse bins, at most 256 intervals of codes with about equally many rows each: the
// histograms of large nodes are taken over bins, and codes settle what bins cannot.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "data/sort.hpp"
#include "data/table.hpp"
#include "types.hpp"

namespace baytree {

inline constexpr std::size_t kMostBins = 256;  // what a bin's 8 bits can hold

struct Column {
  Code n_codes = 0;
  bool is_categorical = false;
  bool has_missing = false;                        // the highest code stands for a missing value
  std::variant<DenseColumn, SparseColumn> source;  // the table's values, which must outlive the column
  std::vector<double> values;                      // what the codes stand for; kept on request
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>> codes;
  std::vector<std::uint8_t> bins;  // by row; empty where the codes are bins already
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
  // The lowest and the highest value that the code of a row stands for. A code stands for one value here.
  double low(Row row) const { return value_of(row); }
  double high(Row row) const { return value_of(row); }
  // The value of a row in the table, NaN where it is missing.
  double value_of(Row row) const {
    return std::visit([row](const auto& of) { return of.at(row); }, source);
  }
  // The values of some rows, NaN where they are missing.
  void read(std::span<const Row> rows, double* result) const {
    std::visit(
        [&](const auto& of) {
          for (std::size_t i = 0; i < rows.size(); ++i) result[i] = values[of[rows[i]]];
        },
        codes);
  }
  int code_bits() const { return std::bit_width(n_codes - 1); }
  // The code of missing values; no row has it where there are none.
  Code missing_code() const { return has_missing ? n_codes - 1 : n_codes; }
};

struct Columns {
  std::size_t n_rows = 0;
  bool has_bins = false;
  std::vector<Column> columns;
};

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
