#include "data/sort.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace baytree {

namespace {

// Stable counting passes, one per digit of Bits bits from the lowest up; digits that all items share are skipped.
// Returns whether the sorted items are in `spare`.
template <int Bits>
bool radix_sort(std::span<Keyed> items, std::span<Keyed> spare, int key_bits) {
  constexpr int most_digits = (32 + Bits - 1) / Bits;
  constexpr std::uint32_t mask = (1u << Bits) - 1;
  const int n_digits = (key_bits + Bits - 1) / Bits;
  auto digit = [](Keyed item, int d) { return static_cast<std::uint32_t>(item >> (32 + d * Bits)) & mask; };
  std::array<std::array<std::uint32_t, 1u << Bits>, most_digits> start;
  for (int d = 0; d < n_digits; ++d) start[d].fill(0);
  for (const Keyed item : items)
    for (int d = 0; d < n_digits; ++d) ++start[d][digit(item, d)];

  bool in_spare = false;
  for (int d = 0; d < n_digits; ++d) {
    if (start[d][digit(items[0], d)] == items.size()) continue;
    std::uint32_t sum = 0;
    for (std::uint32_t& count : start[d]) sum += std::exchange(count, sum);
    for (const Keyed item : items) spare[start[d][digit(item, d)]++] = item;
    std::swap(items, spare);
    in_spare = !in_spare;
  }
  return in_spare;
}

}  // namespace

bool sort_items(std::span<Keyed> items, std::span<Keyed> spare, int key_bits) {
  if (items.size() < 4096) return radix_sort<8>(items, spare, key_bits);
  // As many passes as digits of 11 bits need, with digits no longer than that takes.
  const int n_passes = std::max((key_bits + 10) / 11, 1), digit_bits = (key_bits + n_passes - 1) / n_passes;
  if (digit_bits <= 8) return radix_sort<8>(items, spare, key_bits);
  if (digit_bits == 9) return radix_sort<9>(items, spare, key_bits);
  if (digit_bits == 10) return radix_sort<10>(items, spare, key_bits);
  return radix_sort<11>(items, spare, key_bits);
}

void sort_by_key(std::vector<Keyed>& items, std::vector<Keyed>& spare, int key_bits) {
  if (items.size() < 64) return std::sort(items.begin(), items.end());
  spare.resize(items.size());
  if (sort_items(items, spare, key_bits)) items.swap(spare);
}

}  // namespace baytree
