// From a table to columns of codes. The columns keep a view of the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "data/table.hpp"
#include "parallel.hpp"

namespace baytree {

// How a table becomes columns of codes.
struct Encoding {
  std::vector<std::uint8_t> is_categorical = {};  // by column
  std::size_t n_bins = 0;                    // up to kMostBins; 0 where no histogram is wanted
  bool keep_values = false;
  std::size_t max_bins = 0;                  // quantile bins of a column of numbers; 0: a code for every value
  std::span<const std::int64_t> weight = {};  // of each row, positive, for quantile bins; none where all rows are alike
};

// Encodes every column of a table without infinite values, with a code for every value or for every quantile bin.
Columns encode(const AnyTable& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt);

// Encodes with a code for every quantile bin (pack.cpp), or for every value. Columns whose values are ranked at once
// take 24 bytes a row each; the more threads, the more of them share a column.
Columns encode_bins(const AnyTable& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt);
Columns encode_exactly(const AnyTable& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt);

}  // namespace baytree
