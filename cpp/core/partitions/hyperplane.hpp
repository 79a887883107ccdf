// Hyperplanes that divide points: the best threshold along a direction, and directions that are turned until no change
// of one coefficient pays.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "data/rank.hpp"
#include "data/sort.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/directions.hpp"
#include "partitions/monotonic.hpp"
#include "partitions/node.hpp"
#include "partitions/partition_list.hpp"
#include "partitions/prior.hpp"
#include "partitions/round_threshold.hpp"
#include "partitions/split.hpp"
#include "partitions/thresholds.hpp"

namespace baytree {

inline constexpr double kWorthARound = 0.1, kWorthATurn = 1e-6;  // nats

// A hyperplane sum_j coefficients[j] * x[parts[j]] <= threshold; parts number the features of Points.
struct CandidatePlane {
  std::vector<std::size_t> parts;
  std::vector<double> coefficients;
  std::size_t order = 0;  // of the outcome's, that it was fitted to
  double threshold = 0.0;
  double log_prior = 0.0, log_likelihood = kMinusInfinity;

  double score() const { return log_prior + log_likelihood; }
  bool exists() const { return log_likelihood > kMinusInfinity; }
};

struct HyperplaneScratch {
  std::vector<double> projection, turn, scores;
  std::vector<std::uint32_t> behind;
  std::vector<std::uint64_t> bits;
  RankScratch order;
  SplitList splits;

  // The weights of points that a direction is fitted to, in the place of the scores that its splits get afterwards.
  std::vector<double>& weight() { return splits.log_likelihood; }
};

// Rounds the coefficients as far as no point changes sides, so that the rule can be read aloud.
void round_off(const Points& points, CandidatePlane& plane, std::vector<double>& projection);

// Bits in the order of some numbers; false where one is not finite.
inline bool set_bits(std::span<const double> numbers, std::uint64_t* bits) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) return false;
    bits[i] = ordered_bits(numbers[i]);
  }
  return true;
}

// What the outcome orders the rows of a node by, in one of its ways: of all rows, or of some of them.
template <Outcome T>
class Responses {
 public:
  explicit Responses(const ScoredNode<T>& scored, std::span<const Row> some = {}) : scored_(scored), some_(some) {}

  // Of rows from `begin` on.
  void find(std::size_t order, std::size_t begin, std::span<double> result) {
    rows_.resize(result.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i] = some_.empty() ? static_cast<Row>(begin + i) : some_[begin + i];
    order_keys_of_each(scored_.outcome, std::span<const Row>(rows_), scored_.node.statistics.data(), order,
                       result.data());
  }

 private:
  const ScoredNode<T>& scored_;
  std::span<const Row> some_;
  std::vector<Row> rows_;
};

// Splits points along directions. `log_prior` is that of a hyperplane, by the number of its features; every point
// counts `times` as much as it does alone.
template <Outcome T>
class PointSplitter {
 public:
  PointSplitter(const Points& points, const ScoredNode<T>& scored, const Settings& settings,
                std::span<const double> log_prior, double times, HyperplaneScratch& scratch)
      : points_(points), scored_(scored), settings_(settings), log_prior_(log_prior), times_(times), scratch_(scratch) {
  }

  // A copy with another work space, for another thread.
  PointSplitter(const PointSplitter& other, HyperplaneScratch& scratch)
      : PointSplitter(other.points_, other.scored_, other.settings_, other.log_prior_, other.times_, scratch) {}

  CandidatePlane best_along(const std::vector<std::size_t>& parts, const std::vector<double>& coefficients,
                            std::size_t order) {
    stop_if_asked();
    // Least squares give a coefficient of zero where rows balance exactly: that is a hyperplane of fewer features.
    if (std::find(coefficients.begin(), coefficients.end(), 0.0) != coefficients.end()) return {};
    return project_to_bits(parts, coefficients) ? best_projected(parts, coefficients, order) : CandidatePlane{};
  }

