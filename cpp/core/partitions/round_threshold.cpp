#include "partitions/round_threshold.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace baytree {

namespace {

constexpr int kMostDigits = 17;  // that tell any two float64 numbers apart

// A positive number in decimal: digits * 10^exponent.
struct Decimal {
  std::uint64_t digits;
  int exponent;
  int n_digits;
};

// Reads what printf writes with %e, whatever it writes between the digits.
Decimal read_scientific(const char* text) {
  Decimal result{0, 0, 0};
  for (; *text != 'e'; ++text) {
    if (*text < '0' || *text > '9') continue;
    result.digits = 10 * result.digits + static_cast<std::uint64_t>(*text - '0');
    ++result.n_digits;
  }
  result.exponent = static_cast<int>(std::strtol(text + 1, nullptr, 10)) - result.n_digits + 1;
  for (; result.digits % 10 == 0; result.digits /= 10) --result.n_digits, ++result.exponent;
  return result;
}

// The shortest decimal that stands for a positive number.
Decimal shortest_decimal(double number) {
  const bool is_normal = number >= std::numeric_limits<double>::min();
  std::array<char, 40> text;
  // Fifteen digits that stand for a normal number end in zeros where fewer would do.
  for (int n = is_normal ? std::numeric_limits<double>::digits10 : 1;; ++n) {
    std::snprintf(text.data(), text.size(), "%.*e", n - 1, number);
    if (n == kMostDigits || std::strtod(text.data(), nullptr) == number) return read_scientific(text.data());
  }
}

// The float64 number that is nearest to digits * 10^exponent.
double nearest_number(std::uint64_t digits, int exponent) {
  constexpr std::array<double, 23> powers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (digits <= std::uint64_t{1} << 53 && std::abs(exponent) < static_cast<int>(powers.size())) {
    const double whole = static_cast<double>(digits), power = powers[static_cast<std::size_t>(std::abs(exponent))];
    return exponent < 0 ? whole / power : whole * power;  // of exact numbers, so rounded once
  }
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%llue%d", static_cast<unsigned long long>(digits), exponent);
  return std::strtod(text.data(), nullptr);
}

// The numbers that a threshold may be.
struct Gap {
  double lower, upper;  // the values that it tells apart
  double low, high;     // the ends of the middle half

  Gap(double from, double to) : lower(from), upper(to) {
    const double distance = upper - lower;
    const bool is_finite = std::isfinite(distance);
    low = is_finite ? lower + distance / 4 : 0.75 * lower + 0.25 * upper;
    high = is_finite ? upper - distance / 4 : 0.25 * lower + 0.75 * upper;
  }

  bool holds(double number) const { return number >= lower && number >= low && number <= high && number < upper; }
};

}  // namespace

double midpoint(double lower, double upper) {
  const double distance = upper - lower;
  const double halfway = std::isfinite(distance) ? lower + distance / 2 : lower / 2 + upper / 2;
  return halfway >= lower && halfway < upper ? halfway : lower;
}

double roundest_between(double lower, double upper) {
  const double middle = midpoint(lower, upper);
  if (!std::isfinite(lower) || !std::isfinite(upper)) return middle;
  const Gap gap(lower, upper);
  if (gap.holds(0.0) || middle == 0.0) return 0.0;
  const bool is_negative = middle < 0.0;
  const Decimal decimal = shortest_decimal(std::abs(middle));
  std::uint64_t unit = 1;  // of the last digit that is kept
  for (int n = 1; n < decimal.n_digits; ++n) unit *= 10;
  for (int dropped = decimal.n_digits - 1; dropped >= 0; --dropped, unit /= 10) {
    const std::uint64_t below = decimal.digits / unit, rest = decimal.digits % unit;
    const bool is_above_nearer = is_negative ? 2 * rest >= unit : 2 * rest > unit;
    for (const bool above : {is_above_nearer, !is_above_nearer}) {
      const double size = nearest_number(below + above, decimal.exponent + dropped);
      const double number = is_negative ? -size : size;
      if (gap.holds(number)) return number;
    }
  }
  return middle;
}

}  // namespace baytree
