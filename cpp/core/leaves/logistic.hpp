// Logistic models in leaves, for classes: the log odds of classes are linear in a few terms, centred and scaled within
// the leaf. With two classes the slopes of the log odds are N(0, 1) beforehand and the intercept is N(0, 2^2); with
// more, those of the log odds between any two classes are. The evidence is Laplace's approximation at the mode; a leaf
// without terms has the exact evidence of its Dirichlet distribution. Terms are chosen forward, by score tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "leaves/leaf_models.hpp"
#include "types.hpp"

namespace baytree {

class LogisticLeafModels final : public LeafModels {
 public:
  static constexpr double kSlopeVariance = 1.0, kLevelVariance = 4.0;
  static constexpr double kChoiceShare = 0.5;  // of the log of the number of choices of terms
  static constexpr std::size_t kMostClasses = 10;  // with terms
  static constexpr double kFewestWeight = 8.0, kFewestOfClass = 2.0;  // in a leaf with terms, and of two classes there

  // `prior`: Dirichlet parameters by class.
  LogisticLeafModels(const Columns& columns, std::vector<Term> terms, std::size_t most_terms,
                     std::vector<std::int64_t> classes, std::vector<double> weights, std::vector<double> prior)
      : columns_(columns), terms_(std::move(terms)), most_terms_(most_terms), classes_(std::move(classes)),
        weights_(std::move(weights)), prior_(std::move(prior)) {}

  void set_weights(std::vector<double> weights) override { weights_ = std::move(weights); }
  LeafModel fit(std::span<const Row> rows, LeafScratch& scratch) const override;
  // Of the class that the model explains worst, as one against the others.
  void residuals(const LeafModel& model, std::span<const Row> rows, LeafScratch& scratch,
                 std::vector<double>& by_row) const override;
  void log_densities(const LeafModel& model, std::span<const Row> rows, LeafScratch& scratch,
                     std::vector<double>& by_row) const override;
  LinearForm form(const LeafModel& model) const override;
  std::span<const Term> terms() const override { return terms_; }
  std::vector<double> residual_prior() const override { return {0.0, 1.0, 2.0, 0.2}; }

 private:
  void read_weights(std::span<const Row> rows, LeafScratch& scratch) const;
  double log_constant(const std::vector<double>& counts) const;
  // The probability of each class for each row, class by class.
  std::vector<double> probabilities(const LeafModel& model, std::span<const Row> rows, LeafScratch& scratch) const;

  const Columns& columns_;
  std::vector<Term> terms_;
  std::size_t most_terms_;
  std::vector<std::int64_t> classes_;
  std::vector<double> weights_, prior_;
};

// Contrasts between classes: column a, of n_classes - 1, is orthogonal to the others and to a constant, of length 1.
std::vector<double> class_contrasts(std::size_t n_classes);

}  // namespace baytree
