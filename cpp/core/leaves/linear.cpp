#include "leaves/linear.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "leaves/choice.hpp"
#include "math/dot.hpp"
#include "math/log_gamma.hpp"

namespace baytree {

namespace {

constexpr std::size_t kLookBeyond = 2;  // terms that are tried behind one that does not raise the evidence

// Sums of the outcome of a leaf.
struct Sums {
  double n = 0.0, mean = 0.0, squares = 0.0;  // squares: of the deviations from the mean
};

// Chooses terms one after the other by a Cholesky factorisation of G + kappa_b I that grows with them: with v_j the
// squared distance of term j from the chosen ones and r_j its product with the residual, adding it takes r_j^2 / (2
// v_j) from beta_n and multiplies the evidence by sqrt(kappa_b / v_j) besides.
class Selection {
 public:
  Selection(const TermColumns& terms, std::span<const Term> all, const Sums& sums, const NormalPrior& prior,
            std::size_t most)
      : terms_(terms), all_(all), prior_(prior), choice_(terms.size(), most), n_(sums.n),
        alpha_n_(prior.alpha + 0.5 * sums.n), slope_(slope_precision(prior)), distance_(terms.size(), sums.n + slope_),
        product_(terms.size()), is_chosen_(terms.size()), is_refused_(terms.size()) {
    const double d = sums.mean - prior.mu;
    beta_n_ = prior.beta + 0.5 * (sums.squares + prior.kappa * n_ / (prior.kappa + n_) * d * d);
    half_log_det_ = 0.0;
    constant_ = prior.count_term(n_) + prior.prior_term();
  }

  // `wy` is the weighted outcome, `weights` may be empty.
  void run(std::span<const double> wy, std::span<const double> weights, std::vector<double>& work) {
    best_ = log_evidence();
    beta_best_ = beta_n_;
    for (std::size_t j = 0; j < terms_.size(); ++j) product_[j] = dot(terms_.column(j).data(), wy.data(), wy.size());
    while (chosen_.size() < choice_.most() && chosen_.size() < n_chosen_ + 1 + kLookBeyond) {
      const std::size_t next = best_term();
      if (next == terms_.size()) break;
      add(next, weights, work);
      const double evidence = log_evidence();
      if (!is_higher(evidence, best_)) continue;
      best_ = evidence;
      beta_best_ = beta_n_;
      n_chosen_ = chosen_.size();
    }
    chosen_.resize(n_chosen_);
  }

  // The posterior of the chosen terms: (G + kappa_b I)^-1, and times c.
  void finish(LeafModel& model) const {
    const std::size_t k = chosen_.size();
    std::vector<double> inverse(k * k);  // of the factor L
    for (std::size_t i = 0; i < k; ++i) {
      inverse[i * k + i] = 1.0 / factor_[i][chosen_[i]];
      for (std::size_t j = 0; j < i; ++j) {
        double sum = 0.0;
        for (std::size_t m = j; m < i; ++m) sum += factor_[m][chosen_[i]] * inverse[m * k + j];
        inverse[i * k + j] = -sum * inverse[i * k + i];
      }
    }
    model.coefficient.assign(k, 0.0);
    model.covariance.assign(k * k, 0.0);
    for (std::size_t m = 0; m < k; ++m)
      for (std::size_t i = 0; i <= m; ++i) {
        model.coefficient[i] += inverse[m * k + i] * projected_[m];
        for (std::size_t j = 0; j <= m; ++j) model.covariance[i * k + j] += inverse[m * k + i] * inverse[m * k + j];
      }
    for (const std::size_t j : chosen_) model.terms.push_back(terms_.scales[j]);
    model.log_evidence = best_;
  }

  double beta_n() const { return beta_best_; }
  double alpha_n() const { return alpha_n_; }

 private:
  double log_evidence() const {
    return constant_ - half_log_det_ - alpha_n_ * std::log(beta_n_) + choice_.log_prior(chosen_.size()) + log_weight_;
  }
  double beta_with(std::size_t j) const {
    return std::max(beta_n_ - 0.5 * product_[j] * product_[j] / distance_[j], prior_.beta);
  }

  // The term that raises the evidence most, of those with which every coefficient has the direction that it must have.
  std::size_t best_term() {
    std::fill(is_refused_.begin(), is_refused_.end(), 0);
    std::size_t best = highest_term();
    for (; best < terms_.size() && !keeps_directions(best); best = highest_term()) is_refused_[best] = 1;
    return best;
  }

  // Solves for the coefficients of the chosen terms and one more, from the last to the first.
  bool keeps_directions(std::size_t more) const {
    const std::size_t k = chosen_.size();
    std::vector<double> coefficient(k + 1);
    coefficient[k] = product_[more] / distance_[more];
    if (!has_direction(term(more), coefficient[k])) return false;
    for (std::size_t i = k; i-- > 0;) {
      double rest = projected_[i] - factor_[i][more] * coefficient[k];
      for (std::size_t m = i + 1; m < k; ++m) rest -= factor_[i][chosen_[m]] * coefficient[m];
      coefficient[i] = rest / factor_[i][chosen_[i]];
      if (!has_direction(term(chosen_[i]), coefficient[i])) return false;
    }
    return true;
  }

