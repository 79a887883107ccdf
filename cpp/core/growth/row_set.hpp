// Rows of a table of codes that are divided as a tree grows: those of a node lie side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "data/buffer.hpp"
#include "data/row_codes.hpp"
#include "outcomes/count_rows.hpp"
#include "outcomes/outcome.hpp"
#include "types.hpp"

namespace baytree {

namespace detail {

// Puts rows of the lower side first, otherwise in the order they had, by whether the rows of each code of a feature go
// there; returns where those of the upper side begin, which `upper` has room for.
template <class Int>
std::size_t divide_by_code(const CodesOfWidth<Int>& table, std::size_t feature, const std::uint8_t* goes_lower,
                           std::span<Row> rows, Row* upper) {
  const Int* codes = table.codes + feature;
  Row* in_place = rows.data();
  const std::size_t d = table.n_columns, n = rows.size();
  std::size_t middle = 0, n_upper = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kRowsAhead < n) fetch(codes + std::size_t{in_place[i + kRowsAhead]} * d);
    // Both writes always happen and one counts: no branch that could be mispredicted.
    const Row row = in_place[i];
    const std::uint8_t is_lower = goes_lower[codes[std::size_t{row} * d]];
    in_place[middle] = row;
    upper[n_upper] = row;
    middle += is_lower;
    n_upper += 1 - is_lower;
  }
  std::copy_n(upper, n_upper, in_place + middle);
  return middle;
}

// Copies the codes of some rows side by side; returns where they are.
template <class Int>
const Int* copy_codes(const CodesOfWidth<Int>& table, std::span<const Row> rows, Buffer<std::byte>& into) {
  const std::size_t d = table.n_columns;
  into.resize(rows.size() * d * sizeof(Int));
  Int* to = reinterpret_cast<Int*>(into.data());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kRowsAhead < rows.size()) fetch(table.of(rows[i + kRowsAhead]));
    std::copy_n(table.of(rows[i]), d, to + i * d);
  }
  return to;
}

}  // namespace detail

template <Outcome T>
struct RowSet {
  RowCodes table;
  const T* outcome;
  std::span<Row> rows;
  std::span<const Row> in_table;  // of a copy, by row: which row of the table it is; empty: the same

  bool is_copy() const { return !in_table.empty(); }
  Row row_in_table(Row row) const { return is_copy() ? in_table[row] : row; }
  std::span<const Row> of(std::size_t begin, std::size_t end) const { return rows.subspan(begin, end - begin); }
  void count(std::size_t begin, std::size_t end, RowSums<typename T::Number>& sums,
             std::vector<std::uint16_t>& scratch) const {
    count_rows(*outcome, table, of(begin, end), sums, scratch);
  }

  // Puts rows of the lower side first, otherwise in the order they had; returns where those of the upper begin.
  std::size_t divide(std::size_t begin, std::size_t end, std::size_t feature, const std::vector<std::uint8_t>& lower,
                     std::vector<Row>& upper) const {
    upper.resize(std::max(upper.size(), end - begin));
    const std::size_t middle = table.visit([&](const auto& codes) {
      return detail::divide_by_code(codes, feature, lower.data(), rows.subspan(begin, end - begin), upper.data());
    });
    return begin + middle;
  }
};

// Some rows with their codes and outcomes side by side: what is grown below them stays in a core's cache.
template <Outcome T>
class RowCopy {
 public:
  RowSet<T> take(const RowSet<T>& from, std::size_t begin, std::size_t end) {
    const std::span<const Row> rows = from.of(begin, end);
    in_table_.assign(rows.begin(), rows.end());
    RowCodes table{from.table};
    from.table.visit([&](const auto& codes) { table.codes = detail::copy_codes(codes, rows, codes_); });
    outcome_ = from.outcome->narrowed_to(rows);
    rows_.resize(rows.size());
    std::iota(rows_.begin(), rows_.end(), Row{0});
    return {std::move(table), &outcome_, rows_, in_table_};
  }

 private:
  Buffer<std::byte> codes_;  // in the width that they have
  T outcome_;
  std::vector<Row> rows_, in_table_;
};

}  // namespace baytree
