#include "data/intervals.hpp"

#include <algorithm>
#include <limits>

namespace baytree {

IntervalCounts count_intervals(const Table& table, std::size_t column, const BinFinder& finder,
                               std::size_t most_distinct, std::span<const std::int64_t> weight) {
  const std::size_t n = finder.n_bins() + 1;  // missing values are behind the last
  IntervalCounts result{
      std::vector<std::int64_t>(n), std::vector<double>(n, std::numeric_limits<double>::infinity()), {}};
  DistinctValues distinct(most_distinct);
  std::size_t first = 0;  // row of the tile
  detail::each_tile(table, column, [&](std::span<const double> values) {
    if (!distinct.too_many()) distinct.add(values);
    finder.find(values, [&](std::size_t i, std::uint32_t interval) {
      result.counts[interval] += weight.empty() ? 1 : weight[first + i];
      result.lows[interval] = std::min(result.lows[interval], values[i]);
    });
    first += values.size();
  });
  result.counts.pop_back(), result.lows.pop_back();
  for (std::size_t i = 0; i < result.counts.size(); ++i)
    if (result.counts[i] == 0) result.lows[i] = std::numeric_limits<double>::quiet_NaN();
  if (!distinct.too_many()) result.distinct = distinct.sorted();
  return result;
}

ChosenValues values_in(const Table& table, std::size_t column, const BinFinder& finder,
                       std::span<const std::uint8_t> chosen, std::span<const std::int64_t> weight) {
  std::vector<std::uint8_t> is_chosen(chosen.begin(), chosen.end());
  is_chosen.push_back(0);  // missing values
  ChosenValues result;
  result.values.resize(table.n_rows + 1);
  if (!weight.empty()) result.weight.resize(table.n_rows + 1);
  std::size_t n = 0, first = 0;
  detail::each_tile(table, column, [&](std::span<const double> values) {
    finder.find(values, [&](std::size_t i, std::uint32_t interval) {
      result.values[n] = values[i];  // always written: what is not chosen is written over
      if (!weight.empty()) result.weight[n] = weight[first + i];
      n += is_chosen[interval];
    });
    first += values.size();
  });
  result.values.resize(n);
  if (!weight.empty()) result.weight.resize(n);
  return result;
}

}  // namespace baytree
