// Hashes of a table: of its columns, which are the same for the same values in any order and in any parts, and of its
// rows, which do not depend on the order of the columns. Other values practically never have the same.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/intervals.hpp"
#include "data/read.hpp"
#include "data/table.hpp"
#include "parallel.hpp"

namespace baytree {

// The finalizer of splitmix64, which maps each number to another one, and 0 to 0.
inline std::uint64_t mix_bits(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

// Of a column, modulo 2^64: the sum of the hashes of its values; all missing values are alike.
inline std::vector<std::uint64_t> hash_sums(const Table& table) {
  std::vector<std::uint64_t> sums(table.n_columns);
  for (std::size_t column = 0; column < table.n_columns; ++column)
    detail::each_tile(table, column, [&](std::span<const double> values) {
      for (const double value : values)
        sums[column] += mix_bits(value == value ? std::bit_cast<std::uint64_t>(value) + 1 : 0);
    });
  return sums;
}

// Of each row, modulo 2^64: the sum of the hashes of its values. Zeros of both signs add nothing, as those of a sparse
// table do.
inline std::vector<std::uint64_t> row_hashes(const Table& table, std::size_t n_threads, Interrupt& interrupt) {
  constexpr double missing = 3.1415926535897931e300;
  std::vector<std::uint64_t> hashes(table.n_rows);
  each_tile(table.n_rows, n_threads, interrupt, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t column = 0; column < table.n_columns; ++column)
      for (std::size_t row = begin; row < end; ++row) {
        const double value = table.at(row, column);
        hashes[row] += mix_bits(std::bit_cast<std::uint64_t>(value == value ? value + 0.0 : missing));
      }
  });
  return hashes;
}

}  // namespace baytree
