// Outcomes of classes, and what they score by the closed form.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <random>
#include <vector>

#include "outcomes/categorical.hpp"

namespace baytree::tests {

// Written as in the book, with the C library's log-gamma.
template <class Count>
double closed_form(const std::vector<double>& prior, const std::vector<Count>& counts) {
  long double prior_sum = 0, n = 0, sum = 0;
  for (std::size_t c = 0; c < prior.size(); ++c) {
    const auto alpha = static_cast<long double>(prior[c]), count = static_cast<long double>(counts[c]);
    sum += std::lgamma(alpha + count) - std::lgamma(alpha);
    prior_sum += alpha;
    n += count;
  }
  return static_cast<double>(sum - std::lgamma(prior_sum + n) + std::lgamma(prior_sum));
}

template <class Count>
double closed_form_of_split(const std::vector<double>& prior, const std::vector<Count>& total,
                            const std::vector<Count>& lower) {
  std::vector<Count> upper = total;
  for (std::size_t c = 0; c < total.size(); ++c) upper[c] -= lower[c];
  return closed_form(prior, lower) + closed_form(prior, upper);
}

inline std::vector<double> random_prior(std::size_t n_classes, std::mt19937_64& random) {
  std::uniform_real_distribution<double> log_alpha(std::log(1e-3), std::log(30.0));
  std::vector<double> prior(n_classes);
  for (double& alpha : prior) alpha = std::exp(log_alpha(random));
  return prior;
}

// A whole number up to `most`, or a real one.
template <class Count>
Count random_count(double most, std::mt19937_64& random) {
  const double count = std::uniform_real_distribution<double>(0.0, most)(random);
  return static_cast<Count>(std::integral<Count> ? std::round(count) : count);
}

template <class Count>
Categorical<Count> random_outcome(std::size_t n_rows, std::size_t n_classes, bool weighted, std::mt19937_64& random) {
  Categorical<Count> outcome{n_classes, std::vector<Class>(n_rows), {}, {}};
  for (Class& c : outcome.y) c = static_cast<Class>(random() % n_classes);
  for (std::size_t row = 0; weighted && row < n_rows; ++row) {
    const double weight = std::integral<Count> ? 1.0 + static_cast<double>(random() % 4)
                                               : std::uniform_real_distribution<double>(0.05, 3.0)(random);
    outcome.weight.push_back(static_cast<Count>(weight));
  }
  return outcome;
}

}  // namespace baytree::tests
