// Directions by least squares: the weighted moments of standardised features, and small systems solved from them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "function_ref.hpp"
#include "math/vector_math.hpp"
#include "types.hpp"

namespace baytree {

inline constexpr double kRidge = 1e-3;

// How a feature is standardised: values far out, which could decide alone where a direction points, move to the bounds.
struct Standard {
  double lowest = kMinusInfinity, highest = -kMinusInfinity;
  double centre = 0.0, scale = 1.0;
};

// The rows of a node in the features that can take part in hyperplanes, missing values filled with the mean.
struct Points {
  std::size_t n = 0;
  std::vector<std::size_t> features;
  std::vector<std::vector<double>> x;  // by feature, and more than these: small blocks find room where others were
  std::vector<double> mean;  // by feature
  std::vector<Standard> standard;

  const double* values(std::size_t part) const { return x[part].data(); }

  // Some of them, with the standards of all.
  Points narrowed_to(std::span<const Row> chosen) const;

  void project(const std::vector<std::size_t>& parts, const std::vector<double>& coefficients,
               std::vector<double>& projection) const;

  // Projects some points only, from `begin` on.
  void project(const std::vector<std::size_t>& parts, const std::vector<double>& coefficients, std::size_t begin,
               std::span<double> projection) const;
};

// Means of products: of standardised features with each other, and of each with some responses.
struct Moments {
  std::vector<double> gram;
  std::vector<std::vector<double>> with;
};

namespace detail {

inline constexpr std::size_t kMostLookedAt = 256;

// Bounds from the quantiles of some of the values.
std::pair<double, double> bounds_of(std::span<const double> x, std::size_t most = kMostLookedAt);

inline constexpr std::size_t kLanes = 8;  // of a sum, that do not wait for each other
using Lanes = std::array<double, kLanes>;

// Adds term(0), ..., term(n - 1) to a sum.
template <class Term>
BAYTREE_INLINE inline void add_terms(std::size_t n, Term term, Lanes& sum) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) sum[k] += term(i + k);
  for (; i < n; ++i) sum[0] += term(i);
}

BAYTREE_INLINE inline double total_of(const Lanes& sum) {
  double total = 0.0;
  for (const double part : sum) total += part;
  return total;
}

// Sum of term(0), ..., term(n - 1).
template <class Term>
double sum_of(std::size_t n, Term term) {
  return call_wide([=]() BAYTREE_INLINE {
    Lanes sum{};
    add_terms(n, term, sum);
    return total_of(sum);
  });
}

}  // namespace detail

// Centre and scale of values within bounds.
Standard standardise(const double* x, std::span<const double> weight, std::pair<double, double> bounds);

// The moments of some features; respond(r, begin, responses) writes what the r-th response is in the points from
// `begin` on.
Moments find_moments(const Points& points, const std::vector<std::size_t>& parts, std::span<const Standard> standard,
                     std::span<const double> weight, std::size_t n_responses,
                     FunctionRef<void(std::size_t r, std::size_t begin, std::span<double> responses)> respond);

// Solves (gram + ridge) w = moment for some of the features, by Cholesky's factors.
std::vector<double> solve_for(const std::vector<std::size_t>& chosen, const std::vector<double>& gram,
                              const std::vector<double>& moment);

// A direction of standardised features as coefficients of the features, the first of them 1.
std::vector<double> led_by_one(std::vector<double> direction, std::span<const Standard> standard);

}  // namespace baytree
