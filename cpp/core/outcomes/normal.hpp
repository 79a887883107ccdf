// Real outcomes, normal with unknown mean and precision, with a Normal-Gamma prior (mu, kappa, alpha, beta).
//
// With n, s, q the (weighted) count, sum and sum of squares of a set,
//   kappa_n = kappa + n,   alpha_n = alpha + n / 2,
//   beta_n = beta + [q + kappa mu^2 - (kappa mu + s)^2 / kappa_n] / 2,
//   log L = lgamma(alpha_n) - lgamma(alpha) + alpha log beta - alpha_n log beta_n
//           + [log kappa - log kappa_n] / 2 - n/2 log(2 pi).
// The caller shifts and scales y to mean 0 and variance 1, so that the squares lose nothing to an offset.
// What depends on n alone is a table where every row counts once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "math/log_gamma.hpp"
#include "math/vector_math.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

struct NormalPrior {
  double mu, kappa, alpha, beta;
  explicit NormalPrior(const std::vector<double>& p) : mu(p[0]), kappa(p[1]), alpha(p[2]), beta(p[3]) {}

  // The terms of log L that depend on the count alone, but for those of the prior.
  double count_term(double n) const {
    return log_gamma(alpha + 0.5 * n) - 0.5 * std::log(kappa + n) - 0.5 * n * std::log(2.0 * std::numbers::pi);
  }
  double prior_term() const { return -log_gamma(alpha) + alpha * std::log(beta) + 0.5 * std::log(kappa); }
  // beta_n is never below beta; rounding may not say so.
  BAYTREE_INLINE double posterior_beta(double s, double q, double one_over_kappa_n) const {
    const double shifted = s + kappa * mu;
    const double result = beta + 0.5 * (q + kappa * mu * mu - shifted * shifted * one_over_kappa_n);
    return result > beta ? result : beta;
  }
};

class NormalNode;

struct Normal {
  using Number = double;
  using Node = NormalNode;

  std::vector<double> y;
  std::vector<double> weight;  // empty: every row counts once
  bool whole_weights = false;  // all of them are whole numbers, of a sum for which there may be a table

  // By whole count n: count_term(n) and 1 / (kappa + n), for the nodes that have this prior.
  struct Tables {
    std::vector<double> prior, count_term, one_over_kappa_n;
  };
  std::shared_ptr<const Tables> tables;

  std::size_t n_rows() const { return y.size(); }
  std::size_t width() const { return 3; }
  double weight_of(std::size_t row) const { return weight.empty() ? 1.0 : weight[row]; }
  bool counts_once() const { return weight.empty(); }
  double weight_in(const double* statistics) const { return statistics[0]; }
  bool same(std::size_t a, std::size_t b) const { return y[a] == y[b]; }

  std::uint64_t mark_of_row(std::size_t row) const { return mark_of_numbers({y[row]}); }
  void set_weights(const std::vector<double>& weights) { weight = weights; }
  void set_whole_weights(bool whole) { whole_weights = whole; }

  Normal narrowed_to(std::span<const Row> rows) const {
    Normal part{std::vector<double>(rows.size()), std::vector<double>(weight.empty() ? 0 : rows.size()), whole_weights,
                tables};
    for (std::size_t i = 0; i < rows.size(); ++i) part.y[i] = y[rows[i]];
    for (std::size_t i = 0; i < part.weight.size(); ++i) part.weight[i] = weight[rows[i]];
    return part;
  }

  void add(double* statistics, std::size_t row) const {
    const double w = weight_of(row);
    statistics[0] += w;
    statistics[1] += w * y[row];
    statistics[2] += w * y[row] * y[row];
  }

