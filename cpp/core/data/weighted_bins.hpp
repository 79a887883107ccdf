// Quantile bins of a column whose rows have weights: a row of weight 2 counts as two rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "data/bin_search.hpp"
#include "data/rank.hpp"

namespace baytree {

// The bins of values, given as ordered bits, with positive weights whose sum is below 2^62. A bin ends at a value up to
// which the weight is at least k / max_bins of all, for k = 1, 2, ...
ColumnBins weighted_bins(std::span<const std::uint64_t> bits, std::span<const std::int64_t> weight,
                         std::size_t max_bins, RankScratch& scratch);

}  // namespace baytree
