#include "partitions/thresholds.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "math/vector_math.hpp"

namespace baytree {

std::span<const std::uint32_t> whole_numbers(std::size_t n) {
  static constexpr auto few = [] {
    std::array<std::uint32_t, 1024> result{};
    std::iota(result.begin(), result.end(), 0u);
    return result;
  }();
  if (n <= few.size()) return std::span(few).first(n);
  thread_local std::vector<std::uint32_t> numbers;
  if (numbers.size() < n) {
    numbers.resize(n);
    std::iota(numbers.begin(), numbers.end(), 0u);
  }
  return {numbers.data(), n};
}

double log_difference(double high, double low) {
  const double difference = high - low;
  if (difference >= std::numeric_limits<double>::min() && std::isfinite(difference)) return log_of_positive(difference);
  return std::isfinite(difference) ? std::log(difference) : std::log(high / 2 - low / 2) + std::log(2.0);
}

}  // namespace baytree
