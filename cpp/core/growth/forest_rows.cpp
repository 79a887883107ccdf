#include "growth/forest_rows.hpp"

#include <algorithm>
#include <utility>

#include "growth/root.hpp"
#include "math/counter_random.hpp"
#include "partitions/node_features.hpp"

namespace baytree {

RowWeights::RowWeights(const ForestPlan& plan, std::vector<double> base, std::size_t n_rows)
    : plan_(plan), base_(std::move(base)) {
  ends_.reserve(base_.size());
  for (const double weight : base_) ends_.push_back(total_ += weight);
  n_draws_ = static_cast<std::size_t>(std::clamp(std::round(total_), 1.0, kMostDraws * static_cast<double>(n_rows)));
}

std::vector<double> RowWeights::of_tree(std::size_t tree) const {
  const CounterRandom random(plan_.seed, 0, tree), rounding(plan_.seed, 1, tree);
  std::vector<double> counts(base_.size(), 0.0);
  if (plan_.resample) {
    for (std::size_t draw = 0; draw < n_draws_; ++draw) {
      const auto at = std::upper_bound(ends_.begin(), ends_.end(), random.uniform(draw, 0) * total_);
      counts[std::min(static_cast<std::size_t>(at - ends_.begin()), counts.size() - 1)] += plan_.factor;
    }
    return counts;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = plan_.factor * random.gamma(base_[i], i);
    if (plan_.whole) counts[i] = std::floor(counts[i] + rounding.uniform(i, 0));
    else counts[i] = std::round(counts[i] / kGrid) * kGrid;
  }
  // A tree has a row.
  if (std::all_of(counts.begin(), counts.end(), [](double count) { return count == 0.0; }))
    counts[static_cast<std::size_t>(rounding.uniform(counts.size(), 0) * static_cast<double>(counts.size()))] =
        plan_.factor;
  return counts;
}

ForestRows::ForestRows(const Columns& columns, std::span<const std::uint64_t> outcome_marks, const Settings& settings,
                       const ForestPlan& plan, std::vector<double> weights)
    : columns_(columns), plan_(plan), stands_for_(columns.n_rows),
      order_(order_rows(columns, settings, outcome_marks, weights, &stands_for_)),
      weights_(plan, in_order(weights), columns.n_rows) {}

std::vector<double> ForestRows::weights_of(std::size_t tree) const {
  const std::vector<double> counts = weights_.of_tree(tree);
  std::vector<double> result(columns_.n_rows);
  for (std::size_t i = 0; i < counts.size(); ++i) result[order_.rows[i]] = counts[i];
  for (std::size_t row = 0; row < result.size(); ++row) result[row] = result[stands_for_[row]];
  return result;
}

std::vector<double> ForestRows::weights_together() const {
  std::vector<double> result(columns_.n_rows);
  for (std::size_t i = 0; i < order_.rows.size(); ++i) result[order_.rows[i]] = weights_.base(i);
  for (std::size_t row = 0; row < result.size(); ++row) result[row] = result[stands_for_[row]];
  return result;
}

std::vector<double> ForestRows::in_order(const std::vector<double>& weights) const {
  std::vector<double> result;
  for (const Row row : order_.rows) result.push_back(weights[row]);
  return result;
}

std::vector<double> ForestRows::draw(std::size_t tree, std::vector<Row>& rows, RowFactor& factor) const {
  const std::vector<double> counts = weights_.of_tree(tree);
  std::vector<double> weights(columns_.n_rows, 1.0);
  double count = 0.0, base = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!(counts[i] > 0.0)) continue;
    rows.push_back(order_.rows[i]);
    weights[order_.rows[i]] = counts[i];
    count += counts[i], base += weights_.base(i);
  }
  factor = {plan_.factor, count / base};
  return weights;
}

std::vector<Use> ForestRows::use(std::span<const Row> rows) const {
  std::vector<Use> result;
  for (const Column& column : columns_.columns)
    result.push_back(!varies(column, rows) ? Use::nothing : varies(column, rows, true) ? Use::everything : Use::splits);
  return result;
}

}  // namespace baytree
