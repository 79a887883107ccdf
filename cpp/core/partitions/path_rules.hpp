// The columns that may stand together on a path. A node may use those that are in one set with all columns of the
// splits above it, but for those that are forbidden from a node above it on down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

// What a path allows. There is one object for all paths that allow the same, so that pointers tell them apart.
struct PathState {
  std::vector<std::uint32_t> sets;       // those that hold all columns of the path, ascending
  std::vector<std::uint32_t> forbidden;  // features, ascending
  std::vector<std::uint8_t> allowed;     // by feature: whether it is in one of the sets, and not forbidden
  std::uint64_t mark;                    // tells it from others

  bool allows(std::size_t feature) const { return allowed[feature] != 0; }
};

class PathRules {
 public:
  // Every feature is in some set; the members of a set are ascending.
  PathRules(std::size_t n_features, std::vector<std::vector<std::uint32_t>> sets);

  std::size_t n_features() const { return sets_of_.size(); }
  const std::vector<std::uint32_t>& members(std::uint32_t set) const { return members_[set]; }
  const PathState* root() const { return root_; }
  // After one more split. Any thread may ask.
  const PathState* below(const PathState& above, const Split& split) const;
  // With more features forbidden.
  const PathState* without(const PathState& state, const std::vector<std::uint32_t>& features) const;

 private:
  const PathState* state_of(std::vector<std::uint32_t> sets, std::vector<std::uint32_t> forbidden) const;

  std::vector<std::vector<std::uint32_t>> members_;  // by set
  std::vector<std::vector<std::uint32_t>> sets_of_;  // by feature, ascending
  mutable std::mutex lock_;
  using Key = std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>;  // sets, forbidden features
  mutable std::map<Key, std::unique_ptr<PathState>> states_;
  const PathState* root_;
};

}  // namespace baytree
