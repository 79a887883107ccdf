#include "partitions/path_rules.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace baytree {

PathRules::PathRules(std::size_t n_features, std::vector<std::vector<std::uint32_t>> sets)
    : members_(std::move(sets)), sets_of_(n_features) {
  for (std::uint32_t set = 0; set < members_.size(); ++set)
    for (const std::uint32_t feature : members_[set]) {
      require(feature < n_features, "a set of columns holds a column that is not there");
      sets_of_[feature].push_back(set);
    }
  std::vector<std::uint32_t> all(members_.size());
  std::iota(all.begin(), all.end(), 0u);
  root_ = state_of(std::move(all), {});
}

const PathState* PathRules::below(const PathState& above, const Split& split) const {
  std::vector<std::uint32_t> sets = above.sets, left;
  for (const std::int32_t feature : features_of(split)) {
    const std::vector<std::uint32_t>& with = sets_of_[static_cast<std::size_t>(feature)];
    left.clear();
    std::set_intersection(sets.begin(), sets.end(), with.begin(), with.end(), std::back_inserter(left));
    std::swap(sets, left);
  }
  return sets.size() == above.sets.size() ? &above : state_of(std::move(sets), above.forbidden);
}

const PathState* PathRules::without(const PathState& state, const std::vector<std::uint32_t>& features) const {
  std::vector<std::uint32_t> more(features), forbidden;
  std::sort(more.begin(), more.end());
  std::set_union(state.forbidden.begin(), state.forbidden.end(), more.begin(), more.end(),
                 std::back_inserter(forbidden));
  return state_of(state.sets, std::move(forbidden));
}

const PathState* PathRules::state_of(std::vector<std::uint32_t> sets, std::vector<std::uint32_t> forbidden) const {
  const std::lock_guard<std::mutex> guard(lock_);
  std::unique_ptr<PathState>& state = states_[{sets, forbidden}];
  if (state) return state.get();
  state = std::make_unique<PathState>(
      PathState{std::move(sets), std::move(forbidden), std::vector<std::uint8_t>(n_features()), 0});
  for (const std::uint32_t set : state->sets) {
    state->mark += mark_of(set);
    for (const std::uint32_t feature : members_[set]) state->allowed[feature] = 1;
  }
  for (const std::uint32_t feature : state->forbidden) {
    state->mark += mark_of(members_.size() + feature);
    state->allowed[feature] = 0;
  }
  return state.get();
}

}  // namespace baytree
