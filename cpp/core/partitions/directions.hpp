// Directions by least squares: the weighted moments of standardised features, and small systems solved from them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "math/vector_math.hpp"
#include "parallel.hpp"
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
  std::vector<double> x;  // one feature after another
  std::vector<double> mean;  // by feature
  std::vector<Standard> standard;

  const double* values(std::size_t part) const { return x.data() + part * n; }

  // Some of them, with the standards of all.
  Points narrowed_to(std::span<const Row> chosen) const {
    Points result{chosen.size(), features, {}, mean, standard};
    result.x.reserve(features.size() * chosen.size());
    for (std::size_t part = 0; part < features.size(); ++part)
      for (const Row i : chosen) result.x.push_back(values(part)[i]);
    return result;
  }

  void project(const std::vector<std::size_t>& parts, const std::vector<double>& coefficients,
               std::vector<double>& projection) const {
    projection.resize(n);
    project(parts, coefficients, 0, projection);
  }

  // The same of some, from `begin` on.
  void project(const std::vector<std::size_t>& parts, const std::vector<double>& coefficients, std::size_t begin,
               std::span<double> projection) const {
    std::fill(projection.begin(), projection.end(), 0.0);
    for (std::size_t j = 0; j < parts.size(); ++j) {
      const double* of = values(parts[j]) + begin;
      for (std::size_t i = 0; i < projection.size(); ++i) projection[i] += coefficients[j] * of[i];
    }
  }
};

// Means of products: of standardised features with each other, and of each with some responses.
struct Moments {
  std::vector<double> gram;
  std::vector<std::vector<double>> with;
};

namespace detail {

inline constexpr std::size_t kMostLookedAt = 256, kPartFarOut = 20;  // one in 20, on either side

// The one before which `rank` of some numbers come, few of them: a list of the first ones is kept in order.
template <class Before>
double number_of_rank(std::span<const double> numbers, std::size_t rank, Before before) {
  std::array<double, kMostLookedAt / kPartFarOut + 1> first{};
  std::size_t size = 0;
  for (const double x : numbers) {
    if (size > rank && !before(x, first[rank])) continue;
    std::size_t at = size > rank ? rank : size++;
    for (; at > 0 && before(x, first[at - 1]); --at) first[at] = first[at - 1];
    first[at] = x;
  }
  return first[rank];
}

// Bounds from the quantiles of some of the values.
inline std::pair<double, double> bounds_of(std::span<const double> x, std::size_t most = kMostLookedAt) {
  std::array<double, kMostLookedAt> looked_at;
  const std::span<const double> some(looked_at.data(), std::min({looked_at.size(), most, x.size()}));
  for (std::size_t i = 0; i < some.size(); ++i) looked_at[i] = x[i * x.size() / some.size()];
  const double low = number_of_rank(some, some.size() / kPartFarOut, std::less<>());
  const double high = number_of_rank(some, some.size() / kPartFarOut, std::greater<>()), range = high - low;
  if (!(range > 0.0)) return {kMinusInfinity, -kMinusInfinity};
  return {low - range, high + range};
}

// Sum of term(0), ..., term(n - 1).
template <class Term>
double sum_of(std::size_t n, Term term) {
  return call_wide([=]() BAYTREE_INLINE {
    constexpr std::size_t lanes = 8;  // that do not wait for each other
    std::array<double, lanes> sum{};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (std::size_t k = 0; k < lanes; ++k) sum[k] += term(i + k);
    for (; i < n; ++i) sum[0] += term(i);
    double total = 0.0;
    for (const double part : sum) total += part;
    return total;
  });
}

inline double dot(const double* a, const double* b, std::size_t size) {
  return sum_of(size, [=](std::size_t i) BAYTREE_INLINE { return a[i] * b[i]; });
}

}  // namespace detail

