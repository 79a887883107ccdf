#include "forest.hpp"
#include "grow.hpp"
#include "outcomes/normal.hpp"
#include "outcomes/rate.hpp"

namespace baytree::bindings {

namespace {

template <class T>
void bind_rate(nb::module_& module, const char* name, const char* doc) {
  nb::class_<T>(module, name, doc)
      .def(
          "__init__",
          [](T* self, const Vector<double>& events, const Vector<double>& exposure, const Vector<double>& log_factor,
             const std::optional<Vector<double>>& weight, bool predicts_duration) {
            const std::size_t n = events.shape(0);
            require(exposure.shape(0) == n && log_factor.shape(0) == n, "one exposure and one factor per row");
            require(!weight || weight->shape(0) == n, "one weight per row");
            new (self) T{copy_of(events), copy_of(exposure), copy_of(log_factor), copy_of(weight), predicts_duration};
          },
          nb::arg("events").noconvert(), nb::arg("exposure").noconvert(), nb::arg("log_factor").noconvert(),
          nb::arg("weight").noconvert().none(), nb::arg("predicts_duration") = false);
  bind_growth<T>(module);
  bind_forest_of<T>(module);
}

}  // namespace

void bind_real(nb::module_& module) {
  nb::class_<Normal>(module, "Normal", "Real outcomes, shifted and scaled to mean 0 and variance 1.")
      .def(
          "__init__",
          [](Normal* self, const Vector<double>& y, const std::optional<Vector<double>>& weight) {
            require(!weight || weight->shape(0) == y.shape(0), "one weight per row");
            new (self) Normal{copy_of(y), copy_of(weight), false, {}};
          },
          nb::arg("y").noconvert(), nb::arg("weight").noconvert().none());
  bind_growth<Normal>(module);
  bind_forest_of<Normal>(module);
  bind_rate<GammaRate>(module, "GammaRate", "Events over an exposure, with a Gamma prior: counts, durations.");
  bind_rate<BetaRate>(module, "BetaRate", "Events over an exposure, with a Beta prior: overdispersed counts.");
}

}  // namespace baytree::bindings
