// The sums of open nodes, by code, as whoever has the rows tells them; and how rows go down a tree by their codes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree {

// What the rows of a node add up to: by code, the codes of a column behind those of the one before.
template <class Number>
struct CodeSums {
  const Number* statistics;                  // width numbers a code, all zero where there are no rows
  const std::int64_t* n_rows = nullptr;  // by code; none: as many as they weigh, or nobody asks
};

// How rows go down a tree by their codes, as arrays: a row of code c in node i goes to the lower child where
// goes_lower[start[i] + c] is 1.
struct Routes {
  std::vector<std::int32_t> feature, lower, upper;  // by node; feature -1: the rows stay
  std::vector<std::int64_t> start;
  std::vector<std::uint8_t> goes_lower;
};

// The sums of one open node: by code, the codes of a column behind those of the one before.
template <class Number>
struct NodeSums {
  std::span<const std::int64_t> rows;
  std::vector<Number> statistics;  // width numbers a code
  std::span<const std::int64_t> low_key, high_key;  // the extremes of a number that tells outcomes apart
  std::vector<std::int64_t> storage = {};  // what spans may point to

  CodeSums<Number> by_code() const { return {statistics.data(), rows.data()}; }
};

// What the rows of each class weigh, by code, however that lies in memory.
template <class Int>
struct ClassWeights {
  const Int* first;
  std::ptrdiff_t code_step, class_step;

  std::int64_t of(std::size_t code, std::size_t of_class) const {
    return first[static_cast<std::ptrdiff_t>(code) * code_step + static_cast<std::ptrdiff_t>(of_class) * class_step];
  }
};

// The sums of a node by class. Without rows, there are as many as they weigh.
template <class Number, class Int>
NodeSums<Number> sums_of_classes(const ClassWeights<Int>& weights, const std::int64_t* rows, std::size_t n_codes,
                                 std::size_t n_classes, double unit) {
  NodeSums<Number> result;
  result.statistics.resize(n_codes * n_classes);
  result.storage.resize(3 * n_codes);
  std::int64_t *n = result.storage.data(), *low = n + n_codes, *high = low + n_codes;
  for (std::size_t code = 0; code < n_codes; ++code) {
    low[code] = static_cast<std::int64_t>(n_classes), high[code] = -1;
    for (std::size_t k = 0; k < n_classes; ++k) {
      const std::int64_t weight = weights.of(code, k);
      if (weight == 0) continue;
      low[code] = std::min(low[code], static_cast<std::int64_t>(k)), high[code] = static_cast<std::int64_t>(k);
      n[code] += weight;
      result.statistics[code * n_classes + k] = static_cast<Number>(static_cast<double>(weight) * unit);
    }
  }
  result.rows = {rows ? rows : n, n_codes};
  result.low_key = {low, n_codes}, result.high_key = {high, n_codes};
  return result;
}

}  // namespace baytree
