#include "partitions/directions.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "parallel.hpp"

namespace baytree {

namespace {

constexpr std::size_t kPartFarOut = 20;  // one in 20, on either side

// The one before which `rank` of some numbers come, few of them: a list of the first ones is kept in order.
template <class Before>
double number_of_rank(std::span<const double> numbers, std::size_t rank, Before before) {
  std::array<double, detail::kMostLookedAt / kPartFarOut + 1> first{};
  std::size_t size = 0;
  for (const double x : numbers) {
    if (size > rank && !before(x, first[rank])) continue;
    std::size_t at = size > rank ? rank : size++;
    for (; at > 0 && before(x, first[at - 1]); --at) first[at] = first[at - 1];
    first[at] = x;
  }
  return first[rank];
}

// Adds the products of some numbers with each of n_others to a sum of its own; the others are `step` apart.
void add_products(const double* of, std::size_t size, const double* others, std::size_t step, std::size_t n_others,
                  detail::Lanes* sums) {
  call_wide([=]() BAYTREE_INLINE {
    for (std::size_t j = 0; j < n_others; ++j) {
      const double* other = others + j * step;
      detail::Lanes sum = sums[j];
      detail::add_terms(size, [=](std::size_t i) BAYTREE_INLINE { return of[i] * other[i]; }, sum);
      sums[j] = sum;
    }
  });
}

}  // namespace

namespace detail {

std::pair<double, double> bounds_of(std::span<const double> x, std::size_t most) {
  std::array<double, kMostLookedAt> looked_at;
  const std::span<const double> some(looked_at.data(), std::min({looked_at.size(), most, x.size()}));
  for (std::size_t i = 0; i < some.size(); ++i) looked_at[i] = x[i * x.size() / some.size()];
  const double low = number_of_rank(some, some.size() / kPartFarOut, std::less<>());
  const double high = number_of_rank(some, some.size() / kPartFarOut, std::greater<>()), range = high - low;
  if (!(range > 0.0)) return {kMinusInfinity, -kMinusInfinity};
  return {low - range, high + range};
}

}  // namespace detail

Points Points::narrowed_to(std::span<const Row> chosen) const {
  Points result{chosen.size(), features, {}, mean, standard};
  for (std::size_t part = 0; part < features.size(); ++part) {
    result.x.emplace_back().reserve(chosen.size());
    for (const Row i : chosen) result.x.back().push_back(values(part)[i]);
  }
  return result;
}

void Points::project(const std::vector<std::size_t>& parts, const std::vector<double>& coefficients,
                     std::vector<double>& projection) const {
  projection.resize(n);
  project(parts, coefficients, 0, projection);
}

void Points::project(const std::vector<std::size_t>& parts, const std::vector<double>& coefficients, std::size_t begin,
                     std::span<double> projection) const {
  std::fill(projection.begin(), projection.end(), 0.0);
  for (std::size_t j = 0; j < parts.size(); ++j) {
    const double* of = values(parts[j]) + begin;
    for (std::size_t i = 0; i < projection.size(); ++i) projection[i] += coefficients[j] * of[i];
  }
}

Standard standardise(const double* x, std::span<const double> weight, std::pair<double, double> bounds) {
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

std::vector<double> solve_for(const std::vector<std::size_t>& chosen, const std::vector<double>& gram,
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

std::vector<double> led_by_one(std::vector<double> direction, std::span<const Standard> standard) {
  for (std::size_t j = 0; j < direction.size(); ++j) direction[j] /= standard[j].scale;
  const double lead = direction[0];
  for (double& coefficient : direction) coefficient /= lead;
  return direction;
}

Moments find_moments(const Points& points, const std::vector<std::size_t>& parts, std::span<const Standard> standard,
                     std::span<const double> weight, std::size_t n_responses,
                     FunctionRef<void(std::size_t, std::size_t, std::span<double>)> respond) {
  const std::size_t k = parts.size();
  Moments result{std::vector<double>(k * k), std::vector<std::vector<double>>(n_responses)};
  for (std::vector<double>& moment : result.with) moment.resize(k);
  double total = 0.0;
  for (const double of_row : weight) total += of_row;
  // Rows that are added up by themselves, and those of them whose values are there at once: every thread has these.
  constexpr std::size_t block = 256, at_once = 64;
  std::vector<double> z((k + 1) * at_once), root(at_once);
  std::vector<detail::Lanes> sums(k * (k + 1) / 2 + n_responses * k);
  for (std::size_t begin = 0; begin < points.n; begin += at_once) {
    if (begin % block == 0) stop_if_asked();
    const std::size_t size = std::min(at_once, points.n - begin);
    for (std::size_t i = 0; i < size; ++i) root[i] = std::sqrt(weight[begin + i] / total);
    detail::Lanes* sum = sums.data();
    for (std::size_t a = 0; a < k; ++a) {
      const double* x = points.values(parts[a]) + begin;
      const Standard scaling = standard[a];
      const double per_scale = 1.0 / scaling.scale;
      for (std::size_t i = 0; i < size; ++i)
        z[a * at_once + i] = (std::min(std::max(x[i], scaling.lowest), scaling.highest) - scaling.centre) * per_scale *
                             root[i];
      add_products(&z[a * at_once], size, z.data(), at_once, a + 1, sum);
      sum += a + 1;
    }
    double* response = &z[k * at_once];
    for (std::size_t r = 0; r < n_responses; ++r) {
      respond(r, begin, std::span<double>(response, size));
      for (std::size_t i = 0; i < size; ++i) response[i] *= root[i];
      add_products(response, size, z.data(), at_once, k, sum);
      sum += k;
    }
    if ((begin + at_once) % block != 0 && begin + at_once < points.n) continue;
    sum = sums.data();
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t b = 0; b <= a; ++b) result.gram[a * k + b] += detail::total_of(std::exchange(*sum++, {}));
    for (std::vector<double>& moment : result.with)
      for (double& of_part : moment) of_part += detail::total_of(std::exchange(*sum++, {}));
  }
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = 0; b < a; ++b) result.gram[b * k + a] = result.gram[a * k + b];
  return result;
}

}  // namespace baytree
