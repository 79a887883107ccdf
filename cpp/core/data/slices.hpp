// Slices of a range of numbers, about equally many numbers in each: a quick way to look up where a number belongs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "types.hpp"

namespace baytree {

// The range is cut into cells of equal width: by the numbers themselves, or by their ordered bits (as it were by their
// logarithms), whichever tells more of some examples apart. A cell has as many slices of equal width as examples ask
// for. Every step rises with the number, rounding or not, and so does its slice.
class Slices {
 public:
  static constexpr std::size_t kMost = 65535;

  // About `n_slices`; the examples are finite, in ascending order.
  Slices(std::span<const double> examples, std::size_t n_slices);

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
      find_places(values.subspan(begin, n), place.data());
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

  // Numbers beyond the range are in the first and the last place, NaN is behind them.
  void find_places(std::span<const double> values, std::int32_t* place) const;
  void cut(std::span<const double> examples, std::size_t n_slices, bool by_bits);
  std::pair<double, double> range_of(std::span<const double> examples) const;
  std::size_t count_shared(std::span<const double> examples) const;

  bool by_bits_ = false;
  double start_ = 0.0, factor_ = 1.0;
  std::array<Cell, kCells + 1> cells_;  // the last is that of NaN
  std::size_t size_ = 1;
};

}  // namespace baytree
