#include <nanobind/stl/vector.h>

#include "../core/columns.hpp"
#include "arrays.hpp"
#include "interrupt.hpp"

namespace baytree::bindings {

void bind_columns(nb::module_& module) {
  nb::class_<Columns>(module, "Columns", "The columns of a table as integer codes.")
      .def_ro("n_rows", &Columns::n_rows)
      .def_prop_ro("n_columns", [](const Columns& columns) { return columns.columns.size(); })
      .def(
          "codes",
          [](const Columns& columns, std::size_t column) {
            return std::visit([](const auto& codes) { return array_of(std::vector<Code>(codes.begin(), codes.end())); },
                              columns.columns.at(column).codes);
          },
          nb::arg("column"), "The rank of each row's value among the distinct values of a column.");

  module.def(
      "encode",
      [](const Matrix& X, std::size_t n_bins, std::size_t n_threads) {
        require(X.shape(0) > 0, "encode needs at least one row");
        require(n_bins <= kMostBins, "a bin has 8 bits");
        const Table table = table_of(X);
        return without_gil([&](Interrupt& interrupt) { return encode(table, n_bins, n_threads, interrupt); });
      },
      nb::arg("X").noconvert(), nb::arg("n_bins"), nb::arg("n_threads"), "Encode a float64 matrix of finite values.");
}

}  // namespace baytree::bindings
