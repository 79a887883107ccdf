// What a look at every value tells of a table, whatever their order: the sum of each column's bits, by which tables are
// told apart, and whether a value is infinite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "parallel.hpp"

namespace baytree {

struct TableScan {
  std::vector<std::uint64_t> bit_sums;  // by column, modulo 2^64: neither NaN nor rounding spoils them
  bool has_infinity = false;
};

TableScan scan(const Table& table, std::size_t n_threads, Interrupt& interrupt);

}  // namespace baytree
