// log-gamma and its derivative for positive arguments. std::lgamma is not used: it writes a global,
// so threads must not call it, and it differs between C libraries.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "parallel.hpp"

namespace baytree {

// Both shift their argument up to kStirling and then use the asymptotic (Stirling) series; the first term left
// out is at most 1e-16 for log_gamma and 3e-15 for digamma, which serves as a slope only.
inline constexpr double kStirling = 12.0;

inline double log_gamma(double x) {
  double product = 1.0;
  while (x < kStirling) {
    product *= x;
    x += 1.0;
  }
  const double r = 1.0 / x;
  const double r2 = r * r;
  const double series =
      r *
      (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 * (1.0 / 1680 - r2 * (1.0 / 1188 - r2 * (691.0 / 360360))))));
  constexpr double half_log_two_pi = 0.918938533204672741780329736406;
  const double value = (x - 0.5) * std::log(x) - x + half_log_two_pi + series;
  return product == 1.0 ? value : value - std::log(product);
}

double digamma(double x);

// log_gamma(start + k) for k = 0 .. last.
std::vector<double> log_gamma_table(double start, std::size_t last, const Threads& threads = {});

}  // namespace baytree
