// Rows of a table of codes that are divided as a tree grows: those of a node lie side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "growth/count_rows.hpp"
#include "outcomes/outcome.hpp"
#include "types.hpp"

namespace baytree {

template <Outcome T, class Int>
struct RowSet {
  RowCodes<Int> table;
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
    const Int* codes = table.codes + feature;
    const std::uint8_t* goes_lower = lower.data();
    Row *own = rows.data(), *other = upper.data();
    const std::size_t d = table.n_columns;
    std::size_t middle = begin, n_upper = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (i + detail::kAhead < end) detail::fetch(codes + std::size_t{own[i + detail::kAhead]} * d);
      // Both writes always happen and one counts: no branch that could be mispredicted.
      const Row row = own[i];
      const std::uint8_t is_lower = goes_lower[codes[std::size_t{row} * d]];
      own[middle] = row;
      other[n_upper] = row;
      middle += is_lower;
      n_upper += 1 - is_lower;
    }
    std::copy_n(other, n_upper, own + middle);
    return middle;
  }
};

// Some rows with their codes and outcomes side by side: what is grown below them stays in a core's cache.
template <Outcome T, class Int>
class RowCopy {
 public:
  RowSet<T, Int> take(const RowSet<T, Int>& from, std::size_t begin, std::size_t end) {
    const std::span<const Row> rows = from.of(begin, end);
    const std::size_t d = from.table.n_columns;
    in_table_.assign(rows.begin(), rows.end());
    codes_.resize(rows.size() * d);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i + detail::kAhead < rows.size()) detail::fetch(from.table.of(rows[i + detail::kAhead]));
      std::copy_n(from.table.of(rows[i]), d, codes_.data() + i * d);
    }
    outcome_ = from.outcome->narrowed_to(rows);
    rows_.resize(rows.size());
    std::iota(rows_.begin(), rows_.end(), Row{0});
    return {{codes_.data(), d, from.table.first}, &outcome_, rows_, in_table_};
  }

 private:
  std::vector<Int> codes_;
  T outcome_;
  std::vector<Row> rows_, in_table_;
};

}  // namespace baytree
