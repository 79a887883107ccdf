#include "data/read.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "data/buffer.hpp"
#include "data/rank.hpp"

namespace baytree {

namespace {

using ColumnBits = std::array<Buffer<std::uint64_t>, kMostColumnsAtOnce>;  // ordered_bits by row

void read_rows(const Table& table, std::size_t first_row, std::size_t last_row, std::size_t first_column,
               std::size_t n_columns, ColumnBits& bits) {
  // Tiles of rows: a line of the table is still in the nearest cache when its next column is read.
  constexpr std::size_t tile = 64;
  for (std::size_t begin = first_row; begin < last_row; begin += tile)
    for (std::size_t k = 0; k < n_columns; ++k)
      for (std::size_t row = begin; row < std::min(begin + tile, last_row); ++row)
        bits[k][row] = ordered_bits(table.at(row, first_column + k));
}

void read_each(const Table& table, std::size_t group, std::size_t n_threads, Interrupt& interrupt, EachColumn each) {
  ColumnBits bits;
  constexpr std::size_t rows_a_task = 16384;
  for (std::size_t first = 0; first < table.n_columns; first += group) {
    const std::size_t n_columns = std::min(group, table.n_columns - first);
    for (std::size_t k = 0; k < group; ++k)
      if (k < n_columns) bits[k].resize(table.n_rows);
      else bits[k] = {};  // the last columns may be few
    parallel_for((table.n_rows + rows_a_task - 1) / rows_a_task, n_threads, interrupt,
                 [&](std::size_t task, std::size_t) {
                   read_rows(table, task * rows_a_task, std::min((task + 1) * rows_a_task, table.n_rows), first,
                             n_columns, bits);
                 });
    parallel_for(n_columns, n_threads, interrupt,
                 [&](std::size_t k, std::size_t worker) { each(first + k, bits[k], worker); });
  }
}

void read_each(const SparseTable& table, std::size_t, std::size_t n_threads, Interrupt& interrupt, EachColumn each) {
  std::vector<std::vector<std::uint64_t>> scratch(std::max<std::size_t>(n_threads, 1));
  parallel_for(table.n_columns, n_threads, interrupt, [&](std::size_t column, std::size_t worker) {
    auto& bits = scratch[worker];
    bits.assign(table.n_rows, ordered_bits(0.0));
    for (auto i = static_cast<std::size_t>(table.start[column]); i < static_cast<std::size_t>(table.start[column + 1]);
         ++i)
      bits[static_cast<std::size_t>(table.row[i])] = ordered_bits(table.value[i]);
    each(column, bits, worker);
  });
}

void read_column(const Table& table, std::size_t column, std::size_t begin, std::span<double> values) {
  const double* first = table.data + static_cast<std::ptrdiff_t>(begin) * table.row_stride +
                        static_cast<std::ptrdiff_t>(column) * table.column_stride;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first[static_cast<std::ptrdiff_t>(i) * table.row_stride];
}

void read_column(const SparseTable& table, std::size_t column, std::size_t begin, std::span<double> values) {
  std::fill(values.begin(), values.end(), 0.0);
  const SparseColumn sparse = table.column(column);
  auto i = static_cast<std::size_t>(
      std::lower_bound(sparse.row.begin(), sparse.row.end(), static_cast<std::int32_t>(begin)) - sparse.row.begin());
  for (; i < sparse.row.size() && static_cast<std::size_t>(sparse.row[i]) < begin + values.size(); ++i)
    values[static_cast<std::size_t>(sparse.row[i]) - begin] = sparse.value[i];
}

}  // namespace

void each_column(const AnyTable& table, std::size_t group, std::size_t n_threads, Interrupt& interrupt,
                 EachColumn each) {
  table.visit([&](const auto& of) { read_each(of, group, n_threads, interrupt, each); });
}

void read_values(const AnyTable& table, std::size_t column, std::size_t begin, std::span<double> values) {
  table.visit([&](const auto& of) { read_column(of, column, begin, values); });
}

void each_tile(std::size_t n_rows, std::size_t n_threads, Interrupt& interrupt,
               FunctionRef<void(std::size_t, std::size_t, std::size_t)> run) {
  constexpr std::size_t tile = 1024, rows_a_task = 4 * tile;  // few, so that no thread waits long for the last
  parallel_for((n_rows + rows_a_task - 1) / rows_a_task, n_threads, interrupt,
               [&](std::size_t task, std::size_t worker) {
                 const std::size_t stop = std::min((task + 1) * rows_a_task, n_rows);
                 for (std::size_t begin = task * rows_a_task; begin < stop; begin += tile)
                   run(begin, std::min(begin + tile, stop), worker);
               });
}

}  // namespace baytree