  // What the loop reads is held in locals: the compiler cannot know that the statistics are not among it.
  void add_by_bin(double* statistics, std::span<const std::uint8_t> bins, std::span<const Row> rows) const {
    const double* values = y.data();
    const double* weights = weight.empty() ? nullptr : weight.data();
    const std::uint8_t* bin = bins.data();
    const Row* row = rows.data();
    const std::size_t n = rows.size();
    for (std::size_t i = 0; i < n; ++i) {
      double* sums = statistics + 3 * bin[row[i]];
      const double w = weights ? weights[i] : 1.0, wy = w * values[i];
      sums[0] += w;
      sums[1] += wy;
      sums[2] += wy * values[i];
    }
  }

  // The posterior after `smoothing` times the child's rows.
  std::vector<double> child_prior(const std::vector<double>& parent, const double* child, double smoothing) const {
    if (smoothing == 0.0) return parent;
    const NormalPrior prior(parent);
    const double n = smoothing * child[0], s = smoothing * child[1], q = smoothing * child[2];
    const double kappa_n = prior.kappa + n;
    return {(prior.kappa * prior.mu + s) / kappa_n, kappa_n, prior.alpha + 0.5 * n,
            prior.posterior_beta(s, q, 1.0 / kappa_n)};
  }

  double log_likelihood(const std::vector<double>& parameters, const double* total) const {
    const NormalPrior prior(parameters);
    const double beta_n = prior.posterior_beta(total[1], total[2], 1.0 / (prior.kappa + total[0]));
    return prior.prior_term() + prior.count_term(total[0]) - (prior.alpha + 0.5 * total[0]) * std::log(beta_n);
  }

  double mean_unit() const { return 1.0; }
  double mean(const std::vector<double>& parameters, const double* total, double times) const {
    const NormalPrior prior(parameters);
    return (prior.kappa * prior.mu + times * total[1]) / (prior.kappa + times * total[0]);
  }

  // By the mean, and by the mean squared distance from the node's mean (but for a constant).
  std::size_t n_orders() const { return 2; }
  double order_key(const double* set, const double* node, std::size_t order) const {
    return order == 0 ? set[1] / set[0] : (set[2] - 2.0 * set[1] * (node[1] / node[0])) / set[0];
  }

  static std::shared_ptr<const Tables> make_tables(const std::vector<double>& parameters, std::size_t most,
                                                   const Threads& threads = {}) {
    const NormalPrior prior(parameters);
    auto made = std::make_shared<Tables>(
        Tables{parameters, std::vector<double>(most + 1), std::vector<double>(most + 1)});
    threads.blocks(most + 1).each([&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t n = begin; n < end; ++n) {
        made->count_term[n] = prior.count_term(static_cast<double>(n));
        made->one_over_kappa_n[n] = 1.0 / (prior.kappa + static_cast<double>(n));
      }
    });
    return made;
  }

  // Whether what depends on counts comes from tables.
  bool is_counted() const { return weight.empty() || whole_weights; }

  void prepare(const std::vector<double>& prior, const double* total, const Threads& threads = {}) {
    if (!is_counted()) return;
    const auto most = static_cast<std::size_t>(total[0]);
    if (!tables || tables->prior != prior || tables->count_term.size() <= most)
      tables = make_tables(prior, most, threads);
  }

  Node node(const std::vector<double>& prior, const double* total) const;
};

class NormalNode {
 public:
  NormalNode(const Normal& outcome, const std::vector<double>& prior, const double* total)
      : prior_(prior), n_(total[0]), s_(total[1]), q_(total[2]), constant_(2.0 * prior_.prior_term()) {
    if (!outcome.is_counted()) return;
    const bool shared = outcome.tables && outcome.tables->prior == prior;
    tables_ = shared ? outcome.tables : Normal::make_tables(prior, static_cast<std::size_t>(n_));
  }

  double split_score(const double* lower) const {
    const double upper_n = n_ - lower[0];
    return constant_ + count_term(lower[0]) + count_term(upper_n) -
           logarithms(prior_, lower[0], upper_n, prior_.posterior_beta(lower[1], lower[2], one_over_kappa_n(lower[0])),
                      prior_.posterior_beta(s_ - lower[1], q_ - lower[2], one_over_kappa_n(upper_n)));
  }

