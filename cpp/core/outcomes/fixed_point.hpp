// Outcomes as whole numbers. The numbers of each row (a real value, events and their exposure) and its weight are
// multiples of powers of two; their sums are whole numbers of 128 bits, so the order of additions does not matter: the
// same rows have the same statistics wherever they are and however they are divided. Scores are those of the outcome T
// with float64 statistics, which the sums are converted to in one place.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "outcomes/normal.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

// How sums become statistics: times the scale of each. Real values are taken from a centre, so that an offset costs no
// precision; with u the whole numbers, sum w (u - c)^2 = sum w u^2 - 2 c sum w u + c^2 sum w.
struct FixedPointScale {
  std::vector<double> scale;  // by statistic
  std::int64_t centre = 0;
};

template <Outcome T>
class FixedPointNode;

template <Outcome T>
struct FixedPoint {
  using Number = Int128;
  using Node = FixedPointNode<T>;
  static constexpr bool kSquares = std::is_same_v<T, Normal>;  // of one number; others have three numbers a row
  static constexpr std::size_t kWidth = kSquares ? 3 : 4;
  using Statistics = std::array<double, kWidth>;

  T of;  // what scores; it has no rows
  FixedPointScale scale;
  std::array<std::vector<std::int64_t>, kWidth - 1> value;  // by row; squares are not kept
  std::vector<std::int64_t> weight;                         // empty: every row counts once
  double weight_unit = 1.0;

  std::size_t n_rows() const { return value[0].size(); }
  std::size_t width() const { return kWidth; }
  std::int64_t integer_weight(std::size_t row) const { return weight.empty() ? 1 : weight[row]; }
  double weight_of(std::size_t row) const { return static_cast<double>(integer_weight(row)) * weight_unit; }
  bool counts_once() const { return weight.empty(); }
  double weight_in(const Int128* statistics) const { return converted(statistics)[0]; }
  bool same(std::size_t a, std::size_t b) const {
    return value[0][a] == value[0][b] && (kSquares || value[1][a] == value[1][b]);
  }

  bool has_exact_sums() const { return true; }
  std::uint64_t mark_of_row(std::size_t row) const {
    const std::uint64_t mark = mark_of_numbers({static_cast<double>(value[0][row])});
    return kSquares ? mark : mark_of_number(mark, static_cast<double>(value[1][row]));
  }
  void set_weights(const std::vector<double>& weights) {
    weight.resize(weights.size());
    for (std::size_t row = 0; row < weights.size(); ++row)
      weight[row] = static_cast<std::int64_t>(std::llround(weights[row] / weight_unit));
  }

  FixedPoint narrowed_to(std::span<const Row> rows) const {
    auto pick = [&](const std::vector<std::int64_t>& values) {
      std::vector<std::int64_t> part(values.empty() ? 0 : rows.size());
      for (std::size_t i = 0; i < part.size(); ++i) part[i] = values[rows[i]];
      return part;
    };
    FixedPoint part{of, scale, {}, pick(weight), weight_unit};
    for (std::size_t k = 0; k < value.size(); ++k) part.value[k] = pick(value[k]);
    return part;
  }

  void add(Int128* statistics, std::size_t row) const {
    const Int128 w = integer_weight(row);
    statistics[0] += w;
    if constexpr (kSquares) {
      const Int128 wu = w * value[0][row];
      statistics[1] += wu;
      statistics[2] += wu * value[0][row];
    } else {
      for (std::size_t k = 1; k < kWidth; ++k) statistics[k] += w * value[k - 1][row];
    }
  }

  // The rows of the outcome T.
  T as_reals() const {
    auto reals = [&](std::size_t k, std::int64_t from) {
      std::vector<double> result(n_rows());
      const double unit = scale.scale[k + 1] / scale.scale[0];
      for (std::size_t row = 0; row < result.size(); ++row)
        result[row] = static_cast<double>(value[k][row] - from) * unit;
      return result;
    };
    T result(of);
    if constexpr (kSquares) {
      result.y = reals(0, scale.centre);
    } else {
      result.events = reals(0, 0), result.exposure = reals(1, 0), result.log_factor = reals(2, 0);
    }
    if (!weight.empty() || weight_unit != 1.0)
      for (std::size_t row = 0; row < n_rows(); ++row) result.weight.push_back(weight_of(row));
    return result;
  }

  // Statistics as float64.
  Statistics converted(const Int128* whole) const {
    Statistics result;
    if constexpr (kSquares) {
      const Int128 c = scale.centre;
      result = {static_cast<double>(whole[0]), static_cast<double>(whole[1] - c * whole[0]),
                static_cast<double>(whole[2] - 2 * c * whole[1] + c * c * whole[0])};
    } else {
      for (std::size_t k = 0; k < kWidth; ++k) result[k] = static_cast<double>(whole[k]);
    }
    for (std::size_t k = 0; k < kWidth; ++k) result[k] *= scale.scale[k];
    return result;
  }

  std::vector<double> child_prior(const std::vector<double>& prior, const Int128* child, double smoothing) const {
    return of.child_prior(prior, converted(child).data(), smoothing);
  }
  double log_likelihood(const std::vector<double>& prior, const Int128* total) const {
    return of.log_likelihood(prior, converted(total).data());
  }
  double mean(const std::vector<double>& prior, const Int128* total, double times) const {
    return of.mean(prior, converted(total).data(), times);
  }
  double mean_unit() const { return of.mean_unit(); }
  std::size_t n_orders() const { return of.n_orders(); }
  double order_key(const Int128* set, const Int128* node, std::size_t order) const {
    return of.order_key(converted(set).data(), converted(node).data(), order);
  }

  // Tables of what depends on counts alone, where every row counts once and there are not too many.
  void prepare(const std::vector<double>& prior, const Int128* total, const Threads& threads = {}) {
    if constexpr (kSquares) {
      constexpr double most = 1 << 26;
      const double n = converted(total)[0];
      if (weight.empty() && weight_unit == 1.0 && n <= most) of.prepare(prior, &n, threads);
      else of.weight.assign(1, 1.0);  // says that counts are not whole
    }
  }

  Node node(const std::vector<double>& prior, const Int128* total) const { return Node(*this, prior, total); }
};

template <Outcome T>
class FixedPointNode {
 public:
  FixedPointNode(const FixedPoint<T>& outcome, const std::vector<double>& prior, const Int128* total)
      : node_(outcome.of.node(prior, outcome.converted(total).data())) {}

  double split_score(const FixedPoint<T>& outcome, const Int128* lower) const {
    return node_.split_score(outcome.converted(lower).data());
  }

  template <class Entry>
  void split_scores(const FixedPoint<T>& outcome, std::span<const Entry> order, const Int128* start,
                    std::span<const std::uint32_t> positions, double* scores) const {
    std::array<Int128, FixedPoint<T>::kWidth> lower;
    std::copy_n(start, lower.size(), lower.begin());
    std::size_t next = 0;
    for (std::size_t j = 0; j < positions.size(); ++j) {
      for (; next <= positions[j]; ++next) outcome.add(lower.data(), row_in_node(order[next]));
      scores[j] = split_score(outcome, lower.data());
    }
  }

  void set_scores(const FixedPoint<T>& outcome, std::span<const Int128> sets, double* scores) const {
    for (std::size_t i = 0; i * outcome.width() < sets.size(); ++i)
      scores[i] = split_score(outcome, &sets[i * outcome.width()]);
  }

 private:
  typename T::Node node_;
};

}  // namespace baytree
