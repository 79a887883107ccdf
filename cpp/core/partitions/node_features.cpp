#include "partitions/node_features.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "math/counter_random.hpp"

namespace baytree {

bool varies(const Column& column, std::span<const Row> rows, bool present) {
  return std::visit(
      [&](const auto& codes) {
        const Code missing = present ? column.missing_code() : column.n_codes;
        const auto first = std::find_if(rows.begin(), rows.end(), [&](Row row) { return codes[row] != missing; });
        return std::any_of(first, rows.end(),
                           [&](Row row) { return codes[row] != missing && codes[row] != codes[*first]; });
      },
      column.codes);
}

bool is_in_hyperplanes(const Settings& settings, const Columns& columns, std::size_t feature) {
  const Column& column = columns.columns[feature];
  return !column.is_categorical && column.n_codes - column.has_missing > 1 && settings.rules.in_hyperplanes(feature);
}

const Settings& settings_of_node(const Settings& settings, const Columns& columns, const NodeFacts& node,
                                 FunctionRef<bool(std::size_t)> can_split, std::optional<Settings>& node_settings) {
  if (settings.rules.draw.n_features == 0) return settings;
  std::vector<std::size_t> features;
  for (std::size_t f = 0; f < columns.columns.size(); ++f)
    if (settings.rules.uses(f) && can_split(f)) features.push_back(f);
  if (features.size() <= settings.rules.draw.n_features) return settings;
  const CounterRandom random(settings.rules.draw.seed, 2, mark_of(settings.rules.draw.tree) + node.rules.way);
  const std::vector<std::uint8_t> drawn = random.choose(features.size(), settings.rules.draw.n_features);
  node_settings = settings;
  node_settings->rules.use.assign(columns.columns.size(), Use::nothing);
  double all = 0.0, some = 0.0;  // the prior mass
  std::size_t all_in_hyperplanes = 0, some_in_hyperplanes = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const std::size_t f = features[i];
    const bool in_hyperplanes = is_in_hyperplanes(settings, columns, f);
    all += settings.prior.feature_weight[f], all_in_hyperplanes += in_hyperplanes;
    if (!drawn[i]) continue;
    some += settings.prior.feature_weight[f], some_in_hyperplanes += in_hyperplanes;
    node_settings->rules.use[f] = settings.rules.use.empty() ? Use::everything : settings.rules.use[f];
  }
  if (all_in_hyperplanes > 1 && some_in_hyperplanes < 2) all += settings.oblique.share;
  node_settings->prior.multiply_feature_weight(all / some);
  return *node_settings;
}

}  // namespace baytree
