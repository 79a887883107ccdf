#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "growth/tree_structure.hpp"
#include "interrupt.hpp"
#include "partitions/forest_router.hpp"
#include "partitions/router.hpp"
#include "partitions/shapley.hpp"
#include "partitions/space_router.hpp"

namespace baytree::bindings {

namespace {

using Integers = Vector<std::int64_t>;
using Real = Vector<double>;
using Booleans = Vector<bool>;

FeatureColumns columns_of(const std::optional<Integers>& columns) {
  return columns ? FeatureColumns(span_of(*columns)) : std::nullopt;
}

template <class Value>
std::span<const Value> in_core(const Vector<Value>& vector) {
  return span_of(vector);
}
std::size_t in_core(std::size_t number) { return number; }

// The constructor of a router: the arrays of its splits, then its own arguments.
template <class... More, class Router, class... Arguments>
void def_init(nb::class_<Router>& bound, const Arguments&... arguments) {
  bound.def(
      "__init__",
      [](Router* self, const Integers& children_left, const Integers& children_right, const Vector<std::uint8_t>& kind,
         const Integers& feature, const Real& threshold, const Booleans& missing_go_to_left,
         const Booleans& unseen_go_to_left, const Integers& category_start, const Integers& category,
         const Booleans& category_goes_left, const Integers& hyperplane_start, const Integers& hyperplane_feature,
         const Real& hyperplane_coefficient, const Real& hyperplane_missing_value, const More&... more) {
        const SplitArrays splits{span_of(children_left),
                                 span_of(children_right),
                                 span_of(kind),
                                 span_of(feature),
                                 span_of(threshold),
                                 span_of(missing_go_to_left),
                                 span_of(unseen_go_to_left),
                                 span_of(category_start),
                                 span_of(category),
                                 span_of(category_goes_left),
                                 span_of(hyperplane_start),
                                 span_of(hyperplane_feature),
                                 span_of(hyperplane_coefficient),
                                 span_of(hyperplane_missing_value)};
        new (self) Router(splits, in_core(more)...);
      },
      nb::arg("children_left").noconvert(), nb::arg("children_right").noconvert(), nb::arg("kind").noconvert(),
      nb::arg("feature").noconvert(), nb::arg("threshold").noconvert(), nb::arg("missing_go_to_left").noconvert(),
      nb::arg("unseen_go_to_left").noconvert(), nb::arg("category_start").noconvert(), nb::arg("category").noconvert(),
      nb::arg("category_goes_left").noconvert(), nb::arg("hyperplane_start").noconvert(),
      nb::arg("hyperplane_feature").noconvert(), nb::arg("hyperplane_coefficient").noconvert(),
      nb::arg("hyperplane_missing_value").noconvert(), arguments...);
}

using NodeNumbers = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void bind_shapley(nb::module_& module) {
  nb::class_<Shapley> shapley(module, "Shapley", "Path-dependent Shapley values of the trees of a graph.");
  def_init<Integers, Real, Real, Real, std::size_t>(
      shapley, nb::arg("choice_start").noconvert(), nb::arg("leaf_share").noconvert(),
      nb::arg("choice_share").noconvert(), nb::arg("left_share").noconvert(), nb::arg("n_features"));
  shapley.def(
      "contributions",
      [](const Shapley& self, const Matrix& X, const NodeNumbers& value, std::size_t max_sets, std::size_t n_pairs,
         std::uint64_t stream, std::size_t n_threads) {
        const Table table = table_of(X);
        const NodeValues of_nodes{{value.data(), value.size()}, value.shape(0), value.shape(1), value.shape(2)};
        Contributions contributions = without_gil([&](Interrupt& interrupt) {
          return self.contributions(table, of_nodes, {max_sets, n_pairs, stream}, n_threads, interrupt);
        });
        const std::vector<std::size_t> shape{table.n_rows, table.n_columns, of_nodes.n_values};
        return nb::make_tuple(array_of(std::move(contributions.values), shape),
                              array_of(std::move(contributions.variance), shape),
                              array_of(std::move(contributions.base), {table.n_rows, of_nodes.n_values}));
      },
      nb::arg("X").noconvert(), nb::arg("value").noconvert(), nb::arg("max_sets"), nb::arg("n_pairs"),
      nb::arg("stream"), nb::arg("n_threads"),
      "Values and their variances by row, feature and number, and the base by row and number.\n\n"
      "`value` is by row (or 1 for all rows), node and number. Values are exact, with variance 0, where a row needs "
      "at\n"
      "most `max_sets` sets of features; otherwise `n_pairs` pairs of orders are drawn from a stream of numbers.");
}

void bind_forest_router(nb::module_& module) {
  nb::class_<ForestRouter> router(module, "ForestRouter", "Routes rows down all trees of a forest.");
  def_init<Integers, Real, std::size_t>(router, nb::arg("tree_start").noconvert(), nb::arg("value").noconvert(),
                                        nb::arg("n_features"));
  router.def(
      "mean",
      [](const ForestRouter& self, const Matrix& X, const std::optional<Integers>& columns, std::size_t n_threads) {
        const Table table = table_of(X);
        std::vector<double> mean(table.n_rows * self.n_values());
        const bool no_infinity = without_gil(
            [&](Interrupt& interrupt) { return self.mean(table, columns_of(columns), mean, n_threads, interrupt); });
        return nb::make_tuple(array_of(std::move(mean), {table.n_rows, self.n_values()}), no_infinity);
      },
      nb::arg("X").noconvert(), nb::arg("columns").noconvert().none(), nb::arg("n_threads"),
      "What the trees predict for every row, on average, and whether no value is infinite.\n\n"
      "`columns` as in `Router.route`.");
  router.def(
      "leaves",
      [](const ForestRouter& self, const Matrix& X, const std::optional<Integers>& columns, std::size_t n_threads) {
        const Table table = table_of(X);
        std::vector<std::int32_t> leaves(table.n_rows * self.n_trees());
        const bool no_infinity = without_gil([&](Interrupt& interrupt) {
          return self.leaves(table, columns_of(columns), leaves, n_threads, interrupt);
        });
        return nb::make_tuple(array_of(std::move(leaves), {table.n_rows, self.n_trees()}), no_infinity);
      },
      nb::arg("X").noconvert(), nb::arg("columns").noconvert().none(), nb::arg("n_threads"),
      "The leaf of every row in every tree, numbered throughout the forest, and whether no value is infinite.\n\n"
      "`columns` as in `Router.route`.");
}

}  // namespace

void bind_routers(nb::module_& module) {
  nb::class_<TreeStructure> structure(module, "TreeStructure", "A tree whose splits are given, in depth-first order.");
  def_init<Integers, Integers, Integers, std::size_t>(structure, nb::arg("grow").noconvert(),
                                                      nb::arg("forbidden_start").noconvert(),
                                                      nb::arg("forbidden").noconvert(), nb::arg("n_features"));
  bind_forest_router(module);
  bind_shapley(module);
  nb::class_<Router> router(module, "Router", "Routes rows down a tree; its arrays are checked and copied once.");
  def_init<std::size_t>(router, nb::arg("n_features"));
  router.def(
      "route",
      [](const Router& self, const Matrix& X, const std::optional<Integers>& columns, std::size_t n_threads) {
        const Table table = table_of(X);
        std::vector<std::int64_t> leaves(table.n_rows);
        const bool no_infinity = without_gil(
            [&](Interrupt& interrupt) { return self.route(table, columns_of(columns), leaves, n_threads, interrupt); });
        return nb::make_tuple(array_of(std::move(leaves)), no_infinity);
      },
      nb::arg("X").noconvert(), nb::arg("columns").noconvert().none(), nb::arg("n_threads"),
      "The leaf of every row, and whether no value is infinite.\n\n`columns` has the column of X that holds each "
      "feature,\n-1 for those that X does not hold and the tree does not use;\nNone: feature f is in column f.");
  router.def(
      "count_missing",
      [](const Router& self, const Matrix& X, const std::optional<Integers>& columns, std::size_t n_threads) {
        const Table table = table_of(X);
        return array_of(without_gil([&](Interrupt& interrupt) {
          return self.count_missing(table, columns_of(columns), n_threads, interrupt);
        }));
      },
      nb::arg("X").noconvert(), nb::arg("columns").noconvert().none(), nb::arg("n_threads"),
      "How many rows come to each node without a value of its feature.\n\n`columns` as in `route`.");

  nb::class_<SpaceRouter> space_router(module, "SpaceRouter", "Routes rows down all trees of a tree space.");
  def_init<Integers, Real, Real, std::size_t>(space_router, nb::arg("choice_start").noconvert(),
                                              nb::arg("leaf_share").noconvert(), nb::arg("choice_share").noconvert(),
                                              nb::arg("n_features"));
  space_router.def(
      "weigh",
      [](const SpaceRouter& self, const Matrix& X, const std::optional<Integers>& columns, std::size_t n_threads) {
        LeafWeights weights = without_gil(
            [&](Interrupt& interrupt) { return self.weigh(table_of(X), columns_of(columns), n_threads, interrupt); });
        return nb::make_tuple(array_of(std::move(weights.start)), array_of(std::move(weights.node)),
                              array_of(std::move(weights.weight)));
      },
      nb::arg("X").noconvert(), nb::arg("columns").noconvert().none(), nb::arg("n_threads"),
      "How probably each row ends in each node, a sparse matrix by row: start, node, weight.\n\n"
      "`columns` as in `Router.route`.");
}

}  // namespace baytree::bindings
