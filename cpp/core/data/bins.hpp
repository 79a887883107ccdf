// Quantile bins of a long column. A bin ends at a value whose rank is ceil(k n / max_bins), for k = 1, 2, ..., so the
// bins depend on nothing but the values: not on their order, nor on where they live. A column of no more than max_bins
// distinct values has a bin for each. Missing values have none.
//
// Values are ordered bits (rank.hpp). The range is divided into slices, which are counted; only slices that hold the
// end of a bin are looked into, in the same way.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "data/rank.hpp"
#include "types.hpp"

namespace baytree {

inline constexpr std::size_t kMostQuantileBins = 65535;  // with missing values, what a code's 16 bits can hold

// How many bins end at or before a rank (from 1): the number of k with ceil(k n / max_bins) <= rank.
inline std::uint64_t bins_ended(std::uint64_t rank, std::uint64_t n, std::uint64_t max_bins) {
  return rank * max_bins / n;
}

struct BinScratch {
  std::vector<std::uint64_t> seen;     // hash table of distinct values
  std::vector<std::uint64_t> present;  // the values that are not missing, where some are
  std::vector<std::uint32_t> first;    // by slice: the first bin that may hold its values
};

// A range of values in slices of equal width: by the numbers themselves, or by their ordered bits (as it were by their
// logarithms), whichever divides some of the values more evenly.
class Slices {
 public:
  Slices(std::uint64_t low, std::uint64_t high, std::span<const std::uint64_t> values)
      : low_(low), start_(value_of_bits(low)) {
    const int bits = std::clamp(static_cast<int>(std::bit_width(values.size())), 8, 16);
    shift_ = std::max(0, static_cast<int>(std::bit_width(high - low)) - bits);
    const double width = value_of_bits(high) - start_, factor = static_cast<double>((1 << bits) - 1) / width;
    if (std::isfinite(width) && std::isfinite(factor)) {
      const std::size_t by_bits = crowd(values);
      factor_ = factor;
      if (crowd(values) >= by_bits) factor_ = 0.0;
    }
    n_ = of(high) + 1;
  }

  std::size_t size() const { return n_; }
  // Ascends with the value.
  std::size_t of(std::uint64_t bits) const {
    return factor_ > 0.0 ? static_cast<std::size_t>((value_of_bits(bits) - start_) * factor_)
                         : static_cast<std::size_t>((bits - low_) >> shift_);
  }

 private:
  // How many of some values are in a slice with the one before, in ascending order.
  std::size_t crowd(std::span<const std::uint64_t> values) const {
    constexpr std::size_t most = 512;
    std::vector<std::size_t> found;
    const std::size_t step = std::max<std::size_t>(values.size() / most, 1);
    for (std::size_t i = 0; i < values.size(); i += step) found.push_back(of(values[i]));
    std::sort(found.begin(), found.end());
    std::size_t count = 0;
    for (std::size_t i = 1; i < found.size(); ++i) count += found[i] == found[i - 1];
    return count;
  }

