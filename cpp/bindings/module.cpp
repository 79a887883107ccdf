#include <nanobind/nanobind.h>

namespace baytree::bindings {
void bind_columns(nanobind::module_& module);
void bind_priors(nanobind::module_& module);
void bind_outcomes(nanobind::module_& module);
void bind_growth(nanobind::module_& module);
void bind_leaves(nanobind::module_& module);
void bind_levels(nanobind::module_& module);
void bind_parts(nanobind::module_& module);
void bind_routers(nanobind::module_& module);
}  // namespace baytree::bindings

NB_MODULE(_core, module) {
  module.doc() = "The compiled core of baytree.";
  // Fitted models hold routers, and may well live until the interpreter exits.
  nanobind::set_leak_warnings(false);
  baytree::bindings::bind_columns(module);
  baytree::bindings::bind_priors(module);
  baytree::bindings::bind_outcomes(module);
  baytree::bindings::bind_growth(module);
  baytree::bindings::bind_leaves(module);
  baytree::bindings::bind_levels(module);
  baytree::bindings::bind_parts(module);
  baytree::bindings::bind_routers(module);
}
