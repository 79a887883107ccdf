#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "arrays.hpp"
#include "data/bins.hpp"
#include "data/columns.hpp"
#include "data/encode.hpp"
#include "data/scan.hpp"
#include "interrupt.hpp"
#include "partitions/round_threshold.hpp"

namespace baytree::bindings {

namespace {

using Weights = std::optional<Vector<std::int64_t>>;

Encoding encoding_of(const Vector<std::uint8_t>& is_categorical, std::size_t n_bins, std::size_t max_bins,
                     const Weights& weight, bool keep_values, const AnyTable& table) {
  require(is_categorical.shape(0) == table.n_columns(), "one kind per column");
  require(!weight || weight->shape(0) == table.n_rows(), "one weight per row");
  require(n_bins <= kMostBins, "a bin has 8 bits");
  require(max_bins <= kMostQuantileBins, "a code of a bin has 16 bits");
  return {copy_of(is_categorical), n_bins, keep_values, max_bins,
          weight ? span_of(*weight) : std::span<const std::int64_t>{}};
}

void check_sparse(const SparseTable& table) {
  require(table.value.size() == table.row.size() && table.start.front() == 0 &&
              static_cast<std::size_t>(table.start.back()) == table.value.size() &&
              std::is_sorted(table.start.begin(), table.start.end()),
          "the values of a column come before those of the next");
  for (const std::int32_t row : table.row)
    require(row >= 0 && static_cast<std::size_t>(row) < table.n_rows, "a row is out of range");
  for (std::size_t column = 0; column < table.n_columns; ++column) {
    const SparseColumn sparse = table.column(column);
    require(std::is_sorted(sparse.row.begin(), sparse.row.end()), "the rows of a column are not in ascending order");
  }
}

void bind_codes(nb::module_& module) {
  nb::class_<Columns>(module, "Columns", "The columns of a table as integer codes.")
      .def_ro("n_rows", &Columns::n_rows)
      .def_prop_ro("n_columns", [](const Columns& columns) { return columns.columns.size(); })
      .def(
          "codes",
          [](const Columns& columns, std::size_t column) {
            const Column& coded = columns.columns.at(column);
            std::vector<Code> codes(columns.n_rows);
            for (std::size_t row = 0; row < codes.size(); ++row) codes[row] = coded.code_of(static_cast<Row>(row));
            return array_of(std::move(codes));
          },
          nb::arg("column"), "The rank of each row's value among the distinct values of a column, or its bin.")
      .def(
          "bins",
          [](const Columns& columns, std::size_t column) {
            const Column& coded = columns.columns.at(column);
            return nb::make_tuple(array_of(std::vector<double>(coded.lows)),
                                  array_of(std::vector<double>(coded.highs)));
          },
          nb::arg("column"), "The lowest and the highest value of each quantile bin; empty where there are none.");
}

void bind_thresholds(nb::module_& module) {
  module.def(
      "thresholds_between",
      [](const Vector<double>& lower, const Vector<double>& upper, bool round_numbers) {
        require(lower.shape(0) == upper.shape(0), "as many lower as upper values");
        std::vector<double> result(lower.shape(0));
        std::transform(span_of(lower).begin(), span_of(lower).end(), span_of(upper).begin(), result.begin(),
                       round_numbers ? roundest_between : midpoint);
        return array_of(std::move(result));
      },
      nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("round_numbers"),
      "The threshold between each two values that are neighbours.");
}

void bind_scan(nb::module_& module) {
  module.def(
      "scan",
      [](const Matrix& X, std::size_t n_threads) {
        const Table table = table_of(X);
        const std::vector<ColumnScan> columns = without_gil(
            [&](Interrupt& interrupt) { return scan(table, n_threads, interrupt); });
        const std::size_t n = columns.size();
        std::vector<std::uint64_t> bit_sums(n);
        std::vector<double> lowest(n), highest(n);
        std::vector<std::uint8_t> are_integers(n);
        for (std::size_t k = 0; k < n; ++k) {
          bit_sums[k] = columns[k].bit_sum;
          lowest[k] = columns[k].lowest;
          highest[k] = columns[k].highest;
          are_integers[k] = columns[k].is_integer ? 1 : 0;
        }
        return nb::make_tuple(array_of(std::move(bit_sums)), array_of(std::move(lowest)), array_of(std::move(highest)),
                              array_of_booleans(std::move(are_integers)));
      },
      nb::arg("X").noconvert(), nb::arg("n_threads"),
      "The sum of the bits of each column modulo 2**64, its lowest and highest number, and whether all are integers.");
}

}  // namespace

void bind_columns(nb::module_& module) {
  bind_thresholds(module);
  bind_codes(module);
  bind_scan(module);
  module.def(
      "encode",
      [](const Matrix& X, const Vector<std::uint8_t>& is_categorical, std::size_t n_bins, std::size_t max_bins,
         bool keep_values, std::size_t n_threads, const Weights& weight) {
        require(X.shape(0) > 0, "encode needs at least one row");
        const Table table = table_of(X);
        const Encoding encoding = encoding_of(is_categorical, n_bins, max_bins, weight, keep_values, table);
        return without_gil([&](Interrupt& interrupt) { return encode(table, encoding, n_threads, interrupt); });
      },
      nb::arg("X").noconvert(), nb::arg("is_categorical").noconvert(), nb::arg("n_bins"), nb::arg("max_bins"),
      nb::arg("keep_values"), nb::arg("n_threads"), nb::arg("weight").noconvert() = nb::none(), nb::keep_alive<0, 1>(),
      "Encode a float64 matrix without infinite values; NaN is a missing value. max_bins is 0 where every value has a "
      "code.\n\n"
      "Quantile bins count weights.\n"
      "The columns keep a view of the matrix: it must not change as long as they are in use.");

  module.def(
      "encode_sparse",
      [](std::size_t n_rows, const Vector<double>& value, const Vector<std::int32_t>& row,
         const Vector<std::int64_t>& start, const Vector<std::uint8_t>& is_categorical, std::size_t n_bins,
         std::size_t max_bins, bool keep_values, std::size_t n_threads, const Weights& weight) {
        require(n_rows > 0 && start.shape(0) > 0, "encode needs at least one row");
        const SparseTable table{n_rows, start.shape(0) - 1, span_of(value), span_of(row), span_of(start)};
        const Encoding encoding = encoding_of(is_categorical, n_bins, max_bins, weight, keep_values, table);
        check_sparse(table);
        return without_gil([&](Interrupt& interrupt) { return encode(table, encoding, n_threads, interrupt); });
      },
      nb::arg("n_rows"), nb::arg("value").noconvert(), nb::arg("row").noconvert(), nb::arg("start").noconvert(),
      nb::arg("is_categorical").noconvert(), nb::arg("n_bins"), nb::arg("max_bins"), nb::arg("keep_values"),
      nb::arg("n_threads"), nb::arg("weight").noconvert() = nb::none(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
      nb::keep_alive<0, 4>(), "Encode a matrix by column (compressed sparse columns).");
}

}  // namespace baytree::bindings
