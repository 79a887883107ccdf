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
  std::vector<std::uint16_t> slice;  // by row
};

// A range of values in slices of equal width: by the numbers themselves, or by their ordered bits (as it were by their
// logarithms), whichever divides some of the values more evenly.
class Slices {
 public:
  Slices(std::uint64_t low, std::uint64_t high, std::span<const std::uint64_t> values)
      : Slices(low, high, values, std::clamp(static_cast<int>(std::bit_width(values.size())), 8, 16)) {}

  // 2^bits slices.
  Slices(std::uint64_t low, std::uint64_t high, std::span<const std::uint64_t> values, int bits)
      : low_(low), start_(value_of_bits(low)) {
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
  std::size_t of(std::uint64_t bits) const { return factor_ > 0.0 ? by_number(bits) : by_bits(bits); }

  // The same of many values; that of missing ones means nothing.
  void of_all(std::span<const std::uint64_t> bits, std::vector<std::uint16_t>& result) const {
    result.resize(bits.size());
    if (factor_ > 0.0)
      for (std::size_t i = 0; i < bits.size(); ++i)
        result[i] = static_cast<std::uint16_t>(by_number(bits[i] == kMissingBits ? low_ : bits[i]));
    else
      for (std::size_t i = 0; i < bits.size(); ++i)
        result[i] = static_cast<std::uint16_t>(by_bits(bits[i] == kMissingBits ? low_ : bits[i]));
  }

 private:
  std::uint32_t by_number(std::uint64_t bits) const {
    const double value = std::bit_cast<double>(bits & kSignBit ? bits ^ kSignBit : ~bits);
    return static_cast<std::uint32_t>(static_cast<std::int32_t>((value - start_) * factor_));
  }
  std::uint32_t by_bits(std::uint64_t bits) const { return static_cast<std::uint32_t>((bits - low_) >> shift_); }

  // How many of some values are in a slice with the one before, in ascending order; missing ones count for nothing.
  std::size_t crowd(std::span<const std::uint64_t> values) const {
    constexpr std::size_t most = 512;
    std::vector<std::size_t> found;
    const std::size_t step = std::max<std::size_t>(values.size() / most, 1);
    for (std::size_t i = 0; i < values.size(); i += step)
      if (values[i] != kMissingBits) found.push_back(of(values[i]));
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
    std::vector<std::uint16_t> slice;
    slices.of_all(values, slice);
    find_within(values, slice, slices.size(), before);
  }

  // The same where the slices of the values are known; missing values are left out.
  void find_within(std::span<const std::uint64_t> values, std::span<const std::uint16_t> slice, std::size_t n_slices,
                   std::uint64_t before) {
    std::vector<std::uint32_t> place(n_slices);  // first how many values a slice has, then where the next is kept
    for (std::size_t i = 0; i < values.size(); ++i) place[slice[i]] += values[i] != kMissingBits;
    const std::vector<Slot> slots = keep_slots(place, before);
    std::vector<std::uint64_t> kept(slots.empty() ? 0 : slots.back().begin + slots.back().size);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint32_t& at = place[slice[i]];
      if (at != kNone && values[i] != kMissingBits) kept[at++] = values[i];
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

// The bins of a column: the highest value of each, in ascending order; none where all values are missing.
struct ColumnEnds {
  std::vector<std::uint64_t> ends;
  std::uint64_t low = 0;  // the lowest value
  bool has_missing = false;
  bool one_value_each = false;  // every bin holds one value
};

inline ColumnEnds find_ends(std::span<const std::uint64_t> bits, std::size_t max_bins, BinScratch& scratch) {
  ColumnEnds result;
  std::uint64_t low = kMissingBits, high = 0, n = 0;
  for (const std::uint64_t value : bits) {
    low = std::min(low, value);
    high = std::max(high, value == kMissingBits ? 0 : value);
    n += value != kMissingBits;
  }
  result.has_missing = n < bits.size();
  if (n == 0) return result;
  result.low = low;
  result.ends = detail::few_distinct(bits, max_bins, scratch.seen);
  result.one_value_each = !result.ends.empty();
  if (result.one_value_each) return result;
  const Slices slices(low, high, bits);
  slices.of_all(bits, scratch.slice);
  detail::BinEnds found(n, max_bins);
  found.find_within(bits, scratch.slice, slices.size(), 0);
  result.ends = found.take();
  return result;
}

// Finds the bins of values, by slices that rarely hold the end of more than one bin.
class BinFinder {
 public:
  // No value is below `low`.
  BinFinder(std::vector<std::uint64_t> ends, std::uint64_t low)
      : ends_(std::move(ends)),
        slices_(low, std::max(low + 1, ends_.empty() ? 0 : ends_.back()), ends_, bits_for(ends_.size())) {
    const auto n_bins = static_cast<std::uint32_t>(ends_.size());
    if (n_bins == 0) return;
    first_.assign(slices_.size() + 1, n_bins - 1);
    for (std::uint32_t bin = n_bins; bin-- > 0;) first_[slices_.of(ends_[bin])] = bin;
    for (std::size_t slice = slices_.size(); slice-- > 0;) first_[slice] = std::min(first_[slice], first_[slice + 1]);
  }

  std::size_t n_bins() const { return ends_.size(); }

  // tell(i, bin) of each value i; that of missing ones is n_bins.
  template <class Tell>
  void find(std::span<const std::uint64_t> values, std::vector<std::uint16_t>& slice, Tell&& tell) const {
    constexpr std::uint32_t few = 8;  // bins that are looked through one by one
    const auto n_bins = static_cast<std::uint32_t>(ends_.size());
    if (n_bins > 0) slices_.of_all(values, slice);
    const std::uint64_t* ends = ends_.data();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t value = values[i];
      if (value == kMissingBits) {
        tell(i, n_bins);
        continue;
      }
      std::uint32_t bin = first_[slice[i]];
      if (first_[slice[i] + std::size_t{1}] - bin > few)
        bin = static_cast<std::uint32_t>(std::lower_bound(ends + bin, ends + n_bins, value) - ends);
      while (ends[bin] < value) ++bin;
      tell(i, bin);
    }
  }

 private:
  static int bits_for(std::size_t n_bins) { return std::clamp(static_cast<int>(std::bit_width(n_bins)) + 4, 8, 16); }
  std::vector<std::uint64_t> ends_;
  Slices slices_;
  std::vector<std::uint32_t> first_;  // by slice: the first bin that may hold its values
};

// The bin of each value, and the number of bins for missing ones; `lows` becomes the lowest value of each bin. No value
// is beyond the last end.
template <class Int>
std::vector<Int> bin_codes(std::span<const std::uint64_t> bits, const std::vector<std::uint64_t>& ends,
                           std::vector<std::uint64_t>& lows, BinScratch& scratch) {
  const std::uint64_t first = ends.empty() ? 0 : ends.front();
  const std::uint64_t lowest = bits.empty() ? first : *std::min_element(bits.begin(), bits.end());
  std::vector<Int> codes(bits.size());
  lows.assign(ends.size() + 1, kMissingBits);
  BinFinder(ends, std::min(lowest, first)).find(bits, scratch.slice, [&](std::size_t i, std::uint32_t bin) {
    codes[i] = static_cast<Int>(bin);
    lows[bin] = std::min(lows[bin], bits[i]);
  });
  lows.pop_back();
  return codes;
}

}  // namespace baytree
