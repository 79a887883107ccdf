// The bins of values, where the bins are known: a bin is named by the highest value it may hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/slices.hpp"

namespace baytree {

inline constexpr std::size_t kMostQuantileBins = 65535;  // with missing values, what a code's 16 bits can hold
inline constexpr std::size_t kSlicesABin = 32;           // then few values are in a slice where a bin ends

class BinFinder {
 public:
  // The ends are in ascending order; the last may be infinite. one_value_each: all values are ends.
  BinFinder(std::vector<double> ends, bool one_value_each);

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

  std::uint32_t within(double value, std::size_t slice) const;

  std::vector<double> ends_;
  Slices slices_;
  std::vector<std::uint32_t> first_;  // by slice: how many bins end before it
};

// The bin of each value, and the number of bins for missing ones; no value is beyond the last end.
std::vector<std::uint16_t> bin_codes(std::span<const double> values, const std::vector<double>& ends);

}  // namespace baytree