  void set_scores(const Normal&, std::span<const double> sets, double* scores) const {
    for (std::size_t i = 0; 3 * i < sets.size(); ++i) scores[i] = split_score(&sets[3 * i]);
  }

  // Any part of a bin's rows, of mean c and sum of squared deviations S, deviates from its share of the sum by at
  // most D = sqrt(n S) / 2 (Cauchy-Schwarz) and adds between 0 and S to the squared deviations. With these, a split
  // inside of the bin lies in the hull of eight points around the statistics at its edges, and the score is convex.
  double upper_bound(const double* from, const double* to) const {
    const double n = to[0] - from[0], s = to[1] - from[1], q = to[2] - from[2];
    const double c = s / n;
    const double squares = std::max(q - s * c, 0.0) * (1.0 + 1e-9) + 1e-12 * std::abs(q);
    const double deviation = 0.5 * std::sqrt(n * squares);
    double bound = kMinusInfinity;
    for (const double sign : {-1.0, 1.0})
      for (const double share : {0.0, 1.0}) {
        const double shift = sign * deviation;
        bound = std::max({bound, corner(from[0], from[1] + shift, from[2] + 2.0 * c * shift + share * squares),
                          corner(to[0], to[1] + shift, to[2] + 2.0 * c * shift - share * squares)});
      }
    return bound;
  }

  // In two steps over stretches of splits: sums one after the other, then logarithms side by side.
  template <class Entry>
  void split_scores(const Normal& outcome, std::span<const Entry> order, const double* start,
                    std::span<const std::uint32_t> positions, double* scores) const {
    if (!outcome.weight.empty()) return score_weighted(outcome, order, start, positions, scores);
    const bool consecutive = !positions.empty() && positions.back() - positions.front() + 1 == positions.size();
    if (consecutive) score_counted<true>(outcome, order, start, positions, scores);
    else score_counted<false>(outcome, order, start, positions, scores);
  }

 private:
  static constexpr std::size_t kStretch = 128;

  // Statistics of the lower sides of a stretch of splits.
  struct Stretch {
    std::array<double, kStretch> n, s, q;
  };

  // Every row counts once: what depends on counts comes from the tables, neighbours side by side.
  template <bool consecutive, class Entry>
  void score_counted(const Normal& outcome, std::span<const Entry> order, const double* start,
                     std::span<const std::uint32_t> positions, double* scores) const {
    Stretch lower;
    const double* y = outcome.y.data();
    const auto before = static_cast<std::size_t>(start[0]);
    double s = start[1], q = start[2];
    std::size_t next = 0;
    auto add_row = [&] {
      const double value = y[row_in_node(order[next++])];
      s += value;
      q += value * value;
    };
    for (std::size_t first = 0; first < positions.size(); first += kStretch) {
      const std::size_t size = std::min(kStretch, positions.size() - first);
      for (std::size_t j = 0; j < size; ++j) {
        // Where positions are consecutive one row falls between two splits, and no branch is needed to find that out.
        if (!consecutive || first + j == 0)
          while (next < positions[first + j]) add_row();
        add_row();
        lower.s[j] = s;
        lower.q[j] = q;
      }
      call_wide([&lower = lower, size, before, scores = scores + first, at = positions.data() + first, prior = prior_,
                 total = static_cast<std::size_t>(n_), n = n_, s = s_, q = q_, constant = constant_,
                 factor = tables_->one_over_kappa_n.data(), term = tables_->count_term.data()]() BAYTREE_INLINE {
        const std::size_t first_count = before + at[0] + 1;
        for (std::size_t j = 0; j < size; ++j) {
          const std::size_t count = consecutive ? first_count + j : before + at[j] + 1;
          scores[j] = constant + term[count] + term[total - count] -
                      logarithms(prior, static_cast<double>(count), n - static_cast<double>(count),
                                 prior.posterior_beta(lower.s[j], lower.q[j], factor[count]),
                                 prior.posterior_beta(s - lower.s[j], q - lower.q[j], factor[total - count]));
        }
      });
    }
  }

