// The features that a node may use: all that its tree has, or some that are drawn for it alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "data/columns.hpp"
#include "math/counter_random.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

// Whether a column has two different values in some rows; `present`: beside missing ones.
inline bool varies(const Column& column, std::span<const Row> rows, bool present = false) {
  return std::visit(
      [&](const auto& codes) {
        const Code missing = present ? column.missing_code() : column.n_codes;
        const auto first = std::find_if(rows.begin(), rows.end(), [&](Row row) { return codes[row] != missing; });
        return std::any_of(first, rows.end(),
                           [&](Row row) { return codes[row] != missing && codes[row] != codes[*first]; });
      },
      column.codes);
}

// The way to a child from the root, which its draws go by.
inline std::uint64_t path_of_child(std::uint64_t parent, bool is_upper) { return mark_of(parent + 1 + is_upper); }

// The settings of a node. Where features are drawn, those that can be split there share out what all of them had of
// the prior mass; `own` is where they are kept. can_split(f) tells whether a feature has two values in the node.
template <class Number, class CanSplit>
const Settings& settings_of_node(const Settings& settings, const Node<Number>& node, CanSplit&& can_split,
                                 Settings& own) {
  if (settings.draw.n_features == 0) return settings;
  const std::vector<double>& weight = settings.prior.feature_weight;
  std::vector<std::size_t> features;
  for (std::size_t f = 0; f < weight.size(); ++f)
    if (settings.uses(f) && can_split(f)) features.push_back(f);
  if (features.size() <= settings.draw.n_features) return settings;
  const CounterRandom random(settings.draw.seed, 2, mark_of(settings.draw.tree) + node.path);
  const std::vector<std::uint8_t> drawn = random.choose(features.size(), settings.draw.n_features);
  own = settings;
  own.use.assign(weight.size(), Use::nothing);
  double all = 0.0, some = 0.0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    all += weight[features[i]];
    if (!drawn[i]) continue;
    some += weight[features[i]];
    own.use[features[i]] = settings.use.empty() ? Use::everything : settings.use[features[i]];
  }
  std::vector<double> scaled(weight);
  for (double& each : scaled) each *= all / some;
  own.prior.set_feature_weight(std::move(scaled));
  return own;
}

}  // namespace baytree
