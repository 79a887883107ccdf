#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstring>

#include "data/encode.hpp"
#include "grow.hpp"
#include "growth/levels.hpp"
#include "outcomes/categorical.hpp"
#include "outcomes/rate.hpp"
#include "outcomes/whole.hpp"

namespace baytree::bindings {

namespace {

template <class Value, std::size_t n_axes>
using Block = nb::ndarray<const Value, nb::ndim<n_axes>, nb::c_contig, nb::device::cpu>;
template <class Int>
using Weights = nb::ndarray<const Int, nb::ndim<3>, nb::device::cpu>;  // (open nodes, codes, classes) in any layout
using Wide = Block<std::int64_t, 4>;  // (open nodes, codes, width, 2): the low and the high 64 bits

Whole128 wide_at(const std::int64_t* halves) {
  Whole128 result;
  std::memcpy(&result, halves, sizeof result);  // 64 bits after 64 bits, the low ones first
  return result;
}

template <class T>
typename T::Number number_of(Whole128 whole, double unit) {
  if constexpr (std::is_same_v<typename T::Number, Whole128>) return whole;
  else if constexpr (std::integral<typename T::Number>)
    return static_cast<typename T::Number>(static_cast<double>(whole) * unit);
  else return static_cast<double>(whole) * unit;
}

template <Outcome T>
struct BoundLevels {
  Levels<T> levels;
  double unit;  // of weights

  void grow(const Block<std::int64_t, 2>& rows, const Wide& sums, const Block<std::int64_t, 2>& low,
            const Block<std::int64_t, 2>& high, std::size_t n_threads) {
    const std::size_t n = rows.shape(0), n_codes = levels.n_codes(), width = levels.width();
    require(n > 0 && n <= levels.open().size() && rows.shape(1) == n_codes, "a row for each open node, in order");
    require(sums.shape(0) == n && sums.shape(1) == n_codes && sums.shape(2) == width && sums.shape(3) == 2 &&
                low.shape(0) == n && high.shape(0) == n && low.shape(1) == n_codes && high.shape(1) == n_codes,
            "sums for each open node and code");
    without_gil([&](Interrupt& interrupt) {
      levels.grow(n, n_threads, interrupt, [&](std::size_t i) {
        auto part = [&](const Block<std::int64_t, 2>& of) {
          return std::span<const std::int64_t>(of.data() + i * n_codes, n_codes);
        };
        NodeSums<typename T::Number> result{part(rows), {}, part(low), part(high)};
        result.statistics.resize(n_codes * width);
        for (std::size_t k = 0; k < n_codes * width; ++k)
          result.statistics[k] = number_of<T>(wide_at(sums.data() + 2 * (i * n_codes * width + k)), unit);
        return result;
      });
      return 0;
    });
  }

