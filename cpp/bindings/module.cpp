#include <nanobind/nanobind.h>

namespace baytree::bindings {
void bind_columns(nanobind::module_& module);
void bind_grow(nanobind::module_& module);
void bind_route(nanobind::module_& module);
}  // namespace baytree::bindings

NB_MODULE(_core, module) {
  module.doc() = "The compiled core of baytree.";
  baytree::bindings::bind_columns(module);
  baytree::bindings::bind_grow(module);
  baytree::bindings::bind_route(module);
}
