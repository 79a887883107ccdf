// Sums of exponentials of many scores. Written so that a compiler can use its vector registers, in an order
// of summation that does not depend on which it has.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "types.hpp"

namespace baytree {

inline double highest(std::span<const double> values) {
  constexpr std::size_t lanes = 4;
  std::array<double, lanes> best;
  best.fill(kMinusInfinity);
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) best[k] = values[i + k] > best[k] ? values[i + k] : best[k];
  for (; i < values.size(); ++i) best[0] = std::max(best[0], values[i]);
  return *std::max_element(best.begin(), best.end());
}

// exp(x) for -700 <= x <= 0, to about one unit in the last place: x = k log 2 + r, |r| <= log(2) / 2, and
// the Taylor series of exp(r) in pairs of terms (a shorter chain of dependent steps than Horner's).
inline double exp_of_negative(double x) {
  constexpr double log2_e = 1.44269504088896340736, log_2_high = 0x1.62e42fefp-1, log_2_low = 0x1.473de6af278edp-33;
  constexpr double to_integer = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  const double shifted = x * log2_e + to_integer;
  const double k = shifted - to_integer;
  const double r = (x - k * log_2_high) - k * log_2_low;
  const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const double low = (1.0 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
  const double middle = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
  const double high = (1.0 / 40320 + r * (1.0 / 362880)) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800));
  const double series = low + r4 * middle + r8 * high;
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(shifted) << 52;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(series) + exponent);
}

// sum of exp(value - top), where top is the highest value. `visible` is work space; it may be `values` itself.
inline double sum_exp(std::span<const double> values, double top, double* visible) {
  std::size_t n = 0;
  for (const double value : values) {
    visible[n] = value - top;
    n += visible[n] > -kInvisible;
  }
  constexpr std::size_t lanes = 4;
  std::array<double, lanes> sum{};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) sum[k] += exp_of_negative(visible[i + k]);
  for (; i < n; ++i) sum[0] += exp_of_negative(visible[i]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace baytree
