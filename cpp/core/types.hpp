// The few types that every part of the core shares.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace baytree {

using Row = std::uint32_t;    // position of a row in the table
using Code = std::uint32_t;   // rank of a value among the distinct values of its column
using Class = std::uint16_t;  // position of a class among the classes
__extension__ using Int128 = __int128;

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Terms this far (in nats) below the largest leave a float64 sum as it is.
inline constexpr double kInvisible = 40.0;

// Scores this near to the best count as equal to it, so that rounding decides nothing.
inline double tie_tolerance(double best) { return 1e-9 * (1.0 + (best < 0 ? -best : best)); }
inline double as_good_as(double best) { return best - tie_tolerance(best); }

// A score rounded to 2^-20 nats, for many that are put in order.
inline double without_rounding_error(double score) {
  constexpr double unit = 1 << 20;
  return std::nearbyint(score * unit) / unit;
}

// Throws std::invalid_argument unless the contract holds.
inline void require(bool holds, const char* contract) {
  if (!holds) throw std::invalid_argument(contract);
}

// A number for each thing that can be numbered, so that the sum over a set tells sets apart.
inline std::uint64_t mark_of(std::uint64_t number) {
  std::uint64_t z = (number + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace baytree
