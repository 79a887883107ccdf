#include <algorithm>

#include "forest.hpp"
#include "grow.hpp"
#include "outcomes/categorical.hpp"

namespace baytree::bindings {

template <class Count>
void bind_counted(nb::module_& module, const char* name, const char* doc) {
  nb::class_<Categorical<Count>>(module, name, doc)
      .def(
          "__init__",
          [](Categorical<Count>* self, const Vector<Class>& y, const std::optional<Vector<Count>>& weight,
             std::size_t n_classes) {
            require(!weight || weight->shape(0) == y.shape(0), "one weight per row");
            Class highest = 0;
            for (const Class c : span_of(y)) highest = std::max(highest, c);
            require(y.shape(0) == 0 || highest < n_classes, "a class code is out of range");
            new (self) Categorical<Count>{n_classes, copy_of(y), copy_of(weight), {}};
          },
          nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(), nb::arg("n_classes"));
  bind_growth<Categorical<Count>>(module);
  bind_forest_of<Categorical<Count>>(module);
}

void bind_categorical(nb::module_& module) {
  bind_counted<std::uint32_t>(module, "CategoricalCounts", "Class labels, each counted a whole number of times.");
  bind_counted<double>(module, "CategoricalWeights", "Class labels with real weights.");
}

}  // namespace baytree::bindings
