// The prior of the choice of terms: their number is uniform from none to the most there may be, and so is which they
// are, given their number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "math/log_gamma.hpp"

namespace baytree {

class TermChoice {
 public:
  // `share` multiplies the logarithm of the number of choices.
  TermChoice(std::size_t n_candidates, std::size_t most, double share = 1.0)
      : n_(static_cast<double>(n_candidates)), most_(std::min(most, n_candidates)), share_(share) {}

  std::size_t most() const { return most_; }
  double log_prior(std::size_t n_terms) const {
    const double k = static_cast<double>(n_terms);
    const double log_choices = log_gamma(n_ + 1.0) - log_gamma(k + 1.0) - log_gamma(n_ - k + 1.0);
    return -std::log(static_cast<double>(most_) + 1.0) - share_ * log_choices;
  }

 private:
  double n_;
  std::size_t most_;
  double share_;
};

// Whether a score is higher than another by more than rounding: among equal terms the first one is chosen.
inline bool is_higher(double score, double other) { return score > other + 1e-9 * (1.0 + std::abs(other)); }

}  // namespace baytree
