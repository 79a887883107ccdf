#include "math/log_gamma.hpp"

namespace baytree {

double digamma(double x) {
  double shift = 0.0;
  while (x < kStirling) {
    shift += 1.0 / x;
    x += 1.0;
  }
  const double r2 = 1.0 / (x * x);
  const double series = r2 * (1.0 / 12 - r2 * (1.0 / 120 - r2 * (1.0 / 252 - r2 * (1.0 / 240 - r2 * (1.0 / 132)))));
  return std::log(x) - 0.5 / x - series - shift;
}

std::vector<double> log_gamma_table(double start, std::size_t last, const Threads& threads) {
  std::vector<double> table(last + 1);
  threads.blocks(table.size()).each([&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) table[k] = log_gamma(start + static_cast<double>(k));
  });
  return table;
}

}  // namespace baytree
