#include "partitions/router.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>

#include "data/read.hpp"
#include "math/vector_math.hpp"

namespace baytree {

bool rows_are_finite(const Table& table, std::size_t first, std::size_t stop) {
  double total = 0.0;
  // Lines of neighbouring values: the whole block where rows lie back to back, else its rows or its columns.
  const bool by_row = table.column_stride == 1;
  const bool one_line = by_row && table.row_stride == static_cast<std::ptrdiff_t>(table.n_columns);
  const std::size_t n_rows = stop - first;
  const std::size_t n_lines = one_line ? 1 : by_row ? n_rows : table.n_columns;
  const std::size_t length = one_line ? n_rows * table.n_columns : by_row ? table.n_columns : n_rows;
  const std::ptrdiff_t line_stride = by_row ? table.row_stride : table.column_stride;
  const std::ptrdiff_t stride = by_row ? 1 : table.row_stride;
  for (std::size_t line = 0; line < n_lines; ++line) {
    const double* start = table.data + static_cast<std::ptrdiff_t>(first) * table.row_stride +
                          static_cast<std::ptrdiff_t>(line) * line_stride;
    total += call_wide([start, length, stride]() BAYTREE_INLINE {
      constexpr std::size_t lanes = 16;
      std::array<double, lanes> sum{};
      std::size_t i = 0;
      if (stride == 1)
        for (; i + lanes <= length; i += lanes)
          for (std::size_t k = 0; k < lanes; ++k) sum[k] += start[i + k] * 0.0;
      for (; i < length; ++i) sum[0] += start[static_cast<std::ptrdiff_t>(i) * stride] * 0.0;
      for (std::size_t k = 1; k < lanes; ++k) sum[0] += sum[k];
      return sum[0];
    });
  }
  return total == 0.0;
}

bool rows_have_infinity(const Table& table, std::size_t first, std::size_t stop) {
  for (std::size_t row = first; row < stop; ++row)
    for (std::size_t column = 0; column < table.n_columns; ++column)
      if (std::isinf(table.at(row, column))) return true;
  return false;
}

Router::Router(const SplitArrays& splits, std::size_t n_features) : n_features_(n_features) {
  check_splits(splits, n_features);
  check_children(splits);
  node_.push_back(0);
  for (std::size_t place = 0; place < node_.size(); ++place) {
    const auto node = static_cast<std::size_t>(node_[place]);
    rules_.add(splits, node);
    if (splits.kind_of(node) == SplitKind::none) {
      steps_.push_back({std::numeric_limits<double>::infinity(), 0, static_cast<std::int32_t>(place)});
      continue;
    }
    steps_.push_back({rules_.threshold(place), static_cast<std::int32_t>(rules_.feature(place)),
                      static_cast<std::int32_t>(node_.size())});
    node_.push_back(splits.children_left[node]);
    node_.push_back(splits.children_right[node]);
  }
  rules_.finish();
}

void Router::check_children(const SplitArrays& splits) {
  const std::size_t n = splits.size();
  require(n > 0 && n < std::size_t{1} << 31, "a tree has a root");
  std::vector<std::uint8_t> has_parent(n);
  for (std::size_t i = 0; i < n; ++i)
    for (const std::int64_t child : {splits.children_left[i], splits.children_right[i]}) {
      if (splits.kind_of(i) == SplitKind::none) {
        require(child < 0, "a leaf has a child");
        continue;
      }
      require(child > static_cast<std::int64_t>(i) && static_cast<std::size_t>(child) < n,
              "a node points back, or outside of the tree");
      require(!has_parent[static_cast<std::size_t>(child)], "a node has two parents");
      has_parent[static_cast<std::size_t>(child)] = 1;
    }
}

template <class Place>
bool Router::route_by(const Place& place, const Table& table, std::span<std::int64_t> leaves, std::size_t n_threads,
                      Interrupt& interrupt) const {
  std::atomic<bool> no_infinity{true};
  // Rows that fit the nearest cache beside the tree: they are checked and then walked.
  const std::size_t fitting = 16384 / (sizeof(double) * std::max<std::size_t>(table.n_columns, 1));
  const std::size_t chunk = std::max(kGroup, fitting / kGroup * kGroup);
  parallel_for((table.n_rows + kBlock - 1) / kBlock, n_threads, interrupt, [&](std::size_t task, std::size_t) {
    const std::size_t end = std::min(table.n_rows, (task + 1) * kBlock);
    for (std::size_t first = task * kBlock; first < end; first += chunk) {
      const std::size_t stop = std::min(first + chunk, end);
      const bool finite = rows_are_finite(table, first, stop);
      if (!finite && rows_have_infinity(table, first, stop)) no_infinity.store(false, std::memory_order_relaxed);
      if (finite && rules_.thresholds_only()) walk_together(place, table, first, stop, leaves);
      else walk_alone(place, table, first, stop, leaves);
    }
  });
  return no_infinity;
}

template <class Place>
void Router::walk_together(const Place& place, const Table& table, std::size_t first, std::size_t stop,
                           std::span<std::int64_t> leaves) const {
  const Step* steps = steps_.data();
  auto walk = [&, row_stride = table.row_stride](const double* first_row, auto size) {
    std::array<std::int32_t, kGroup> at{};
    bool arrived;
    do {
      for (int step = 0; step < 2; ++step)  // leaves lead to themselves, so an extra step does no harm
        for (std::size_t k = 0; k < size; ++k) {
          const Step node = steps[at[k]];
          const double x =
              first_row[static_cast<std::ptrdiff_t>(k) * row_stride + place(static_cast<std::size_t>(node.feature))];
          at[k] = node.left + (x > node.threshold);
        }
      arrived = true;
      for (std::size_t k = 0; k < size; ++k) arrived &= steps[at[k]].left == at[k];
    } while (!arrived);
    return at;
  };
  for (; first < stop; first += kGroup) {
    const double* first_row = table.data + static_cast<std::ptrdiff_t>(first) * table.row_stride;
    const std::size_t size = std::min(kGroup, stop - first);
    const auto at = size == kGroup ? walk(first_row, std::integral_constant<std::size_t, kGroup>{})
                                   : walk(first_row, size);
    for (std::size_t k = 0; k < size; ++k) leaves[first + k] = node_[static_cast<std::size_t>(at[k])];
  }
}

template <class Place>
void Router::walk_alone(const Place& place, const Table& table, std::size_t first, std::size_t stop,
                        std::span<std::int64_t> leaves) const {
  for (std::size_t row = first; row < stop; ++row) {
    const double* values = table.data + static_cast<std::ptrdiff_t>(row) * table.row_stride;
    std::size_t at = 0;
    while (!is_leaf(at)) at = child(at, [&](std::size_t feature) { return values[place(feature)]; });
    leaves[row] = node_[at];
  }
}

template <class Place>
std::vector<std::int64_t> Router::count_missing_by(const Place& place, const Table& table, std::size_t n_threads,
                                                   Interrupt& interrupt) const {
  struct alignas(kApart) Part {
    std::vector<std::int64_t> n_missing;
  };
  std::vector<Part> parts(std::max<std::size_t>(n_threads, 1));
  for (Part& part : parts) part.n_missing.resize(node_.size());
  each_tile(table.n_rows, n_threads, interrupt, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    std::vector<std::int64_t>& n_missing = parts[worker].n_missing;
    for (std::size_t row = begin; row < end; ++row) {
      const double* values = table.data + static_cast<std::ptrdiff_t>(row) * table.row_stride;
      auto value = [&](std::size_t feature) { return values[place(feature)]; };
      for (std::size_t at = 0; !is_leaf(at); at = child(at, value))
        n_missing[at] += std::isnan(value(static_cast<std::size_t>(steps_[at].feature)));
    }
  });
  std::vector<std::int64_t> result(node_.size());
  for (const Part& part : parts)
    for (std::size_t at = 0; at < node_.size(); ++at) result[static_cast<std::size_t>(node_[at])] += part.n_missing[at];
  return result;
}

bool Router::route(const Table& table, const FeatureColumns& columns, std::span<std::int64_t> leaves,
                   std::size_t n_threads, Interrupt& interrupt) const {
  return with_places(table, columns, rules_, n_features_,
                     [&](const auto& place) { return route_by(place, table, leaves, n_threads, interrupt); });
}

std::vector<std::int64_t> Router::count_missing(const Table& table, const FeatureColumns& columns,
                                                std::size_t n_threads, Interrupt& interrupt) const {
  return with_places(table, columns, rules_, n_features_,
                     [&](const auto& place) { return count_missing_by(place, table, n_threads, interrupt); });
}

}  // namespace baytree
