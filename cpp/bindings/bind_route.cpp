#include "../core/route.hpp"
#include "arrays.hpp"
#include "interrupt.hpp"

namespace baytree::bindings {

namespace {

// Damaged arrays must not lead anybody outside of them, or round in circles. beyond(i, child): whether a child comes
// behind the node that i belongs to.
template <class Beyond>
void check_cuts(const FittedTree& tree, std::size_t n_columns, Beyond&& beyond) {
  const std::size_t n = tree.feature.size();
  require(tree.threshold.size() == n && tree.lower.size() == n && tree.upper.size() == n &&
              tree.gaps_lower.size() == n && tree.unseen_lower.size() == n && tree.level_start.size() == n + 1 &&
              tree.oblique_start.size() == n + 1,
          "the arrays of a tree have one length");
  for (std::size_t i = 0; i < n; ++i) {
    require(tree.lower[i] < 0 || (beyond(i, tree.lower[i]) && beyond(i, tree.upper[i]) && tree.feature[i] >= 0 &&
                                  static_cast<std::size_t>(tree.feature[i]) < n_columns),
            "a node points back, or outside of the tree or the table");
    require(tree.level_start[i] <= tree.level_start[i + 1], "the levels of a node come before those of the next");
  }
  require(tree.level_start[0] == 0 && static_cast<std::size_t>(tree.level_start[n]) == tree.level.size() &&
              tree.level_lower.size() == tree.level.size(),
          "the levels of the nodes are all there");
  require(tree.oblique_start[0] == 0 && std::is_sorted(tree.oblique_start.begin(), tree.oblique_start.end()) &&
              static_cast<std::size_t>(tree.oblique_start[n]) == tree.oblique_feature.size() &&
              tree.oblique_coefficient.size() == tree.oblique_feature.size() &&
              tree.oblique_gap_value.size() == tree.oblique_feature.size(),
          "the terms of the hyperplanes are all there");
  for (const std::int64_t f : tree.oblique_feature)
    require(f >= 0 && static_cast<std::size_t>(f) < n_columns, "a hyperplane has a feature that the table has not");
  constexpr std::int64_t most_levels = std::int64_t{1} << 32;
  for (const std::int64_t level : tree.level) require(level >= 0 && level < most_levels, "a level is out of range");
}

void check_tree(const FittedTree& tree, std::size_t n_columns) {
  const std::size_t n = tree.feature.size();
  require(n > 0, "a tree has a root");
  check_cuts(tree, n_columns, [&](std::size_t node, std::int64_t child) {
    return child > static_cast<std::int64_t>(node) && static_cast<std::size_t>(child) < n;
  });
}

void check_space(const FittedSpace& space, std::size_t n_columns) {
  const std::size_t n = space.leaf_share.size(), n_choices = space.choices.feature.size();
  require(n > 0 && space.choice_start.size() == n + 1 && space.choice_start[0] == 0 &&
              static_cast<std::size_t>(space.choice_start[n]) == n_choices && space.choice_share.size() == n_choices &&
              std::is_sorted(space.choice_start.begin(), space.choice_start.end()),
          "the choices of a node come before those of the next");
  std::size_t owner = 0;
  check_cuts(space.choices, n_columns, [&](std::size_t choice, std::int64_t child) {
    while (static_cast<std::size_t>(space.choice_start[owner + 1]) <= choice) ++owner;
    return child > static_cast<std::int64_t>(owner) && static_cast<std::size_t>(child) < n;
  });
  for (const std::int64_t lower : space.choices.lower) require(lower > 0, "a choice has two sides");
}

}  // namespace

void bind_route(nb::module_& module) {
  module.def(
      "route",
      [](const Matrix& X, const Vector<std::int32_t>& feature, const Vector<double>& threshold,
         const Vector<std::int64_t>& lower, const Vector<std::int64_t>& upper, const Vector<std::uint8_t>& gaps_lower,
         const Vector<std::uint8_t>& unseen_lower, const Vector<std::int64_t>& level_start,
         const Vector<std::int64_t>& level, const Vector<std::uint8_t>& level_lower,
         const Vector<std::int64_t>& oblique_start, const Vector<std::int64_t>& oblique_feature,
         const Vector<double>& oblique_coefficient, const Vector<double>& oblique_gap_value, std::size_t n_threads) {
        const Table table = table_of(X);
        const FittedTree fitted{
            span_of(feature),          span_of(threshold),     span_of(lower),           span_of(upper),
            span_of(gaps_lower),       span_of(unseen_lower),  span_of(level_start),     span_of(level),
            span_of(level_lower),      span_of(oblique_start), span_of(oblique_feature), span_of(oblique_coefficient),
            span_of(oblique_gap_value)};
        check_tree(fitted, table.n_columns);
        std::vector<std::int64_t> leaves(table.n_rows);
        const bool no_infinity = without_gil(
            [&](Interrupt& interrupt) { return route(table, walking_tree(fitted), leaves, n_threads, interrupt); });
        return nb::make_tuple(array_of(std::move(leaves)), no_infinity);
      },
      nb::arg("X").noconvert(), nb::arg("feature").noconvert(), nb::arg("threshold").noconvert(),
      nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("gaps_lower").noconvert(),
      nb::arg("unseen_lower").noconvert(), nb::arg("level_start").noconvert(), nb::arg("level").noconvert(),
      nb::arg("level_lower").noconvert(), nb::arg("oblique_start").noconvert(), nb::arg("oblique_feature").noconvert(),
      nb::arg("oblique_coefficient").noconvert(), nb::arg("oblique_gap_value").noconvert(), nb::arg("n_threads"),
      "The leaf of every row, and whether no value is infinite.");

  module.def(
      "weigh_leaves",
      [](const Matrix& X, const Vector<std::int32_t>& feature, const Vector<double>& threshold,
         const Vector<std::int64_t>& lower, const Vector<std::int64_t>& upper, const Vector<std::uint8_t>& gaps_lower,
         const Vector<std::uint8_t>& unseen_lower, const Vector<std::int64_t>& level_start,
         const Vector<std::int64_t>& level, const Vector<std::uint8_t>& level_lower,
         const Vector<std::int64_t>& oblique_start, const Vector<std::int64_t>& oblique_feature,
         const Vector<double>& oblique_coefficient, const Vector<double>& oblique_gap_value,
         const Vector<std::int64_t>& choice_start, const Vector<double>& leaf_share, const Vector<double>& choice_share,
         std::size_t n_threads) {
        const Table table = table_of(X);
        const FittedSpace space{
            {span_of(feature), span_of(threshold), span_of(lower), span_of(upper), span_of(gaps_lower),
             span_of(unseen_lower), span_of(level_start), span_of(level), span_of(level_lower), span_of(oblique_start),
             span_of(oblique_feature), span_of(oblique_coefficient), span_of(oblique_gap_value)},
            span_of(choice_start),
            span_of(leaf_share),
            span_of(choice_share)};
        check_space(space, table.n_columns);
        const auto blocks = without_gil(
            [&](Interrupt& interrupt) { return weigh_leaves(table, space, n_threads, interrupt); });
        LeafWeights all;
        all.n_nodes.push_back(0);
        for (const LeafWeights& block : blocks) {
          for (const std::int64_t n_nodes : block.n_nodes) all.n_nodes.push_back(all.n_nodes.back() + n_nodes);
          all.node.insert(all.node.end(), block.node.begin(), block.node.end());
          all.weight.insert(all.weight.end(), block.weight.begin(), block.weight.end());
        }
        return nb::make_tuple(array_of(std::move(all.n_nodes)), array_of(std::move(all.node)),
                              array_of(std::move(all.weight)));
      },
      nb::arg("X").noconvert(), nb::arg("feature").noconvert(), nb::arg("threshold").noconvert(),
      nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("gaps_lower").noconvert(),
      nb::arg("unseen_lower").noconvert(), nb::arg("level_start").noconvert(), nb::arg("level").noconvert(),
      nb::arg("level_lower").noconvert(), nb::arg("oblique_start").noconvert(), nb::arg("oblique_feature").noconvert(),
      nb::arg("oblique_coefficient").noconvert(), nb::arg("oblique_gap_value").noconvert(),
      nb::arg("choice_start").noconvert(), nb::arg("leaf_share").noconvert(), nb::arg("choice_share").noconvert(),
      nb::arg("n_threads"),
      "How probably each row ends in each node of a tree space: a sparse matrix by row (start, node, weight).");
}

}  // namespace baytree::bindings
