// Logarithms and exponentials of many scores. Written so that a compiler can use its vector registers, in an
// order of operations that does not depend on which it has.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "types.hpp"

namespace baytree {

// Calls a function, compiled for the widest registers that the processor has. Nothing is contracted to a
// multiply-add (see CMakeLists.txt), so all ways round alike. The function is a lambda that captures by value (what it
// holds then stays in registers) and is marked BAYTREE_INLINE (to be compiled again inside the caller).
#if defined(__GNUC__)
#define BAYTREE_INLINE __attribute__((always_inline))
#else
#define BAYTREE_INLINE
#endif
#if defined(__clang__)
#define BAYTREE_AVX512 "avx512f,avx512dq,avx512vl"
#else
#define BAYTREE_AVX512 "avx512f,avx512dq,avx512vl,prefer-vector-width=512"
#endif
#if defined(__GNUC__) && defined(__x86_64__)
template <class Function>
[[gnu::target("avx2")]] auto call_with_avx2(Function function) {
  return function();
}
template <class Function>
[[gnu::target(BAYTREE_AVX512)]] auto call_with_avx512(Function function) {
  return function();
}
template <class Function>
auto call_wide(Function function) {
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") > 0 && __builtin_cpu_supports("avx512dq") > 0 &&
                                 __builtin_cpu_supports("avx512vl") > 0;
  static const bool has_avx2 = __builtin_cpu_supports("avx2") > 0;
  return has_avx512 ? call_with_avx512(function) : has_avx2 ? call_with_avx2(function) : function();
}
#else
template <class Function>
auto call_wide(Function function) {
  return function();
}
#endif

double highest(std::span<const double> values);

// exp(x) for -700 <= x <= 0, to a relative 1e-15 or so: x = k log 2 + r, |r| <= log(2) / 2, and
// the Taylor series of exp(r) in pairs of terms (a shorter chain of dependent steps than Horner's).
BAYTREE_INLINE inline double exp_of_negative(double x) {
  constexpr double log2_e = 1.44269504088896340736, log_2_high = 0x1.62e42fefp-1, log_2_low = 0x1.473de6af278edp-34;
  constexpr double to_integer = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  const double shifted = x * log2_e + to_integer;
  const double k = shifted - to_integer;
  const double r = (x - k * log_2_high) - k * log_2_low;
  const double r2 = r * r, r4 = r2 * r2;
  const double low = (1.0 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
  const double middle = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
  const double high = (1.0 / 40320 + r * (1.0 / 362880)) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800));
  const double last = 1.0 / 479001600 + r * (1.0 / 6227020800);
  const double series = low + r4 * (middle + r4 * (high + r4 * last));
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(shifted) << 52;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(series) + exponent);
}

// log(x) for normal positive x, to a relative 1e-15 or so: x = 2^k m, m near 1, and
// log m = 2 atanh(z), z = (m - 1) / (m + 1); the series 1/3 + z^2/5 + z^4/7 + ... behind 2 z + 2 z^3 is replaced by the
// polynomial of seven terms that is nearest to it where z is (by Remez' exchange, to a relative 2e-18 of the
// logarithm).
BAYTREE_INLINE inline double log_of_positive(double x) {
  constexpr double log_2_high = 0x1.62e42fefp-1, log_2_low = 0x1.473de6af278edp-34;
  constexpr std::uint64_t below_sqrt_half = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2)
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t shifted = bits - below_sqrt_half;
  // Bits 52 and up of `shifted` are k, as a signed number; biased, they fit the mantissa of a float64.
  const std::uint64_t biased = (shifted + (std::uint64_t{2048} << 52)) >> 52;
  const double k = std::bit_cast<double>(biased | 0x4330000000000000) - (0x1p52 + 2048.0);
  const double m = std::bit_cast<double>((shifted & 0x000fffffffffffff) + below_sqrt_half);
  const double z = (m - 1.0) / (m + 1.0), z2 = z * z, z4 = z2 * z2;
  const double low = (0x1.5555555555592p-2 + z2 * 0x1.999999997fdb7p-3) +
                     z4 * (0x1.24924941f124fp-3 + z2 * 0x1.c71c52095d16fp-4);
  const double high = (0x1.74663ee86e841p-4 + z2 * 0x1.39a1bab73fcacp-4) + z4 * 0x1.2f0563862e5fdp-4;
  const double series = 2.0 * z + 2.0 * z * z2 * (low + z4 * z4 * high);
  return k * log_2_high + (series + k * log_2_low);
}

// sum of exp(value - top), where top is the highest value; what is out of sight below it is left out.
double sum_exp(std::span<const double> values, double top);

}  // namespace baytree
