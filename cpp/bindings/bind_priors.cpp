#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "growth/forest.hpp"
#include "growth/lookahead.hpp"
#include "growth/tree_space.hpp"
#include "partitions/prior.hpp"

namespace baytree::bindings {

namespace {

void bind_rules(nb::module_& module) {
  nb::class_<PathRules>(module, "PathRules", "Which columns may stand together on a path.")
      .def(
          "__init__",
          [](PathRules* self, std::size_t n_features, const std::vector<std::vector<std::uint32_t>>& sets) {
            for (const auto& set : sets) require(std::is_sorted(set.begin(), set.end()), "a set of columns is sorted");
            new (self) PathRules(n_features, sets);
          },
          nb::arg("n_features"), nb::arg("sets"));

  nb::class_<Rules>(module, "Rules", "What the nodes of a tree may do.")
      .def(
          "__init__",
          [](Rules* self, std::optional<std::size_t> max_depth, std::size_t min_samples_leaf,
             double min_weight_fraction_leaf, const std::optional<Vector<std::int8_t>>& monotonic,
             const std::shared_ptr<PathRules>& paths) {
            require(min_samples_leaf > 0, "a leaf has at least one row");
            const std::size_t depth = max_depth.value_or(static_cast<std::size_t>(-1));
            new (self)
                Rules{{depth, min_samples_leaf, min_weight_fraction_leaf, 0.0}, copy_of(monotonic), {}, {}, paths};
          },
          nb::arg("max_depth").none(), nb::arg("min_samples_leaf"), nb::arg("min_weight_fraction_leaf"),
          nb::arg("monotonic").noconvert().none(), nb::arg("paths").none());
}

void bind_prior(nb::module_& module) {
  nb::class_<PartitionPrior>(module, "PartitionPrior", "Prior of the partitions of a node.")
      .def(
          "__init__",
          [](PartitionPrior* self, double split, bool by_depth, bool by_distance, bool subsets, bool proper,
             bool by_column, const Vector<double>& feature_weight) {
            new (self)
                PartitionPrior{split, by_depth, by_distance, subsets, proper, by_column, copy_of(feature_weight), {}};
          },
          nb::arg("split"), nb::arg("by_depth"), nb::arg("by_distance"), nb::arg("subsets"), nb::arg("proper"),
          nb::arg("by_column"), nb::arg("feature_weight").noconvert());

  nb::class_<Oblique>(module, "Oblique", "Splits along hyperplanes of several features.")
      .def(
          "__init__",
          [](Oblique* self, double share, double charge, const std::optional<HyperplaneEffort>& effort) {
            new (self) Oblique{share, charge, effort.value_or(HyperplaneEffort{})};
          },
          nb::arg("share"), nb::arg("charge"), nb::arg("effort") = nb::none());

  nb::class_<HyperplaneEffort>(module, "HyperplaneEffort", "How much work the search for a hyperplane is.")
      .def(
          "__init__",
          [](HyperplaneEffort* self, std::vector<std::size_t> sizes, std::size_t few_rows, std::size_t many_rows,
             std::size_t most_responses, std::size_t n_refits, int n_rounds, std::size_t n_shakes, bool round_off,
             std::size_t n_values, bool fit_few) {
            require(!sizes.empty() && sizes.front() > 1 && std::is_sorted(sizes.begin(), sizes.end()),
                    "hyperplanes have two features or more");
            require(few_rows > 1 && many_rows >= few_rows, "a search has rows");
            require(n_values > 1, "a search has values");
            require(!(fit_few && round_off), "coefficients are rounded where all rows are at hand");
            new (self) HyperplaneEffort{std::move(sizes), few_rows, many_rows, most_responses, n_refits,
                                        n_rounds,         n_shakes, round_off, n_values,       fit_few};
          },
          nb::arg("sizes"), nb::arg("few_rows"), nb::arg("many_rows"), nb::arg("most_responses"), nb::arg("n_refits"),
          nb::arg("n_rounds"), nb::arg("n_shakes"), nb::arg("round_off"), nb::arg("n_values"), nb::arg("fit_few"));
}

void bind_settings(nb::module_& module) {
  nb::class_<Settings>(module, "Settings", "Everything but the data and the outcome's prior that decides on a tree.")
      .def(
          "__init__",
          [](Settings* self, const PartitionPrior& prior, const Rules& rules, double smoothing, bool round_thresholds,
             const Oblique& oblique) {
            require(!rules.constrained() || rules.monotonic.size() == prior.feature_weight.size(),
                    "one direction per feature");
            require(!rules.paths || rules.paths->n_features() == prior.feature_weight.size(),
                    "the sets of columns are those of the table");
            new (self) Settings{prior, rules, smoothing, oblique};
            self->thresholds = round_thresholds ? Thresholds::round : Thresholds::midpoint;
          },
          nb::arg("prior"), nb::arg("rules"), nb::arg("smoothing"), nb::arg("round_thresholds"), nb::arg("oblique"))
      .def(
          "draw_features",
          [](Settings& self, std::uint64_t seed, std::uint64_t tree, std::size_t n_features) {
            self.rules.draw = {seed, tree, n_features};
          },
          nb::arg("seed"), nb::arg("tree"), nb::arg("n_features"),
          "Let each node of the tree with this number use so many features, drawn for it alone.")
      .def(
          "set_row_factor",
          [](Settings& self, double planned, double of_tree) { self.row_factor = {planned, of_tree}; },
          nb::arg("planned"), nb::arg("of_tree"), "Tell what rows count beyond their weights, without being more.");

  nb::class_<Lookahead>(module, "Lookahead", "How far a node looks before it chooses.")
      .def(
          "__init__",
          [](Lookahead* self, std::size_t levels, std::size_t width, std::size_t per_feature) {
            require(width > 0 && per_feature > 0, "look-ahead has a width");
            new (self) Lookahead{levels, width, per_feature};
          },
          nb::arg("levels"), nb::arg("width"), nb::arg("per_feature"));
}

void bind_plan(nb::module_& module) {
  nb::class_<ForestPlan>(module, "ForestPlan", "Which trees a forest has, and how they differ from each other.")
      .def(
          "__init__",
          [](ForestPlan* self, std::uint64_t seed, std::size_t first, std::size_t n_trees, bool resample, bool whole,
             double factor, std::size_t n_features) {
            require(factor > 0.0, "the factor is positive");
            new (self) ForestPlan{seed, first, n_trees, resample, whole, factor, n_features};
          },
          nb::arg("seed"), nb::arg("first"), nb::arg("n_trees"), nb::arg("resample"), nb::arg("whole"),
          nb::arg("factor"), nb::arg("n_features"));
}

void bind_budget(nb::module_& module) {
  nb::class_<Budget>(module, "Budget", "How much of the tree space is explored.")
      .def(
          "__init__",
          [](Budget* self, std::size_t max_nodes, std::optional<double> seconds, bool root_only,
             const nb::object& progress) {
            new (self) Budget{max_nodes, seconds, root_only};
            if (progress.is_none()) return;
            self->progress = [progress](std::size_t n_nodes, double log_evidence) {
              const nb::gil_scoped_acquire held;
              try {
                progress(n_nodes, log_evidence);
              } catch (nb::python_error& error) {  // a signal may arrive while Python runs
                error.restore();
                throw Interrupted();
              }
            };
          },
          nb::arg("max_nodes"), nb::arg("seconds").none(), nb::arg("root_only"), nb::arg("progress").none());
}

}  // namespace

void bind_priors(nb::module_& module) {
  bind_prior(module);
  bind_rules(module);
  bind_settings(module);
  bind_plan(module);
  bind_budget(module);
}

}  // namespace baytree::bindings
