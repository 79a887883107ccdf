#include "partitions/node_hyperplanes.hpp"

#include <algorithm>
#include <utility>

namespace baytree {

std::vector<std::vector<std::uint32_t>> sets_of_hyperplanes(const Settings& settings, const PathState& path) {
  std::vector<std::vector<std::uint32_t>> usable;
  for (const std::uint32_t set : path.sets) {
    std::vector<std::uint32_t> features;
    for (const std::uint32_t feature : settings.rules.paths->members(set))
      if (settings.rules.in_hyperplanes(feature)) features.push_back(feature);
    if (features.size() > 1) usable.push_back(std::move(features));
  }
  std::stable_sort(usable.begin(), usable.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<std::vector<std::uint32_t>> result;
  for (std::vector<std::uint32_t>& set : usable)
    if (std::none_of(result.begin(), result.end(), [&](const auto& larger) {
          return std::includes(larger.begin(), larger.end(), set.begin(), set.end());
        }))
      result.push_back(std::move(set));
  return result;
}

}  // namespace baytree
