// Models in the leaves of a tree: what growth asks of them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "leaves/terms.hpp"
#include "types.hpp"

namespace baytree {

// The model of some rows: an intercept and the terms that the evidence chose.
struct LeafModel {
  double log_evidence = 0.0;        // with the prior probability of the choice of terms
  std::vector<TermScale> terms;     // in the order of the choice
  std::vector<double> level;        // posterior parameters of the outcome where every term is at its centre
  std::vector<double> coefficient;  // posterior means
  std::vector<double> covariance;   // of the coefficients, row by row
  double lowest = 0.0, highest = 0.0;  // outcome of the rows
};

// What the prediction of a model rises with: where all terms are at their centre, and for each scaled term.
struct LinearForm {
  double level = 0.0;
  std::vector<double> slopes;
};

// Work space of one thread.
struct LeafScratch {
  TermColumns terms;
  std::vector<double> weights, outcome, work;
};

class LeafModels {
 public:
  virtual ~LeafModels() = default;
  // Of the rows of the table; none: every row counts once.
  virtual void set_weights(std::vector<double> weights) = 0;
  virtual LeafModel fit(std::span<const Row> rows, LeafScratch& scratch) const = 0;
  // What a model leaves unexplained of each of its rows; `by_row` has a place for every row of the table.
  virtual void residuals(const LeafModel& model, std::span<const Row> rows, LeafScratch& scratch,
                         std::vector<double>& by_row) const = 0;
  // The log density of the outcome of each row under a model, which need not be that of the row's own leaf.
  virtual void log_densities(const LeafModel& model, std::span<const Row> rows, LeafScratch& scratch,
                             std::vector<double>& by_row) const = 0;
  // Of numbers the mean, of two classes the log odds of the second.
  virtual LinearForm form(const LeafModel& model) const = 0;
  virtual std::span<const Term> terms() const = 0;
  // Prior of residuals as normal numbers.
  virtual std::vector<double> residual_prior() const = 0;
};

}  // namespace baytree
