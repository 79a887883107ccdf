// Runs a call of the core without the GIL while Python's signal handlers still get their turn.
#pragma once

#include <nanobind/nanobind.h>

#include "../core/parallel.hpp"

namespace baytree::bindings {

namespace nb = nanobind;

template <class Call>
auto without_gil(Call&& call) {
  try {
    const nb::gil_scoped_release released;
    Interrupt interrupt([] {
      const nb::gil_scoped_acquire held;
      return PyErr_CheckSignals() != 0;
    });
    return call(interrupt);
  } catch (const Interrupted&) {
    throw nb::python_error();  // the handler left its exception (KeyboardInterrupt) pending
  }
}

}  // namespace baytree::bindings
