#include "../core/route.hpp"
#include "arrays.hpp"
#include "interrupt.hpp"

namespace baytree::bindings {

namespace {

// A damaged tree must not lead anybody outside of its arrays, or round in circles.
void check_tree(const FittedTree& tree, std::size_t n_columns) {
  const std::size_t n = tree.feature.size();
  require(n > 0 && tree.threshold.size() == n && tree.lower.size() == n && tree.upper.size() == n &&
              tree.gaps_lower.size() == n && tree.unseen_lower.size() == n && tree.level_start.size() == n + 1,
          "the arrays of a tree have one length");
  const auto beyond = [&](std::size_t node, std::int64_t child) {
    return child > static_cast<std::int64_t>(node) && static_cast<std::size_t>(child) < n;
  };
  for (std::size_t i = 0; i < n; ++i) {
    require(tree.lower[i] < 0 || (beyond(i, tree.lower[i]) && beyond(i, tree.upper[i]) && tree.feature[i] >= 0 &&
                                  static_cast<std::size_t>(tree.feature[i]) < n_columns),
            "a node points back, or outside of the tree or the table");
    require(tree.level_start[i] <= tree.level_start[i + 1], "the levels of a node come before those of the next");
  }
  require(tree.level_start[0] == 0 && static_cast<std::size_t>(tree.level_start[n]) == tree.level.size() &&
              tree.level_lower.size() == tree.level.size(),
          "the levels of the nodes are all there");
  constexpr std::int64_t most_levels = std::int64_t{1} << 32;
  for (const std::int64_t level : tree.level) require(level >= 0 && level < most_levels, "a level is out of range");
}

}  // namespace

void bind_route(nb::module_& module) {
  module.def(
      "route",
      [](const Matrix& X, const Vector<std::int32_t>& feature, const Vector<double>& threshold,
         const Vector<std::int64_t>& lower, const Vector<std::int64_t>& upper, const Vector<std::uint8_t>& gaps_lower,
         const Vector<std::uint8_t>& unseen_lower, const Vector<std::int64_t>& level_start,
         const Vector<std::int64_t>& level, const Vector<std::uint8_t>& level_lower, std::size_t n_threads) {
        const Table table = table_of(X);
        const FittedTree fitted{span_of(feature),     span_of(threshold),  span_of(lower),
                                span_of(upper),       span_of(gaps_lower), span_of(unseen_lower),
                                span_of(level_start), span_of(level),      span_of(level_lower)};
        check_tree(fitted, table.n_columns);
        std::vector<std::int64_t> leaves(table.n_rows);
        const bool no_infinity = without_gil(
            [&](Interrupt& interrupt) { return route(table, walking_tree(fitted), leaves, n_threads, interrupt); });
        return nb::make_tuple(array_of(std::move(leaves)), no_infinity);
      },
      nb::arg("X").noconvert(), nb::arg("feature").noconvert(), nb::arg("threshold").noconvert(),
      nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("gaps_lower").noconvert(),
      nb::arg("unseen_lower").noconvert(), nb::arg("level_start").noconvert(), nb::arg("level").noconvert(),
      nb::arg("level_lower").noconvert(), nb::arg("n_threads"),
      "The leaf of every row, and whether no value is infinite.");
}

}  // namespace baytree::bindings
