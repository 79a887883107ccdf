// Puts the rows of a table in an order that their contents decide and makes equal ones one row with all their weight. A
// tree that is grown from these rows is the same for any order of the table, bit for bit, and a row of weight 2 is the
// row twice: sums that decide, samples and what is taken from the middle see the same rows with the same weights.
//
// The order is that of two marks, of 64 bits each, that codes and outcome add up to; rows with equal marks are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "types.hpp"

namespace baytree {

struct RowOrder {
  // By row. A forest has these once for all of its trees.
  using Numbers = std::shared_ptr<const std::vector<std::uint32_t>>;

  std::vector<Row> rows;  // one of those that are equal, in their order
  Numbers times;  // how many are equal to a row; none: no rows are taken as one
  Numbers point;  // the number of a row among the different points, which ascends with the order

  // How many rows there were before equal ones became one.
  std::size_t count(Row row) const { return times ? (*times)[row] : 1; }

  // How many different points some rows, in their order, are.
  std::size_t count_points(std::span<const Row> some) const;
};

// What is put in order.
struct UnorderedRows {
  const Columns& columns;
  std::span<const std::uint64_t> outcome_marks;  // by row
  std::vector<std::uint8_t> in_points;  // by column: whether it tells points apart
  bool join;  // equal rows become one
};

// The order of rows with given weights (none: all of 1), which become those that equal rows have together.
// `stands_for` tells of every row which one it is part of.
RowOrder order_rows(const UnorderedRows& table, std::vector<double>& weights, std::vector<Row>* stands_for = nullptr);

}  // namespace baytree
