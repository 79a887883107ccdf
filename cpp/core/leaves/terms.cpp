#include "leaves/terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

namespace baytree {

namespace {

// Values that differ by less, relative to their size, are those of a constant column with rounding errors.
constexpr double kLeastSpread = 1e-12;

// The values of a column, of quantile bins their midpoints, NaN where they are missing.
void read_values(const Column& column, std::span<const Row> rows, double* result) {
  if (column.has_quantile_bins()) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double low = column.low(rows[i]), high = column.high(rows[i]);
      result[i] = low < high ? low / 2 + high / 2 : low;
    }
    return;
  }
  std::visit(
      [&](const auto& values) {
        for (std::size_t i = 0; i < rows.size(); ++i) result[i] = values.at(rows[i]);
      },
      column.source);
}

void read_term(const Column& column, const Term& term, std::span<const Row> rows, double* result) {
  read_values(column, rows, result);
  if (term.kind == TermKind::missing) {
    for (std::size_t i = 0; i < rows.size(); ++i) result[i] = std::isnan(result[i]) ? 1.0 : 0.0;
  } else if (term.kind == TermKind::category) {
    for (std::size_t i = 0; i < rows.size(); ++i) result[i] = result[i] == term.category ? 1.0 : 0.0;
  }
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
};

Range range_of(std::span<const double> values) {
  Range range;
  for (const double value : values) {
    range.low = value < range.low ? value : range.low;  // false for a missing value
    range.high = value > range.high ? value : range.high;
  }
  return range;
}

double weight_at(std::span<const double> weights, std::size_t i) { return weights.empty() ? 1.0 : weights[i]; }

// Centres and scales a column in place; false where it does not vary. Values are first brought to [0, 1], so that
// neither a large offset nor a large or small unit loses digits.
bool standardise(std::span<double> values, std::span<const double> weights, TermScale& result) {
  const Range range = range_of(values);
  const double width = range.high - range.low;
  const double size = std::max(std::abs(range.low), std::abs(range.high));
  if (!(width > kLeastSpread * size) || !std::isfinite(width) || !std::isfinite(1.0 / width)) return false;
  double weight = 0.0, present = 0.0, sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double w = weight_at(weights, i);
    weight += w;
    if (std::isnan(values[i])) continue;
    values[i] = (values[i] - range.low) / width;
    present += w;
    sum += w * values[i];
  }
  const double mean = sum / present;
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::isnan(values[i]) ? 0.0 : values[i] - mean;
    squares += weight_at(weights, i) * values[i] * values[i];
  }
  const double deviation = std::sqrt(squares / weight);
  if (!(deviation > 0.0)) return false;
  for (double& value : values) value /= deviation;
  result.centre = range.low + mean * width;
  result.scale = deviation * width;
  result.low = range.low;
  result.high = range.high;
  return std::isfinite(1.0 / result.scale);
}

}  // namespace

void read_terms(const Columns& columns, std::span<const Term> terms, std::span<const Row> rows,
                std::span<const double> weights, TermColumns& result) {
  const std::size_t n = rows.size();
  result.n_rows = n;
  result.scales.clear();
  result.values.resize(terms.size() * n);
  for (std::uint32_t t = 0; t < terms.size(); ++t) {
    double* place = result.values.data() + result.scales.size() * n;
    read_term(columns.columns[terms[t].feature], terms[t], rows, place);
    TermScale scale{t, 0.0, 1.0, 0.0, 0.0};
    if (standardise({place, n}, weights, scale)) result.scales.push_back(scale);
  }
}

void add_terms(const Columns& columns, std::span<const Term> terms, std::span<const TermScale> chosen,
               std::span<const double> coefficients, std::span<const Row> rows, double times, std::vector<double>& work,
               std::vector<double>& by_row) {
  work.resize(rows.size());
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const Term& term = terms[chosen[k].term];
    read_term(columns.columns[term.feature], term, rows, work.data());
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!std::isnan(work[i]))
        by_row[rows[i]] += times * coefficients[k] * ((work[i] - chosen[k].centre) / chosen[k].scale);
  }
}

}  // namespace baytree
