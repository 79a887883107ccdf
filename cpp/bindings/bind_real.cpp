#include "grow.hpp"
#include "outcomes/gamma_rate.hpp"
#include "outcomes/normal.hpp"

namespace baytree::bindings {

void bind_real(nb::module_& module) {
  nb::class_<Normal>(module, "Normal", "Real outcomes, shifted and scaled to mean 0 and variance 1.")
      .def(
          "__init__",
          [](Normal* self, const Vector<double>& y, const std::optional<Vector<double>>& weight) {
            require(!weight || weight->shape(0) == y.shape(0), "one weight per row");
            new (self) Normal{copy_of(y), copy_of(weight), {}};
          },
          nb::arg("y").noconvert(), nb::arg("weight").noconvert().none());
  bind_growth<Normal>(module);

  nb::class_<GammaRate>(module, "GammaRate", "Events over an exposure: counts, durations.")
      .def(
          "__init__",
          [](GammaRate* self, const Vector<double>& events, const Vector<double>& exposure,
             const Vector<double>& log_factor, const std::optional<Vector<double>>& weight, bool predicts_duration) {
            const std::size_t n = events.shape(0);
            require(exposure.shape(0) == n && log_factor.shape(0) == n, "one exposure and one factor per row");
            require(!weight || weight->shape(0) == n, "one weight per row");
            new (self)
                GammaRate{copy_of(events), copy_of(exposure), copy_of(log_factor), copy_of(weight), predicts_duration};
          },
          nb::arg("events").noconvert(), nb::arg("exposure").noconvert(), nb::arg("log_factor").noconvert(),
          nb::arg("weight").noconvert().none(), nb::arg("predicts_duration"));
  bind_growth<GammaRate>(module);
}

}  // namespace baytree::bindings
