// The splits of a tree without its rows: to be scored on other rows, with other settings or after an edit. Below some
// of its leaves the tree may go on to grow, and below some of its nodes columns may be forbidden.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "partitions/split.hpp"
#include "partitions/split_rules.hpp"
#include "types.hpp"

namespace baytree {

class TreeStructure {
 public:
  // What grows below a leaf, but for the number of a feature: one split, the best by this feature, and no more.
  static constexpr std::int64_t kNothing = -2, kAnything = -1;

  // Nodes in depth-first order, the left child right behind its parent. `grow` has what grows below each node, and the
  // features that are forbidden from node i on down are those from forbidden_start[i] to forbidden_start[i + 1].
  TreeStructure(const SplitArrays& arrays, std::span<const std::int64_t> grow,
                std::span<const std::int64_t> forbidden_start, std::span<const std::int64_t> forbidden,
                std::size_t n_features);

  std::size_t size() const { return splits_.size(); }
  bool is_leaf(std::size_t node) const { return kind_of(splits_[node]) == SplitKind::none; }
  const Split& split(std::size_t node) const { return splits_[node]; }
  std::size_t lower(std::size_t node) const { return node + 1; }
  std::size_t upper(std::size_t node) const { return upper_[node]; }
  std::int64_t grow(std::size_t node) const { return grow_[node]; }
  const std::vector<std::uint32_t>& forbidden(std::size_t node) const { return forbidden_[node]; }

  // Whether a row, or a code where row c stands for code c, goes to the lower side of a node's split.
  bool goes_lower(std::size_t node, const Columns& columns, Row row) const {
    return !rules_.goes_right(node, [&](std::size_t feature) { return value_of(columns.columns[feature], row); });
  }

 private:
  // The number that stands for a code: of a quantile bin its middle.
  static double value_of(const Column& column, Row row) {
    if (column.code_of(row) == column.missing_code()) return std::numeric_limits<double>::quiet_NaN();
    const double low = column.low(row), high = column.high(row);
    return low < high ? low / 2 + high / 2 : low;
  }

  std::vector<Split> splits_;
  std::vector<std::size_t> upper_;
  std::vector<std::int64_t> grow_;
  std::vector<std::vector<std::uint32_t>> forbidden_;
  SplitRules rules_;
};

}  // namespace baytree