// Centre and scale of values within bounds.
inline Standard standardise(const double* x, std::span<const double> weight, std::pair<double, double> bounds) {
  const auto [lowest, highest] = bounds;
  const double* w = weight.data();
  const double low = lowest, high = highest,
               total = detail::sum_of(weight.size(), [=](std::size_t i) BAYTREE_INLINE { return w[i]; });
  const double centre = detail::sum_of(weight.size(),
                                       [=](std::size_t i)
                                           BAYTREE_INLINE { return w[i] * std::min(std::max(x[i], low), high); }) /
                        total;
  const double squares = detail::sum_of(weight.size(), [=](std::size_t i) BAYTREE_INLINE {
    const double distance = std::min(std::max(x[i], low), high) - centre;
    return w[i] * distance * distance;
  });
  return {low, high, centre, std::sqrt(squares / total)};
}

// The moments of some features; respond(r, i) is what the r-th response is in the i-th point.
template <class Respond>
Moments find_moments(const Points& points, const std::vector<std::size_t>& parts, std::span<const Standard> standard,
                     std::span<const double> weight, std::size_t n_responses, Respond&& respond) {
  const std::size_t k = parts.size();
  Moments result{std::vector<double>(k * k), std::vector<std::vector<double>>(n_responses)};
  for (std::vector<double>& moment : result.with) moment.resize(k);
  double total = 0.0;
  for (const double of_row : weight) total += of_row;
  constexpr std::size_t block = 256;  // rows whose values stay in the cache
  std::vector<double> z(k * block), response(block), root(block);
  for (std::size_t begin = 0; begin < points.n; begin += block) {
    stop_if_asked();
    const std::size_t size = std::min(block, points.n - begin);
    for (std::size_t i = 0; i < size; ++i) root[i] = std::sqrt(weight[begin + i] / total);
    for (std::size_t a = 0; a < k; ++a) {
      const double* x = points.values(parts[a]) + begin;
      const Standard own = standard[a];
      const double per_scale = 1.0 / own.scale;
      for (std::size_t i = 0; i < size; ++i)
        z[a * block + i] = (std::min(std::max(x[i], own.lowest), own.highest) - own.centre) * per_scale * root[i];
      for (std::size_t b = 0; b <= a; ++b) result.gram[a * k + b] += detail::dot(&z[a * block], &z[b * block], size);
    }
    for (std::size_t r = 0; r < n_responses; ++r) {
      for (std::size_t i = 0; i < size; ++i) response[i] = respond(r, begin + i) * root[i];
      for (std::size_t a = 0; a < k; ++a) result.with[r][a] += detail::dot(&z[a * block], response.data(), size);
    }
  }
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = 0; b < a; ++b) result.gram[b * k + a] = result.gram[a * k + b];
  return result;
}

// Solves (gram + ridge) w = moment for some of the features, by Cholesky's factors.
inline std::vector<double> solve_for(const std::vector<std::size_t>& chosen, const std::vector<double>& gram,
                                     const std::vector<double>& moment) {
  const std::size_t k = chosen.size(), n_features = moment.size();
  std::vector<double> factor(k * k), w(k);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = gram[chosen[i] * n_features + chosen[j]] + (i == j ? kRidge : 0.0);
      for (std::size_t l = 0; l < j; ++l) sum -= factor[i * k + l] * factor[j * k + l];
      factor[i * k + j] = i == j ? std::sqrt(std::max(sum, kRidge)) : sum / factor[j * k + j];
    }
    w[i] = moment[chosen[i]];
    for (std::size_t l = 0; l < i; ++l) w[i] -= factor[i * k + l] * w[l];
    w[i] /= factor[i * k + i];
  }
  for (std::size_t i = k; i-- > 0;) {
    for (std::size_t l = i + 1; l < k; ++l) w[i] -= factor[l * k + i] * w[l];
    w[i] /= factor[i * k + i];
  }
  return w;
}

// A direction of standardised features as coefficients of the features, the first of them 1.
inline std::vector<double> led_by_one(std::vector<double> direction, std::span<const Standard> standard) {
  for (std::size_t j = 0; j < direction.size(); ++j) direction[j] /= standard[j].scale;
  const double lead = direction[0];
  for (double& coefficient : direction) coefficient /= lead;
  return direction;
}

}  // namespace baytree
