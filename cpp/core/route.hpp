// Sends rows down a fitted tree, or down all trees of a space at once.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "types.hpp"
#include "vector_math.hpp"

namespace baytree {

// A tree for walking: 16 bytes a node, the two children of a node side by side, and leaves that lead back to
// themselves, so that a row takes a step without asking whether it has arrived.
struct WalkingTree {
  struct Step {
    double threshold;
    std::int32_t feature;
    std::int32_t lower;  // x <= threshold; the upper child follows it
  };
  std::vector<Step> steps;
  std::vector<std::int64_t> node;  // the number that each step has in the fitted tree

  // What only rows with gaps, and nodes that divide levels, need to know.
  struct Detour {
    bool gaps_lower = true, unseen_lower = true;
    std::size_t first_level = 0, n_levels = 0;  // in level_lower; levels beyond were not seen
    std::size_t first_term = 0, n_terms = 0;    // of a hyperplane
    bool divides_levels() const { return n_levels > 0; }
  };
  struct Term {
    std::size_t feature;
    double coefficient, gap_value;
  };
  std::vector<Detour> detours;             // by step
  std::vector<std::uint8_t> level_lower;
  std::vector<Term> terms;
  bool only_cells = true;  // no step but compares a cell with its threshold

  // Whether a row goes to the upper child.
  bool goes_upper(std::size_t place, const Table& table, std::size_t row) const {
    const Detour& detour = detours[place];
    if (detour.n_terms > 0) {
      double sum = 0.0;
      for (std::size_t i = detour.first_term; i < detour.first_term + detour.n_terms; ++i) {
        const double x = table.at(row, terms[i].feature);
        sum += terms[i].coefficient * (x == x ? x : terms[i].gap_value);
      }
      return !(sum <= steps[place].threshold);
    }
    const double x = table.at(row, static_cast<std::size_t>(steps[place].feature));
    if (x != x) return !detour.gaps_lower;
    if (!detour.divides_levels()) return x > steps[place].threshold;
    if (!(x >= 0.0 && x < static_cast<double>(detour.n_levels))) return !detour.unseen_lower;
    return !level_lower[detour.first_level + static_cast<std::size_t>(x)];
  }
};

// A fitted tree's arrays. The levels that a node saw in training are those from level_start[node] on.
struct FittedTree {
  std::span<const std::int32_t> feature;
  std::span<const double> threshold;
  std::span<const std::int64_t> lower, upper;
  std::span<const std::uint8_t> gaps_lower, unseen_lower;
  std::span<const std::int64_t> level_start, level;
  std::span<const std::uint8_t> level_lower;
  std::span<const std::int64_t> oblique_start, oblique_feature;
  std::span<const double> oblique_coefficient, oblique_gap_value;
};

inline WalkingTree::Detour detour_of(const FittedTree& fitted, std::size_t node, WalkingTree& tree) {
  WalkingTree::Detour detour{fitted.gaps_lower[node] != 0, fitted.unseen_lower[node] != 0, tree.level_lower.size(), 0};
  const auto first = static_cast<std::size_t>(fitted.level_start[node]);
  const auto stop = static_cast<std::size_t>(fitted.level_start[node + 1]);
  for (std::size_t i = first; i < stop; ++i)
    detour.n_levels = std::max(detour.n_levels, static_cast<std::size_t>(fitted.level[i]) + 1);
  tree.level_lower.resize(detour.first_level + detour.n_levels, fitted.unseen_lower[node]);
  for (std::size_t i = first; i < stop; ++i)
    tree.level_lower[detour.first_level + static_cast<std::size_t>(fitted.level[i])] = fitted.level_lower[i];
  detour.first_term = tree.terms.size();
  detour.n_terms = static_cast<std::size_t>(fitted.oblique_start[node + 1] - fitted.oblique_start[node]);
  for (auto i = static_cast<std::size_t>(fitted.oblique_start[node]);
       i < static_cast<std::size_t>(fitted.oblique_start[node + 1]); ++i)
    tree.terms.push_back({static_cast<std::size_t>(fitted.oblique_feature[i]), fitted.oblique_coefficient[i],
                          fitted.oblique_gap_value[i]});
  tree.only_cells &= !detour.divides_levels() && detour.n_terms == 0;
  return detour;
}

inline WalkingTree walking_tree(const FittedTree& fitted) {
  WalkingTree tree;
  tree.node.push_back(0);
  for (std::size_t place = 0; place < tree.node.size(); ++place) {
    const auto node = static_cast<std::size_t>(tree.node[place]);
    if (fitted.lower[node] < 0) {
      tree.steps.push_back({std::numeric_limits<double>::infinity(), 0, static_cast<std::int32_t>(place)});
      tree.detours.emplace_back();
    } else {
      tree.steps.push_back({fitted.threshold[node], fitted.feature[node], static_cast<std::int32_t>(tree.node.size())});
      tree.detours.push_back(detour_of(fitted, node, tree));
      tree.node.push_back(fitted.lower[node]);
      tree.node.push_back(fitted.upper[node]);
    }
  }
  return tree;
}

// Whether all cells of some rows are finite: x * 0 is 0 for those and NaN for the others.
inline bool rows_are_finite(const Table& table, std::size_t first, std::size_t stop) {
  double total = 0.0;
  // Lines of neighbouring cells: the whole block where rows lie back to back, else its rows or its columns.
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

inline bool rows_have_infinity(const Table& table, std::size_t first, std::size_t stop) {
  for (std::size_t row = first; row < stop; ++row)
    for (std::size_t column = 0; column < table.n_columns; ++column)
      if (std::isinf(table.at(row, column))) return true;
  return false;
}

// The leaf of each row; returns whether no cell is infinite, which is cheap to see while they are in cache.
// Groups of rows go down together, which hides the wait for memory; rows with gaps go one by one.
inline bool route(const Table& table, const WalkingTree& tree, std::span<std::int64_t> leaves, std::size_t n_threads,
                  Interrupt& interrupt) {
  constexpr std::size_t group = 8, block = 4096;
  std::atomic<bool> no_infinity{true};
  const WalkingTree::Step* steps = tree.steps.data();
  const std::ptrdiff_t row_stride = table.row_stride, column_stride = table.column_stride;
  auto walk = [&](const double* first_row, auto size) {
    std::array<std::int32_t, group> at{};
    bool arrived;
    do {
      for (int step = 0; step < 2; ++step)  // leaves lead to themselves, so a step too many does no harm
        for (std::size_t k = 0; k < size; ++k) {
          const WalkingTree::Step node = steps[at[k]];
          const double x = first_row[static_cast<std::ptrdiff_t>(k) * row_stride + node.feature * column_stride];
          at[k] = node.lower + (x > node.threshold);
        }
      arrived = true;
      for (std::size_t k = 0; k < size; ++k) arrived &= steps[at[k]].lower == at[k];
    } while (!arrived);
    return at;
  };
  auto walk_carefully = [&](std::size_t row) {
    std::size_t at = 0;
    while (static_cast<std::size_t>(steps[at].lower) != at) {
      at = static_cast<std::size_t>(steps[at].lower) + tree.goes_upper(at, table, row);
    }
    return at;
  };
  // Rows that fit the nearest cache beside the tree: they are checked and then walked.
  const std::size_t chunk = std::max(
      group, 16384 / (sizeof(double) * std::max<std::size_t>(table.n_columns, 1)) / group * group);
  const std::size_t n_blocks = (table.n_rows + block - 1) / block;
  parallel_for(n_blocks, n_threads, interrupt, [&](std::size_t task, std::size_t) {
    const std::size_t stop = std::min(table.n_rows, (task + 1) * block);
    bool finite = true;
    for (std::size_t first = task * block; first < stop; first += group) {
      if ((first - task * block) % chunk == 0) {
        const std::size_t chunk_stop = std::min(first + chunk, stop);
        finite = rows_are_finite(table, first, chunk_stop);
        if (!finite && rows_have_infinity(table, first, chunk_stop))
          no_infinity.store(false, std::memory_order_relaxed);
      }
      if (!finite || !tree.only_cells) {
        for (std::size_t row = first; row < std::min(first + group, stop); ++row)
          leaves[row] = tree.node[walk_carefully(row)];
        continue;
      }
      const double* first_row = table.data + static_cast<std::ptrdiff_t>(first) * row_stride;
      const std::size_t size = std::min(group, stop - first);
      const auto at = size == group ? walk(first_row, std::integral_constant<std::size_t, group>{})
                                    : walk(first_row, size);
      for (std::size_t k = 0; k < size; ++k) leaves[first + k] = tree.node[static_cast<std::size_t>(at[k])];
    }
  });
  return no_infinity;
}

// A tree space as fitted: the choices' arrays are those of a tree, by choice; children are nodes.
struct FittedSpace {
  FittedTree choices;
  std::span<const std::int64_t> choice_start;    // of each node's choices, and one more for the end
  std::span<const double> leaf_share, choice_share;  // of the evidence of a node
};

struct LeafWeights {  // of some rows: the nodes in which they end, and how probably
  std::vector<std::int64_t> n_nodes;  // by row
  std::vector<std::int32_t> node;
  std::vector<double> weight;
};

// How probably each row ends in each node, over all trees of a space. A level of the graph is left before the next is
// entered, so a node is seen once a row, however many ways lead to it.
inline std::vector<LeafWeights> weigh_leaves(const Table& table, const FittedSpace& space, std::size_t n_threads,
                                             Interrupt& interrupt) {
  constexpr std::size_t block = 256;
  WalkingTree crossings;
  for (std::size_t c = 0; c < space.choices.feature.size(); ++c) {
    crossings.steps.push_back({space.choices.threshold[c], space.choices.feature[c], 0});
    crossings.detours.push_back(detour_of(space.choices, c, crossings));
  }
  struct Scratch {
    std::vector<double> mass;
    std::vector<std::int64_t> level, next;
  };
  std::vector<Scratch> scratch(std::max<std::size_t>(n_threads, 1));
  for (Scratch& own : scratch) own.mass.resize(space.leaf_share.size());
  auto weigh_row = [&](std::size_t row, Scratch& own, LeafWeights& result) {
    const std::size_t before = result.node.size();
    own.level.assign(1, 0);
    own.mass[0] = 1.0;
    for (; !own.level.empty(); std::swap(own.level, own.next)) {
      own.next.clear();
      for (const std::int64_t node : own.level) {
        const auto at = static_cast<std::size_t>(node);
        const double mass = std::exchange(own.mass[at], 0.0);
        if (mass * space.leaf_share[at] > 0.0) {
          result.node.push_back(static_cast<std::int32_t>(node));
          result.weight.push_back(mass * space.leaf_share[at]);
        }
        for (auto c = static_cast<std::size_t>(space.choice_start[at]);
             c < static_cast<std::size_t>(space.choice_start[at + 1]); ++c) {
          const double share = mass * space.choice_share[c];
          if (share == 0.0) continue;
          const std::int64_t child = crossings.goes_upper(c, table, row) ? space.choices.upper[c]
                                                                         : space.choices.lower[c];
          double& mass_of_child = own.mass[static_cast<std::size_t>(child)];
          if (mass_of_child == 0.0) own.next.push_back(child);
          mass_of_child += share;
        }
      }
    }
    result.n_nodes.push_back(static_cast<std::int64_t>(result.node.size() - before));
  };
  std::vector<LeafWeights> blocks((table.n_rows + block - 1) / block);
  parallel_for(blocks.size(), n_threads, interrupt, [&](std::size_t task, std::size_t worker) {
    for (std::size_t row = task * block; row < std::min(table.n_rows, (task + 1) * block); ++row)
      weigh_row(row, scratch[worker], blocks[task]);
  });
  return blocks;
}

}  // namespace baytree
