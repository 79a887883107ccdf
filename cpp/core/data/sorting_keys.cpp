#include "data/sorting_keys.hpp"

namespace baytree {

SortingKeys::SortingKeys(std::span<const std::uint64_t> numbers, const Blocks& blocks) {
  find_range(numbers, blocks);
  if (n_bits_ <= 32) return;
  tell_all_ = false;
  if (numbers.size() < kFewNumbers) {
    n_bits_ = 32;
    shift_ = width_ - 32;
  } else {
    const int in_buckets = bucket_bits(numbers.size());
    n_bits_ = in_buckets == 0 ? 22 : in_buckets + 16;  // two digits at once, or inside of each bucket
    spread(numbers, blocks);
  }
}

void SortingKeys::find_range(std::span<const std::uint64_t> numbers, const Blocks& blocks) {
  struct Range {
    std::uint64_t low = ~std::uint64_t{0}, high = 0, ones = 0, common = ~std::uint64_t{0};
  };
  std::vector<Range> ranges(blocks.size());
  blocks.each([&](std::size_t block, std::size_t begin, std::size_t end) {
    auto [low, high, ones, common] = Range{};
    for (std::size_t i = begin; i < end; ++i) {
      low = std::min(low, numbers[i]), high = std::max(high, numbers[i]);
      ones |= numbers[i], common &= numbers[i];
    }
    ranges[block] = {low, high, ones, common};
  });
  Range all;
  for (const Range& range : ranges) {
    all.low = std::min(all.low, range.low), all.high = std::max(all.high, range.high);
    all.ones |= range.ones, all.common &= range.common;
  }
  low_ = all.low, high_ = all.high;
  width_ = static_cast<int>(std::bit_width(high_ - low_));
  shift_ = low_ == high_ ? 0 : std::countr_zero(all.ones ^ all.common);  // the bits below are the same in all
  n_bits_ = width_ - shift_;
}

void SortingKeys::spread(std::span<const std::uint64_t> numbers, const Blocks& blocks) {
  constexpr std::size_t n_cells = std::size_t{1} << kCellBits;
  std::vector<std::vector<std::uint32_t>> counts(blocks.size(), std::vector<std::uint32_t>(n_cells));
  blocks.each([&, shift = width_ - kCellBits](std::size_t block, std::size_t begin, std::size_t end) {
    std::uint32_t* count = counts[block].data();
    for (std::size_t i = begin; i < end; ++i) ++count[(numbers[i] - low_) >> shift];
  });
  const std::uint64_t to_share = (std::uint64_t{1} << n_bits_) - n_cells;
  std::uint32_t next = 0;
  for (std::size_t cell = 0; cell < n_cells; ++cell) {
    std::uint64_t count = 0;
    for (const auto& of_block : counts) count += of_block[cell];
    n_keys_.push_back(static_cast<std::uint32_t>(1 + count * to_share / numbers.size()));
    first_.push_back(next);
    next += n_keys_.back();
  }
}

}  // namespace baytree
