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

bool allow_hyperplane(const Settings& settings, const Columns& columns, const NodeRules& rules,
                      std::span<const std::size_t> features) {
  std::vector<std::uint8_t> usable(columns.columns.size());
  std::size_t n_usable = 0;
  for (const std::size_t f : features)
    if (is_in_hyperplanes(settings, columns, f)) usable[f] = 1, ++n_usable;
  if (n_usable < 2 || !rules.path) return n_usable > 1;
  return std::any_of(rules.path->sets.begin(), rules.path->sets.end(), [&](std::uint32_t set) {
    const std::vector<std::uint32_t>& members = settings.rules.paths->members(set);
    return std::count_if(members.begin(), members.end(), [&](std::uint32_t f) { return usable[f] != 0; }) > 1;
  });
}

const Settings& settings_of_node(const Settings& settings, const Columns& columns, const NodeFacts& node,
                                 FunctionRef<bool(std::size_t)> can_split, std::optional<Settings>& node_settings) {
  const FeatureDraw& draw = settings.rules.draw;
  if (draw.n_features == 0 && !node.rules.path) return settings;
  std::vector<std::size_t> features, drawn;  // of those that the path allows
  for (std::size_t f = 0; f < columns.columns.size(); ++f)
    if (settings.rules.uses(f) && node.rules.allows(f) && can_split(f)) features.push_back(f);
  const bool draws = draw.n_features > 0 && features.size() > draw.n_features;
  if (!draws && !node.rules.path) return settings;
  if (draws) {
    const CounterRandom random(draw.seed, 2, mark_of(draw.tree) + node.rules.way);
    const std::vector<std::uint8_t> chosen = random.choose(features.size(), draw.n_features);
    for (std::size_t i = 0; i < features.size(); ++i)
      if (chosen[i]) drawn.push_back(features[i]);
  }
  node_settings = settings;
  node_settings->rules.use.assign(columns.columns.size(), Use::nothing);
  for (const std::size_t f : draws ? drawn : features)
    node_settings->rules.use[f] = settings.rules.use.empty() ? Use::everything : settings.rules.use[f];
  if (!draws) return *node_settings;
  double all = 0.0, some = 0.0;  // the prior mass
  for (const std::size_t f : features) all += settings.prior.feature_weight[f];
  for (const std::size_t f : drawn) some += settings.prior.feature_weight[f];
  const auto has_planes = [&](std::span<const std::size_t> of) {
    return allow_hyperplane(settings, columns, node.rules, of);
  };
  if (settings.oblique.share > 0.0 && has_planes(features) && !has_planes(drawn)) all += settings.oblique.share;
  node_settings->prior.multiply_feature_weight(all / some);
  return *node_settings;
}

}  // namespace baytree