  // For a work space that has the bits of the projection of the points already.
  CandidatePlane best_projected(const std::vector<std::size_t>& parts, const std::vector<double>& coefficients,
                                std::size_t order) {
    auto& s = scratch_;
    const Code n_values = rank_rows(s.bits, s.order);
    if (n_values < 2) return {};
    const SortedFeature<Keyed> feature{s.order.order, points_.n, n_values < points_.n};
    find_allowed_thresholds(scored_.outcome, feature, settings_.rules.limits, s.splits);
    if (s.splits.n_splits == 0) return {};
    score_thresholds(scored_.outcome, scored_.scorer, feature, s.splits);
    if (settings_.rules.constrained())
      MonotonicNode<T>(scored_.outcome, scored_.node, settings_.smoothing).forbid(feature, 0, s.splits);
    const auto top = std::max_element(s.splits.log_likelihood.begin(), s.splits.log_likelihood.end());
    const std::uint32_t position = s.splits.positions[static_cast<std::size_t>(top - s.splits.log_likelihood.begin())];
    const double threshold = midpoint(value_of_bits(s.bits[row_in_node(feature.order[position])]),
                                      value_of_bits(s.bits[row_in_node(feature.order[position + 1])]));
    return {parts, coefficients, order, threshold, log_prior_[parts.size()], times_ * *top};
  }

  // Changes one coefficient at a time, and then the threshold, to what is best; gives up what is hopeless after a
  // round.
  CandidatePlane climb(CandidatePlane at, int n_rounds, double hopeless) {
    for (int round = 0; round < n_rounds; ++round) {
      const double before = at.score();
      for (std::size_t j = 1; j < at.parts.size() && at.exists(); ++j) {
        CandidatePlane turned = turn(at, j);
        if (turned.score() > at.score()) at = std::move(turned);
      }
      if (!(at.score() > before + kWorthARound && at.score() > hopeless)) break;
    }
    return at;
  }

  // Fits the direction again to the rows near the hyperplane; `width` tells how near, in median distances.
  CandidatePlane refit(const CandidatePlane& from, double width) {
    find_weights_near(from, width);
    const std::vector<double>& weight = scratch_.weight();
    std::vector<Standard> standard;
    for (const std::size_t part : from.parts)
      standard.push_back(standardise(points_.values(part), weight, {kMinusInfinity, -kMinusInfinity}));
    Responses<T> responses(scored_);
    const Moments moments = find_moments(
        points_, from.parts, standard, weight, 1,
        [&](std::size_t, std::size_t begin, std::span<double> result) { responses.find(from.order, begin, result); });
    std::vector<std::size_t> every(from.parts.size());
    std::iota(every.begin(), every.end(), std::size_t{0});
    const std::vector<double> w = solve_for(every, moments.gram, moments.with[0]);
    return best_along(from.parts, led_by_one(w, standard), from.order);
  }

 private:
  // The bits of all points along a direction, without the numbers that they stand for; false where one is not finite.
  bool project_to_bits(const std::vector<std::size_t>& parts, const std::vector<double>& coefficients) {
    scratch_.bits.resize(points_.n);
    std::array<double, 512> some;
    for (std::size_t begin = 0; begin < points_.n; begin += some.size()) {
      const std::span<double> projection(some.data(), std::min(some.size(), points_.n - begin));
      points_.project(parts, coefficients, begin, projection);
      if (!set_bits(projection, scratch_.bits.data() + begin)) return false;
    }
    return true;
  }

  // The weights of the points, less with their distance.
  void find_weights_near(const CandidatePlane& plane, double width) {
    std::vector<double>& weight = scratch_.weight();
    points_.project(plane.parts, plane.coefficients, weight);
    for (double& number : weight) number = std::abs(number - plane.threshold);
    std::vector<std::uint64_t>& bits = scratch_.bits;  // whose order is that of numbers from 0 on
    bits.resize(points_.n);
    for (std::size_t i = 0; i < points_.n; ++i) bits[i] = std::bit_cast<std::uint64_t>(weight[i]);
    const auto middle = bits.begin() + static_cast<std::ptrdiff_t>(points_.n / 2);
    std::nth_element(bits.begin(), middle, bits.end());
    const double unit = width * std::bit_cast<double>(*middle);
    for (std::size_t i = 0; i < points_.n; ++i) {
      const double distance = weight[i] / unit, part = 1.0 / (1.0 + distance * distance);
      weight[i] = static_cast<double>(scored_.outcome.weight_of(i)) * part * part;
    }
  }

