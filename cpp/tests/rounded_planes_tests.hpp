// rounded_planes.hpp: rows lie where exact sums say, however near or far, and few of them have to be asked for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "forest_tests.hpp"
#include "partitions/rounded_planes.hpp"

namespace baytree::tests {

// Numbers of every size: whole, all zero, around a large one, with one far from all others, hardly above zero,
// subnormal, as large as can be.
inline std::vector<Values> columns_of_all_sizes(std::size_t n, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<Values> columns(40, Values(n));
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (double& value : columns[k]) {
      value = normal(random);
      if (k % 8 == 1) value = std::round(value);
      if (k % 8 == 2) value = 0.0;
      if (k % 8 == 3) value += 1e6;
      if (k % 8 == 5) value *= 1e-300;
      if (k % 8 == 6) value *= 1e-310;
      if (k % 8 == 7) value *= 1e300;
    }
  for (std::size_t k = 4; k < columns.size(); k += 8) columns[k][random() % n] = 1e12;
  return columns;
}

// Some rows of the table lie on each of its planes, to the last bit. Features come in any order, some twice.
inline FlatTree tree_of_planes(const Table& table, const std::vector<std::size_t>& features, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  FlatTree tree;
  for (std::size_t i = 0; i < 12; ++i) {
    FlatNode& node = tree.split(i, SplitKind::hyperplane, 0, 0.0);
    double sum = 0.0;
    const std::size_t row = random() % table.n_rows;
    for (std::size_t n_terms = 1 + random() % 12; n_terms > 0; --n_terms) {
      const std::size_t feature = features[random() % features.size()];
      double size = 0.0;
      for (std::size_t k = 0; k < 50; ++k) size += std::abs(table.at(k * table.n_rows / 50, feature)) / 50;
      const double coefficient = size > 1e-305 ? normal(random) / size : normal(random);
      node.terms.push_back({static_cast<std::int32_t>(feature), coefficient, 0.0});
      sum += coefficient * table.at(row, feature);
    }
    node.feature = node.terms.front().feature;
    node.threshold = sum;
  }
  return tree;
}

inline void planes_divide_rows_of_all_sizes() {
  std::mt19937_64 random(46);
  std::vector<std::size_t> all(40), wholes{1, 9, 17, 25, 33};
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const std::size_t n : {64, 700, 9000})
    for (const auto& features : {all, wholes}) {
      const During during("n = ", n, ", ", features.size(), " features");
      const OwnedTable owned(columns_of_all_sizes(n, random), Layout::row_major);
      std::vector<FlatTree> trees;
      for (std::size_t t = 0; t < 6; ++t) trees.push_back(tree_of_planes(owned.table, features, random));
      check_forest_router(FlatForest(trees), owned.table, 40);
    }
}

// Rows as they are, and the same with one far from all others.
inline void few_rows_are_too_close_to_tell() {
  std::mt19937_64 random(47);
  std::normal_distribution<double> normal;
  constexpr std::size_t n = 4003, d = 20;
  Values values(n * d);
  for (double& value : values) value = normal(random);
  std::vector<std::size_t> features(d);
  std::iota(features.begin(), features.end(), std::size_t{0});
  const std::vector<std::uint32_t> feature(features.rbegin(), features.rend());
  Values coefficient(d), missing(d);
  for (double& own : coefficient) own = normal(random);
  for (const double largest : {3.0, 1e9}) {
    const During during("largest ", largest);
    values[7] = largest;
    RoundedBlock block;
    block.fill(features, d, values.data(), n, d, true);
    if (!block.pays(n)) return;  // the processor cannot
    std::vector<std::uint32_t> rows(n), upper(n + RoundedBlock::kRoom), expected;
    std::iota(rows.begin(), rows.end(), 0U);
    std::size_t n_asked = 0;
    auto sum_of = [&](std::uint32_t row) {
      double sum = 0.0;
      for (std::size_t k = 0; k < d; ++k) sum += coefficient[k] * values[row * d + feature[k]];
      return sum;
    };
    const auto [n_divided, n_lower] = block.divide({feature, coefficient, missing}, 0.5, rows, upper.data(),
                                                   [&](std::uint32_t row) { return ++n_asked, sum_of(row) > 0.5; });
    check_equal(n_divided, std::size_t{4000});
    for (std::uint32_t row = 0; row < n_divided; ++row)
      if (sum_of(row) <= 0.5) expected.push_back(row);
    check_equal(std::vector(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n_lower)), expected);
    check(std::none_of(upper.begin(), upper.begin() + static_cast<std::ptrdiff_t>(n_divided - n_lower),
                       [&](std::uint32_t row) { return sum_of(row) <= 0.5; }),
          "the others lie beyond");
    check(largest > 3.0 ? n_asked > n / 2 : n_asked < n / 50, "rows that had to be asked for");
    check_equal(block.pays(n), largest == 3.0);
  }
}

inline void rows_that_are_not_finite_are_not_rounded() {
  const Values values(100, 1.0);
  RoundedBlock block;
  block.fill({0}, 1, values.data(), 100, 1, false);
  check(!block.pays(100), "rows that are not finite are not rounded");
}

}  // namespace baytree::tests
