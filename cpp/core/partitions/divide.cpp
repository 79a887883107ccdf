#include "partitions/divide.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <variant>

namespace baytree {

namespace {

// One for each of some rows. The allocator keeps freed small blocks of every size that was asked for, in every thread:
// let there be few sizes.
std::vector<std::uint8_t> one_for_each(std::span<const Row> rows) {
  std::vector<std::uint8_t> result;
  result.reserve(std::bit_ceil(rows.size()));
  result.resize(rows.size());
  return result;
}

template <class GoesLower>
std::vector<std::uint8_t> lower_by_code(const Column& column, std::span<const Row> rows, GoesLower&& goes_lower) {
  std::vector<std::uint8_t> result = one_for_each(rows);
  std::visit(
      [&](const auto& codes) {
        for (std::size_t i = 0; i < rows.size(); ++i) result[i] = goes_lower(static_cast<Code>(codes[rows[i]]));
      },
      column.codes);
  return result;
}

const Column& column_of(const Columns& columns, std::int32_t feature) {
  return columns.columns[static_cast<std::size_t>(feature)];
}

std::vector<std::uint8_t> lower_by(const NoSplit&, const Columns&, std::span<const Row> rows) {
  return std::vector<std::uint8_t>(rows.size());
}

std::vector<std::uint8_t> lower_by(const Threshold& split, const Columns& columns, std::span<const Row> rows) {
  const Column& column = column_of(columns, split.feature);
  return lower_by_code(column, rows, [&, missing_code = column.missing_code()](Code code) {
    return code == missing_code ? split.missing == Missing::lower : code <= split.last_lower;
  });
}

std::vector<std::uint8_t> lower_by(const PresentMissing& split, const Columns& columns, std::span<const Row> rows) {
  const Column& column = column_of(columns, split.feature);
  return lower_by_code(column, rows,
                       [missing_code = column.missing_code()](Code code) { return code != missing_code; });
}

std::vector<std::uint8_t> lower_by(const CategorySet& split, const Columns& columns, std::span<const Row> rows) {
  const Column& column = column_of(columns, split.feature);
  std::vector<std::uint8_t> goes_lower(column.n_codes);
  for (const auto& category : split.categories) goes_lower[category.code] = category.goes_lower;
  if (column.has_missing) goes_lower[column.missing_code()] = split.missing == Missing::lower;
  return lower_by_code(column, rows, [&](Code code) { return goes_lower[code]; });
}

std::vector<std::uint8_t> lower_by(const Hyperplane& split, const Columns& columns, std::span<const Row> rows) {
  std::array<double, 512> sum, x;  // of some rows at a time: every thread of a forest has these
  std::vector<std::uint8_t> result = one_for_each(rows);
  for (std::size_t begin = 0; begin < rows.size(); begin += x.size()) {
    const std::span<const Row> some = rows.subspan(begin, std::min(x.size(), rows.size() - begin));
    sum.fill(0.0);
    for (const auto& term : split.terms) {
      column_of(columns, term.feature).read(some, x.data());
      for (std::size_t i = 0; i < some.size(); ++i)
        sum[i] += term.coefficient * (x[i] == x[i] ? x[i] : term.missing_value);
    }
    for (std::size_t i = 0; i < some.size(); ++i) result[begin + i] = sum[i] <= split.threshold;
  }
  return result;
}

}  // namespace

std::vector<std::uint8_t> go_lower(const Columns& columns, const Split& split, std::span<const Row> rows) {
  return std::visit([&](const auto& of) { return lower_by(of, columns, rows); }, split);
}

Sides divide_rows(const Columns& columns, const Split& split, std::span<const Row> rows) {
  Sides sides;
  const std::vector<std::uint8_t> is_lower = go_lower(columns, split, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) (is_lower[i] ? sides.lower : sides.upper).push_back(rows[i]);
  return sides;
}

}  // namespace baytree