  // The best split after the best change of one coefficient, about the centre of its feature. A row changes sides where
  // the hyperplane passes it: those are the only changes to look at, in their order.
  CandidatePlane turn(const CandidatePlane& from, std::size_t j) {
    stop_if_asked();
    auto& s = scratch_;
    const std::size_t part = from.parts[j];
    find_turns(from, part);
    s.bits.resize(points_.n);
    if (!set_bits(s.turn, s.bits.data()) || rank_rows(s.bits, s.order) < 2) return {};
    const std::vector<typename T::Number> sets = lower_after_turns(part);
    if (sets.empty()) return {};
    s.scores.resize(s.behind.size());
    scored_.scorer.set_scores(scored_.outcome, sets, s.scores.data());
    const auto top = static_cast<std::size_t>(std::max_element(s.scores.begin(), s.scores.end()) - s.scores.begin());
    if (!(times_ * s.scores[top] > from.log_likelihood + kWorthATurn)) return {};
    const std::uint32_t p = s.behind[top];
    const auto& order = s.order.order;
    const double change = midpoint(s.turn[row_in_node(order[p])], s.turn[row_in_node(order[p + 1])]);
    std::vector<double> coefficients = from.coefficients;
    coefficients[j] += change;
    // Without the feature there would be fewer to pay for; far beyond the others these would be lost in rounding.
    const double size = std::abs(coefficients[j]) * points_.standard[part].scale;
    if (size == 0.0 || size > 1e6 * points_.standard[from.parts[0]].scale) return {};
    return best_along(from.parts, coefficients, from.order);
  }

  // By row, the change of a part's coefficient at which the hyperplane passes it.
  void find_turns(const CandidatePlane& from, std::size_t part) {
    const double* x = points_.values(part);
    const double centre = points_.standard[part].centre;
    points_.project(from.parts, from.coefficients, scratch_.projection);
    scratch_.turn.resize(points_.n);
    for (std::size_t i = 0; i < points_.n; ++i) {
      const double distance = x[i] - centre;
      scratch_.turn[i] = std::clamp((from.threshold - scratch_.projection[i]) / (distance == 0.0 ? 1e-300 : distance),
                                    -1e300, 1e300);
    }
  }

  // The statistics of the lower side behind each turn that leaves rows on both sides, one set after another;
  // scratch.behind has their positions in the order of the turns.
  std::vector<typename T::Number> lower_after_turns(std::size_t part) {
    using Number = typename T::Number;
    const std::size_t n = points_.n, width = scored_.outcome.width();
    const double* x = points_.values(part);
    const double centre = points_.standard[part].centre;
    std::vector<Number> lower(width), sets(n * width);
    std::size_t n_lower = 0, n_turns = 0;
    std::array<Row, kRowsAtOnce> rows;
    for (std::size_t i = 0, size = 0; i < n; ++i) {
      rows[size] = static_cast<Row>(i);
      size += x[i] > centre;
      if (size < rows.size() && i + 1 < n) continue;
      add_all(scored_.outcome, std::span<const Row>(rows.data(), size), lower.data());
      n_lower += std::exchange(size, 0);
    }
    // Every row writes, and its writing counts if a turn lies behind it: no branch that could be mispredicted.
    scratch_.behind.resize(n);
    const auto& order = scratch_.order.order;
    std::vector<Number> of_rows(rows.size() * width);
    for (std::size_t begin = 0; begin + 1 < n; begin += rows.size()) {
      const std::size_t size = std::min(rows.size(), n - 1 - begin);
      for (std::size_t k = 0; k < size; ++k) rows[k] = row_in_node(order[begin + k]);
      statistics_of_each(scored_.outcome, std::span<const Row>(rows.data(), size), of_rows.data());
      for (std::size_t p = begin; p < begin + size; ++p) {
        const Number* row = &of_rows[(p - begin) * width];
        const bool leaves = x[row_in_node(order[p])] > centre;
        for (std::size_t k = 0; k < width; ++k) {
          lower[k] += leaves ? Number{0} - row[k] : row[k];
          sets[n_turns * width + k] = lower[k];
        }
        n_lower += leaves ? std::size_t{0} - 1 : 1;
        scratch_.behind[n_turns] = static_cast<std::uint32_t>(p);
        n_turns += !same_value(order[p], order[p + 1]) && n_lower != 0 && n_lower != n;
      }
    }
    sets.resize(n_turns * width);
    scratch_.behind.resize(n_turns);
    return sets;
  }

  static constexpr std::size_t kRowsAtOnce = 64;

  const Points& points_;
  ScoredNode<T> scored_;
  const Settings& settings_;
  std::span<const double> log_prior_;
  double times_;
  HyperplaneScratch& scratch_;
};

}  // namespace baytree
