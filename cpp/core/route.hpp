// Sends rows down a fitted tree.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

// A leaf points to itself, so that rows can take a step without asking whether they have arrived.
struct Step {
  double threshold;
  std::int32_t feature;
  std::int32_t next[2];  // x <= threshold, x > threshold
};

inline std::vector<Step> steps(std::span<const std::int32_t> feature, std::span<const double> threshold,
                               std::span<const std::int64_t> lower, std::span<const std::int64_t> upper) {
  std::vector<Step> result(feature.size());
  for (std::size_t i = 0; i < feature.size(); ++i) {
    const auto self = static_cast<std::int32_t>(i);
    if (lower[i] < 0) result[i] = {std::numeric_limits<double>::infinity(), 0, {self, self}};
    else result[i] = {threshold[i], feature[i], {static_cast<std::int32_t>(lower[i]), static_cast<std::int32_t>(upper[i])}};
  }
  return result;
}

// The leaf of each row. Groups of rows go down together, which hides the wait for memory.
inline void route(const Table& table, std::span<const Step> tree, std::span<std::int64_t> leaves,
                  std::size_t n_threads, Interrupt& interrupt) {
  constexpr std::size_t group = 8, block = 4096;
  const std::size_t n_blocks = (table.n_rows + block - 1) / block;
  parallel_for(n_blocks, n_threads, interrupt, [&](std::size_t task, std::size_t) {
    const std::size_t stop = std::min(table.n_rows, (task + 1) * block);
    for (std::size_t first = task * block; first < stop; first += group) {
      const std::size_t size = std::min(group, stop - first);
      std::array<std::int32_t, group> at{};
      for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t k = 0; k < size; ++k) {
          const Step& step = tree[static_cast<std::size_t>(at[k])];
          const std::int32_t next = step.next[table.at(first + k, static_cast<std::size_t>(step.feature)) > step.threshold];
          moved |= next != at[k];
          at[k] = next;
        }
      }
      for (std::size_t k = 0; k < size; ++k) leaves[first + k] = at[k];
    }
  });
}

}  // namespace baytree