  std::uint64_t low_;
  double start_, factor_ = 0.0;  // 0: by the bits
  int shift_;
  std::size_t n_;
};

namespace detail {

// The distinct values in ascending order; empty where there are more than `most`.
inline std::vector<std::uint64_t> few_distinct(std::span<const std::uint64_t> bits, std::size_t most,
                                               std::vector<std::uint64_t>& seen) {
  const std::size_t size = std::bit_ceil(4 * most);
  seen.assign(size, kMissingBits);
  std::vector<std::uint64_t> found;
  std::uint64_t previous = kMissingBits;
  for (const std::uint64_t value : bits) {
    if (value == previous) continue;
    previous = value;
    if (value == kMissingBits) continue;
    std::size_t at = (value * 0x9e3779b97f4a7c15) >> 32 & (size - 1);
    while (seen[at] != kMissingBits && seen[at] != value) at = (at + 1) & (size - 1);
    if (seen[at] == value) continue;
    if (found.size() == most) return {};
    seen[at] = value;
    found.push_back(value);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// What the ends of the bins are looked for in: values that are larger than `before` others.
class BinEnds {
 public:
  BinEnds(std::uint64_t n, std::uint64_t max_bins) : n_(n), max_bins_(max_bins) {}

  void find(std::span<const std::uint64_t> values, std::uint64_t before) {
    constexpr std::size_t few = 256;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (*low == *high) return add(*low, before, values.size());
    if (values.size() <= few) return find_sorted({values.begin(), values.end()}, before);
    const Slices slices(*low, *high, values);
    std::vector<std::uint32_t> place(slices.size());  // first how many values a slice has, then where the next is kept
    for (const std::uint64_t value : values) ++place[slices.of(value)];
    std::vector<Slot> slots = keep_slots(place, before);
    std::vector<std::uint64_t> kept(slots.empty() ? 0 : slots.back().begin + slots.back().size);
    for (const std::uint64_t value : values) {
      std::uint32_t& at = place[slices.of(value)];
      if (at != kNone) kept[at++] = value;
    }
    for (const Slot& slot : slots)
      find(std::span<const std::uint64_t>(kept).subspan(slot.begin, slot.size), slot.before);
  }

  std::vector<std::uint64_t> take() { return std::move(ends_); }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Slot {
    std::uint64_t before;
    std::uint32_t begin, size;
  };

  bool end_within(std::uint64_t before, std::uint64_t size) const {
    return bins_ended(before + size, n_, max_bins_) > bins_ended(before, n_, max_bins_);
  }
  void add(std::uint64_t value, std::uint64_t before, std::uint64_t size) {
    if (end_within(before, size)) ends_.push_back(value);
  }

  void find_sorted(std::vector<std::uint64_t> values, std::uint64_t before) {
    std::sort(values.begin(), values.end());
    for (std::size_t i = 0, next; i < values.size(); i = next) {
      next = i + 1;
      while (next < values.size() && values[next] == values[i]) ++next;
      add(values[i], before + i, next - i);
    }
  }

  // The slices that hold the end of a bin; their counts become places one after the other.
  std::vector<Slot> keep_slots(std::vector<std::uint32_t>& place, std::uint64_t before) const {
    std::vector<Slot> slots;
    std::uint32_t n_kept = 0;
    for (std::uint32_t& of_slice : place) {
      const std::uint32_t size = of_slice;
      of_slice = kNone;
      if (end_within(before, size)) {
        slots.push_back({before, n_kept, size});
        of_slice = n_kept;
        n_kept += size;
      }
      before += size;
    }
    return slots;
  }

  std::uint64_t n_, max_bins_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace detail

// The highest value of each bin, in ascending order; none where all values are missing.
inline std::vector<std::uint64_t> bin_ends(std::span<const std::uint64_t> bits, std::size_t max_bins,
                                           BinScratch& scratch) {
  std::vector<std::uint64_t> ends = detail::few_distinct(bits, max_bins, scratch.seen);
  if (!ends.empty()) return ends;
  std::span<const std::uint64_t> present = bits;
  if (std::find(bits.begin(), bits.end(), kMissingBits) != bits.end()) {
    scratch.present.clear();
    for (const std::uint64_t value : bits)
      if (value != kMissingBits) scratch.present.push_back(value);
    present = scratch.present;
  }
  if (present.empty()) return {};
  detail::BinEnds found(present.size(), max_bins);
  found.find(present, 0);
  return found.take();
}

// The bin of each value, and the number of bins for missing ones; `lows` becomes the lowest value of each bin.
template <class Int>
std::vector<Int> bin_codes(std::span<const std::uint64_t> bits, const std::vector<std::uint64_t>& ends,
                           std::vector<std::uint64_t>& lows, BinScratch& scratch) {
  const std::size_t n_bins = ends.size();
  lows.assign(n_bins, kMissingBits);
  std::vector<Int> codes(bits.size(), static_cast<Int>(n_bins));
  if (n_bins == 0) return codes;
  const std::uint64_t lowest = bits.empty() ? ends.front() : *std::min_element(bits.begin(), bits.end());
  const Slices slices(std::min(lowest, ends.front()), ends.back(), ends);
  scratch.first.assign(slices.size() + 1, static_cast<std::uint32_t>(n_bins - 1));
  for (std::size_t bin = n_bins; bin-- > 0;) scratch.first[slices.of(ends[bin])] = static_cast<std::uint32_t>(bin);
  for (std::size_t slice = slices.size(); slice-- > 0;)
    scratch.first[slice] = std::min(scratch.first[slice], scratch.first[slice + 1]);
  constexpr std::uint32_t few = 8;  // bins that are looked through one by one
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::uint64_t value = bits[i];
    if (value == kMissingBits) continue;
    const std::size_t slice = slices.of(value);
    std::uint32_t bin = scratch.first[slice];
    if (scratch.first[slice + 1] - bin > few)
      bin = static_cast<std::uint32_t>(std::lower_bound(ends.begin() + bin, ends.end(), value) - ends.begin());
    while (ends[bin] < value) ++bin;
    codes[i] = static_cast<Int>(bin);
    if (value < lows[bin]) lows[bin] = value;
  }
  return codes;
}

}  // namespace baytree
