// Reading a table: whole columns as ordered bits (rank.hpp), or tiles of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "data/table.hpp"
#include "function_ref.hpp"
#include "parallel.hpp"

namespace baytree {

// Columns that are read in one go: in a row-major table they share cache lines.
inline constexpr std::size_t kMostColumnsAtOnce = 6;

// Reads the columns of a table, some at once, as ordered bits; each(column, bits, worker) is called for every column.
// Of a sparse table one column at a time is spread out.
using EachColumn = FunctionRef<void(std::size_t column, std::span<const std::uint64_t> bits, std::size_t worker)>;
void each_column(const AnyTable& table, std::size_t group, std::size_t n_threads, Interrupt& interrupt,
                 EachColumn each);

// The values of a column in the rows from `begin` on.
void read_values(const AnyTable& table, std::size_t column, std::size_t begin, std::span<double> values);

// Tiles of rows, all columns of one after the other: a line of a row-major table is still in the cache when its next
// column is read. run(begin, end, worker) is called for every tile; the order of tiles is free.
void each_tile(std::size_t n_rows, std::size_t n_threads, Interrupt& interrupt,
               FunctionRef<void(std::size_t begin, std::size_t end, std::size_t worker)> run);

}  // namespace baytree
