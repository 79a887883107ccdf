// How a table becomes columns of codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace baytree {

struct Encoding {
  std::vector<std::uint8_t> is_categorical;  // by column
  std::size_t n_bins = 0;                    // up to kMostBins; 0 where no histogram is wanted
  bool keep_values = false;
  std::size_t max_bins = 0;                  // quantile bins of a column of numbers; 0: a code for every value
};

}  // namespace baytree
