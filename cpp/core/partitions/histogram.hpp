// The thresholds of one feature in a large node, exactly, at about the cost of a histogram.
//
// The log marginal likelihood is convex in the sufficient statistics, so no threshold inside a bin can score
// above an upper bound taken over the box between the statistics at the bin's two edges. Edges are scored
// from the histogram; only bins whose bound reaches what matters to the node are opened, sorted and scored.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "data/columns.hpp"
#include "data/sort.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/split_list.hpp"
#include "partitions/thresholds.hpp"
#include "types.hpp"

namespace baytree {

// A feature without missing values in a node whose rows are not sorted.
template <Outcome T>
struct UnsortedFeature {
  const Column& column;
  bool has_ties;     // rows of the table may have the same value
  const T& outcome;  // narrowed to the rows
  const typename T::Node& scorer;
  std::span<const Row> rows;
  std::size_t min_rows;  // on each side of a threshold
  bool by_distance;      // thresholds are weighed by the distance of the values around them
};

// Scores of thresholds are with their locations here, unless it is said otherwise.
template <class Number>
struct Histogram {
  std::vector<Number> lower;         // statistics of all rows up to and including each bin
  std::vector<std::uint32_t> up_to;  // how many they are; where each side needs only one, bins that have some will do
  std::vector<double> reach;  // neither a threshold inside a bin nor all of them together exceed it; -infinity: none
  std::vector<double> edge;  // score of the threshold behind each bin, without location; -infinity: there is none
  std::vector<double> edge_location;  // empty: all are alike
  std::uint32_t n_splits = 0;
  double log_range = 0.0;  // of all distances together, where they count
  double best_edge = kMinusInfinity;
  double highest = kMinusInfinity;  // no threshold, nor those of any one bin together, exceeds this

