// The sum of the hashes of the values of each column, modulo 2^64: the same for the same values in any order and in any
// parts, and for other values practically never.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/intervals.hpp"
#include "data/table.hpp"

namespace baytree {

// The finalizer of splitmix64, which maps each number to another one; all missing values are alike.
inline std::uint64_t hash_of_value(double value) {
  std::uint64_t bits = value == value ? std::bit_cast<std::uint64_t>(value) + 1 : 0;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

inline std::vector<std::uint64_t> hash_sums(const Table& table) {
  std::vector<std::uint64_t> sums(table.n_columns);
  for (std::size_t column = 0; column < table.n_columns; ++column)
    detail::each_tile(table, column, [&](std::span<const double> values) {
      for (const double value : values) sums[column] += hash_of_value(value);
    });
  return sums;
}

}  // namespace baytree
