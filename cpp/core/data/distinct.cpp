#include "data/distinct.hpp"

#include <algorithm>
#include <bit>

namespace baytree {

void DistinctValues::add(std::span<const double> values) {
  double previous = 0.0;
  bool any = false;
  for (const double given : values) {
    const double value = given + 0.0;  // -0.0 is 0.0
    if (any && value == previous) continue;
    if (value != value) {
      has_missing_ = true;
      continue;
    }
    previous = value, any = true;
    if (!too_many()) add_one(value);
  }
}

std::vector<double> DistinctValues::sorted() const {
  std::vector<double> result = found_;
  std::sort(result.begin(), result.end());
  return result;
}

void DistinctValues::add_one(double value) {
  std::uint32_t& place = place_of(value);
  if (place != 0) return;
  found_.push_back(value);
  place = static_cast<std::uint32_t>(found_.size());
  if (4 * found_.size() <= seen_.size()) return;
  seen_.assign(4 * seen_.size(), 0);
  for (std::size_t i = 0; i < found_.size(); ++i) place_of(found_[i]) = static_cast<std::uint32_t>(i + 1);
}

std::uint32_t& DistinctValues::place_of(double value) {
  std::size_t at = (std::bit_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15) >> 32 & (seen_.size() - 1);
  while (seen_[at] != 0 && found_[seen_[at] - 1] != value) at = (at + 1) & (seen_.size() - 1);
  return seen_[at];
}

}  // namespace baytree
