#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "outcomes.hpp"
#include "outcomes/any_outcomes.hpp"

namespace baytree::bindings {

namespace {

Counts form_of(Counts outcome) { return outcome; }
template <Outcome T>
auto form_of(T outcome) {
  return any_outcome(std::move(outcome));
}

// Makes one of the user's kinds of outcome in place.
template <class T>
void make(Bound<T>* self, T outcome) {
  new (self) Bound<T>{{form_of(std::move(outcome))}};
}

template <class Count>
void bind_categorical(nb::module_& module, const char* name, const char* doc) {
  OutcomeClass<Categorical<Count>>(module, name, doc)
      .def(
          "__init__",
          [](Bound<Categorical<Count>>* self, const Vector<Class>& y, const std::optional<Vector<Count>>& weight,
             std::size_t n_classes) {
            require(!weight || weight->shape(0) == y.shape(0), "one weight per row");
            Class highest = 0;
            for (const Class c : span_of(y)) highest = std::max(highest, c);
            require(y.shape(0) == 0 || highest < n_classes, "a class code is out of range");
            make(self, Categorical<Count>{n_classes, copy_of(y), copy_of(weight), {}});
          },
          nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(), nb::arg("n_classes"));
}

void bind_normal(nb::module_& module) {
  OutcomeClass<Normal>(module, "Normal", "Real outcomes, shifted and scaled to mean 0 and variance 1.")
      .def(
          "__init__",
          [](Bound<Normal>* self, const Vector<double>& y, const std::optional<Vector<double>>& weight) {
            require(!weight || weight->shape(0) == y.shape(0), "one weight per row");
            make(self, Normal{copy_of(y), copy_of(weight), false, {}});
          },
          nb::arg("y").noconvert(), nb::arg("weight").noconvert().none());
  OutcomeClass<FixedPoint<Normal>>(module, "FixedPointNormal", "Real outcomes, in whole numbers.")
      .def(
          "__init__",
          [](Bound<FixedPoint<Normal>>* self, const Vector<std::int64_t>& y,
             const std::optional<Vector<std::int64_t>>& weight, double weight_unit, const std::vector<double>& scale,
             std::int64_t centre) {
            require(scale.size() == FixedPoint<Normal>::kWidth, "a scale for each statistic");
            make(self, FixedPoint<Normal>{{}, {scale, centre}, {copy_of(y), {}}, copy_of(weight), weight_unit});
          },
          nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(), nb::arg("weight_unit"), nb::arg("scale"),
          nb::arg("centre"));
}

template <class T>
void bind_rate(nb::module_& module, const char* name, const char* doc) {
  OutcomeClass<T>(module, name, doc)
      .def(
          "__init__",
          [](Bound<T>* self, const Vector<double>& events, const Vector<double>& exposure,
             const Vector<double>& log_factor, const std::optional<Vector<double>>& weight, bool predicts_duration) {
            const std::size_t n = events.shape(0);
            require(exposure.shape(0) == n && log_factor.shape(0) == n, "one exposure and one factor per row");
            require(!weight || weight->shape(0) == n, "one weight per row");
            make(self, T{copy_of(events), copy_of(exposure), copy_of(log_factor), copy_of(weight), predicts_duration});
          },
          nb::arg("events").noconvert(), nb::arg("exposure").noconvert(), nb::arg("log_factor").noconvert(),
          nb::arg("weight").noconvert().none(), nb::arg("predicts_duration") = false);
}

template <class T>
void bind_fixed_point_rate(nb::module_& module, const char* name) {
  OutcomeClass<FixedPoint<T>>(module, name, "Events over an exposure, in whole numbers.")
      .def(
          "__init__",
          [](Bound<FixedPoint<T>>* self, const Vector<std::int64_t>& events, const Vector<std::int64_t>& exposure,
             const Vector<std::int64_t>& log_factor, const std::optional<Vector<std::int64_t>>& weight,
             double weight_unit, const std::vector<double>& scale, bool predicts_duration) {
            require(scale.size() == FixedPoint<T>::kWidth, "a scale for each statistic");
            T of;
            of.predicts_duration = predicts_duration;
            make(self, FixedPoint<T>{of,
                                     {scale, 0},
                                     {copy_of(events), copy_of(exposure), copy_of(log_factor)},
                                     copy_of(weight),
                                     weight_unit});
          },
          nb::arg("events").noconvert(), nb::arg("exposure").noconvert(), nb::arg("log_factor").noconvert(),
          nb::arg("weight").noconvert().none(), nb::arg("weight_unit"), nb::arg("scale"),
          nb::arg("predicts_duration") = false);
}

// A Python function of two arrays that returns an array of a known length.
std::vector<double> call(const nb::object& function, nb::object first, nb::object second, std::size_t length) {
  const nb::object answer = function(first, second);
  Vector<double> array;
  if (!nb::try_cast(answer, array, false) || array.shape(0) != length)
    throw std::invalid_argument("a function of the outcome did not return a float64 vector of the right length");
  return copy_of(array);
}

// The core runs without the GIL; the functions take it back for their call.
CustomFunctions functions_of(std::size_t width, const nb::object& log_marginal, const nb::object& update,
                             const nb::object& mean) {
  CustomFunctions functions;
  functions.log_marginal = [log_marginal, width](const std::vector<double>& sets, const std::vector<double>& prior,
                                                 double* result) {
    const nb::gil_scoped_acquire held;
    const std::size_t n = sets.size() / width;
    const std::vector<double> values = call(log_marginal, array_of(sets, {n, width}), array_of(prior), n);
    std::copy(values.begin(), values.end(), result);
  };
  functions.update = [update, width](const std::vector<double>& prior, const std::vector<double>& set) {
    const nb::gil_scoped_acquire held;
    return call(update, array_of(prior), array_of(set, {width}), prior.size());
  };
  functions.mean = [mean](const std::vector<double>& posterior) {
    const nb::gil_scoped_acquire held;
    return nb::cast<double>(mean(array_of(posterior)));
  };
  return functions;
}

void bind_custom(nb::module_& module) {
  OutcomeClass<Custom>(module, "Custom", "An outcome whose likelihood and update are Python functions.")
      .def(
          "__init__",
          [](Bound<Custom>* self,
             const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& statistics,
             const Vector<double>& weight, const nb::object& log_marginal, const nb::object& update,
             const nb::object& mean) {
            require(weight.shape(0) == statistics.shape(0), "one weight per row");
            const std::size_t width = statistics.shape(1);
            make(self,
                 Custom{width, std::vector<double>(statistics.data(), statistics.data() + statistics.size()),
                        copy_of(weight),
                        std::make_shared<const CustomFunctions>(functions_of(width, log_marginal, update, mean))});
          },
          nb::arg("statistics").noconvert(), nb::arg("weight").noconvert(), nb::arg("log_marginal"), nb::arg("update"),
          nb::arg("mean"));
}

}  // namespace

void bind_outcomes(nb::module_& module) {
  nb::class_<BoundOutcome>(module, "Outcome", "The outcomes of the rows of a table.");
  bind_categorical<std::uint32_t>(module, "CategoricalCounts", "Class labels, each counted a whole number of times.");
  bind_categorical<double>(module, "CategoricalWeights", "Class labels with real weights.");
  bind_normal(module);
  bind_rate<GammaRate>(module, "GammaRate", "Events over an exposure, with a Gamma prior: counts, durations.");
  bind_rate<BetaRate>(module, "BetaRate", "Events over an exposure, with a Beta prior: overdispersed counts.");
  bind_fixed_point_rate<GammaRate>(module, "FixedPointGammaRate");
  bind_fixed_point_rate<BetaRate>(module, "FixedPointBetaRate");
  bind_custom(module);
}

}  // namespace baytree::bindings
