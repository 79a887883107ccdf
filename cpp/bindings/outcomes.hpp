// The outcomes of a table's rows, as Python has them: one class, whatever the engine is compiled for behind it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <utility>
#include <variant>

#include "growth/engine.hpp"

namespace baytree::bindings {

namespace nb = nanobind;

struct BoundOutcome {
  std::variant<Counts, Reals, FixedPoints> form;

  std::size_t n_rows() const {
    return std::visit([](const auto& of) { return of.n_rows(); }, form);
  }
};

// One of the user's kinds of outcome.
template <class T>
struct Bound : BoundOutcome {};

template <class T>
using OutcomeClass = nb::class_<Bound<T>, BoundOutcome>;

// Calls use(engine, outcome) for rows that may be grown in any way.
template <class Use>
decltype(auto) with_rows(const BoundOutcome& outcome, Use&& use) {
  if (const auto* counts = std::get_if<Counts>(&outcome.form)) return use(Engine<Counts>(), *counts);
  if (const auto* reals = std::get_if<Reals>(&outcome.form)) return use(Engine<Reals>(), *reals);
  return use(Engine<Reals>(), std::get<FixedPoints>(outcome.form).as_reals());
}

}  // namespace baytree::bindings
