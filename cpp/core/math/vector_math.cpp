#include "math/vector_math.hpp"

#include <array>

namespace baytree {

double highest(std::span<const double> values) {
  return call_wide([data = values.data(), n = values.size()]() BAYTREE_INLINE {
    constexpr std::size_t lanes = 8;
    std::array<double, lanes> best;
    best.fill(kMinusInfinity);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (std::size_t k = 0; k < lanes; ++k) best[k] = data[i + k] > best[k] ? data[i + k] : best[k];
    for (; i < n; ++i) best[0] = data[i] > best[0] ? data[i] : best[0];
    for (std::size_t k = 1; k < lanes; ++k) best[0] = best[k] > best[0] ? best[k] : best[0];
    return best[0];
  });
}

double sum_exp(std::span<const double> values, double top) {
  return call_wide([data = values.data(), n = values.size(), top]() BAYTREE_INLINE {
    auto visible = [top](double value) BAYTREE_INLINE {
      const double below = value - top;
      return below > -kInvisible ? exp_of_negative(below) : 0.0;
    };
    constexpr std::size_t lanes = 8;
    std::array<double, lanes> sum{};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (std::size_t k = 0; k < lanes; ++k) sum[k] += visible(data[i + k]);
    for (; i < n; ++i) sum[0] += visible(data[i]);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  });
}

}  // namespace baytree
