#include "data/encode.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "data/buffer.hpp"
#include "data/rank.hpp"
#include "data/read.hpp"
#include "data/sorting_keys.hpp"

namespace baytree {

namespace {

// Where bins begin in the order of the rows: at the first new value in a slice of them, of n_bins equal slices. So
// edges fall between the values nearest to the quantiles, and equal values share a bin.
std::vector<std::size_t> find_bins(std::span<const Keyed> order, std::size_t n_bins) {
  const std::size_t n = order.size();
  auto slice_end = [&](std::size_t i) { return ((i * n_bins / n + 1) * n + n_bins - 1) / n_bins; };
  std::vector<std::size_t> start{0};
  for (std::size_t i = slice_end(0);; i = slice_end(i)) {
    while (i < n && key_of(order[i]) == key_of(order[i - 1])) ++i;
    if (i >= n) return start;
    start.push_back(i);
  }
}

void add_bins(Column& column, std::span<const Keyed> order, std::size_t n_bins, const Blocks& blocks) {
  const std::vector<std::size_t> start = find_bins(order, n_bins);
  for (std::size_t bin = 1; bin < start.size(); ++bin) column.bin_last.push_back(key_of(order[start[bin] - 1]));
  column.bin_last.push_back(column.n_codes - 1);
  for (std::size_t bin = 0; bin < column.bin_last.size(); ++bin)
    column.bin_log_splits.push_back(std::log(column.bin_last[bin] - (bin == 0 ? 0.0 : column.bin_last[bin - 1] + 1.0)));
  column.bins.resize(order.size());
  blocks.share(start.size(), [&, bins = column.bins.data()](std::size_t bin) {
    const std::size_t end = bin + 1 < start.size() ? start[bin + 1] : order.size();
    for (std::size_t i = start[bin]; i < end; ++i) bins[payload_of(order[i])] = static_cast<std::uint8_t>(bin);
  });
}

template <class Int>
Buffer<Int> codes_by_row(std::span<const Keyed> order, const Blocks& blocks) {
  Buffer<Int> codes(order.size());
  blocks.each([&, to = codes.data()](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[payload_of(order[i])] = static_cast<Int>(key_of(order[i]));
  });
  return codes;
}

std::vector<double> values_by_code(std::span<const std::uint64_t> bits, std::span<const Keyed> order, Code n_codes,
                                   const Blocks& blocks) {
  std::vector<double> values(n_codes);
  blocks.each([&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (i == 0 || key_of(order[i]) != key_of(order[i - 1]))
        values[key_of(order[i])] = value_of_bits(bits[payload_of(order[i])]);
  });
  return values;
}

Column encode_column(std::span<const std::uint64_t> bits, bool is_categorical, const Encoding& encoding,
                     const Blocks& blocks, RankScratch& scratch) {
  Column column;
  const SortingKeys keys(bits, blocks);
  column.n_codes = rank_rows(bits, keys, blocks, scratch);
  column.is_categorical = is_categorical;
  column.has_missing = keys.highest() == kMissingBits;
  std::span<const Keyed> order = scratch.order;
  if (encoding.keep_values) column.values = values_by_code(bits, order, column.n_codes, blocks);
  if (column.n_codes <= 1u << 8) column.codes = codes_by_row<std::uint8_t>(order, blocks);
  else if (column.n_codes <= 1u << 16) column.codes = codes_by_row<std::uint16_t>(order, blocks);
  else column.codes = codes_by_row<std::uint32_t>(order, blocks);
  const bool in_order = !is_categorical && !column.has_missing;
  if (in_order && encoding.n_bins > 0 && column.n_codes > encoding.n_bins)
    add_bins(column, order, encoding.n_bins, blocks);
  return column;
}

}  // namespace

Columns encode_exactly(const AnyTable& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt) {
  Columns result{table.n_rows(), encoding.n_bins > 0, std::vector<Column>(table.n_columns())};
  std::vector<RankScratch> scratch(std::max<std::size_t>(n_threads, 1));
  const std::size_t at_once = n_threads > 2 ? 4 : kMostColumnsAtOnce;
  const Blocks blocks(table.n_rows(), (n_threads + at_once - 1) / at_once, interrupt);
  each_column(table, at_once, n_threads, interrupt,
              [&](std::size_t column, std::span<const std::uint64_t> bits, std::size_t worker) {
                result.columns[column] = encode_column(bits, encoding.is_categorical[column], encoding, blocks,
                                                       scratch[worker]);
                result.columns[column].source = table.column(column);
              });
  return result;
}

Columns encode(const AnyTable& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt) {
  return encoding.max_bins > 0 ? encode_bins(table, encoding, n_threads, interrupt)
                               : encode_exactly(table, encoding, n_threads, interrupt);
}

}  // namespace baytree
