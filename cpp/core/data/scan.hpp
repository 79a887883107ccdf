// One pass over every value of a table: the sum of each column's bits, by which tables are told apart, its range, and
// whether it holds integers alone. None of these depends on the order of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "parallel.hpp"

namespace baytree {

struct ColumnScan {
  std::uint64_t bit_sum = 0;  // modulo 2^64: neither NaN nor rounding spoils it
  double lowest, highest;     // NaN for a column without numbers
  bool is_integer = true;     // whether all its numbers are integers
};

std::vector<ColumnScan> scan(const Table& table, std::size_t n_threads, Interrupt& interrupt);

}  // namespace baytree