  std::size_t highest_term() const {
    double best = -std::numeric_limits<double>::infinity();
    std::size_t chosen = terms_.size();
    for (std::size_t j = 0; j < terms_.size(); ++j) {
      if (is_chosen_[j] || is_refused_[j]) continue;
      const double score = -0.5 * std::log(distance_[j] / slope_) - alpha_n_ * std::log(beta_with(j)) + weight_of(j);
      if (chosen == terms_.size() || is_higher(score, best)) best = score, chosen = j;
    }
    return chosen;
  }

  void add(std::size_t j, std::span<const double> weights, std::vector<double>& work) {
    const std::span<const double> values = terms_.column(j);
    const double* weighted = values.data();
    if (!weights.empty()) {
      work.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) work[i] = weights[i] * values[i];
      weighted = work.data();
    }
    const double root = std::sqrt(distance_[j]), z = product_[j] / root;
    half_log_det_ += 0.5 * std::log(distance_[j] / slope_);
    beta_n_ = beta_with(j);
    log_weight_ += weight_of(j);
    is_chosen_[j] = 1;
    std::vector<double> row(terms_.size());
    row[j] = root;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      if (is_chosen_[i]) continue;
      double rest = dot(terms_.column(i).data(), weighted, values.size());
      for (const std::vector<double>& before : factor_) rest -= before[i] * before[j];
      row[i] = rest / root;
      distance_[i] = std::max(distance_[i] - row[i] * row[i], slope_);
      product_[i] -= row[i] * z;
    }
    factor_.push_back(std::move(row));
    projected_.push_back(z);
    chosen_.push_back(j);
  }

  const Term& term(std::size_t j) const { return all_[terms_.scales[j].term]; }
  double weight_of(std::size_t j) const { return term(j).log_weight; }

  const TermColumns& terms_;
  std::span<const Term> all_;
  const NormalPrior& prior_;
  TermChoice choice_;
  double n_, alpha_n_, slope_;
  double beta_n_ = 0.0, beta_best_ = 0.0, half_log_det_ = 0.0, constant_ = 0.0, log_weight_ = 0.0;
  double best_ = 0.0;
  std::size_t n_chosen_ = 0;
  std::vector<double> distance_, product_, projected_;
  std::vector<std::uint8_t> is_chosen_, is_refused_;
  std::vector<std::size_t> chosen_;
  std::vector<std::vector<double>> factor_;  // by chosen term, for all terms
};

}  // namespace

void LinearLeafModels::read(std::span<const Row> rows, LeafScratch& scratch) const {
  scratch.outcome.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) scratch.outcome[i] = y_[rows[i]];
  scratch.weights.resize(weights_.empty() ? 0 : rows.size());
  for (std::size_t i = 0; i < scratch.weights.size(); ++i) scratch.weights[i] = weights_[rows[i]];
}

LeafModel LinearLeafModels::fit(std::span<const Row> rows, LeafScratch& scratch) const {
  read(rows, scratch);
  std::vector<double>& y = scratch.outcome;
  const std::span<const double> weights = scratch.weights;
  LeafModel model;
  const auto [lowest, highest] = std::minmax_element(y.begin(), y.end());
  model.lowest = *lowest, model.highest = *highest;
  Sums sums;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double w = weights.empty() ? 1.0 : weights[i];
    sums.n += w;
    sums.mean += w * y[i];
  }
  sums.mean /= sums.n;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double w = weights.empty() ? 1.0 : weights[i], deviation = y[i] - sums.mean;
    sums.squares += w * deviation * deviation;
    y[i] = w * deviation;
  }
  read_terms(columns_, terms_, rows, weights, scratch.terms);
  Selection selection(scratch.terms, terms_, sums, prior_, most_terms_);
  selection.run(y, weights, scratch.work);
  selection.finish(model);
  const double kappa_n = prior_.kappa + sums.n;
  model.level = {(prior_.kappa * prior_.mu + sums.n * sums.mean) / kappa_n, kappa_n, selection.alpha_n(),
                 selection.beta_n()};
  return model;
}

void LinearLeafModels::residuals(const LeafModel& model, std::span<const Row> rows, LeafScratch& scratch,
                                 std::vector<double>& by_row) const {
  for (const Row row : rows) by_row[row] = y_[row] - model.level[0];
  add_terms(columns_, terms_, model.terms, model.coefficient, rows, -1.0, scratch.work, by_row);
}

void LinearLeafModels::log_densities(const LeafModel& model, std::span<const Row> rows, LeafScratch& scratch,
                                     std::vector<double>& by_row) const {
  residuals(model, rows, scratch, by_row);
  const double noise = model.level[3] / model.level[2];
  for (const Row row : rows) by_row[row] = -0.5 * (std::log(noise) + by_row[row] * by_row[row] / noise);
}

}  // namespace baytree
