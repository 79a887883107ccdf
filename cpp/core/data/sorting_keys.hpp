// Keys of 32 bits or less to sort numbers of 64 bits by.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel.hpp"

namespace baytree {

// Keys ascend with the numbers. Where the numbers differ in few bits, the keys are these bits. Otherwise keys are
// spread as the numbers are: the range is cut into cells, each gets as many keys as it has numbers, and inside of a
// cell keys are proportional to the numbers. Few numbers then share a key, unless they are equal.
class SortingKeys {
 public:
  SortingKeys(std::span<const std::uint64_t> numbers, const Blocks& blocks);

  int n_bits() const { return n_bits_; }
  bool tell_all() const { return tell_all_; }  // different numbers have different keys
  std::uint64_t highest() const { return high_; }
  std::uint32_t of(std::uint64_t number) const {
    const std::uint64_t offset = number - low_;
    if (first_.empty()) return static_cast<std::uint32_t>(offset >> shift_);
    const std::uint64_t cell = offset >> (width_ - kCellBits);
    const std::uint64_t inside = offset << (64 - width_ + kCellBits) >> 32;
    return first_[cell] + static_cast<std::uint32_t>(inside * n_keys_[cell] >> 32);
  }

  // Many numbers are sorted in buckets of about 2^10 to 2^11, those with the same highest bits of their keys.
  static int bucket_bits(std::size_t n) {
    return n < kManyNumbers ? 0 : std::min(static_cast<int>(std::bit_width(n)) - 11, 11);
  }

 private:
  static constexpr int kCellBits = 11;
  static constexpr std::size_t kFewNumbers = 4096;                      // it does not pay to spread their keys
  static constexpr std::size_t kManyNumbers = std::size_t{1} << 18;  // a core's cache does not hold them

  void find_range(std::span<const std::uint64_t> numbers, const Blocks& blocks);
  void spread(std::span<const std::uint64_t> numbers, const Blocks& blocks);

  std::uint64_t low_ = 0, high_ = 0;
  int width_ = 0, shift_ = 0, n_bits_ = 0;
  bool tell_all_ = true;
  std::vector<std::uint32_t> first_, n_keys_;  // by cell, where keys are spread
};

}  // namespace baytree
