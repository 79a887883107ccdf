// Runs a call of the core without the GIL while Python's signal handlers still get their turn.
#pragma once

#include <nanobind/nanobind.h>

#include "parallel.hpp"

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
    const WorksUnder here(interrupt);
    return call(interrupt);
  } catch (const Interrupted&) {
    throw nb::python_error();  // the handler left its exception (KeyboardInterrupt) pending
  }
}

// After a call that ended early and kept what it had: whether the user asked for it. Other signals are raised.
inline bool was_interrupted() {
  if (!PyErr_Occurred()) return false;
  if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) throw nb::python_error();
  PyErr_Clear();
  return true;
}

}  // namespace baytree::bindings
