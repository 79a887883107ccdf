// Outcomes that are events over an exposure, with a conjugate prior of two parameters: one that events are added to and
// one that the exposure is added to. A conjugate says what the two mean:
//   Gamma(shape, rate) of a rate: counts (Poisson) and durations that end in an event or are censored (exponential),
//     whose likelihood is rate^events exp(-rate exposure), up to a factor without the rate;
//   Beta(exposure, events) of a probability p: overdispersed counts (negative binomial), p^exposure (1 - p)^events,
//   where
//     the exposure is the size of the distribution.
// With s(e, x) the log of the normalising constant, log L = s(e + events, x + exposure) - s(e, x), but for the log of a
// factor that no partition changes: it is summed up for those who want it, and scores leave it out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "math/log_gamma.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

struct GammaConjugate {
  static double log_constant(double shape, double rate) { return log_gamma(shape) - shape * std::log(rate); }
  static double mean(double shape, double rate) { return shape / rate; }
  static double mean_duration(double shape, double rate) {
    return shape > 1.0 ? rate / (shape - 1.0) : -kMinusInfinity;
  }
};

struct BetaConjugate {
  static double log_constant(double b, double a) { return log_gamma(a) + log_gamma(b) - log_gamma(a + b); }
  static double mean(double b, double a) { return a > 1.0 ? b / (a - 1.0) : -kMinusInfinity; }
  static double mean_duration(double b, double a) { return mean(b, a); }
};

template <class Conjugate>
class RateNode;

template <class Conjugate>
struct Rate {
  using Number = double;
  using Node = RateNode<Conjugate>;

  std::vector<double> events, exposure, log_factor;
  std::vector<double> weight;  // empty: every row counts once
  bool predicts_duration = false;  // the time to an event, not the rate of events

  std::size_t n_rows() const { return events.size(); }
  std::size_t width() const { return 4; }  // weight, events, exposure, log factor
  double weight_of(std::size_t row) const { return weight.empty() ? 1.0 : weight[row]; }
  bool counts_once() const { return weight.empty(); }
  double weight_in(const double* statistics) const { return statistics[0]; }
  bool same(std::size_t a, std::size_t b) const { return events[a] == events[b] && exposure[a] == exposure[b]; }

  std::uint64_t mark_of_row(std::size_t row) const {
    return mark_of_numbers({events[row], exposure[row], log_factor[row]});
  }
  void set_weights(const std::vector<double>& weights) { weight = weights; }

  Rate narrowed_to(std::span<const Row> rows) const {
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
    return Conjugate::log_constant(prior[0] + total[1], prior[1] + total[2]) -
           Conjugate::log_constant(prior[0], prior[1]);
  }

  double mean_unit() const { return 0.0; }  // positive, of any size
  double mean(const std::vector<double>& prior, const double* total, double times) const {
    const double of_events = prior[0] + times * total[1], of_exposure = prior[1] + times * total[2];
    return predicts_duration ? Conjugate::mean_duration(of_events, of_exposure)
                             : Conjugate::mean(of_events, of_exposure);
  }

  std::size_t n_orders() const { return 1; }
  double order_key(const double* set, const double*, std::size_t) const { return set[1] / set[2]; }

  void prepare(const std::vector<double>&, const double*, const Threads& = {}) {}

  Node node(const std::vector<double>& prior, const double* total) const { return Node(prior, total); }
};

template <class Conjugate>
class RateNode {
 public:
  RateNode(const std::vector<double>& prior, const double* total)
      : of_events_(prior[0]), of_exposure_(prior[1]), events_(total[1]), exposure_(total[2]),
        constant_(-2.0 * Conjugate::log_constant(prior[0], prior[1])) {}

  double split_score(const double* lower) const {
    return constant_ + side(lower[1], lower[2]) + side(events_ - lower[1], exposure_ - lower[2]);
  }

  template <class Entry>
  void split_scores(const Rate<Conjugate>& outcome, std::span<const Entry> order, const double* start,
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

  void set_scores(const Rate<Conjugate>&, std::span<const double> sets, double* scores) const {
    for (std::size_t i = 0; 4 * i < sets.size(); ++i) scores[i] = split_score(&sets[4 * i]);
  }

 private:
  // What is left of the totals may round to just below zero.
  double side(double events, double exposure) const {
    return Conjugate::log_constant(of_events_ + std::max(events, 0.0), of_exposure_ + std::max(exposure, 0.0));
  }

  double of_events_, of_exposure_, events_, exposure_, constant_;
};

using GammaRate = Rate<GammaConjugate>;
using BetaRate = Rate<BetaConjugate>;

}  // namespace baytree
