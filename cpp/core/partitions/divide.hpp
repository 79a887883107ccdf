// Divides the rows of a node by a split.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

// Whether each row goes to the lower side.
std::vector<std::uint8_t> go_lower(const Columns& columns, const Split& split, std::span<const Row> rows);

// The rows of the lower and of the upper side, each in the order they had.
struct Sides {
  std::vector<Row> lower, upper;
};

Sides divide_rows(const Columns& columns, const Split& split, std::span<const Row> rows);

}  // namespace baytree
