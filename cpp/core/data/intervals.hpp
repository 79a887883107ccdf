// Values of columns that are seen part by part: how many lie between some numbers, which of them lie where the end of a
// bin is looked for, and, once the bins are known, their codes. An interval reaches up to one of the numbers and begins
// behind the one before; the last begins behind the last number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "data/bins.hpp"
#include "data/rank.hpp"
#include "data/table.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

// Finds the intervals of values.
class IntervalFinder {
 public:
  struct Scratch {
    std::vector<std::uint64_t> bits;
    std::vector<std::uint16_t> slice;
  };

  // The ends are ordered bits (rank.hpp), in ascending order.
  explicit IntervalFinder(std::vector<std::uint64_t> ends)
      : first_(ends.empty() ? 0 : ends.front()), last_(ends.empty() ? 0 : ends.back()), n_ends_(ends.size()),
        finder_(std::move(ends), first_) {}

  std::size_t n_intervals() const { return n_ends_ + 1; }

  // tell(i, interval, value) of each value; the interval of missing ones is n_intervals.
  template <class Tell>
  void find(std::span<const std::uint64_t> values, Scratch& scratch, Tell&& tell) const {
    const auto beyond = static_cast<std::uint32_t>(n_ends_);
    if (n_ends_ == 0) {
      for (std::size_t i = 0; i < values.size(); ++i) tell(i, beyond + (values[i] == kMissingBits), values[i]);
      return;
    }
    scratch.bits.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) scratch.bits[i] = std::clamp(values[i], first_, last_);
    finder_.find(scratch.bits, scratch.slice, [&](std::size_t i, std::uint32_t interval) {
      const std::uint64_t value = values[i];
      tell(i, value <= last_ ? interval : beyond + (value == kMissingBits), value);
    });
  }

 private:
  std::uint64_t first_, last_;
  std::size_t n_ends_;
  BinFinder finder_;
};

namespace detail {

inline constexpr std::size_t kTileRows = 1024;  // values that are in the nearest cache until they are done with

inline void read_bits(const Table& table, std::size_t column, std::size_t begin, std::size_t end,
                      std::vector<std::uint64_t>& bits) {
  bits.resize(end - begin);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = ordered_bits(table.at(begin + i, column));
}

// The same as `find` of all values of a column.
template <class Tell>
void find_intervals(std::span<const std::uint64_t> values, const IntervalFinder& finder, Tell&& tell) {
  IntervalFinder::Scratch scratch;
  for (std::size_t begin = 0; begin < values.size(); begin += kTileRows) {
    stop_if_asked();
    finder.find(values.subspan(begin, std::min(kTileRows, values.size() - begin)), scratch, tell);
  }
}

}  // namespace detail

struct IntervalCounts {
  std::vector<std::int64_t> counts;  // by interval
  std::vector<std::uint64_t> lows;  // the lowest value of each; kMissingBits: there is none
  std::vector<std::uint64_t> distinct;  // all values, in ascending order; none where there are too many
};

// Counts the values of a column; lists them where they are `most_distinct` at most.
inline IntervalCounts count_intervals(const Table& table, std::size_t column, const IntervalFinder& finder,
                                      std::size_t most_distinct) {
  const std::size_t n = finder.n_intervals();
  std::vector<std::uint64_t> bits, seen;
  detail::read_bits(table, column, 0, table.n_rows, bits);
  IntervalCounts result{std::vector<std::int64_t>(n + 1), std::vector<std::uint64_t>(n + 1, kMissingBits),
                        detail::few_distinct(bits, most_distinct, seen)};
  detail::find_intervals(bits, finder, [&](std::size_t, std::uint32_t interval, std::uint64_t value) {
    ++result.counts[interval];
    result.lows[interval] = std::min(result.lows[interval], value);
  });
  result.counts.pop_back(), result.lows.pop_back();  // of missing values
  return result;
}

// The values of a column that lie in chosen intervals, in the order of the rows.
inline std::vector<double> values_in(const Table& table, std::size_t column, const IntervalFinder& finder,
                                     std::span<const std::uint8_t> chosen) {
  std::vector<std::uint64_t> bits;
  detail::read_bits(table, column, 0, table.n_rows, bits);
  std::vector<std::uint8_t> is_chosen(chosen.begin(), chosen.end());
  is_chosen.push_back(0);  // missing values
  std::vector<double> result(bits.size() + 1);
  std::size_t n = 0;
  detail::find_intervals(bits, finder, [&](std::size_t, std::uint32_t interval, std::uint64_t value) {
    result[n] = value_of_bits(value);  // always written: what is not chosen is written over
    n += is_chosen[interval];
  });
  return {result.begin(), result.begin() + static_cast<std::ptrdiff_t>(n)};
}

// How the values of a column become codes. The last of the bins may have no end, and takes all values then.
struct CodedColumn {
  IntervalFinder bins;
  std::size_t n_bins;
  bool has_missing, is_left_out;  // all codes are 0

  Code code_of(std::uint32_t interval) const {
    const bool is_missing = interval == bins.n_intervals();
    if (is_missing ? !has_missing : interval >= n_bins)
      throw std::invalid_argument("the rows of a part are not those that were seen before: read the same each time");
    return static_cast<Code>(is_missing ? n_bins : interval);
  }
};

// The codes of all rows of a part, those of a row side by side.
template <class Int>
std::vector<Int> encode_part(const Table& table, const std::vector<CodedColumn>& columns, std::size_t n_threads,
                             Interrupt& interrupt) {
  constexpr std::size_t rows_a_task = 16384;
  const std::size_t d = table.n_columns;
  std::vector<Int> codes(table.n_rows * d);
  auto encode_tile = [&](std::size_t begin, std::size_t end, std::vector<std::uint64_t>& bits,
                         IntervalFinder::Scratch& scratch) {
    for (std::size_t column = 0; column < d; ++column) {
      const CodedColumn& own = columns[column];
      if (own.is_left_out) continue;
      detail::read_bits(table, column, begin, end, bits);
      Int* into = codes.data() + begin * d + column;
      own.bins.find(bits, scratch, [&](std::size_t i, std::uint32_t interval, std::uint64_t) {
        into[i * d] = static_cast<Int>(own.code_of(interval));
      });
    }
  };
  parallel_for((table.n_rows + rows_a_task - 1) / rows_a_task, n_threads, interrupt,
               [&](std::size_t task, std::size_t) {
                 std::vector<std::uint64_t> bits;
                 IntervalFinder::Scratch scratch;
                 const std::size_t stop = std::min((task + 1) * rows_a_task, table.n_rows);
                 for (std::size_t begin = task * rows_a_task; begin < stop; begin += detail::kTileRows)
                   encode_tile(begin, std::min(begin + detail::kTileRows, stop), bits, scratch);
               });
  return codes;
}

}  // namespace baytree
