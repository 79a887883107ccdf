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

}  // namespace

TreeStructure::TreeStructure(const SplitArrays& arrays, std::size_t n_features) {
  check_splits(arrays, n_features);
  const std::size_t n = arrays.size();
  std::vector<std::uint8_t> has_parent(n);
  rules_.reserve(arrays);
  for (std::size_t i = 0; i < n; ++i) {
    rules_.add(arrays, i);
    splits_.push_back(split_of(arrays, i));
    upper_.push_back(static_cast<std::size_t>(arrays.children_right[i]));
    if (is_leaf(i)) continue;
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
