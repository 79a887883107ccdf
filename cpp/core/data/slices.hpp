// Slices of a range of numbers, about equally many numbers in each: a quick way to look up where a number belongs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/rank.hpp"
#include "math/vector_math.hpp"
#include "types.hpp"

namespace baytree {

// The range is cut into cells of equal width: by the numbers themselves, or by their ordered bits (as it were by their
// logarithms), whichever tells more of some examples apart. A cell has as many slices of equal width as examples ask
// for. Every step rises with the number, rounding or not, and so does its slice.
class Slices {
 public:
  static constexpr std::size_t kMost = 65535;

  // About `n_slices`; the examples are finite, in ascending order.
  Slices(std::span<const double> examples, std::size_t n_slices) {
    cells_[kCells] = {1, 0};
    if (examples.empty()) return;
    n_slices = std::min(n_slices, kMost - kCells);
    cut(examples, n_slices, false);
    const std::size_t shared = count_shared(examples);
    if (8 * shared < examples.size()) return;
    const Slices by_number = *this;
    cut(examples, n_slices, true);
    if (count_shared(examples) >= shared) *this = by_number;
  }

  std::size_t size() const { return size_; }
  std::size_t of(double value) const {
    std::size_t result = 0;
    each({&value, 1}, [&](std::size_t, std::size_t slice) { result = slice; });
    return result;
  }

  // tell(i, slice) of each number i; the slice of NaN is size().
  template <class Tell>
  void each(std::span<const double> values, Tell&& tell) const {
    constexpr std::size_t at_once = 256;
    std::array<std::int32_t, at_once> place;
    for (std::size_t begin = 0; begin < values.size(); begin += at_once) {
      const std::size_t n = std::min(at_once, values.size() - begin);
      if (by_bits_) set_places(values.data() + begin, n, place.data(), key_of_bits);
      else set_places(values.data() + begin, n, place.data(), [](double value) BAYTREE_INLINE { return value; });
      const Cell* cells = cells_.data();
      for (std::size_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::uint32_t>(place[i]);
        const Cell cell = cells[at / kWidth];
        tell(begin + i, cell.first + static_cast<std::size_t>(at % kWidth * std::uint64_t{cell.size} / kWidth));
      }
    }
  }

 private:
  static constexpr std::size_t kCells = 256;
  static constexpr std::uint32_t kWidth = std::uint32_t{1} << 22;  // places in a cell
  static constexpr double kPlaces = static_cast<double>(kCells * kWidth);
  struct Cell {
    std::uint32_t first = 0, size = 1;  // slices
  };

  static double key_of_bits(double value) {
    return static_cast<double>(static_cast<std::int64_t>(ordered_bits(value) >> 1));
  }

  // Numbers beyond the range are in the first and the last place, NaN is behind them.
  template <class Key>
  void set_places(const double* values, std::size_t n, std::int32_t* place, Key key) const {
    call_wide([=, start = start_, factor = factor_]() BAYTREE_INLINE {
      for (std::size_t i = 0; i < n; ++i) {
        const double at = (key(values[i]) - start) * factor, above = at > 0.0 ? at : 0.0;
        const double within = above < kPlaces - 1.0 ? above : kPlaces - 1.0;
        place[i] = static_cast<std::int32_t>(values[i] == values[i] ? within : kPlaces);
      }
    });
  }

  void cut(std::span<const double> examples, std::size_t n_slices, bool by_bits) {
    by_bits_ = by_bits;
    const auto [low, high] = range_of(examples);
    start_ = low;
    factor_ = kPlaces / (high - low);
    if (!(factor_ > 0.0 && std::isfinite(factor_))) factor_ = 1.0;
    cells_.fill({});
    std::array<std::size_t, kCells> count{};
    for (std::uint32_t cell = 0; cell < kCells; ++cell) cells_[cell].first = cell;
    each(examples, [&](std::size_t, std::size_t cell) { ++count[cell]; });
    std::size_t first = 0;
    for (std::size_t cell = 0; cell < kCells; ++cell) {
      const std::size_t size = 1 + count[cell] * n_slices / examples.size();
      cells_[cell] = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(size)};
      first += size;
    }
    cells_[kCells] = {static_cast<std::uint32_t>(first), 0};
    size_ = first;
  }

  // That of the examples, but for numbers that lie far out.
  std::pair<double, double> range_of(std::span<const double> examples) const {
    auto key = [&](std::size_t i) { return by_bits_ ? key_of_bits(examples[i]) : examples[i]; };
    const std::size_t last = examples.size() - 1, margin = examples.size() / 64;
    const double low = key(margin), high = key(last - margin), width = high - low;
    return {std::max(key(0), low - width), std::min(key(last), high + width)};
  }

  // How many examples share a slice with another number.
  std::size_t count_shared(std::span<const double> examples) const {
    std::size_t count = 0, before = size_;
    each(examples, [&](std::size_t i, std::size_t slice) {
      count += slice == before && examples[i] != examples[i - 1];
      before = slice;
    });
    return count;
  }

  bool by_bits_ = false;
  double start_ = 0.0, factor_ = 1.0;
  std::array<Cell, kCells + 1> cells_;  // the last is that of NaN
  std::size_t size_ = 1;
};

}  // namespace baytree
