// Ranks of float64 numbers, missing ones last.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "data/buffer.hpp"
#include "data/sort.hpp"
#include "data/sorting_keys.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

inline constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63, kMissingBits = ~std::uint64_t{0};

// Maps float64 to uint64 so that the order of the integers is that of the numbers; -0.0 equals 0.0, NaN comes last.
inline std::uint64_t ordered_bits(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  if (value != value) return kMissingBits;
  return bits & kSignBit ? ~bits : bits | kSignBit;
}

inline double value_of_bits(std::uint64_t bits) {
  return bits == kMissingBits ? std::numeric_limits<double>::quiet_NaN()
                              : std::bit_cast<double>(bits & kSignBit ? bits ^ kSignBit : ~bits);
}

struct RankScratch {
  Buffer<Keyed> order, spare;  // in ascending order of value: (sorting key, then code; row)
};

// Orders the rows by value and ranks them; returns the number of distinct values. Rows are put into buckets by the
// highest bits of their keys; a bucket is sorted in a core's cache. Values that share a key (few, unless they are
// equal) are told apart by comparison.
Code rank_rows(std::span<const std::uint64_t> bits, const SortingKeys& keys, const Blocks& blocks,
               RankScratch& scratch);

// Ranks on the calling thread.
inline Code rank_rows(std::span<const std::uint64_t> bits, RankScratch& scratch) {
  const Blocks whole(bits.size());
  return rank_rows(bits, SortingKeys(bits, whole), whole, scratch);
}

}  // namespace baytree
