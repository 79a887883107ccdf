#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "data/columns.hpp"
#include "growth/engine.hpp"
#include "interrupt.hpp"
#include "node_arrays.hpp"
#include "outcomes.hpp"

namespace baytree::bindings {

namespace {

template <class Value, std::size_t n_axes>
using Block = nb::ndarray<const Value, nb::ndim<n_axes>, nb::c_contig, nb::device::cpu>;
template <class Int>
using Weights = nb::ndarray<const Int, nb::ndim<3>, nb::device::cpu>;  // (open nodes, codes, classes) in any layout
using Wide = Block<std::int64_t, 4>;  // (open nodes, codes, width, 2): the low and the high 64 bits

Int128 wide_at(const std::int64_t* halves) {
  Int128 result;
  std::memcpy(&result, halves, sizeof result);  // 64 bits after 64 bits, the low ones first
  return result;
}

// A tree that grows from sums, its outcome, and the unit of weights.
class BoundLevels {
 public:
  template <Outcome T>
  BoundLevels(const Columns& columns, const T& outcome, const Settings& settings, const std::vector<double>& prior,
              double unit, const TreeStructure* structure)
      : outcome_{outcome}, grower_(structure ? Engine<T>::refit_levels(columns, outcome, settings, prior, *structure)
                                             : Engine<T>::levels(columns, outcome, settings, prior)),
        unit_(unit) {}

  std::size_t n_codes() const {
    return std::visit([](const auto& of) { return of->n_codes(); }, grower_);
  }
  const std::vector<std::size_t>& open() const {
    return std::visit([](const auto& of) -> const auto& { return of->open(); }, grower_);
  }
  Routes routes() const {
    return std::visit([](const auto& of) { return of->routes(); }, grower_);
  }

  void grow(const Block<std::int64_t, 2>& rows, const Wide& sums, const Block<std::int64_t, 2>& low,
            const Block<std::int64_t, 2>& high, std::size_t n_threads) {
    const std::size_t n = rows.shape(0), n_codes = this->n_codes(), width = this->width();
    auto* grower = std::get_if<Grower<FixedPoints>>(&grower_);
    require(grower, "sums of whole numbers are those of numbers");
    require(n > 0 && n <= open().size() && rows.shape(1) == n_codes, "a row for each open node, in order");
    require(sums.shape(0) == n && sums.shape(1) == n_codes && sums.shape(2) == width && sums.shape(3) == 2 &&
                low.shape(0) == n && high.shape(0) == n && low.shape(1) == n_codes && high.shape(1) == n_codes,
            "sums for each open node and code");
    without_gil([&](Interrupt& interrupt) {
      (*grower)->grow(n, n_threads, interrupt, [&](std::size_t i) {
        auto part = [&](const Block<std::int64_t, 2>& of) {
          return std::span<const std::int64_t>(of.data() + i * n_codes, n_codes);
        };
        NodeSums<Int128> result{part(rows), {}, part(low), part(high)};
        result.statistics.resize(n_codes * width);
        for (std::size_t k = 0; k < n_codes * width; ++k)
          result.statistics[k] = wide_at(sums.data() + 2 * (i * n_codes * width + k));
        return result;
      });
    });
  }

  template <class Int>
  void grow_classes(const Weights<Int>& weights, const std::optional<Block<std::int64_t, 2>>& rows,
                    std::size_t n_threads) {
    const std::size_t n = weights.shape(0), n_codes = this->n_codes(), width = this->width();
    require(n > 0 && n <= open().size() && weights.shape(1) == n_codes && weights.shape(2) == width,
            "weights for each open node, code and class, in order");
    require(!rows || (rows->shape(0) == n && rows->shape(1) == n_codes), "rows for each open node and code");
    std::visit(
        [&]<class Number>(const std::unique_ptr<LevelGrower<Number>>& grower) {
          require(!std::is_same_v<Number, Int128>, "weights of classes are not those of numbers");
          without_gil([&](Interrupt& interrupt) {
            grower->grow(n, n_threads, interrupt, [&](std::size_t i) {
              const ClassWeights<Int> node_weights{weights.data() + static_cast<std::ptrdiff_t>(i) * weights.stride(0),
                                                   weights.stride(1), weights.stride(2)};
              return sums_of_classes<Number>(node_weights, rows ? rows->data() + i * n_codes : nullptr, n_codes, width,
                                             unit_);
            });
          });
        },
        grower_);
  }

