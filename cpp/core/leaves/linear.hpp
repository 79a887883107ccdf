// Linear models in leaves, for numbers: y = a + sum over chosen terms of b_j z_j + noise, every z_j centred and scaled
// within the leaf, 1 / s2 ~ Gamma(alpha, beta), a ~ N(mu, s2 / kappa), b_j ~ N(0, s2 / kappa_b) with kappa_b =
// min(1, 5 kappa): where kappa is the share of the noise in the variance of y, a term is expected to explain a fifth of
// that variance. The evidence has a closed form, and terms are chosen forward, each the one that raises it most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "leaves/leaf_models.hpp"
#include "outcomes/normal.hpp"
#include "types.hpp"

namespace baytree {

// The precision of slopes, in units of that of the noise.
inline double slope_precision(const NormalPrior& prior) { return std::min(1.0, 5.0 * prior.kappa); }

class LinearLeafModels final : public LeafModels {
 public:
  // y is shifted and scaled to mean 0 and variance 1, and the prior is in these units.
  LinearLeafModels(const Columns& columns, std::vector<Term> terms, std::size_t most_terms, std::vector<double> y,
                   std::vector<double> weights, const std::vector<double>& prior)
      : columns_(columns), terms_(std::move(terms)), most_terms_(most_terms), y_(std::move(y)),
        weights_(std::move(weights)), prior_(prior) {}

  void set_weights(std::vector<double> weights) override { weights_ = std::move(weights); }
  LeafModel fit(std::span<const Row> rows, LeafScratch& scratch) const override;
  void residuals(const LeafModel& model, std::span<const Row> rows, LeafScratch& scratch,
                 std::vector<double>& by_row) const override;
  void log_densities(const LeafModel& model, std::span<const Row> rows, LeafScratch& scratch,
                     std::vector<double>& by_row) const override;
  LinearForm form(const LeafModel& model) const override { return {model.level[0], model.coefficient}; }
  std::span<const Term> terms() const override { return terms_; }
  std::vector<double> residual_prior() const override { return {0.0, prior_.kappa, prior_.alpha, prior_.beta}; }

 private:
  void read(std::span<const Row> rows, LeafScratch& scratch) const;

  const Columns& columns_;
  std::vector<Term> terms_;
  std::size_t most_terms_;
  std::vector<double> y_, weights_;
  NormalPrior prior_;
};

}  // namespace baytree
