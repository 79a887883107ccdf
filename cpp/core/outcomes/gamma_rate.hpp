// Outcomes whose rate has a Gamma prior (shape, rate): counts over an exposure (Poisson) and durations that
// end in an event or are censored (exponential). Both have the likelihood rate^events exp(-rate exposure), up to a
// factor that the rate is not in:
//   log L = lgamma(shape + events) - lgamma(shape) + shape log rate - (shape + events) log(rate + exposure) + factor.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "math/log_gamma.hpp"
#include "outcomes/outcome.hpp"
#include "types.hpp"

namespace baytree {

class GammaRateNode;

struct GammaRate {
  using Number = double;
  using Node = GammaRateNode;

  std::vector<double> events, exposure, log_factor;
  std::vector<double> weight;  // empty: every row counts once
  bool predicts_duration = false;  // the time to an event, not the rate of events

  std::size_t n_rows() const { return events.size(); }
  std::size_t width() const { return 4; }  // weight, events, exposure, log factor
  double weight_of(std::size_t row) const { return weight.empty() ? 1.0 : weight[row]; }
  bool same(std::size_t a, std::size_t b) const { return events[a] == events[b] && exposure[a] == exposure[b]; }

  GammaRate narrowed_to(std::span<const Row> rows) const {
    auto pick = [&](const std::vector<double>& values) {
      std::vector<double> part(values.empty() ? 0 : rows.size());
      for (std::size_t i = 0; i < part.size(); ++i) part[i] = values[rows[i]];
      return part;
    };
    return {pick(events), pick(exposure), pick(log_factor), pick(weight), predicts_duration};
  }

  void add(double* statistics, std::size_t row) const {
    const double w = weight_of(row);
    statistics[0] += w;
    statistics[1] += w * events[row];
    statistics[2] += w * exposure[row];
    statistics[3] += w * log_factor[row];
  }

  std::vector<double> child_prior(const std::vector<double>& prior, const double* child, double smoothing) const {
    return {prior[0] + smoothing * child[1], prior[1] + smoothing * child[2]};
  }

  double log_likelihood(const std::vector<double>& prior, const double* total) const {
    return log_gamma(prior[0] + total[1]) - log_gamma(prior[0]) + prior[0] * std::log(prior[1]) -
           (prior[0] + total[1]) * std::log(prior[1] + total[2]) + total[3];
  }

  static constexpr double kMeanUnit = 0.0;  // positive, of any size
  double mean(const std::vector<double>& prior, const double* total, double times) const {
    const double shape = prior[0] + times * total[1], rate = prior[1] + times * total[2];
    if (!predicts_duration) return shape / rate;
    return shape > 1.0 ? rate / (shape - 1.0) : -kMinusInfinity;
  }

  std::size_t n_orders() const { return 1; }
  double order_key(const double* set, const double*, std::size_t) const { return set[1] / set[2]; }

  void prepare(const std::vector<double>&, const double*) {}

  Node node(const std::vector<double>& prior, const double* total) const;
};

class GammaRateNode {
 public:
  GammaRateNode(const std::vector<double>& prior, const double* total)
      : shape_(prior[0]), rate_(prior[1]), events_(total[1]), exposure_(total[2]),
        constant_(total[3] + 2.0 * (shape_ * std::log(rate_) - log_gamma(shape_))) {}

  template <class Entry>
  void split_scores(const GammaRate& outcome, std::span<const Entry> order, const double* start,
                    std::span<const std::uint32_t> positions, double* scores) const {
    double events = start[1], exposure = start[2];
    std::size_t next = 0;
    for (std::size_t j = 0; j < positions.size(); ++j) {
      for (; next <= positions[j]; ++next) {
        const std::uint32_t row = row_in_node(order[next]);
        events += outcome.weight_of(row) * outcome.events[row];
        exposure += outcome.weight_of(row) * outcome.exposure[row];
      }
      scores[j] = constant_ + side(events, exposure) + side(events_ - events, exposure_ - exposure);
    }
  }

  void set_scores(const GammaRate&, std::span<const double> sets, double* scores) const {
    for (std::size_t i = 0; 4 * i < sets.size(); ++i) {
      const double events = sets[4 * i + 1], exposure = sets[4 * i + 2];
      scores[i] = constant_ + side(events, exposure) + side(events_ - events, exposure_ - exposure);
    }
  }

 private:
  // What is left of the totals may round to just below zero.
  double side(double events, double exposure) const {
    const double shape = shape_ + std::max(events, 0.0);
    return log_gamma(shape) - shape * std::log(rate_ + std::max(exposure, 0.0));
  }

  double shape_, rate_, events_, exposure_, constant_;
};

inline GammaRateNode GammaRate::node(const std::vector<double>& prior, const double* total) const {
  return GammaRateNode(prior, total);
}

}  // namespace baytree
