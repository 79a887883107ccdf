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
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "../log_gamma.hpp"
#include "../outcome.hpp"
#include "../types.hpp"

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
  double posterior_beta(double s, double q, double one_over_kappa_n) const {
    const double shifted = s + kappa * mu;
    return std::max(beta, beta + 0.5 * (q + kappa * mu * mu - shifted * shifted * one_over_kappa_n));
  }
};

class NormalNode;

struct Normal {
  using Number = double;
  using Node = NormalNode;

  std::vector<double> y;
  std::vector<double> weight;  // empty: every row counts once

  // By whole count n: count_term(n) and 1 / (kappa + n), for the nodes that have this prior.
  struct Tables {
    std::vector<double> prior, count_term, one_over_kappa_n;
  };
  std::shared_ptr<const Tables> tables;

  std::size_t n_rows() const { return y.size(); }
  std::size_t width() const { return 3; }
  double weight_of(std::size_t row) const { return weight.empty() ? 1.0 : weight[row]; }
  bool same(std::size_t a, std::size_t b) const { return y[a] == y[b]; }

  Normal narrowed_to(std::span<const Row> rows) const {
    Normal part{std::vector<double>(rows.size()), std::vector<double>(weight.empty() ? 0 : rows.size()), tables};
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

  static std::shared_ptr<const Tables> make_tables(const std::vector<double>& parameters, std::size_t most) {
    const NormalPrior prior(parameters);
    auto made = std::make_shared<Tables>();
    made->prior = parameters;
    for (std::size_t n = 0; n <= most; ++n) {
      made->count_term.push_back(prior.count_term(static_cast<double>(n)));
      made->one_over_kappa_n.push_back(1.0 / (prior.kappa + static_cast<double>(n)));
    }
    return made;
  }

  void prepare(const std::vector<double>& prior, const double*) {
    if (weight.empty()) tables = make_tables(prior, y.size());
  }

  Node node(const std::vector<double>& prior, const double* total) const;
};

class NormalNode {
 public:
  NormalNode(const Normal& outcome, const std::vector<double>& prior, const double* total)
      : prior_(prior), n_(total[0]), s_(total[1]), q_(total[2]), constant_(2.0 * prior_.prior_term()) {
    if (!outcome.weight.empty()) return;
    const bool shared = outcome.tables && outcome.tables->prior == prior;
    tables_ = shared ? outcome.tables : Normal::make_tables(prior, static_cast<std::size_t>(n_));
  }

  template <class Entry>
  void split_scores(const Normal& outcome, std::span<const Entry> order, const double* start,
                    std::span<const std::uint32_t> positions, double* scores) const {
    double n = start[0], s = start[1], q = start[2];
    std::size_t next = 0;
    for (std::size_t j = 0; j < positions.size(); ++j) {
      for (; next <= positions[j]; ++next) {
        const std::uint32_t row = row_in_node(order[next]);
        const double w = outcome.weight_of(row), y = outcome.y[row];
        n += w;
        s += w * y;
        q += w * y * y;
      }
      scores[j] = constant_ + side(n, s, q) + side(n_ - n, s_ - s, q_ - q);
    }
  }

 private:
  // log L of a set, less the terms of the prior.
  double side(double n, double s, double q) const {
    const double half = prior_.alpha + 0.5 * n;
    if (tables_) {
      const auto count = static_cast<std::size_t>(n);
      return tables_->count_term[count] - half * std::log(prior_.posterior_beta(s, q, tables_->one_over_kappa_n[count]));
    }
    n = std::max(n, 0.0);
    return prior_.count_term(n) - half * std::log(prior_.posterior_beta(s, q, 1.0 / (prior_.kappa + n)));
  }

  NormalPrior prior_;
  double n_, s_, q_, constant_;
  std::shared_ptr<const Normal::Tables> tables_;
};

inline NormalNode Normal::node(const std::vector<double>& prior, const double* total) const {
  return NormalNode(*this, prior, total);
}

}  // namespace baytree
