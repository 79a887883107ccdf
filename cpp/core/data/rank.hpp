// Ranks of float64 numbers, missing ones last.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "data/sort.hpp"
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
  std::vector<Keyed> order, spare;  // in ascending order of value: (sorting key, then code; row)
};

namespace detail {

// Ranks items that share a key from `code` on; returns the next code.
inline Code rank_run(const std::vector<std::uint64_t>& bits, std::span<Keyed> run, Code code) {
  auto value = [&](Keyed item) { return bits[payload_of(item)]; };
  const bool equal = std::all_of(run.begin(), run.end(),
                                 [&, first = value(run[0])](Keyed item) { return value(item) == first; });
  if (!equal) std::stable_sort(run.begin(), run.end(), [&](Keyed a, Keyed b) { return value(a) < value(b); });
  std::uint64_t previous = value(run[0]);
  for (Keyed& item : run) {
    code += value(item) != previous;
    previous = value(item);
    item = keyed(code, payload_of(item));
  }
  return code + 1;
}

}  // namespace detail

// Orders the rows by value and ranks them; returns the number of distinct values. Radix passes sort by a
// key, the 32 highest bits in which the values differ; values that share a key (few, unless they are
// equal) are told apart by comparison.
inline Code rank_rows(const std::vector<std::uint64_t>& bits, RankScratch& scratch) {
  const std::size_t n = bits.size();
  auto& order = scratch.order;
  const auto [low, high] = std::minmax_element(bits.begin(), bits.end());
  const std::uint64_t start = *low;
  const int width = std::bit_width(*high - start);
  const int shift = std::max(0, width - 32);
  const std::uint64_t low_bits = (std::uint64_t{1} << shift) - 1;
  std::uint64_t lost = 0;  // bits below the keys
  order.resize(n);
  for (std::size_t row = 0; row < n; ++row) {
    const std::uint64_t offset = bits[row] - start;
    lost |= offset & low_bits;
    order[row] = keyed(static_cast<std::uint32_t>(offset >> shift), static_cast<Row>(row));
  }
  sort_by_key(order, scratch.spare, std::min(width, 32));

  Code code = 0;
  for (std::size_t begin = 0, end; begin < n; begin = end) {
    end = begin + 1;
    while (end < n && key_of(order[end]) == key_of(order[begin])) ++end;
    if (end - begin > 1 && lost != 0) {
      code = detail::rank_run(bits, std::span(order).subspan(begin, end - begin), code);
    } else {
      for (std::size_t i = begin; i < end; ++i) order[i] = keyed(code, payload_of(order[i]));
      ++code;
    }
  }
  return code;
}

}  // namespace baytree
