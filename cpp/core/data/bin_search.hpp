// Quantile bins of a column of many values. A bin ends at a value whose rank is ceil(k n / max_bins), for
// k = 1, 2, ..., so the bins depend on nothing but the values: not on their order, nor on where they live. Missing
// values have none.
//
// The values are counted by slices of their range. Then the code of a value is known, unless a bin ends in its slice:
// such values are kept, sorted, and get their codes in the end. Threads share the work; which of them has a value
// changes nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "data/bins.hpp"
#include "data/slices.hpp"
#include "types.hpp"

namespace baytree {

// The bins of a column: the lowest and the highest value of each, in ascending order; none where all are missing.
struct ColumnBins {
  std::vector<double> lows, ends;
  bool has_missing = false;
  bool one_value_each = false;  // every bin holds one value
};

// Entry: an unsigned integer that has a bit more than the codes.
template <class Entry>
class BinSearch {
 public:
  // The sample is of values of the column, in ascending order, none missing.
  BinSearch(std::vector<double> sample, std::size_t max_bins, std::size_t n_rows)
      : max_bins_(max_bins), sample_(std::move(sample)),
        slices_(sample_, std::clamp<std::size_t>(kSlicesABin * max_bins, 256, std::max<std::size_t>(n_rows, 256))) {}

  using Counts = std::vector<std::uint32_t>;  // by slice, the last is that of missing values

  // What a thread found in slices that matter.
  struct Kept {
    struct Value {
      double value;
      Row row;
      std::uint32_t slot;
    };
    std::vector<Value> values;
    std::vector<std::uint64_t> n_frequent;  // by slot
    std::vector<double> lowest;             // likewise
  };
  using Entries = std::vector<std::uint32_t>;  // work space: of values to keep

  void count(std::span<const double> values, Counts& counts) const {
    counts.resize(slices_.size() + 1);
    slices_.each(values, [at = counts.data()](std::size_t, std::size_t slice) { ++at[slice]; });
  }

  // Takes the counts of all values.
  void set_counts(const Counts& counts) {
    n_ = std::accumulate(counts.begin(), counts.end() - 1, std::uint64_t{0});
    has_missing_ = counts.back() > 0;
    slot_.assign(counts.size(), 0);
    code_.assign(counts.size(), static_cast<Entry>(max_bins_));  // that of missing values
    std::uint64_t before = 0;
    bool is_next = true;  // the lowest value of all is that of the first bin
    for (std::size_t slice = 0; slice < slices_.size(); before += counts[slice++]) {
      code_[slice] = static_cast<Entry>(bins_ended(before));
      if (counts[slice] == 0) continue;
      const bool has_end = ends_within(before, counts[slice]);
      if (has_end || is_next) {
        code_[slice] |= kHasSlot;
        slot_[slice] = static_cast<std::uint16_t>(slots_.size());
        slots_.push_back({before, !has_end});
        if (has_end) n_kept_ += counts[slice];
      }
      is_next = has_end;
    }
    set_frequent();
  }

  // tell(i, code) of each value; of those that are kept it is not known yet. They are at most 65536, those of the rows
  // from `first` on.
  template <class Tell>
  void keep(std::span<const double> values, std::size_t first, Entries& to_keep, Kept& kept, Tell&& tell) const {
    // What may be kept is always written and counts where it is: no branch that could be mispredicted.
    to_keep.resize(values.size() + 1);
    std::size_t n = 0;
    slices_.each(values, [&n, tell, code = code_.data(), next = to_keep.data()](std::size_t i, std::size_t slice) {
      const Entry entry = code[slice];
      tell(i, entry & kCode);
      next[n] = static_cast<std::uint32_t>(i << 16 | slice);
      n += entry / kHasSlot;
    });
    if (kept.lowest.empty()) {
      kept.lowest.assign(slots_.size(), std::numeric_limits<double>::infinity());
      kept.n_frequent.assign(slots_.size(), 0);
      kept.values.reserve(n_kept_ + values.size());  // what is not written to takes no memory
    }
    std::size_t n_kept = kept.values.size();
    kept.values.resize(n_kept + n);
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = to_keep[k] >> 16;
      const std::uint32_t slot = slot_[to_keep[k] & 0xffff];
      const double value = values[i] + 0.0;  // -0.0 is 0.0
      const bool is_frequent = value == slots_[slot].frequent;
      kept.lowest[slot] = std::min(kept.lowest[slot], value);
      kept.n_frequent[slot] += is_frequent;
      kept.values[n_kept] = {value, static_cast<Row>(first + i), slot};
      n_kept += !(is_frequent | slots_[slot].only_lowest);
    }
    kept.values.resize(n_kept);
  }

  // The bins, once all values were kept. False: the codes must be found anew, for there are fewer bins than there could
  // be, or not all values were kept.
  bool finish(std::span<const Kept* const> parts, ColumnBins& bins) {
    bins.has_missing = has_missing_;
    return add_bins(parts, bins, first_) && bins.ends.size() == max_bins_;
  }

