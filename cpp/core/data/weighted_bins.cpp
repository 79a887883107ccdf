#include "data/weighted_bins.hpp"

#include "types.hpp"

namespace baytree {

ColumnBins weighted_bins(std::span<const std::uint64_t> bits, std::span<const std::int64_t> weight,
                         std::size_t max_bins, RankScratch& scratch) {
  rank_rows(bits, scratch);
  const std::span<const Keyed> order = scratch.order;
  std::size_t n = 0;  // missing values come last
  Int128 total = 0, before = 0;
  for (; n < order.size() && bits[payload_of(order[n])] != kMissingBits; ++n) total += weight[payload_of(order[n])];
  auto bins_ended = [&](Int128 upto) { return upto * static_cast<Int128>(max_bins) / total; };
  ColumnBins bins{{}, {}, n < order.size()};
  for (std::size_t begin = 0, end; begin < n; begin = end) {
    Int128 upto = before;
    for (end = begin; end < n && key_of(order[end]) == key_of(order[begin]); ++end)
      upto += weight[payload_of(order[end])];
    const double value = value_of_bits(bits[payload_of(order[begin])]);
    if (bins.lows.size() == bins.ends.size()) bins.lows.push_back(value);
    if (bins_ended(upto) > bins_ended(before)) bins.ends.push_back(value);
    before = upto;
  }
  return bins;
}

}  // namespace baytree
