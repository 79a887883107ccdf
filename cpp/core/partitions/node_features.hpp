// The features that a node may use: all that its tree has, those that its path allows, or some that are drawn for it
// alone.
//
// Features that the path does not allow cannot be split, as if they were constant in the node: their prior mass goes to
// no split. Others are drawn from those that have two values in the node and can be split at the root, so that no node
// draws in vain. The draw decides which splits are on offer, not how probable it is that the node is split: the
// features that are drawn share out the prior mass of all that could have been, and where none of the hyperplanes is
// left, theirs too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "data/columns.hpp"
#include "function_ref.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

// Whether a column has two different values in some rows; `present`: beside missing ones.
bool varies(const Column& column, std::span<const Row> rows, bool present = false);

// Whether hyperplanes can use a feature, somewhere in a tree.
bool is_in_hyperplanes(const Settings& settings, const Columns& columns, std::size_t feature);

// Whether a node with these rules may have a hyperplane of some of these features.
bool allow_hyperplane(const Settings& settings, const Columns& columns, const NodeRules& rules,
                      std::span<const std::size_t> features);

// The settings of a node; `node_settings` is where they are kept if it may not use all features. can_split(f) tells
// whether a feature has two values in the node.
const Settings& settings_of_node(const Settings& settings, const Columns& columns, const NodeFacts& node,
                                 FunctionRef<bool(std::size_t feature)> can_split,
                                 std::optional<Settings>& node_settings);

}  // namespace baytree
