#include "growth/listing.hpp"

#include <algorithm>
#include <utility>

namespace baytree {

void choose_highest(std::span<const double> scores, std::size_t most, double floor,
                    std::vector<std::uint32_t>& chosen) {
  chosen.clear();
  for (std::uint32_t i = 0; i < scores.size(); ++i)
    if (scores[i] > floor) chosen.push_back(i);
  if (chosen.size() <= most) return;
  std::nth_element(
      chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(most), chosen.end(),
      [&](std::uint32_t a, std::uint32_t b) { return std::pair(-scores[a], a) < std::pair(-scores[b], b); });
  chosen.resize(most);
  std::sort(chosen.begin(), chosen.end());
}

namespace detail {

void choose_middle(const SplitList& splits, std::size_t n_rows, std::vector<std::uint32_t>& chosen) {
  const auto positions = splits.with_missing_upper();
  if (positions.empty()) return;
  const auto at = std::lower_bound(positions.begin(), positions.end() - 1, n_rows / 2 - 1);
  const auto middle = static_cast<std::uint32_t>(at - positions.begin());
  if (splits.log_likelihood[middle] == kMinusInfinity) return;
  const auto place = std::lower_bound(chosen.begin(), chosen.end(), middle);
  if (place == chosen.end() || *place != middle) chosen.insert(place, middle);
}

}  // namespace detail

}  // namespace baytree
