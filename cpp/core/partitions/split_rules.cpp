#include "partitions/split_rules.hpp"

namespace baytree {

namespace {

void check_lengths(const SplitArrays& splits) {
  const std::size_t n = splits.size(), n_terms = splits.hyperplane_feature.size();
  require(splits.children_left.size() == n && splits.children_right.size() == n && splits.feature.size() == n &&
              splits.threshold.size() == n && splits.missing_go_to_left.size() == n &&
              splits.unseen_go_to_left.size() == n,
          "the arrays of the splits have one length");
  require(splits.category_goes_left.size() == splits.category.size() &&
              detail::divides_entries(splits.category_start, n, splits.category.size()),
          "the categories of the splits are all there");
  require(splits.hyperplane_coefficient.size() == n_terms && splits.hyperplane_missing_value.size() == n_terms &&
              detail::divides_entries(splits.hyperplane_start, n, n_terms),
          "the terms of the hyperplanes are all there");
}

}  // namespace

void check_splits(const SplitArrays& splits, std::size_t n_features) {
  check_lengths(splits);
  constexpr std::int64_t most_categories = std::int64_t{1} << 32;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const SplitKind kind = splits.kind_of(i);
    require(kind <= SplitKind::hyperplane, "a split is of no known kind");
    require(kind == SplitKind::none || detail::is_feature(splits.feature[i], n_features),
            "a split has a feature that does not exist");
    require((kind != SplitKind::threshold && kind != SplitKind::hyperplane) || std::isfinite(splits.threshold[i]),
            "a threshold is not finite");
    require(kind == SplitKind::category_set || splits.category_start[i] == splits.category_start[i + 1],
            "a split has categories and divides none");
    require((kind == SplitKind::hyperplane) == (splits.hyperplane_start[i] < splits.hyperplane_start[i + 1]),
            "a hyperplane has no terms, or another split has some");
  }
  for (const std::int64_t category : splits.category)
    require(category >= 0 && category < most_categories, "a category is out of range");
  for (const std::int64_t feature : splits.hyperplane_feature)
    require(detail::is_feature(feature, n_features), "a hyperplane has a feature that does not exist");
}

void SplitRules::reserve(const SplitArrays& splits) {
  rules_.reserve(splits.size());
  term_feature_.reserve(splits.hyperplane_feature.size());
  coefficient_.reserve(splits.hyperplane_feature.size());
  missing_value_.reserve(splits.hyperplane_feature.size());
}

void SplitRules::add(const SplitArrays& splits, std::size_t i) {
  const SplitKind kind = splits.kind_of(i);
  Rule rule{kind, splits.missing_go_to_left[i], splits.unseen_go_to_left[i],
            static_cast<std::uint32_t>(std::max<std::int64_t>(splits.feature[i], 0)), splits.threshold[i]};
  // Every value lies below: only missing ones can go to the other side.
  if (kind == SplitKind::present_missing) rule.threshold = std::numeric_limits<double>::infinity();
  if (kind == SplitKind::category_set) add_categories(splits, i, rule);
  if (kind == SplitKind::hyperplane) add_terms(splits, i, rule);
  if (kind != SplitKind::none && kind != SplitKind::hyperplane) use(rule.feature);
  thresholds_only_ &= kind < SplitKind::category_set;
  rules_.push_back(rule);
}

void SplitRules::finish() {
  for (std::size_t feature = 0; feature < is_used_.size(); ++feature)
    if (is_used_[feature]) features_.push_back(feature);
}

void SplitRules::add_categories(const SplitArrays& splits, std::size_t i, Rule& rule) {
  const auto first = static_cast<std::size_t>(splits.category_start[i]);
  const auto stop = static_cast<std::size_t>(splits.category_start[i + 1]);
  rule.first = category_left_.size();
  for (std::size_t k = first; k < stop; ++k)
    rule.count = std::max(rule.count, static_cast<std::size_t>(splits.category[k]) + 1);
  category_left_.resize(rule.first + rule.count, rule.unseen_left);
  for (std::size_t k = first; k < stop; ++k)
    category_left_[rule.first + static_cast<std::size_t>(splits.category[k])] = splits.category_goes_left[k];
}

void SplitRules::add_terms(const SplitArrays& splits, std::size_t i, Rule& rule) {
  rule.first = term_feature_.size();
  for (auto k = static_cast<std::size_t>(splits.hyperplane_start[i]);
       k < static_cast<std::size_t>(splits.hyperplane_start[i + 1]); ++k) {
    term_feature_.push_back(static_cast<std::uint32_t>(splits.hyperplane_feature[k]));
    coefficient_.push_back(splits.hyperplane_coefficient[k]);
    missing_value_.push_back(splits.hyperplane_missing_value[k]);
    use(term_feature_.back());
  }
  rule.count = term_feature_.size() - rule.first;
}

void SplitRules::use(std::size_t feature) {
  if (is_used_.size() <= feature) is_used_.resize(feature + 1);
  is_used_[feature] = 1;
}

SplitRules::Terms SplitRules::terms(std::size_t i) const {
  const Rule& rule = rules_[i];
  return {{term_feature_.data() + rule.first, rule.count},
          {coefficient_.data() + rule.first, rule.count},
          {missing_value_.data() + rule.first, rule.count}};
}

}  // namespace baytree
