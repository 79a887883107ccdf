// The rows of a table in an order that their contents decide, equal ones as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "types.hpp"

namespace baytree {

struct RowOrder {
  std::vector<Row> rows;             // one of those that are equal, in their order
  std::vector<std::uint32_t> times;  // by row: how many are equal to it; empty: none are taken as one
  std::vector<std::uint32_t> point;  // by row: its number among the different points, which ascends with the order

  // How many rows there were before equal ones became one.
  std::size_t count(Row row) const { return times.empty() ? 1 : times[row]; }

  // How many different points some rows, in their order, are.
  std::size_t count_points(std::span<const Row> some) const {
    std::size_t result = 0;
    for (std::size_t i = 0; i < some.size(); ++i) result += i == 0 || point[some[i - 1]] != point[some[i]];
    return result;
  }
};

}  // namespace baytree
