#include "partitions/forest_router.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "partitions/router.hpp"

namespace baytree {

ForestRouter::ForestRouter(const SplitArrays& splits, std::span<const std::int64_t> tree_start,
                           std::span<const double> value, std::size_t n_features)
    : n_features_(n_features), n_values_(splits.size() == 0 ? 0 : value.size() / splits.size()),
      most_rows_(std::clamp(kMostValues / std::max<std::size_t>(n_features, 1), kLeastRows, kMostRows)) {
  check_splits(splits, n_features);
  check_trees(splits, tree_start);
  // A hyperplane reads many values of a row, a threshold one value of many rows.
  const bool has_planes = splits.hyperplane_start[splits.size()] > 0;
  row_step_ = has_planes ? n_features : 1;
  feature_step_ = has_planes ? 1 : most_rows_;
  require(n_values_ > 0 && n_values_ * splits.size() == value.size(), "the values of the nodes are not all there");
  roots_.assign(tree_start.begin(), tree_start.end() - 1);
  rules_.reserve(splits), steps_.reserve(splits.size());
  for (std::size_t node = 0; node < splits.size(); ++node) add(splits, node);
  rules_.finish();
  value_.assign(value.begin(), value.end());
}

void ForestRouter::check_trees(const SplitArrays& splits, std::span<const std::int64_t> tree_start) {
  const std::size_t n = splits.size();
  require(n < std::size_t{1} << 31 && tree_start.size() > 1 && tree_start.front() == 0 &&
              tree_start.back() == static_cast<std::int64_t>(n),
          "the trees of a forest are not all there");
  std::vector<std::uint8_t> has_parent(n);
  for (std::size_t t = 0; t + 1 < tree_start.size(); ++t) {
    require(tree_start[t] < tree_start[t + 1], "a tree has a root");
    for (std::int64_t i = tree_start[t]; i < tree_start[t + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (splits.kind_of(at) == SplitKind::none) continue;
      require(splits.children_left[at] == i + 1, "the left child of a node is not the next node");
      for (const std::int64_t child : {splits.children_left[at], splits.children_right[at]}) {
        require(child > i && child < tree_start[t + 1], "a node points back, or outside of its tree");
        require(!has_parent[static_cast<std::size_t>(child)], "a node has two parents");
        has_parent[static_cast<std::size_t>(child)] = 1;
      }
    }
  }
}

void ForestRouter::add(const SplitArrays& splits, std::size_t node) {
  rules_.add(splits, node);
  const SplitKind kind = splits.kind_of(node);
  std::int32_t feature = kind == SplitKind::hyperplane ? kPlane : kRule;
  if (kind < SplitKind::category_set) feature = static_cast<std::int32_t>(rules_.feature(node));
  const bool is_leaf = kind == SplitKind::none;
  steps_.push_back(
      {rules_.threshold(node), feature, is_leaf ? kNone : static_cast<std::int32_t>(splits.children_right[node])});
}

std::size_t ForestRouter::block_size(std::size_t n_rows, std::size_t n_threads) const {
  const std::size_t rounds = (n_rows + most_rows_ * n_threads - 1) / (most_rows_ * n_threads);
  const std::size_t n_blocks = std::max<std::size_t>(rounds * n_threads, 1);
  return std::max((n_rows + n_blocks - 1) / n_blocks, kLeastRows);
}

template <class Place>
void ForestRouter::fill(Block& block, const Table& table, const Place& place, std::size_t first,
                        std::size_t stop) const {
  block.values.resize(n_features_ * (row_step_ == 1 ? most_rows_ : stop - first));
  for (const std::size_t feature : rules_.features()) {
    const double* from = table.data + static_cast<std::ptrdiff_t>(first) * table.row_stride + place(feature);
    double* to = block.values.data() + feature * feature_step_;
    for (std::size_t i = 0; i < stop - first; ++i)
      to[i * row_step_] = from[static_cast<std::ptrdiff_t>(i) * table.row_stride];
  }
  if (row_step_ != 1)
    block.rounded.fill(rules_.features(), n_features_, block.values.data(), stop - first, row_step_, block.finite);
}

template <class GoesRight>
std::size_t ForestRouter::divide(Block& block, std::size_t begin, std::size_t end, GoesRight goes_right) {
  return divide(block, begin, end, goes_right, begin, 0);
}

template <class GoesRight>
std::size_t ForestRouter::divide(Block& block, std::size_t begin, std::size_t end, GoesRight goes_right,
                                 std::size_t middle, std::size_t n_upper) {
  std::uint32_t* rows = block.rows.data();
  std::uint32_t* upper = block.upper.data();
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint32_t row = rows[i];
    const bool right = goes_right(row);
    rows[middle] = row;
    upper[n_upper] = row;
    middle += !right;
    n_upper += right;
  }
  std::copy_n(upper, n_upper, rows + middle);
  return middle;
}

template <class Filled>
std::size_t ForestRouter::split_by_sums(Block& block, std::size_t at, std::size_t begin, std::size_t end,
                                        Filled filled) const {
  const SplitRules::Terms terms = rules_.terms(at);
  return begin + call_wide([=, rows = block.rows.data() + begin, upper = block.upper.data(), n = end - begin,
                            values = block.values.data(), step = row_step_, threshold = steps_[at].threshold,
                            n_terms = terms.feature.size(), feature = terms.feature.data(),
                            coefficient = terms.coefficient.data(),
                            missing_value = terms.missing_value.data()]() BAYTREE_INLINE {
           std::size_t i = 0, n_lower = 0, n_upper = 0;
           auto split_some = [&]<std::size_t n_rows>(std::array<std::uint32_t, n_rows> row) BAYTREE_INLINE {
             std::array<const double*, n_rows> x;
             std::array<double, n_rows> sum{};
             for (std::size_t k = 0; k < n_rows; ++k) row[k] = rows[i++], x[k] = values + row[k] * step;
             for (std::size_t term = 0; term < n_terms; ++term)
               for (std::size_t k = 0; k < n_rows; ++k)
                 sum[k] += coefficient[term] * filled(x[k][feature[term]], missing_value[term]);
             for (std::size_t k = 0; k < n_rows; ++k) {
               const bool right = !(sum[k] <= threshold);
               rows[n_lower] = row[k];  // both writes always happen and one counts, as in divide
               upper[n_upper] = row[k];
               n_lower += !right;
               n_upper += right;
             }
           };
           while (i + kAtOnce <= n) split_some(std::array<std::uint32_t, kAtOnce>{});
           while (i < n) split_some(std::array<std::uint32_t, 1>{});
           std::copy_n(upper, n_upper, rows + n_lower);
           return n_lower;
         });
}

std::size_t ForestRouter::split_rounded(Block& block, std::size_t at, std::size_t begin, std::size_t end) const {
  auto lies_beyond = [&, x = block.values.data()](std::uint32_t row) {
    return rules_.goes_right(at, [&](std::size_t feature) { return x[row * row_step_ + feature]; });
  };
  const std::span<std::uint32_t> rows(block.rows.data() + begin, end - begin);
  const auto [n, n_lower] = block.rounded.divide(rules_.terms(at), steps_[at].threshold, rows, block.upper.data(),
                                                 lies_beyond);
  return divide(block, begin + n, end, lies_beyond, begin + n_lower, n - n_lower);
}

std::size_t ForestRouter::split_by_plane(Block& block, std::size_t at, std::size_t begin, std::size_t end) const {
  if (block.rounded.pays(end - begin)) return split_rounded(block, at, begin, end);
  if (block.finite) return split_by_sums(block, at, begin, end, [](double x, double) BAYTREE_INLINE { return x; });
  return split_by_sums(block, at, begin, end,
                       [](double x, double missing) BAYTREE_INLINE { return x == x ? x : missing; });
}

std::size_t ForestRouter::split_by_threshold(Block& block, std::size_t at, std::size_t begin, std::size_t end) const {
  const double* x = block.values.data() + static_cast<std::size_t>(steps_[at].feature) * feature_step_;
  const std::size_t step = row_step_;
  const double threshold = steps_[at].threshold;
  if (block.finite)
    return divide(block, begin, end, [=](std::uint32_t row) BAYTREE_INLINE { return x[row * step] > threshold; });
  const bool missing_right = rules_.missing_goes_right(at);
  return divide(block, begin, end, [=](std::uint32_t row) BAYTREE_INLINE {
    return x[row * step] == x[row * step] ? x[row * step] > threshold : missing_right;
  });
}

std::size_t ForestRouter::split(Block& block, std::size_t at, std::size_t begin, std::size_t end) const {
  if (steps_[at].feature >= 0) return split_by_threshold(block, at, begin, end);
  if (steps_[at].feature == kPlane) return split_by_plane(block, at, begin, end);
  return divide(block, begin, end, [&](std::uint32_t row) BAYTREE_INLINE {
    return rules_.goes_right(
        at, [&](std::size_t feature) { return block.values[feature * feature_step_ + row * row_step_]; });
  });
}

template <class Arrive>
void ForestRouter::walk(Block& block, std::size_t n_rows, std::size_t root, Arrive&& arrive) const {
  block.rows.resize(n_rows);
  block.upper.resize(n_rows + RoundedBlock::kRoom);
  for (std::size_t i = 0; i < n_rows; ++i) block.rows[i] = static_cast<std::uint32_t>(i);
  block.parts.assign(1, {root, 0, n_rows});
  while (!block.parts.empty()) {
    const auto [at, begin, end] = block.parts.back();
    block.parts.pop_back();
    if (begin == end) continue;
    if (steps_[at].right == kNone) {
      for (std::size_t i = begin; i < end; ++i) arrive(block.rows[i], at);
      continue;
    }
    const std::size_t middle = split(block, at, begin, end);
    block.parts.push_back({static_cast<std::size_t>(steps_[at].right), middle, end});
    block.parts.push_back({at + 1, begin, middle});
  }
}

template <class Arrive, class Finish>
bool ForestRouter::route(const Table& table, const FeatureColumns& columns, std::size_t n_threads, Interrupt& interrupt,
                         Arrive&& arrive, Finish&& finish) const {
  std::atomic<bool> no_infinity{true};
  std::vector<Block> blocks(std::max<std::size_t>(n_threads, 1));
  const std::size_t size = block_size(table.n_rows, blocks.size());
  with_places(table, columns, rules_, n_features_, [&](const auto& place) {
    parallel_for((table.n_rows + size - 1) / size, n_threads, interrupt, [&](std::size_t task, std::size_t worker) {
      const std::size_t first = task * size, stop = std::min(table.n_rows, first + size);
      Block& block = blocks[worker];
      block.finite = rows_are_finite(table, first, stop);
      if (!block.finite && rows_have_infinity(table, first, stop)) no_infinity.store(false, std::memory_order_relaxed);
      fill(block, table, place, first, stop);
      for (std::size_t tree = 0; tree < roots_.size(); ++tree)
        walk(block, stop - first, roots_[tree],
             [&](std::size_t row, std::size_t at) BAYTREE_INLINE { arrive(tree, first + row, at); });
      finish(first, stop);
    });
  });
  return no_infinity;
}

bool ForestRouter::mean(const Table& table, const FeatureColumns& columns, std::span<double> result,
                        std::size_t n_threads, Interrupt& interrupt) const {
  return route(
      table, columns, n_threads, interrupt,
      [&](std::size_t, std::size_t row, std::size_t at) BAYTREE_INLINE {
        for (std::size_t k = 0; k < n_values_; ++k) result[row * n_values_ + k] += value_[at * n_values_ + k];
      },
      [&](std::size_t first, std::size_t stop) {
        for (std::size_t i = first * n_values_; i < stop * n_values_; ++i) result[i] /= static_cast<double>(n_trees());
      });
}

bool ForestRouter::leaves(const Table& table, const FeatureColumns& columns, std::span<std::int32_t> result,
                          std::size_t n_threads, Interrupt& interrupt) const {
  return route(
      table, columns, n_threads, interrupt,
      [&](std::size_t tree, std::size_t row, std::size_t at)
          BAYTREE_INLINE { result[row * n_trees() + tree] = static_cast<std::int32_t>(at); },
      [](std::size_t, std::size_t) {});
}

}  // namespace baytree
