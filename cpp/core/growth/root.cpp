#include "growth/root.hpp"

#include <numeric>
#include <utility>
#include <variant>

#include "partitions/node_features.hpp"

namespace baytree {

namespace {

// Whether there are features enough for a hyperplane, somewhere.
bool has_hyperplanes(const Settings& settings, const Columns& columns) {
  std::vector<std::size_t> features(columns.columns.size());
  std::iota(features.begin(), features.end(), std::size_t{0});
  return settings.oblique.share > 0.0 &&
         allow_hyperplane(settings, columns, NodeRules::of_root(settings.rules), features);
}

}  // namespace

void share_out_prior(Settings& settings, const Columns& columns, const std::vector<std::uint8_t>& counts) {
  if (settings.rules.draw.n_features > 0) {
    settings.rules.use.resize(counts.size(), Use::everything);
    for (std::size_t f = 0; f < counts.size(); ++f)
      if (!counts[f]) settings.rules.use[f] = Use::nothing;
  }
  std::vector<double> weights = settings.prior.feature_weight;
  double sum = 0.0;
  for (std::size_t f = 0; f < weights.size(); ++f)
    if (counts[f]) sum += weights[f];
  const double share = has_hyperplanes(settings, columns) ? 1.0 - settings.oblique.share : 1.0;
  if (sum > 0.0)
    for (double& weight : weights) weight *= share / sum;
  settings.prior.set_feature_weight(std::move(weights));
}

bool has_threshold(const Column& column, std::span<const Row> rows, std::size_t min_rows) {
  std::vector<std::uint32_t> count(column.n_codes);
  std::visit(
      [&](const auto& codes) {
        for (const Row row : rows) ++count[codes[row]];
      },
      column.codes);
  std::size_t lower = 0;
  for (std::size_t code = 0; lower < min_rows && code < count.size(); ++code) lower += count[code];
  return lower >= min_rows && rows.size() - lower >= min_rows;
}

RowOrder order_rows(const Columns& columns, const Settings& settings, std::span<const std::uint64_t> outcome_marks,
                    std::vector<double>& weights, std::vector<Row>* stands_for) {
  UnorderedRows table{columns, outcome_marks, {}, settings.rules.limits.min_samples_leaf < 2};
  for (std::size_t f = 0; f < columns.columns.size(); ++f)
    table.in_points.push_back(!columns.columns[f].is_categorical && settings.rules.direction(f) == 0);
  return order_rows(table, weights, stands_for);
}

}  // namespace baytree