  std::uint32_t before(std::size_t bin) const { return bin == 0 ? 0 : up_to[bin - 1]; }
  bool is_filled(std::size_t bin) const { return up_to[bin] > before(bin); }
  // Whether the threshold behind a bin leaves enough rows on both sides.
  bool has_edge(std::size_t bin, std::size_t min_rows) const {
    return is_filled(bin) && up_to[bin] >= min_rows && up_to.back() - up_to[bin] >= min_rows;
  }
  // Whether one inside of it may.
  bool may_be_divided(std::size_t bin, std::size_t min_rows) const {
    return is_filled(bin) && (min_rows == 1 || (up_to[bin] > min_rows && up_to.back() - before(bin) > min_rows));
  }
};

struct HistogramScratch {
  std::vector<std::uint64_t> seen;  // bitmap of codes
  std::vector<std::uint8_t> open;  // by bin
  std::vector<Keyed> order, spare;
  std::vector<Code> low_code, high_code;  // by bin: the lowest and the highest of the node's rows
  SplitList bin_splits;
};

namespace detail {

// Thresholds lie behind the codes of the node's rows in [first, end).
struct CodeRange {
  Code first, end;
};

// Number of different codes among the rows in a range.
inline std::uint32_t count_codes(const Column& column, std::span<const Row> rows, const CodeRange& range,
                                 std::vector<std::uint64_t>& seen) {
  seen.assign(column.n_codes / 64 + 1, 0);
  std::visit(
      [&](const auto& codes) {
        for (const Row row : rows) seen[codes[row] / 64] |= std::uint64_t{1} << (codes[row] % 64);
      },
      column.codes);
  auto n_below = [&](Code code) {
    int count = std::popcount(seen[code / 64] & ((std::uint64_t{1} << (code % 64)) - 1));
    for (std::size_t word = 0; word < code / 64; ++word) count += std::popcount(seen[word]);
    return static_cast<std::uint32_t>(count);
  };
  return n_below(range.end) - n_below(range.first);
}

// Adds the rows in the open bins to `order`, by position, with their codes; of those from `begin` to `end`. Most rows
// are in closed ones: look at their bin only, and write down every position, keeping the ones that count.
inline void add_open_rows(const Column& column, std::span<const std::uint8_t> is_open, std::span<const Row> rows,
                          std::size_t begin, std::size_t end, std::vector<Keyed>& order) {
  constexpr std::size_t at_once = 1024;
  std::array<std::uint32_t, at_once> places;
  const std::uint8_t* bins = column.bin_codes().data();
  std::visit(
      [&](const auto& codes) {
        for (; begin < end; begin += at_once) {
          std::size_t n = 0;
          for (std::size_t i = begin; i < std::min(begin + at_once, end); ++i) {
            places[n] = static_cast<std::uint32_t>(i);
            n += is_open[bins[rows[i]]];
          }
          for (std::size_t k = 0; k < n; ++k) order.push_back(keyed(codes[rows[places[k]]], places[k]));
        }
      },
      column.codes);
}

// Puts the rows of the open bins into scratch.order, by position, with their codes.
inline void read_open_bins(const Column& column, std::span<const Row> rows, const Threads& threads,
                           HistogramScratch& scratch) {
  const Blocks blocks = threads.blocks(rows.size());
  std::vector<std::vector<Keyed>> others(blocks.size() - 1);  // blocks but the first
  scratch.order.clear();
  blocks.each([&](std::size_t block, std::size_t begin, std::size_t end) {
    add_open_rows(column, scratch.open, rows, begin, end, block == 0 ? scratch.order : others[block - 1]);
  });
  for (const std::vector<Keyed>& other : others) scratch.order.insert(scratch.order.end(), other.begin(), other.end());
}

// The code that so many rows of the node do not exceed, and the one that so many do not fall below.
template <BoundedOutcome T>
CodeRange allowed_codes(const UnsortedFeature<T>& of, const Histogram<typename T::Number>& histogram,
                        HistogramScratch& scratch) {
  const auto& up_to = histogram.up_to;
  const std::size_t all = up_to.back();
  auto bin_of = [&](std::size_t rank) {
    return static_cast<std::size_t>(std::lower_bound(up_to.begin(), up_to.end(), rank) - up_to.begin());
  };
  const std::size_t low = bin_of(of.min_rows), high = bin_of(all - of.min_rows + 1);
  if (of.column.codes_are_bins()) return {static_cast<Code>(low), static_cast<Code>(high)};
  auto code_at = [&](std::size_t bin, std::size_t position, auto&& before) {
    scratch.open.assign(of.column.n_bins(), 0);
    scratch.open[bin] = 1;
    read_open_bins(of.column, of.rows, {}, scratch);
    const auto at = scratch.order.begin() + static_cast<std::ptrdiff_t>(position);
    std::nth_element(scratch.order.begin(), at, scratch.order.end(), before);
    return key_of(*at);
  };
  return {code_at(low, of.min_rows - histogram.before(low) - 1, std::less<Keyed>()),
          code_at(high, of.min_rows - (all - up_to[high]) - 1, std::greater<Keyed>())};
}

// Adds up the bins of a node.
template <BoundedOutcome T>
void fill_bins(const UnsortedFeature<T>& of, Histogram<typename T::Number>& result) {
  using Number = typename T::Number;
  const std::size_t width = of.outcome.width(), n_bins = of.column.n_bins();
  const std::span<const std::uint8_t> bins = of.column.bin_codes();
  result.lower.assign(n_bins * width, Number{0});
  result.up_to.assign(n_bins, 0);
  of.outcome.add_by_bin(result.lower.data(), bins, of.rows);
  if (of.min_rows > 1 && !of.outcome.counts_once())
    for (const Row row : of.rows) ++result.up_to[bins[row]];
  else
    for (std::size_t bin = 0; bin < n_bins; ++bin) {
      const Number* statistics = &result.lower[bin * width];
      const bool any = std::any_of(statistics, statistics + width, [](Number number) { return number != Number{0}; });
      result.up_to[bin] = of.outcome.counts_once() ? static_cast<std::uint32_t>(of.outcome.weight_in(statistics)) : any;
    }
  for (std::size_t i = width; i < result.lower.size(); ++i) result.lower[i] += result.lower[i - width];
  for (std::size_t bin = 1; bin < n_bins; ++bin) result.up_to[bin] += result.up_to[bin - 1];
}

// The lowest and the highest code that the node's rows have in each bin.
inline void find_extremes(const Column& column, std::span<const Row> rows, HistogramScratch& scratch) {
  scratch.low_code.assign(column.n_bins(), column.n_codes);
  scratch.high_code.assign(column.n_bins(), 0);
  Code* low = scratch.low_code.data();
  Code* high = scratch.high_code.data();
  std::visit(
      [&, bins = column.bin_codes().data()](const auto& codes) {
        for (const Row row : rows) {
          const Code code = codes[row];
          low[bins[row]] = std::min(low[bins[row]], code);
          high[bins[row]] = std::max(high[bins[row]], code);
        }
      },
      column.codes);
}

// Where every threshold is as likely as any other.
template <BoundedOutcome T>
void count_splits(const UnsortedFeature<T>& of, Histogram<typename T::Number>& result, HistogramScratch& scratch) {
  if (of.column.codes_are_bins()) {
    for (std::size_t bin = 0; bin < result.up_to.size(); ++bin) result.n_splits += result.has_edge(bin, of.min_rows);
  } else if (!of.has_ties) {
    result.n_splits = static_cast<std::uint32_t>(of.rows.size() + 1 - 2 * of.min_rows);
  } else if (of.min_rows == 1) {
    result.n_splits = count_codes(of.column, of.rows, {0, of.column.n_codes}, scratch.seen) - 1;
  } else {
    result.n_splits = count_codes(of.column, of.rows, allowed_codes(of, result, scratch), scratch.seen);
  }
}

// Where the distances of values count: finds the locations of the edges.
template <BoundedOutcome T>
void locate_edges(const UnsortedFeature<T>& of, Histogram<typename T::Number>& result, HistogramScratch& scratch) {
  const std::vector<double>& values = of.column.values;
  find_extremes(of.column, of.rows, scratch);
  const CodeRange range = allowed_codes(of, result, scratch);
  result.n_splits = range.first < range.end;  // or more: nobody counts them
  if (result.n_splits == 0) return;
  result.log_range = log_difference(values[range.end], values[range.first]);
  result.edge_location.assign(result.up_to.size(), kMinusInfinity);
  std::size_t previous = 0;
  for (std::size_t bin = 0; bin < result.up_to.size(); ++bin) {
    if (!result.is_filled(bin)) continue;
    if (result.before(bin) > 0 && result.has_edge(previous, of.min_rows))
      result.edge_location[previous] =
          log_difference(values[scratch.low_code[bin]], values[scratch.high_code[previous]]) - result.log_range;
    previous = bin;
  }
}

// Log prior mass of the thresholds inside of a bin, or somewhat more; -infinity: there are none.
template <BoundedOutcome T>
double log_mass_inside(const UnsortedFeature<T>& of, const Histogram<typename T::Number>& histogram, std::size_t bin,
                       const HistogramScratch& scratch) {
  if (of.column.codes_are_bins() || !histogram.may_be_divided(bin, of.min_rows)) return kMinusInfinity;
  if (!of.by_distance) return of.column.log_splits_inside(bin) - std::log(static_cast<double>(histogram.n_splits));
  const std::vector<double>& values = of.column.values;
  const double low = values[scratch.low_code[bin]], high = values[scratch.high_code[bin]];
  return low < high ? log_difference(high, low) - histogram.log_range : kMinusInfinity;
}

}  // namespace detail

template <BoundedOutcome T>
Histogram<typename T::Number> make_histogram(const UnsortedFeature<T>& of, HistogramScratch& scratch) {
  using Number = typename T::Number;
  const std::size_t width = of.outcome.width();
  Histogram<Number> result;
  detail::fill_bins(of, result);
  if (of.rows.size() < 2 * of.min_rows) return result;
  if (of.by_distance) detail::locate_edges(of, result, scratch);
  else detail::count_splits(of, result, scratch);
  if (result.n_splits == 0) return result;

  result.reach.assign(of.column.n_bins(), kMinusInfinity);
  result.edge.assign(of.column.n_bins(), kMinusInfinity);
  const double even = -std::log(static_cast<double>(result.n_splits));
  const std::vector<Number> none(width);
  for (std::size_t bin = 0; bin < result.edge.size(); ++bin) {
    const Number* to = &result.lower[bin * width];
    const Number* from = bin == 0 ? none.data() : to - width;
    const double inside = detail::log_mass_inside(of, result, bin, scratch);
    if (inside != kMinusInfinity) {
      result.reach[bin] = of.scorer.upper_bound(from, to) + inside;
      result.highest = std::max(result.highest, result.reach[bin]);
    }
    if (result.has_edge(bin, of.min_rows)) {
      result.edge[bin] = of.scorer.split_score(to);
      const double location = of.by_distance ? result.edge_location[bin] : even;
      result.best_edge = std::max(result.best_edge, result.edge[bin] + location);
    }
  }
  result.highest = std::max(result.highest, result.best_edge);
  return result;
}

namespace detail {

// Lists the thresholds inside of an open bin, whose rows are sorted.
template <BoundedOutcome T>
void list_inside(const UnsortedFeature<T>& of, const Histogram<typename T::Number>& histogram, std::size_t bin,
                 std::span<const Keyed> inside, SplitList& splits, SplitList& inside_splits) {
  find_thresholds(SortedFeature<Keyed>{inside, inside.size(), true}, 1, inside_splits);
  if (of.min_rows > 1) {
    // Behind the position i of the bin there are before + i + 1 rows on the lower side.
    const std::size_t before = histogram.before(bin), all = histogram.up_to.back();
    auto few_lower = [&](std::uint32_t i) { return before + i + 1 < of.min_rows; };
    auto enough_upper = [&](std::uint32_t i) { return before + i + 1 + of.min_rows <= all; };
    const auto first = std::partition_point(inside_splits.positions.begin(), inside_splits.positions.end(), few_lower);
    inside_splits.positions = {first, std::partition_point(first, inside_splits.positions.end(), enough_upper)};
  }
  inside_splits.log_likelihood.resize(inside_splits.positions.size());
  const std::size_t width = of.outcome.width();
  const std::vector<typename T::Number> none(width);
  of.scorer.split_scores(of.outcome, inside, bin == 0 ? none.data() : &histogram.lower[(bin - 1) * width],
                         inside_splits.positions, inside_splits.log_likelihood.data());
  for (const std::uint32_t position : inside_splits.positions) splits.numbers.push_back(key_of(inside[position]));
  splits.log_likelihood.insert(splits.log_likelihood.end(), inside_splits.log_likelihood.begin(),
                               inside_splits.log_likelihood.end());
  if (!of.by_distance) return;
  log_distances(inside, inside_splits.positions, inside_splits.log_location,
                [&](Keyed entry) { return of.column.values[key_of(entry)]; });
  for (const double location : inside_splits.log_location)
    splits.log_location.push_back(location - histogram.log_range);
}

}  // namespace detail

// Lists, in ascending order, all thresholds that may score `floor` or more, alone or together with the others in their
// bin. Positions are codes: rows with a code up to there go to the lower side.
template <BoundedOutcome T>
void list_high_thresholds(const UnsortedFeature<T>& of, const Histogram<typename T::Number>& histogram, double floor,
                          const Threads& threads, SplitList& splits, HistogramScratch& scratch) {
  splits.numbers.clear();
  splits.positions = {};
  splits.n_missing_upper = 0;
  splits.log_likelihood.clear();
  splits.log_location.clear();
  splits.n_splits = histogram.n_splits;
  splits.mass = 1.0;
  if (histogram.n_splits == 0 || histogram.highest < floor) return;

  const std::size_t n_bins = of.column.n_bins();
  scratch.open.assign(n_bins, 0);
  for (std::size_t bin = 0; bin < n_bins; ++bin) scratch.open[bin] = histogram.reach[bin] >= floor;
  scratch.order.clear();
  if (std::find(scratch.open.begin(), scratch.open.end(), 1) != scratch.open.end())
    detail::read_open_bins(of.column, of.rows, threads, scratch);
  sort_by_key(scratch.order, scratch.spare, of.column.code_bits());
  std::size_t begin = 0;
  for (std::size_t bin = 0; bin < n_bins; ++bin) {
    if (scratch.open[bin]) {
      std::size_t end = begin;
      while (end < scratch.order.size() && key_of(scratch.order[end]) <= of.column.last_code(bin)) ++end;
      const std::span<const Keyed> inside(scratch.order.data() + begin, end - begin);
      detail::list_inside(of, histogram, bin, inside, splits, scratch.bin_splits);
      begin = end;
    }
    if (histogram.edge[bin] != kMinusInfinity) {
      splits.numbers.push_back(of.column.last_code(bin));
      splits.log_likelihood.push_back(histogram.edge[bin]);
      if (of.by_distance) splits.log_location.push_back(histogram.edge_location[bin]);
    }
  }
  splits.positions = splits.numbers;
  splits.n_missing_upper = splits.numbers.size();
}

}  // namespace baytree
