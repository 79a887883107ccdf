#include <nanobind/stl/optional.h>

#include "../core/prior.hpp"
#include "arrays.hpp"

namespace baytree::bindings {

void bind_priors(nb::module_& module) {
  nb::class_<PartitionPrior>(module, "PartitionPrior", "Prior of the partitions of a node.")
      .def(
          "__init__",
          [](PartitionPrior* self, double split, bool by_depth, bool by_distance, bool subsets, bool proper,
             const Vector<double>& feature_weight) {
            new (self) PartitionPrior{split, by_depth, by_distance, subsets, proper, copy_of(feature_weight), {}};
          },
          nb::arg("split"), nb::arg("by_depth"), nb::arg("by_distance"), nb::arg("subsets"), nb::arg("proper"),
          nb::arg("feature_weight").noconvert());

  nb::class_<Limits>(module, "Limits", "Partitions outside of these do not exist.")
      .def(
          "__init__",
          [](Limits* self, std::optional<std::size_t> max_depth, std::size_t min_samples_leaf,
             double min_weight_fraction_leaf) {
            require(min_samples_leaf > 0, "a leaf has at least one row");
            new (self) Limits{max_depth.value_or(static_cast<std::size_t>(-1)), min_samples_leaf,
                              min_weight_fraction_leaf, 0.0};
          },
          nb::arg("max_depth").none(), nb::arg("min_samples_leaf"), nb::arg("min_weight_fraction_leaf"));

  nb::class_<Settings>(module, "Settings", "Everything but the data and the outcome's prior that decides on a tree.")
      .def(
          "__init__",
          [](Settings* self, const PartitionPrior& prior, const Limits& limits, double smoothing,
             const std::optional<Vector<std::int8_t>>& monotonic) {
            require(!monotonic || monotonic->shape(0) == prior.feature_weight.size(), "one direction per feature");
            new (self) Settings{prior, limits, smoothing, copy_of(monotonic)};
          },
          nb::arg("prior"), nb::arg("limits"), nb::arg("smoothing"), nb::arg("monotonic").noconvert().none());
}

}  // namespace baytree::bindings