  // tell(row, code) of the values that a thread kept, once there are bins.
  template <class Tell>
  void tell_kept(const Kept& kept, const ColumnBins& bins, Tell&& tell) const {
    for (const auto& [value, row, slot] : kept.values) {
      std::uint32_t bin = first_[slot];
      while (bin < first_[slot + 1] && bins.ends[bin] < value) ++bin;
      tell(row, bin);
    }
  }

 private:
  static constexpr Entry kHasSlot = Entry{1} << (8 * sizeof(Entry) - 1), kCode = kHasSlot - 1;

  // A slice in which a bin ends; or the next with values behind such a slice, of which the lowest value matters.
  struct Slot {
    std::uint64_t before;  // lower values in other slices
    bool only_lowest;
    double frequent = std::numeric_limits<double>::quiet_NaN();  // a value that is counted and not kept
  };

  // How many bins end at or before a rank (from 1): the number of k with ceil(k n / max_bins) <= rank.
  std::uint64_t bins_ended(std::uint64_t rank) const { return n_ == 0 ? 0 : rank * max_bins_ / n_; }
  bool ends_within(std::uint64_t before, std::uint64_t size) const {
    return bins_ended(before + size) > bins_ended(before);
  }

  // Of each slot the most frequent value in the sample, where it is found more than twice.
  void set_frequent() {
    std::vector<std::size_t> most(slots_.size(), 2);
    for (std::size_t i = 0, next; i < sample_.size(); i = next) {
      for (next = i + 1; next < sample_.size() && sample_[next] == sample_[i];) ++next;
      const std::size_t slice = slices_.of(sample_[i]), slot = slot_[slice];
      if (!(code_[slice] & kHasSlot) || next - i <= most[slot]) continue;
      most[slot] = next - i;
      slots_[slot].frequent = sample_[i];
    }
  }

  // Adds the bins that end in each slot; false where there are values that were not kept.
  bool add_bins(std::span<const Kept* const> parts, ColumnBins& bins, std::vector<std::uint32_t>& first) const {
    std::vector<std::size_t> end(slots_.size() + 1);
    for (const Kept* part : parts)
      for (const auto& kept : part->values) ++end[kept.slot + 1];
    for (std::size_t slot = 1; slot < end.size(); ++slot) end[slot] += end[slot - 1];
    std::vector<double> values(end.back());  // those of a slot behind those of the one before
    for (const Kept* part : parts)
      for (const auto& kept : part->values) values[end[kept.slot]++] = kept.value;
    bool all_kept = true;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      const std::size_t begin = slot == 0 ? 0 : end[slot - 1];
      double lowest = std::numeric_limits<double>::infinity();
      std::uint64_t n_frequent = 0;
      for (const Kept* part : parts) {
        lowest = std::min(lowest, part->lowest[slot]);
        n_frequent += part->n_frequent[slot];
      }
      all_kept &= n_frequent == 0;
      first.push_back(static_cast<std::uint32_t>(bins.ends.size()));
      if (slots_[slot].only_lowest) add(lowest, 0, 0, bins);
      else add_bins_of(slots_[slot], std::span(values).subspan(begin, end[slot] - begin), n_frequent, bins);
    }
    first.push_back(static_cast<std::uint32_t>(bins.ends.size()));
    return all_kept;
  }

  void add_bins_of(const Slot& slot, std::span<double> values, std::uint64_t n_frequent, ColumnBins& bins) const {
    std::sort(values.begin(), values.end());
    std::uint64_t before = slot.before;
    auto add_next = [&](double value, std::uint64_t n) {
      add(value, before, n, bins);
      before += n;
    };
    for (std::size_t i = 0, next; i < values.size(); i = next) {
      if (n_frequent > 0 && slot.frequent < values[i]) add_next(slot.frequent, std::exchange(n_frequent, 0));
      for (next = i + 1; next < values.size() && values[next] == values[i];) ++next;
      add_next(values[i], next - i);
    }
    if (n_frequent > 0) add_next(slot.frequent, n_frequent);
  }

  // The next of the values that matter: the lowest of a bin, the end of one, or both.
  void add(double value, std::uint64_t before, std::uint64_t size, ColumnBins& bins) const {
    if (bins.lows.size() == bins.ends.size()) bins.lows.push_back(value);
    if (ends_within(before, size)) bins.ends.push_back(value);
  }

  std::size_t max_bins_;
  std::vector<double> sample_;
  Slices slices_;
  std::uint64_t n_ = 0;
  std::size_t n_kept_ = 0;  // at most
  bool has_missing_ = false;
  std::vector<Entry> code_;  // by slice: how many bins end before; of values that are not kept, their code
  std::vector<std::uint16_t> slot_;  // by slice, where there is one
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> first_;  // by slot: the bins that end before
};

}  // namespace baytree
