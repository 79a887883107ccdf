// The features that a node may use: all that its tree has, or some that are drawn for it alone.
//
// They are drawn from those that have two values in the node and can be split at the root, so that no node draws in
// vain. The draw decides which splits are on offer, not how probable it is that the node is split: the features that
// are drawn share out the prior mass of all that could have been, and where none of the hyperplanes is left, theirs
// too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
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

// Whether hyperplanes can use a feature, somewhere in a tree.
inline bool is_in_hyperplanes(const Settings& settings, const Columns& columns, std::size_t feature) {
  const Column& column = columns.columns[feature];
  return !column.is_categorical && column.n_codes - column.has_missing > 1 && settings.in_hyperplanes(feature);
}

// The way to a child from the root, by which its features are drawn.
inline std::uint64_t path_of_child(std::uint64_t parent, bool is_upper) { return mark_of(parent + 1 + is_upper); }

// The settings of a node; `own` is where they are kept if its features are drawn. can_split(f) tells whether a feature
// has two values in the node.
template <class Number, class CanSplit>
const Settings& settings_of_node(const Settings& settings, const Columns& columns, const Node<Number>& node,
                                 CanSplit&& can_split, std::optional<Settings>& own) {
  if (settings.draw.n_features == 0) return settings;
  std::vector<std::size_t> features;
  for (std::size_t f = 0; f < columns.columns.size(); ++f)
    if (settings.uses(f) && can_split(f)) features.push_back(f);
  if (features.size() <= settings.draw.n_features) return settings;
  const CounterRandom random(settings.draw.seed, 2, mark_of(settings.draw.tree) + node.path);
  const std::vector<std::uint8_t> drawn = random.choose(features.size(), settings.draw.n_features);
  own = settings;
  own->use.assign(columns.columns.size(), Use::nothing);
  double all = 0.0, some = 0.0;  // the prior mass
  std::size_t all_in_hyperplanes = 0, some_in_hyperplanes = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const std::size_t f = features[i];
    const bool in_hyperplanes = is_in_hyperplanes(settings, columns, f);
    all += settings.prior.feature_weight[f], all_in_hyperplanes += in_hyperplanes;
    if (!drawn[i]) continue;
    some += settings.prior.feature_weight[f], some_in_hyperplanes += in_hyperplanes;
    own->use[f] = settings.use.empty() ? Use::everything : settings.use[f];
  }
  if (all_in_hyperplanes > 1 && some_in_hyperplanes < 2) all += settings.oblique.share;
  own->prior.multiply_feature_weight(all / some);
  return *own;
}

}  // namespace baytree
