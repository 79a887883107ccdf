#include "../core/route.hpp"
#include "arrays.hpp"
#include "interrupt.hpp"

namespace baytree::bindings {

void bind_route(nb::module_& module) {
  module.def(
      "route",
      [](const Matrix& X, const Vector<std::int32_t>& feature, const Vector<double>& threshold,
         const Vector<std::int64_t>& lower, const Vector<std::int64_t>& upper, std::size_t n_threads) {
        const std::size_t n = feature.shape(0);
        require(n > 0 && threshold.shape(0) == n && lower.shape(0) == n && upper.shape(0) == n,
                "the arrays of a tree have one length");
        const Table table = table_of(X);
        const auto inside = [n](std::int64_t child) { return child >= 0 && static_cast<std::size_t>(child) < n; };
        const auto later = [&](std::size_t i) {
          return lower(i) > static_cast<std::int64_t>(i) && upper(i) > static_cast<std::int64_t>(i);
        };
        for (std::size_t i = 0; i < n; ++i)
          require(lower(i) < 0 || (inside(lower(i)) && inside(upper(i)) && later(i) && feature(i) >= 0 &&
                                   static_cast<std::size_t>(feature(i)) < table.n_columns),
                  "a node points back, or outside of the tree or the table");
        std::vector<std::int64_t> leaves(table.n_rows);
        const bool finite = without_gil([&](Interrupt& interrupt) {
          const WalkingTree tree = walking_tree(span_of(feature), span_of(threshold), span_of(lower), span_of(upper));
          return route(table, tree, leaves, n_threads, interrupt);
        });
        return nb::make_tuple(array_of(std::move(leaves)), finite);
      },
      nb::arg("X").noconvert(), nb::arg("feature").noconvert(), nb::arg("threshold").noconvert(),
      nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("n_threads"),
      "The leaf of every row, and whether all values are finite.");
}

}  // namespace baytree::bindings
