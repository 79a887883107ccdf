// log_gamma.hpp, vector_math.hpp, sort.hpp.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "data/sort.hpp"
#include "harness.hpp"
#include "math/log_gamma.hpp"
#include "math/vector_math.hpp"

namespace baytree::tests {

namespace {

// Positive numbers of every size from 1e-8 to 1e15, among them whole and half ones and the point where
// the functions change from shifting to the series.
std::vector<double> magnitudes() {
  std::vector<double> numbers{kStirling, std::nextafter(kStirling, 0.0), std::nextafter(kStirling, 100.0)};
  for (int k = 1; k <= 60; ++k) numbers.push_back(k / 2.0);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-8.0, 15.0);
  for (int i = 0; i < 20'000; ++i) numbers.push_back(std::pow(10.0, exponent(random)));
  return numbers;
}

// A few units in the last place of the largest number met on the way: below kStirling that is
// log_gamma(kStirling), about 17, whatever the result.
double log_gamma_tolerance(double value) { return 1e-15 * (20.0 + std::abs(value)); }

void log_gamma_equals_the_c_library() {
  for (const double x : magnitudes()) {
    const auto expected = static_cast<double>(std::lgamma(static_cast<long double>(x)));
    check_near(log_gamma(x), expected, log_gamma_tolerance(expected));
  }
}

// Independent of the C library: Gamma(x + 1) = x Gamma(x), Legendre's duplication, values known exactly.
void log_gamma_obeys_its_equations() {
  const double log_sqrt_pi = 0.5 * std::log(std::numbers::pi), log_2 = std::numbers::ln2;
  for (const double x : magnitudes()) {
    const double next = log_gamma(x) + std::log(x);
    check_near(log_gamma(x + 1.0), next, 4 * log_gamma_tolerance(next));
    const double doubled = log_gamma(x) + log_gamma(x + 0.5) + (2.0 * x - 1.0) * log_2 - log_sqrt_pi;
    check_near(log_gamma(2.0 * x), doubled, 4 * log_gamma_tolerance(doubled));
  }
  check_near(log_gamma(1.0), 0.0, log_gamma_tolerance(0.0));
  check_near(log_gamma(2.0), 0.0, log_gamma_tolerance(0.0));
  check_near(log_gamma(0.5), log_sqrt_pi, log_gamma_tolerance(0.0));
  check_near(log_gamma(11.0), std::log(3628800.0), log_gamma_tolerance(0.0));
}

void log_gamma_table_is_log_gamma() {
  const std::vector<double> table = log_gamma_table(0.3, 1000);
  check_equal(table.size(), 1001);
  for (std::size_t k = 0; k < table.size(); ++k) check_equal(table[k], log_gamma(0.3 + static_cast<double>(k)));
}

void digamma_is_the_derivative_of_log_gamma() {
  for (const double x : magnitudes()) {
    const double value = digamma(x), tolerance = 1e-14 * (2.0 + std::abs(value));
    check_near(digamma(x + 1.0), value + 1.0 / x, 1e-14 * (2.0 + std::abs(value) + 1.0 / x));
    check_near(digamma(2.0 * x), (value + digamma(x + 0.5)) / 2.0 + std::numbers::ln2, tolerance);
    // The difference quotient is good to about (h / x) ** 2, and to the rounding of lgamma over h.
    const long double h = 1e-5L * x, wide = x;
    const auto quotient = static_cast<double>((std::lgamma(wide + h) - std::lgamma(wide - h)) / (2.0L * h));
    const double rounding = std::numeric_limits<long double>::epsilon() * (1.0 + std::abs(x * value)) / (1e-5 * x);
    check_near(value, quotient, 1e-9 * (1.0 + std::abs(value)) + 4.0 * rounding);
  }
  check_near(digamma(1.0), -std::numbers::egamma, 1e-14);
}

void exp_of_negative_equals_exp() {
  std::vector<double> numbers{0.0, -0.0, -1e-300, -1e-17, -700.0};
  for (int k = 0; k < 1400; ++k) numbers.push_back(-k * std::numbers::ln2 / 2);  // ends of the reduced range
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> wide(-700.0, 0.0), visible(-kInvisible, 0.0);
  for (int i = 0; i < 100'000; ++i) numbers.insert(numbers.end(), {wide(random), visible(random)});
  for (const double x : numbers) {
    if (x < -700.0) continue;
    const auto expected = static_cast<double>(std::exp(static_cast<long double>(x)));
    check_near(exp_of_negative(x), expected, 1e-14 * expected);
  }
  check_equal(exp_of_negative(0.0), 1.0);
}

void log_of_positive_equals_log() {
  std::vector<double> numbers{1.0,
                              std::nextafter(1.0, 0.0),
                              std::nextafter(1.0, 2.0),
                              std::numeric_limits<double>::min(),
                              std::numeric_limits<double>::max(),
                              std::numbers::sqrt2};
  for (int k = -1000; k <= 1000; ++k) {
    const double end = std::ldexp(std::sqrt(0.5), k);  // of the reduced range
    numbers.insert(numbers.end(), {std::ldexp(1.0, k), end, std::nextafter(end, 0.0), std::nextafter(end, 1e308)});
  }
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(-300.0, 300.0), near_one(0.5, 2.0);
  for (int i = 0; i < 50'000; ++i) numbers.insert(numbers.end(), {std::pow(10.0, exponent(random)), near_one(random)});
  for (const double x : numbers) {
    const auto expected = static_cast<double>(std::log(static_cast<long double>(x)));
    check_near(log_of_positive(x), expected, 1e-15 * std::abs(expected));
  }
  check_equal(log_of_positive(1.0), 0.0);
}

// Sizes around the number of lanes, and values near to and far below the highest.
void sums_of_exponentials_equal_plain_loops() {
  std::mt19937_64 random(3);
  for (const double spread : {0.0, 1e-3, 5.0, 100.0}) {
    std::uniform_real_distribution<double> value(-1000.0 - spread, -1000.0);
    for (std::size_t n = 0; n < 40; ++n) {
      const During during("spread ", spread, ", n = ", n);
      std::vector<double> values(n);
      for (double& v : values) v = value(random);
      if (n > 5) values[n / 2] = kMinusInfinity;
      const double top = highest(values);
      check_equal(top, n == 0 ? kMinusInfinity : *std::max_element(values.begin(), values.end()));

      long double expected = 0.0;
      for (const double v : values) expected += std::exp(static_cast<long double>(v) - top);
      check_near(sum_exp(values, top), static_cast<double>(expected), 1e-13 * static_cast<double>(expected));
    }
  }
}

std::vector<Keyed> stably_sorted(std::vector<Keyed> items) {
  std::stable_sort(items.begin(), items.end(), [](Keyed a, Keyed b) { return key_of(a) < key_of(b); });
  return items;
}

// Sizes on both sides of each change of method, keys of every number of digits.
void sort_by_key_is_a_stable_sort() {
  std::mt19937_64 random(4);
  std::vector<Keyed> spare;  // kept, so that a call finds what another left
  for (const std::size_t n : {0, 1, 2, 63, 64, 65, 300, 4095, 4096, 4097, 20000})
    for (const int key_bits : {0, 1, 7, 8, 9, 11, 12, 16, 17, 22, 23, 24, 25, 31, 32}) {
      const During during("n = ", n, ", key_bits = ", key_bits);
      const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << key_bits) - 1);
      const auto one_key = static_cast<std::uint32_t>(random()) & mask;
      const std::uint32_t top_bit = mask ^ (mask >> 1);
      std::vector<Keyed> any(n), equal(n), top_only(n), descending(n);
      for (std::uint32_t i = 0; i < n; ++i) {
        any[i] = keyed(static_cast<std::uint32_t>(random()) & mask, i);
        equal[i] = keyed(one_key, i);
        top_only[i] = keyed(random() % 2 ? top_bit : 0, i);  // all digits but the highest are skipped
        descending[i] = keyed((mask - i) & mask, i);
      }
      for (std::vector<Keyed> items : {any, equal, top_only, descending}) {
        const std::vector<Keyed> expected = stably_sorted(items);
        sort_by_key(items, spare, key_bits);
        check_equal(items, expected);
      }
    }
}

const Suite suite{{
    {"log_gamma equals the C library's", log_gamma_equals_the_c_library},
    {"log_gamma obeys its equations", log_gamma_obeys_its_equations},
    {"log_gamma_table is log_gamma", log_gamma_table_is_log_gamma},
    {"digamma is the derivative of log_gamma", digamma_is_the_derivative_of_log_gamma},
    {"exp_of_negative equals exp", exp_of_negative_equals_exp},
    {"log_of_positive equals log", log_of_positive_equals_log},
    {"sums of exponentials equal plain loops", sums_of_exponentials_equal_plain_loops},
    {"sort_by_key is a stable sort", sort_by_key_is_a_stable_sort},
}};

}  // namespace

}  // namespace baytree::tests
