// The thresholds of one feature in a large node, exactly, at about the cost of a histogram.
//
// The log marginal likelihood is convex in the sufficient statistics, so no threshold inside a bin can score
// above an upper bound taken over the box between the statistics at the bin's two edges. Edges are scored
// from the histogram; only bins whose bound reaches what matters to the node are opened, sorted and scored.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "data/columns.hpp"
#include "data/sort.hpp"
#include "outcomes/outcome.hpp"
#include "partitions/split_list.hpp"
#include "partitions/thresholds.hpp"
#include "types.hpp"

namespace baytree {

template <class Number>
struct Histogram {
  std::vector<Number> lower;   // statistics of all rows up to and including each bin
  std::vector<double> bound;   // of the thresholds inside each bin; -infinity where there are none
  std::vector<double> edge;    // score of the threshold behind each bin; -infinity where there is none
  std::uint32_t n_splits = 0;
  double best_edge = kMinusInfinity;
  double highest = kMinusInfinity;  // no threshold, nor those of any one bin together, exceeds this
};

struct HistogramScratch {
  std::vector<std::uint64_t> seen;  // bitmap of codes
  std::vector<std::uint8_t> open;   // by bin
  std::vector<Keyed> order, spare;
  std::vector<std::uint32_t> found;  // positions of rows in open bins
  SplitList bin_splits;
};

// Number of different codes among the rows.
inline std::uint32_t count_codes(const Column& column, std::span<const Row> rows, std::vector<std::uint64_t>& seen) {
  seen.assign(column.n_codes / 64 + 1, 0);
  std::visit(
      [&](const auto& codes) {
        for (const Row row : rows) seen[codes[row] / 64] |= std::uint64_t{1} << (codes[row] % 64);
      },
      column.codes);
  std::uint32_t count = 0;
  for (const std::uint64_t word : seen) count += static_cast<std::uint32_t>(std::popcount(word));
  return count;
}

// `outcome` is narrowed to `rows`.
template <BoundedOutcome T>
Histogram<typename T::Number> make_histogram(const Column& column, std::size_t n_rows_in_table, const T& outcome,
                                             const typename T::Node& node, std::span<const Row> rows,
                                             HistogramScratch& scratch) {
  using Number = typename T::Number;
  const std::size_t width = outcome.width(), n_bins = column.n_bins();
  Histogram<Number> result;
  result.lower.assign(n_bins * width, Number{0});
  const std::span<const std::uint8_t> bins = column.bin_codes();
  outcome.add_by_bin(result.lower.data(), bins, rows);

  std::vector<std::uint8_t> filled(n_bins);
  std::size_t last_filled = 0, n_filled = 0;
  for (std::size_t bin = 0; bin < n_bins; ++bin) {
    for (std::size_t k = 0; k < width; ++k) filled[bin] |= result.lower[bin * width + k] != Number{0};
    if (!filled[bin]) continue;
    last_filled = bin;
    ++n_filled;
  }
  for (std::size_t i = width; i < result.lower.size(); ++i) result.lower[i] += result.lower[i - width];

  if (column.codes_are_bins()) result.n_splits = static_cast<std::uint32_t>(n_filled) - 1;
  else if (column.n_codes == n_rows_in_table) result.n_splits = static_cast<std::uint32_t>(rows.size()) - 1;
  else result.n_splits = count_codes(column, rows, scratch.seen) - 1;

  result.bound.assign(n_bins, kMinusInfinity);
  result.edge.assign(n_bins, kMinusInfinity);
  const std::vector<Number> none(width);
  for (std::size_t bin = 0; bin < n_bins; ++bin) {
    if (!filled[bin]) continue;
    const Number* to = &result.lower[bin * width];
    const Number* from = bin == 0 ? none.data() : to - width;
    if (column.log_splits_inside(bin) != kMinusInfinity) {
      result.bound[bin] = node.upper_bound(from, to);
      result.highest = std::max(result.highest, result.bound[bin] + column.log_splits_inside(bin));
    }
    if (bin != last_filled) {
      result.edge[bin] = node.split_score(to);
      result.best_edge = std::max(result.best_edge, result.edge[bin]);
    }
  }
  result.highest = std::max(result.highest, result.best_edge);
  return result;
}

// Puts the rows of the open bins into scratch.order, sorted.
inline void sort_open_bins(const Column& column, std::span<const Row> rows, bool any_open, HistogramScratch& scratch) {
  scratch.order.clear();
  if (!any_open) return;
  // Most rows are in closed bins: look at their bin only, and write down every position, keeping the ones that count.
  scratch.found.resize(rows.size() + 1);
  const std::uint8_t* bins = column.bin_codes().data();
  const std::uint8_t* open = scratch.open.data();
  std::uint32_t* found = scratch.found.data();
  std::size_t n_open = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found[n_open] = static_cast<std::uint32_t>(i);
    n_open += open[bins[rows[i]]];
  }
  scratch.order.resize(n_open);
  std::visit(
      [&](const auto& codes) {
        for (std::size_t k = 0; k < n_open; ++k) scratch.order[k] = keyed(codes[rows[found[k]]], found[k]);
      },
      column.codes);
  sort_by_key(scratch.order, scratch.spare, column.code_bits());
}

