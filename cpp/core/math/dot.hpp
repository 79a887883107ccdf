// Sums of products.
#pragma once

#include <cstddef>

namespace baytree {

inline double dot(const double* a, const double* b, std::size_t n) {
  double sums[4] = {0.0, 0.0, 0.0, 0.0};  // side by side, so that additions need not wait for each other
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (std::size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace baytree
