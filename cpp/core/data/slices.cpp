#include "data/slices.hpp"

#include <cmath>

#include "data/rank.hpp"
#include "math/vector_math.hpp"

namespace baytree {

namespace {

double key_of_bits(double value) { return static_cast<double>(static_cast<std::int64_t>(ordered_bits(value) >> 1)); }

// Places from 0 on, behind each other by `factor` from `start` on.
template <class Key>
void set_places(std::span<const double> values, std::int32_t* place, double start, double factor, double n_places,
                Key key) {
  call_wide([=, values = values.data(), n = values.size()]() BAYTREE_INLINE {
    for (std::size_t i = 0; i < n; ++i) {
      const double at = (key(values[i]) - start) * factor, above = at > 0.0 ? at : 0.0;
      const double within = above < n_places - 1.0 ? above : n_places - 1.0;
      place[i] = static_cast<std::int32_t>(values[i] == values[i] ? within : n_places);
    }
  });
}

}  // namespace

Slices::Slices(std::span<const double> examples, std::size_t n_slices) {
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

void Slices::find_places(std::span<const double> values, std::int32_t* place) const {
  if (by_bits_)
    set_places(values, place, start_, factor_, kPlaces, [](double value) BAYTREE_INLINE { return key_of_bits(value); });
  else set_places(values, place, start_, factor_, kPlaces, [](double value) BAYTREE_INLINE { return value; });
}

void Slices::cut(std::span<const double> examples, std::size_t n_slices, bool by_bits) {
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
std::pair<double, double> Slices::range_of(std::span<const double> examples) const {
  auto key = [&](std::size_t i) { return by_bits_ ? key_of_bits(examples[i]) : examples[i]; };
  const std::size_t last = examples.size() - 1, margin = examples.size() / 64;
  const double low = key(margin), high = key(last - margin), width = high - low;
  return {std::max(key(0), low - width), std::min(key(last), high + width)};
}

// How many examples share a slice with another number.
std::size_t Slices::count_shared(std::span<const double> examples) const {
  std::size_t count = 0, before = size_;
  each(examples, [&](std::size_t i, std::size_t slice) {
    count += slice == before && examples[i] != examples[i - 1];
    before = slice;
  });
  return count;
}

}  // namespace baytree
