// What the parts of a table are asked where the rows live elsewhere.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <utility>

#include "arrays.hpp"
#include "data/columns.hpp"
#include "data/hashes.hpp"
#include "data/intervals.hpp"
#include "data/tally.hpp"
#include "interrupt.hpp"

namespace baytree::bindings {

namespace {

template <class Value, std::size_t n_axes>
using Block = nb::ndarray<const Value, nb::ndim<n_axes>, nb::c_contig, nb::device::cpu>;
using Ends = std::vector<Vector<double>>;  // by column
using Weights = std::optional<Vector<std::int64_t>>;

std::span<const std::int64_t> weights_of(const Weights& weight, const Table& table) {
  require(!weight || weight->shape(0) == table.n_rows, "one weight per row");
  return weight ? span_of(*weight) : std::span<const std::int64_t>{};
}

// each(i, column, finder) for some columns of a table.
template <class Each>
void each_finder(const Table& table, const std::vector<std::size_t>& columns, const Ends& ends, std::size_t n_threads,
                 Each&& each) {
  require(columns.size() == ends.size(), "ends for each column");
  for (const std::size_t column : columns) require(column < table.n_columns, "a column is out of range");
  without_gil([&](Interrupt& interrupt) {
    parallel_for(columns.size(), n_threads, interrupt,
                 [&](std::size_t i, std::size_t) { each(i, columns[i], interval_finder(copy_of(ends[i]))); });
    return 0;
  });
}

nb::list interval_counts(const Matrix& X, const std::vector<std::size_t>& columns, const Ends& ends,
                         std::size_t most_distinct, const Weights& weight, std::size_t n_threads) {
  const Table table = table_of(X);
  const std::span<const std::int64_t> of_rows = weights_of(weight, table);
  std::vector<IntervalCounts> by_column(columns.size());
  each_finder(table, columns, ends, n_threads, [&](std::size_t i, std::size_t column, const BinFinder& finder) {
    by_column[i] = count_intervals(table, column, finder, most_distinct, of_rows);
  });
  nb::list result;
  for (IntervalCounts& of_column : by_column)
    result.append(nb::make_tuple(array_of(std::move(of_column.counts)), array_of(std::move(of_column.lows)),
                                 array_of(std::move(of_column.distinct))));
  return result;
}

nb::list values_in_intervals(const Matrix& X, const std::vector<std::size_t>& columns, const Ends& ends,
                             const std::vector<Vector<std::uint8_t>>& chosen, const Weights& weight,
                             std::size_t n_threads) {
  const Table table = table_of(X);
  const std::span<const std::int64_t> of_rows = weights_of(weight, table);
  require(chosen.size() == columns.size(), "a choice for each column");
  for (std::size_t i = 0; i < chosen.size(); ++i)
    require(chosen[i].shape(0) == ends[i].shape(0) + 1, "a choice for each interval");
  std::vector<ChosenValues> by_column(columns.size());
  each_finder(table, columns, ends, n_threads, [&](std::size_t i, std::size_t column, const BinFinder& finder) {
    by_column[i] = values_in(table, column, finder, span_of(chosen[i]), of_rows);
  });
  nb::list result;
  for (ChosenValues& of_column : by_column)
    result.append(nb::make_tuple(array_of(std::move(of_column.values)),
                                 weight ? array_of(std::move(of_column.weight)) : nb::object(nb::none())));
  return result;
}

nb::object encode_part_of(const Matrix& X, const Ends& highs, const std::vector<bool>& has_missing,
                          const std::vector<bool>& is_left_out, bool two_bytes, std::size_t n_threads) {
  const Table table = table_of(X);
  require(
      highs.size() == table.n_columns && has_missing.size() == table.n_columns && is_left_out.size() == table.n_columns,
      "bins for each column");
  std::vector<CodedColumn> columns;
  for (std::size_t f = 0; f < table.n_columns; ++f) {
    const std::size_t n_bins = highs[f].shape(0);
    require(n_bins + has_missing[f] <= (two_bytes ? 65536u : 256u), "a code for each bin");
    columns.push_back({interval_finder(copy_of(highs[f])), n_bins, has_missing[f], is_left_out[f]});
  }
  auto codes = [&]<class Int>(Int) {
    return array_of(
        without_gil([&](Interrupt& interrupt) { return encode_part<Int>(table, columns, n_threads, interrupt); }),
        {table.n_rows, table.n_columns});
  };
  return two_bytes ? codes(std::uint16_t{}) : codes(std::uint8_t{});
}

// How rows go down a tree, as Python has it.
struct BoundRoutes {
  Vector<std::int32_t> feature, lower, upper;
  Vector<std::int64_t> start;
  Vector<std::uint8_t> goes_lower;
  Vector<std::int32_t> open;
  std::size_t n_open;