// Lists, in ascending order, all thresholds that may score `floor` or more, alone or together with the others in their
// bin. Positions are codes: rows with a code up to there go to the lower side.
template <BoundedOutcome T>
void list_high_thresholds(const Histogram<typename T::Number>& histogram, const Column& column, const T& outcome,
                          const typename T::Node& node, std::span<const Row> rows, double floor, SplitList& splits,
                          HistogramScratch& scratch) {
  const std::size_t n_bins = column.n_bins(), width = outcome.width();
  splits.found.clear();
  splits.positions = {};
  splits.n_missing_upper = 0;
  splits.log_likelihood.clear();
  splits.log_location.clear();
  splits.n_splits = histogram.n_splits;
  splits.mass = 1.0;
  if (histogram.n_splits == 0 || histogram.highest < floor) return;

  scratch.open.assign(n_bins, 0);
  bool any_open = false;
  for (std::size_t bin = 0; bin < n_bins; ++bin) {
    scratch.open[bin] = histogram.bound[bin] + column.log_splits_inside(bin) >= floor;
    any_open |= scratch.open[bin];
  }
  sort_open_bins(column, rows, any_open, scratch);

  const std::vector<typename T::Number> none(width);
  std::size_t begin = 0;
  for (std::size_t bin = 0; bin < n_bins; ++bin) {
    if (scratch.open[bin]) {
      std::size_t end = begin;
      while (end < scratch.order.size() && key_of(scratch.order[end]) <= column.last_code(bin)) ++end;
      const std::span<const Keyed> inside(scratch.order.data() + begin, end - begin);
      find_thresholds(SortedFeature<Keyed>{inside, inside.size(), true}, 1, scratch.bin_splits);
      scratch.bin_splits.log_likelihood.resize(scratch.bin_splits.positions.size());
      node.split_scores(outcome, inside, bin == 0 ? none.data() : &histogram.lower[(bin - 1) * width],
                        scratch.bin_splits.positions, scratch.bin_splits.log_likelihood.data());
      for (const std::uint32_t position : scratch.bin_splits.positions)
        splits.found.push_back(key_of(inside[position]));
      splits.log_likelihood.insert(splits.log_likelihood.end(), scratch.bin_splits.log_likelihood.begin(),
                                   scratch.bin_splits.log_likelihood.end());
      begin = end;
    }
    if (histogram.edge[bin] != kMinusInfinity) {
      splits.found.push_back(column.last_code(bin));
      splits.log_likelihood.push_back(histogram.edge[bin]);
    }
  }
  splits.positions = splits.found;
  splits.n_missing_upper = splits.found.size();
}

}  // namespace baytree