  template <class Int>
  void grow_classes(const Weights<Int>& weights, const std::optional<Block<std::int64_t, 2>>& rows,
                    std::size_t n_threads) {
    const std::size_t n = weights.shape(0), n_codes = levels.n_codes(), width = levels.width();
    require(n > 0 && n <= levels.open().size() && weights.shape(1) == n_codes && weights.shape(2) == width,
            "weights for each open node, code and class, in order");
    require(!rows || (rows->shape(0) == n && rows->shape(1) == n_codes), "rows for each open node and code");
    without_gil([&](Interrupt& interrupt) {
      levels.grow(n, n_threads, interrupt, [&](std::size_t i) {
        const ClassWeights<Int> own{weights.data() + static_cast<std::ptrdiff_t>(i) * weights.stride(0),
                                    weights.stride(1), weights.stride(2)};
        return sums_of_classes<typename T::Number>(own, rows ? rows->data() + i * n_codes : nullptr, n_codes, width,
                                                   unit);
      });
      return 0;
    });
  }
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

template <Outcome T>
void bind_levels_of(nb::module_& module, const char* name, bool of_classes = false) {
  using Bound = BoundLevels<T>;
  nb::class_<Bound> levels(module, name, "Grows a tree from the sums of its open nodes.");
  auto def_classes = [&]<class Int>(Int) {
    levels.def("grow", &Bound::template grow_classes<Int>, nb::arg("weights").noconvert(),
               nb::arg("rows").noconvert().none(), nb::arg("n_threads"),
               "Split the first open nodes, of which this is what the rows of each class weigh.");
  };
  if (of_classes) def_classes(std::int64_t{}), def_classes(std::int32_t{});
  else
    levels.def("grow", &Bound::grow, nb::arg("rows").noconvert(), nb::arg("sums").noconvert(),
               nb::arg("low").noconvert(), nb::arg("high").noconvert(), nb::arg("n_threads"),
               "Split the first open nodes, of which these are the sums.");
  levels.def_prop_ro("n_codes", [](const Bound& self) { return self.levels.n_codes(); })
      .def_prop_ro("width", [](const Bound& self) { return self.levels.width(); })
      .def_prop_ro(
          "open",
          [](const Bound& self) {
            return array_of(std::vector<std::int64_t>(self.levels.open().begin(), self.levels.open().end()));
          },
          "The nodes whose sums are wanted, in this order.")
      .def(
          "routes", [](const Bound& self) { return arrays_of(self.levels.routes()); },
          "How rows go down the tree so far, by their codes.")
      .def(
          "tree",
          [](Bound& self, std::size_t n_features) {
            return without_gil([&](Interrupt& interrupt) {
                     return filled_fields_of_tree(self.levels.take_nodes(), self.levels.outcome(), n_features, 1,
                                                  interrupt);
                   })
                .to_dict();
          },
          nb::arg("n_features"), "One array per field of the nodes.");
  module.def(
      "levels",
      [](const Columns& columns, const T& outcome, const std::vector<double>& prior, const Settings& settings,
         double unit) {
        require(settings.prior.feature_weight.size() == columns.columns.size(), "one feature weight per column");
        return Bound{Levels<T>(columns, outcome, settings, prior), unit};
      },
      nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"), nb::arg("unit"),
      "Start to grow a tree whose rows live elsewhere.");
}

template <class T>
void bind_whole_rate(nb::module_& module, const char* name) {
  nb::class_<Whole<T>>(module, name, "Events over an exposure, in whole numbers.")
      .def(
          "__init__",
          [](Whole<T>* self, const Vector<std::int64_t>& events, const Vector<std::int64_t>& exposure,
             const Vector<std::int64_t>& log_factor, const std::optional<Vector<std::int64_t>>& weight,
             double weight_unit, const std::vector<double>& scale, bool predicts_duration) {
            require(scale.size() == Whole<T>::kWidth, "a scale for each statistic");
            T of;
            of.predicts_duration = predicts_duration;
            new (self) Whole<T>{of,
                                {scale, 0},
                                {copy_of(events), copy_of(exposure), copy_of(log_factor)},
                                copy_of(weight),
                                weight_unit};
          },
          nb::arg("events").noconvert(), nb::arg("exposure").noconvert(), nb::arg("log_factor").noconvert(),
          nb::arg("weight").noconvert().none(), nb::arg("weight_unit"), nb::arg("scale"),
          nb::arg("predicts_duration") = false);
  bind_growth<Whole<T>>(module);
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
  nb::class_<Whole<Normal>>(module, "WholeNormal", "Real outcomes, in whole numbers.")
      .def(
          "__init__",
          [](Whole<Normal>* self, const Vector<std::int64_t>& y, const std::optional<Vector<std::int64_t>>& weight,
             double weight_unit, const std::vector<double>& scale, std::int64_t centre) {
            require(scale.size() == Whole<Normal>::kWidth, "a scale for each statistic");
            new (self) Whole<Normal>{{}, {scale, centre}, {copy_of(y), {}}, copy_of(weight), weight_unit};
          },
          nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(), nb::arg("weight_unit"), nb::arg("scale"),
          nb::arg("centre"));
  bind_growth<Whole<Normal>>(module);
  bind_whole_rate<GammaRate>(module, "WholeGammaRate");
  bind_whole_rate<BetaRate>(module, "WholeBetaRate");

  bind_levels_of<Categorical<std::uint32_t>>(module, "CategoricalCountsLevels", true);
  bind_levels_of<Categorical<double>>(module, "CategoricalWeightsLevels", true);
  bind_levels_of<Whole<Normal>>(module, "WholeNormalLevels");
  bind_levels_of<Whole<GammaRate>>(module, "WholeGammaRateLevels");
  bind_levels_of<Whole<BetaRate>>(module, "WholeBetaRateLevels");

  module.def("columns_without_rows", &columns_without_rows, nb::arg("bins"), nb::arg("has_missing"),
             nb::arg("is_categorical"), nb::arg("keep_values"), "Columns that are known by their bins alone.");
}

}  // namespace baytree::bindings
