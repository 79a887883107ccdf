#include "data/bins.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace baytree {

namespace {

std::span<const double> finite(const std::vector<double>& ends) {
  const bool last = !ends.empty() && std::isinf(ends.back());
  return {ends.data(), ends.size() - last};
}

}  // namespace

BinFinder::BinFinder(std::vector<double> ends, bool one_value_each)
    : ends_(std::move(ends)), slices_(finite(ends_), std::max<std::size_t>(kSlicesABin * ends_.size(), 256)),
      first_(slices_.size() + 1) {
  for (const double end : ends_) ++first_[slices_.of(end) + 1];
  for (std::size_t slice = 1; slice < first_.size(); ++slice) first_[slice] += first_[slice - 1];
  for (std::size_t slice = 0; slice < slices_.size(); ++slice)
    if (first_[slice + 1] - first_[slice] > (one_value_each ? 1u : 0u)) first_[slice] |= kOpen;
}

std::uint32_t BinFinder::within(double value, std::size_t slice) const {
  const auto begin = ends_.begin() + (first_[slice] & ~kOpen), end = ends_.begin() + (first_[slice + 1] & ~kOpen);
  return static_cast<std::uint32_t>(std::lower_bound(begin, end, value) - ends_.begin());
}

std::vector<std::uint16_t> bin_codes(std::span<const double> values, const std::vector<double>& ends) {
  std::vector<std::uint16_t> codes(values.size());
  BinFinder(ends, false).find(values, [&](std::size_t i, std::uint32_t bin) {
    codes[i] = static_cast<std::uint16_t>(bin);
  });
  return codes;
}

}  // namespace baytree
