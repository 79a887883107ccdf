// The rows of a table in an order that their contents decide, equal ones as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "types.hpp"

namespace baytree {

struct RowOrder {
  // By row. A forest has these once for all of its trees.
  using Numbers = std::shared_ptr<const std::vector<std::uint32_t>>;

  std::vector<Row> rows;  // one of those that are equal, in their order
  Numbers times;          // how many are equal to a row; none: no rows are taken as one
  Numbers point;          // the number of a row among the different points, which ascends with the order

  // How many rows there were before equal ones became one.
  std::size_t count(Row row) const { return times ? (*times)[row] : 1; }

  // How many different points some rows, in their order, are.
  std::size_t count_points(std::span<const Row> some) const {
    std::size_t result = 0;
    for (std::size_t i = 0; i < some.size(); ++i) result += i == 0 || (*point)[some[i - 1]] != (*point)[some[i]];
    return result;
  }
};

}  // namespace baytree
