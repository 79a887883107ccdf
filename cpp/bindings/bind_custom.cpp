#include "forest.hpp"
#include "grow.hpp"
#include "outcomes/custom.hpp"

namespace baytree::bindings {

namespace {

// A Python function of two arrays that returns an array of a known length.
std::vector<double> call(const nb::object& function, nb::object first, nb::object second, std::size_t length) {
  const nb::object answer = function(first, second);
  Vector<double> array;
  if (!nb::try_cast(answer, array, false) || array.shape(0) != length)
    throw std::invalid_argument("a function of the outcome did not return a float64 vector of the right length");
  return copy_of(array);
}

}  // namespace

void bind_custom(nb::module_& module) {
  nb::class_<Custom>(module, "Custom", "An outcome whose likelihood and update are Python functions.")
      .def(
          "__init__",
          [](Custom* self, const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& statistics,
             const Vector<double>& weight, const nb::object& log_marginal, const nb::object& update,
             const nb::object& mean) {
            require(weight.shape(0) == statistics.shape(0), "one weight per row");
            const std::size_t width = statistics.shape(1);
            auto functions = std::make_shared<CustomFunctions>();
            // The core runs without the GIL; the functions take it back for their call.
            functions->log_marginal = [log_marginal, width](const std::vector<double>& sets,
                                                            const std::vector<double>& prior, double* result) {
              const nb::gil_scoped_acquire held;
              const std::size_t n = sets.size() / width;
              const std::vector<double> values = call(log_marginal, array_of(sets, {n, width}), array_of(prior), n);
              std::copy(values.begin(), values.end(), result);
            };
            functions->update = [update, width](const std::vector<double>& prior, const std::vector<double>& set) {
              const nb::gil_scoped_acquire held;
              return call(update, array_of(prior), array_of(set, {width}), prior.size());
            };
            functions->mean = [mean](const std::vector<double>& posterior) {
              const nb::gil_scoped_acquire held;
              return nb::cast<double>(mean(array_of(posterior)));
            };
            new (self) Custom{width, std::vector<double>(statistics.data(), statistics.data() + statistics.size()),
                              copy_of(weight), std::move(functions)};
          },
          nb::arg("statistics").noconvert(), nb::arg("weight").noconvert(), nb::arg("log_marginal"), nb::arg("update"),
          nb::arg("mean"));
  bind_growth<Custom>(module);
  bind_forest_of<Custom>(module);
}

}  // namespace baytree::bindings
