#include "data/columns.hpp"

#include <limits>
#include <numeric>
#include <utility>

#include "data/sort.hpp"

namespace baytree {

Column column_without_rows(std::vector<double> lows, std::vector<double> highs, bool has_missing, bool is_categorical,
                           bool keep_values) {
  Column column;
  column.n_codes = static_cast<Code>(lows.size()) + has_missing;
  column.has_missing = has_missing;
  column.is_categorical = is_categorical;
  Buffer<std::uint32_t> codes(column.n_codes);
  std::iota(codes.begin(), codes.end(), 0u);
  column.codes = std::move(codes);
  column.set_bins(std::move(lows), std::move(highs), keep_values);
  return column;
}

void Column::read(std::span<const Row> rows, double* result) const {
  std::visit(
      [&](const auto& of) {
        for (std::size_t i = 0; i < rows.size(); ++i) result[i] = values[of[rows[i]]];
      },
      codes);
}

void Column::set_bins(std::vector<double> low_values, std::vector<double> high_values, bool keep_values) {
  lows = std::move(low_values), highs = std::move(high_values);
  lows.resize(n_codes, std::numeric_limits<double>::quiet_NaN());
  highs.resize(n_codes, std::numeric_limits<double>::quiet_NaN());
  if (!keep_values) return;
  values = lows;
  for (std::size_t code = 0; code < n_codes; ++code)
    if (lows[code] < highs[code]) values[code] = lows[code] / 2 + highs[code] / 2;
}

void sort_rows(const Column& column, std::span<const Row> rows, std::vector<Keyed>& order, std::vector<Keyed>& spare) {
  order.resize(rows.size());
  std::visit(
      [&](const auto& codes) {
        for (std::size_t i = 0; i < rows.size(); ++i) order[i] = keyed(codes[rows[i]], static_cast<std::uint32_t>(i));
      },
      column.codes);
  sort_by_key(order, spare, column.code_bits());
}

}  // namespace baytree
