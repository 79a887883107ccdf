// The bins of values, where the bins are known: a bin is named by the highest value it may hold.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/slices.hpp"

namespace baytree {

inline constexpr std::size_t kMostQuantileBins = 65535;  // with missing values, what a code's 16 bits can hold
inline constexpr std::size_t kSlicesABin = 32;           // then few values are in a slice where a bin ends

class BinFinder {
 public:
  // The ends are in ascending order; the last may be infinite. one_value_each: all values are ends.
  BinFinder(std::vector<double> ends, bool one_value_each)
      : ends_(std::move(ends)), slices_(finite(ends_), std::max<std::size_t>(kSlicesABin * ends_.size(), 256)),
        first_(slices_.size() + 1) {
    for (const double end : ends_) ++first_[slices_.of(end) + 1];
    for (std::size_t slice = 1; slice < first_.size(); ++slice) first_[slice] += first_[slice - 1];
    for (std::size_t slice = 0; slice < slices_.size(); ++slice)
      if (first_[slice + 1] - first_[slice] > (one_value_each ? 1u : 0u)) first_[slice] |= kOpen;
  }

  std::uint32_t n_bins() const { return static_cast<std::uint32_t>(ends_.size()); }

  // tell(i, bin) of each value i; that of missing ones is n_bins. No value is beyond the last end.
  template <class Tell>
  void find(std::span<const double> values, Tell&& tell) const {
    slices_.each(values, [this, values, tell, first = first_.data()](std::size_t i, std::size_t slice) {
      const std::uint32_t bin = first[slice];
      tell(i, bin & kOpen ? within(values[i], slice) : bin);
    });
  }

 private:
  static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;  // a bin ends within the slice

  static std::span<const double> finite(const std::vector<double>& ends) {
    const bool last = !ends.empty() && std::isinf(ends.back());
    return {ends.data(), ends.size() - last};
  }

  std::uint32_t within(double value, std::size_t slice) const {
    const auto begin = ends_.begin() + (first_[slice] & ~kOpen), end = ends_.begin() + (first_[slice + 1] & ~kOpen);
    return static_cast<std::uint32_t>(std::lower_bound(begin, end, value) - ends_.begin());
  }

  std::vector<double> ends_;
  Slices slices_;
  std::vector<std::uint32_t> first_;  // by slice: how many bins end before it
};

// The bin of each value, and the number of bins for missing ones; no value is beyond the last end.
inline std::vector<std::uint16_t> bin_codes(std::span<const double> values, const std::vector<double>& ends) {
  std::vector<std::uint16_t> codes(values.size());
  BinFinder(ends, false).find(values, [&](std::size_t i, std::uint32_t bin) {
    codes[i] = static_cast<std::uint16_t>(bin);
  });
  return codes;
}

}  // namespace baytree
