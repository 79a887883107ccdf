#include "growth/tree_structure.hpp"

namespace baytree {

namespace {

Missing side_of_missing(const SplitArrays& arrays, std::size_t i) {
  return arrays.missing_go_to_left[i] ? Missing::lower : Missing::upper;
}

CategorySet category_set(const SplitArrays& arrays, std::size_t i) {
  CategorySet result{static_cast<std::int32_t>(arrays.feature[i]), {}, side_of_missing(arrays, i)};
  for (auto k = static_cast<std::size_t>(arrays.category_start[i]);
       k < static_cast<std::size_t>(arrays.category_start[i + 1]); ++k)
    result.categories.push_back({static_cast<Code>(k), arrays.category[k], arrays.category_goes_left[k]});
  return result;
}

Hyperplane hyperplane(const SplitArrays& arrays, std::size_t i) {
  Hyperplane result{{}, arrays.threshold[i]};
  for (auto k = static_cast<std::size_t>(arrays.hyperplane_start[i]);
       k < static_cast<std::size_t>(arrays.hyperplane_start[i + 1]); ++k)
    result.terms.push_back({static_cast<std::int32_t>(arrays.hyperplane_feature[k]), arrays.hyperplane_coefficient[k],
                            arrays.hyperplane_missing_value[k]});
  return result;
}

Split split_of(const SplitArrays& arrays, std::size_t i) {
  const auto feature = static_cast<std::int32_t>(arrays.feature[i]);
  switch (arrays.kind_of(i)) {
    case SplitKind::threshold:
      return Threshold{feature, arrays.threshold[i], 0, side_of_missing(arrays, i)};
    case SplitKind::present_missing:
      return PresentMissing{feature};
    case SplitKind::category_set:
      return category_set(arrays, i);
    case SplitKind::hyperplane:
      return hyperplane(arrays, i);
    case SplitKind::none:
      break;
  }
  return NoSplit{};
}

std::vector<std::uint32_t> features_between(std::span<const std::int64_t> features, std::int64_t first,
                                            std::int64_t stop, std::size_t n_features) {
  require(first >= 0 && first <= stop && static_cast<std::size_t>(stop) <= features.size(), "features in a list");
  std::vector<std::uint32_t> result;
  for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(stop); ++k) {
    require(features[k] >= 0 && static_cast<std::size_t>(features[k]) < n_features, "a feature that is there");
    result.push_back(static_cast<std::uint32_t>(features[k]));
  }
  return result;
}

}  // namespace

TreeStructure::TreeStructure(const SplitArrays& arrays, std::span<const std::int64_t> grow,
                             std::span<const std::int64_t> forbidden_start, std::span<const std::int64_t> forbidden,
                             std::size_t n_features)
    : grow_(grow.begin(), grow.end()) {
  check_splits(arrays, n_features);
  const std::size_t n = arrays.size();
  std::vector<std::uint8_t> has_parent(n);
  rules_.reserve(arrays);
  require(grow.size() == n && forbidden_start.size() == n + 1, "one entry for each node of a given tree");
  for (std::size_t i = 0; i < n; ++i) {
    rules_.add(arrays, i);
    splits_.push_back(split_of(arrays, i));
    upper_.push_back(static_cast<std::size_t>(arrays.children_right[i]));
    require(grow[i] >= kNothing && grow[i] < static_cast<std::int64_t>(n_features), "a feature that is there");
    forbidden_.push_back(features_between(forbidden, forbidden_start[i], forbidden_start[i + 1], n_features));
    if (is_leaf(i)) continue;
    require(grow[i] == kNothing, "a given tree grows below its leaves");
    require(arrays.children_left[i] == static_cast<std::int64_t>(i) + 1 && upper_[i] > i + 1 && upper_[i] < n &&
                !has_parent[upper_[i]],
            "the nodes of a given tree are in depth-first order");
    has_parent[i + 1] = has_parent[upper_[i]] = 1;
  }
  for (std::size_t i = 1; i < n; ++i) require(has_parent[i], "a node of a given tree has a parent");
  require(n > 0, "a given tree has a root");
  rules_.finish();
}

}  // namespace baytree