  template <class Entry>
  void score_weighted(const Normal& outcome, std::span<const Entry> order, const double* start,
                      std::span<const std::uint32_t> positions, double* scores) const {
    Stretch lower;
    double n = start[0], s = start[1], q = start[2];
    std::size_t next = 0;
    for (std::size_t first = 0; first < positions.size(); first += kStretch) {
      const std::size_t size = std::min(kStretch, positions.size() - first);
      for (std::size_t j = 0; j < size; ++j) {
        for (; next <= positions[first + j]; ++next) {
          const std::uint32_t row = row_in_node(order[next]);
          const double w = outcome.weight[row], wy = w * outcome.y[row];
          n += w;
          s += wy;
          q += wy * outcome.y[row];
        }
        lower.n[j] = n;
        lower.s[j] = s;
        lower.q[j] = q;
        scores[first + j] = constant_ + count_term(n) + count_term(n_ - n);
      }
      call_wide(
          [&lower = lower, size, scores = scores + first, prior = prior_, n = n_, s = s_, q = q_]() BAYTREE_INLINE {
            for (std::size_t j = 0; j < size; ++j) {
              const double upper_n = n - lower.n[j];
              const double upper_factor = 1.0 / (prior.kappa + (upper_n > 0.0 ? upper_n : 0.0));
              scores[j] -= logarithms(prior, lower.n[j], upper_n,
                                      prior.posterior_beta(lower.s[j], lower.q[j], 1.0 / (prior.kappa + lower.n[j])),
                                      prior.posterior_beta(s - lower.s[j], q - lower.q[j], upper_factor));
            }
          });
    }
  }

  // alpha_n log beta_n of both sides.
  BAYTREE_INLINE static double logarithms(const NormalPrior& prior, double lower_n, double upper_n, double lower_beta,
                                          double upper_beta) {
    return (prior.alpha + 0.5 * lower_n) * log_of_positive(lower_beta) +
           (prior.alpha + 0.5 * upper_n) * log_of_positive(upper_beta);
  }

  double count_term(double n) const {
    return tables_ ? tables_->count_term[static_cast<std::size_t>(n)] : prior_.count_term(std::max(n, 0.0));
  }
  double one_over_kappa_n(double n) const {
    return tables_ ? tables_->one_over_kappa_n[static_cast<std::size_t>(n)] : 1.0 / (prior_.kappa + std::max(n, 0.0));
  }

  // The score at statistics that no set need have; infinite where the likelihood does not converge.
  double corner(double n, double s, double q) const {
    const double lower = unbounded_beta(n, s, q), upper = unbounded_beta(n_ - n, s_ - s, q_ - q);
    if (!(lower > 0.0 && upper > 0.0)) return -kMinusInfinity;
    return constant_ + count_term(n) + count_term(n_ - n) - (prior_.alpha + 0.5 * n) * std::log(lower) -
           (prior_.alpha + 0.5 * (n_ - n)) * std::log(upper);
  }
  double unbounded_beta(double n, double s, double q) const {
    const double shifted = s + prior_.kappa * prior_.mu;
    return prior_.beta + 0.5 * (q + prior_.kappa * prior_.mu * prior_.mu - shifted * shifted * one_over_kappa_n(n));
  }

  NormalPrior prior_;
  double n_, s_, q_, constant_;
  std::shared_ptr<const Normal::Tables> tables_;
};

inline NormalNode Normal::node(const std::vector<double>& prior, const double* total) const {
  return NormalNode(*this, prior, total);
}

}  // namespace baytree
