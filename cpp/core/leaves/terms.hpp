// The terms of the models in leaves: columns of numbers, indicators of one category, indicators of a missing value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "types.hpp"

namespace baytree {

enum class TermKind : std::uint8_t { value, category, missing };

struct Term {
  std::uint32_t feature;
  TermKind kind;
  double category = 0.0;    // of an indicator of one category: its number in the table
  double log_weight = 0.0;  // relative prior weight of the feature
  int direction = 0;        // +1: predictions must rise with it, -1: fall, 0: either
};

constexpr double kLeastSlope = 1e-12;  // of a term that has a direction; what is smaller may be rounding

inline bool has_direction(const Term& term, double slope) {
  return term.direction == 0 || term.direction * slope > kLeastSlope;
}

// How a term enters a leaf: centred at the mean of the leaf's rows and scaled by their standard deviation.
struct TermScale {
  std::uint32_t term;
  double centre, scale, low, high;  // low and high: the range of the values in the leaf
};

// The terms that vary among some rows, centred and scaled; a missing value counts as the mean.
struct TermColumns {
  std::size_t n_rows = 0;
  std::vector<TermScale> scales;
  std::vector<double> values;  // term after term

  std::size_t size() const { return scales.size(); }
  std::span<const double> column(std::size_t j) const { return {values.data() + j * n_rows, n_rows}; }
};

// `weights` are those of the rows, in their order; none: every row counts once.
void read_terms(const Columns& columns, std::span<const Term> terms, std::span<const Row> rows,
                std::span<const double> weights, TermColumns& result);

// Adds `times` the coefficients times the chosen terms to the number of each row.
void add_terms(const Columns& columns, std::span<const Term> terms, std::span<const TermScale> chosen,
               std::span<const double> coefficients, std::span<const Row> rows, double times, std::vector<double>& work,
               std::vector<double>& by_row);

}  // namespace baytree