  RouteView view() const {
    return {span_of(feature), span_of(lower), span_of(upper), span_of(start), span_of(goes_lower), span_of(open)};
  }
};

template <class Int>
CodeTable<Int> code_table(const Block<Int, 2>& codes, const Vector<std::int64_t>& first) {
  require(first.shape(0) == codes.shape(1) + 1, "a first code for each column, and the end");
  return {codes.data(), codes.shape(0), codes.shape(1), span_of(first)};
}

template <class Int>
RowsByNode node_rows(const CodeTable<Int>& table, const BoundRoutes& routes, std::size_t n_threads,
                     Interrupt& interrupt) {
  return RowsByNode(open_nodes_of(table, routes.view(), n_threads, interrupt), routes.n_open);
}

template <class Int>
nb::tuple tally_classes_of(const Block<Int, 2>& codes, const Vector<std::int64_t>& first, const BoundRoutes& routes,
                           const Vector<std::int64_t>& classes, const std::optional<Vector<std::int64_t>>& weight,
                           std::size_t n_classes, std::size_t n_threads) {
  const CodeTable<Int> table = code_table(codes, first);
  require(classes.shape(0) == table.n_rows && (!weight || weight->shape(0) == table.n_rows), "one outcome per row");
  ClassTally tally = without_gil([&](Interrupt& interrupt) {
    return tally_classes(table, node_rows(table, routes, n_threads, interrupt), span_of(classes),
                         weight ? std::optional(span_of(*weight)) : std::nullopt, n_classes, n_threads, interrupt);
  });
  const std::size_t n = routes.n_open, n_codes = table.n_codes();
  return nb::make_tuple(array_of(std::move(tally.weights), {n, n_codes, n_classes}),
                        weight ? array_of(std::move(tally.rows), {n, n_codes}) : nb::none());
}

template <class Int>
nb::tuple tally_numbers_of(const Block<Int, 2>& codes, const Vector<std::int64_t>& first, const BoundRoutes& routes,
                           const Block<std::int64_t, 2>& numbers, const std::optional<Vector<std::int64_t>>& weight,
                           std::size_t n_threads) {
  const CodeTable<Int> table = code_table(codes, first);
  require(numbers.shape(0) == table.n_rows && (!weight || weight->shape(0) == table.n_rows), "one outcome per row");
  require(numbers.shape(1) == 1 || numbers.shape(1) == 2, "one number or two");
  const TallyRows rows{
      {numbers.data(), numbers.size()}, numbers.shape(1), weight ? span_of(*weight) : std::span<const std::int64_t>{}};
  Tally totals = without_gil([&](Interrupt& interrupt) {
    return tally(table, node_rows(table, routes, n_threads, interrupt), rows, n_threads, interrupt);
  });
  const std::size_t n = routes.n_open, n_codes = table.n_codes();
  std::vector<std::int64_t> halves(2 * totals.sums.size());
  std::memcpy(halves.data(), totals.sums.data(), halves.size() * sizeof(std::int64_t));
  return nb::make_tuple(array_of(std::move(totals.rows), {n, n_codes}),
                        array_of(std::move(halves), {n, n_codes, rows.width(), 2}),
                        array_of(std::move(totals.low), {n, n_codes}), array_of(std::move(totals.high), {n, n_codes}));
}

template <class Int>
Columns columns_of_codes(const Block<Int, 2>& codes, const std::vector<std::pair<Vector<double>, Vector<double>>>& bins,
                         const std::vector<bool>& has_missing, const std::vector<bool>& is_categorical,
                         bool keep_values) {
  const std::size_t n = codes.shape(0), d = codes.shape(1);
  require(bins.size() == d && has_missing.size() == d && is_categorical.size() == d, "bins for each column");
  Columns result{n, false, std::vector<Column>(d)};
  for (std::size_t f = 0; f < d; ++f) {
    require(bins[f].first.shape(0) == bins[f].second.shape(0), "a lowest and a highest value for each bin");
    Column& column = result.columns[f];
    column.n_codes = static_cast<Code>(bins[f].first.shape(0)) + has_missing[f];
    column.has_missing = has_missing[f];
    column.is_categorical = is_categorical[f];
    column.codes = PackedCodes<Int>{nullptr, codes.data() + f, n, d};
    column.set_bins(copy_of(bins[f].first), copy_of(bins[f].second), keep_values);
  }
  return result;
}

template <class Int>
void bind_codes(nb::module_& module) {
  module.def(
      "open_nodes",
      [](const Block<Int, 2>& codes, const Vector<std::int64_t>& first, const BoundRoutes& routes,
         std::size_t n_threads) {
        const CodeTable<Int> table = code_table(codes, first);
        return array_of(without_gil(
            [&](Interrupt& interrupt) { return open_nodes_of(table, routes.view(), n_threads, interrupt); }));
      },
      nb::arg("codes").noconvert(), nb::arg("first").noconvert(), nb::arg("routes"), nb::arg("n_threads"),
      "The open node that each row is in, or -1.");
  module.def(
      "tally_classes", &tally_classes_of<Int>, nb::arg("codes").noconvert(), nb::arg("first").noconvert(),
      nb::arg("routes"), nb::arg("classes").noconvert(), nb::arg("weight").noconvert().none(), nb::arg("n_classes"),
      nb::arg("n_threads"),
      "What the rows of the open nodes weigh by code and class and, where weights are given, how many they are.");
  module.def("tally_numbers", &tally_numbers_of<Int>, nb::arg("codes").noconvert(), nb::arg("first").noconvert(),
             nb::arg("routes"), nb::arg("numbers").noconvert(), nb::arg("weight").noconvert().none(),
             nb::arg("n_threads"), "Rows, sums and extremes of the open nodes, by code.");
  module.def("columns_of_codes", &columns_of_codes<Int>, nb::arg("codes").noconvert(), nb::arg("bins"),
             nb::arg("has_missing"), nb::arg("is_categorical"), nb::arg("keep_values"), nb::keep_alive<0, 1>(),
             "Columns whose codes are known; they keep a view of them.");
}

Int128 wide_at(const std::int64_t* halves) {
  Int128 result;
  std::memcpy(&result, halves, sizeof result);  // 64 bits after 64 bits, the low ones first
  return result;
}

}  // namespace

void bind_parts(nb::module_& module) {
  module.def("interval_counts", &interval_counts, nb::arg("X").noconvert(), nb::arg("columns"), nb::arg("ends"),
             nb::arg("most_distinct"), nb::arg("weight").noconvert().none(), nb::arg("n_threads"),
             "Values of some columns between ends: their number or weight, the lowest, and all where they are few.");
  module.def("values_in_intervals", &values_in_intervals, nb::arg("X").noconvert(), nb::arg("columns"), nb::arg("ends"),
             nb::arg("chosen"), nb::arg("weight").noconvert().none(), nb::arg("n_threads"),
             "For some columns: the values that lie in chosen intervals, and the weights of their rows.");
  module.def(
      "hash_sums",
      [](const Matrix& X) {
        const Table table = table_of(X);
        return array_of(without_gil([&](Interrupt&) { return hash_sums(table); }));
      },
      nb::arg("X").noconvert(), "The sum of the hashes of the values of each column, modulo 2**64.");
  module.def(
      "row_hashes",
      [](const Matrix& X, std::size_t n_threads) {
        const Table table = table_of(X);
        return array_of(without_gil([&](Interrupt& interrupt) { return row_hashes(table, n_threads, interrupt); }));
      },
      nb::arg("X").noconvert(), nb::arg("n_threads"), "The sum of the hashes of the values of each row, modulo 2**64.");
  module.def(
      "encode_part", &encode_part_of, nb::arg("X").noconvert(), nb::arg("highs"), nb::arg("has_missing"),
      nb::arg("is_left_out"), nb::arg("two_bytes"), nb::arg("n_threads"),
      "The bin of each value, those of a row side by side; NaN is behind the last. A bin up to infinity takes all.");
  nb::class_<BoundRoutes>(module, "Routes", "How rows go down a tree by their codes, and which of its nodes are open.")
      .def(nb::init<Vector<std::int32_t>, Vector<std::int32_t>, Vector<std::int32_t>, Vector<std::int64_t>,
                    Vector<std::uint8_t>, Vector<std::int32_t>, std::size_t>(),
           nb::arg("feature").noconvert(), nb::arg("lower").noconvert(), nb::arg("upper").noconvert(),
           nb::arg("start").noconvert(), nb::arg("goes_lower").noconvert(), nb::arg("opened").noconvert(),
           nb::arg("n_open"));
  bind_codes<std::uint8_t>(module);
  bind_codes<std::uint16_t>(module);
  module.def(
      "add_wide",
      [](nb::ndarray<std::int64_t, nb::c_contig, nb::device::cpu> into,
         nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu> other) {
        require(into.size() == other.size() && into.size() % 2 == 0, "sums of the same shape");
        for (std::size_t i = 0; i < into.size(); i += 2) {
          const Int128 sum = wide_at(into.data() + i) + wide_at(other.data() + i);
          std::memcpy(into.data() + i, &sum, sizeof sum);
        }
      },
      nb::arg("into").noconvert(), nb::arg("other").noconvert(), "Add whole numbers of 128 bits, halves side by side.");
}

}  // namespace baytree::bindings