  nb::dict tree(std::size_t n_features) {
    return std::visit(
        [&]<Outcome T>(const T& outcome) {
          return without_gil([&](Interrupt& interrupt) {
                   return filled_fields_of_tree(std::get<Grower<T>>(grower_)->take_nodes(), outcome, n_features, 1,
                                                interrupt);
                 })
              .to_dict();
        },
        outcome_);
  }

 private:
  template <Outcome T>
  using Grower = std::unique_ptr<LevelGrower<typename T::Number>>;

  std::size_t width() const {
    return std::visit([](const auto& of) { return of.width(); }, outcome_);
  }

  std::variant<Counts, Reals, FixedPoints> outcome_;
  std::variant<Grower<Counts>, Grower<Reals>, Grower<FixedPoints>> grower_;
  double unit_;
};

nb::dict arrays_of(const Routes& routes) {
  nb::dict result;
  result["feature"] = array_of(std::vector<std::int32_t>(routes.feature));
  result["lower"] = array_of(std::vector<std::int32_t>(routes.lower));
  result["upper"] = array_of(std::vector<std::int32_t>(routes.upper));
  result["start"] = array_of(std::vector<std::int64_t>(routes.start));
  result["goes_lower"] = array_of(std::vector<std::uint8_t>(routes.goes_lower));
  return result;
}

Columns columns_without_rows(const std::vector<std::pair<Vector<double>, Vector<double>>>& bins,
                             const std::vector<bool>& has_missing, const std::vector<bool>& is_categorical,
                             bool keep_values) {
  require(has_missing.size() == bins.size() && is_categorical.size() == bins.size(), "one kind per column");
  Columns result{0, false, {}};
  for (std::size_t f = 0; f < bins.size(); ++f) {
    require(bins[f].first.shape(0) == bins[f].second.shape(0), "a lowest and a highest value for each bin");
    result.columns.push_back(column_without_rows(copy_of(bins[f].first), copy_of(bins[f].second), has_missing[f],
                                                 is_categorical[f], keep_values));
  }
  return result;
}

}  // namespace

void bind_levels(nb::module_& module) {
  nb::class_<BoundLevels> levels(module, "Levels", "Grows a tree from the sums of its open nodes.");
  levels.def("grow", &BoundLevels::grow, nb::arg("rows").noconvert(), nb::arg("sums").noconvert(),
             nb::arg("low").noconvert(), nb::arg("high").noconvert(), nb::arg("n_threads"),
             "Split the first open nodes, of which these are the sums.");
  const auto def_classes = [&]<class Int>(Int) {
    levels.def("grow", &BoundLevels::grow_classes<Int>, nb::arg("weights").noconvert(),
               nb::arg("rows").noconvert().none(), nb::arg("n_threads"),
               "Split the first open nodes, of which this is what the rows of each class weigh.");
  };
  def_classes(std::int64_t{}), def_classes(std::int32_t{});
  levels.def_prop_ro("n_codes", &BoundLevels::n_codes)
      .def_prop_ro(
          "open",
          [](const BoundLevels& self) {
            return array_of(std::vector<std::int64_t>(self.open().begin(), self.open().end()));
          },
          "The nodes whose sums are wanted, in this order.")
      .def(
          "routes", [](const BoundLevels& self) { return arrays_of(self.routes()); },
          "How rows go down the tree so far, by their codes.")
      .def("tree", &BoundLevels::tree, nb::arg("n_features"), "One array per field of the nodes.");
  module.def(
      "levels",
      [](const Columns& columns, const BoundOutcome& outcome, const std::vector<double>& prior,
         const Settings& settings, double unit, const TreeStructure* structure) {
        require(settings.prior.feature_weight.size() == columns.columns.size(), "one feature weight per column");
        return std::visit([&](const auto& of) { return BoundLevels(columns, of, settings, prior, unit, structure); },
                          outcome.form);
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"), nb::arg("unit"),
      nb::arg("structure").none() = nb::none(),
      "Start to grow a tree from histograms of its open nodes; or to score a tree structure.");

  module.def("columns_without_rows", &columns_without_rows, nb::arg("bins"), nb::arg("has_missing"),
             nb::arg("is_categorical"), nb::arg("keep_values"), "Columns that are known by their bins alone.");
}

}  // namespace baytree::bindings
