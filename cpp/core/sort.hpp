// Sorting of (32-bit key, 32-bit payload) pairs, packed in one 64-bit word with the key on top.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace baytree {

using Keyed = std::uint64_t;

inline Keyed keyed(std::uint32_t key, std::uint32_t payload) {
  return (static_cast<Keyed>(key) << 32) | payload;
}
inline std::uint32_t key_of(Keyed item) { return static_cast<std::uint32_t>(item >> 32); }
inline std::uint32_t payload_of(Keyed item) { return static_cast<std::uint32_t>(item); }

namespace detail {

// One stable counting pass by the digit that starts at `shift`; false if all items share that digit.
template <int Bits>
bool radix_pass(const std::vector<Keyed>& from, std::vector<Keyed>& to, int shift) {
  constexpr std::uint32_t mask = (1u << Bits) - 1;
  std::array<std::uint32_t, 1u << Bits> start{};
  auto digit = [shift](Keyed item) { return static_cast<std::uint32_t>(item >> shift) & mask; };
  for (const Keyed item : from) ++start[digit(item)];
  if (start[digit(from[0])] == from.size()) return false;
  std::uint32_t sum = 0;
  for (std::uint32_t& count : start) sum += std::exchange(count, sum);
  for (const Keyed item : from) to[start[digit(item)]++] = item;
  return true;
}

template <int Bits>
void radix_sort(std::vector<Keyed>& items, std::vector<Keyed>& spare, int key_bits) {
  spare.resize(items.size());
  for (int shift = 32; shift < 32 + key_bits; shift += Bits)
    if (radix_pass<Bits>(items, spare, shift)) items.swap(spare);
}

}  // namespace detail

// Sorts by key, keeping the order of items with equal keys when the payloads ascend. Keys are below 2**key_bits.
inline void sort_by_key(std::vector<Keyed>& items, std::vector<Keyed>& spare, int key_bits) {
  if (items.size() < 64) {
    std::sort(items.begin(), items.end());
  } else if (items.size() < 4096) {
    detail::radix_sort<8>(items, spare, key_bits);
  } else {
    detail::radix_sort<11>(items, spare, key_bits);
  }
}

}  // namespace baytree
