#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "growth/engine.hpp"
#include "interrupt.hpp"
#include "leaves/leaf_models.hpp"
#include "leaves/linear.hpp"
#include "leaves/logistic.hpp"
#include "node_arrays.hpp"
#include "outcomes.hpp"

namespace baytree::bindings {

namespace {

// Models for the leaves of one table.
struct BoundLeafModels {
  std::shared_ptr<LeafModels> models;
  std::size_t n_rows;
};

std::vector<Term> terms_of(const Columns& columns, const Vector<std::int64_t>& feature,
                           const Vector<std::uint8_t>& kind, const Vector<double>& category,
                           const Vector<double>& log_weight, const Vector<std::int8_t>& direction) {
  const std::size_t n = feature.shape(0);
  require(kind.shape(0) == n && category.shape(0) == n && log_weight.shape(0) == n && direction.shape(0) == n,
          "one entry per term");
  std::vector<Term> terms(n);
  for (std::size_t i = 0; i < n; ++i) {
    require(feature.data()[i] >= 0 && static_cast<std::size_t>(feature.data()[i]) < columns.columns.size(),
            "a term is of a column that does not exist");
    require(kind.data()[i] <= static_cast<std::uint8_t>(TermKind::missing), "a kind of term does not exist");
    terms[i] = {static_cast<std::uint32_t>(feature.data()[i]), static_cast<TermKind>(kind.data()[i]),
                category.data()[i], log_weight.data()[i], direction.data()[i]};
  }
  return terms;
}

// Arrays of the models of many leaves; the terms of model i begin at term_start[i].
nb::dict arrays_of_models(const std::vector<LeafModel>& models) {
  std::vector<std::int64_t> start{0}, term;
  std::vector<double> evidence, lowest, highest, level, coefficient, covariance;
  std::vector<double> centre, scale, low, high;
  for (const LeafModel& model : models) {
    for (const TermScale& scale_of_term : model.terms) {
      term.push_back(scale_of_term.term);
      centre.push_back(scale_of_term.centre), scale.push_back(scale_of_term.scale);
      low.push_back(scale_of_term.low), high.push_back(scale_of_term.high);
    }
    start.push_back(static_cast<std::int64_t>(term.size()));
    evidence.push_back(model.log_evidence), lowest.push_back(model.lowest), highest.push_back(model.highest);
    level.insert(level.end(), model.level.begin(), model.level.end());
    coefficient.insert(coefficient.end(), model.coefficient.begin(), model.coefficient.end());
    covariance.insert(covariance.end(), model.covariance.begin(), model.covariance.end());
  }
  nb::dict result;
  result["term_start"] = array_of(std::move(start));
  result["term"] = array_of(std::move(term));
  result["centre"] = array_of(std::move(centre));
  result["scale"] = array_of(std::move(scale));
  result["low"] = array_of(std::move(low));
  result["high"] = array_of(std::move(high));
  result["log_evidence"] = array_of(std::move(evidence));
  result["lowest"] = array_of(std::move(lowest));
  result["highest"] = array_of(std::move(highest));
  const std::size_t width = models.empty() ? 0 : level.size() / models.size();
  result["level"] = array_of(std::move(level), {models.size(), width});
  result["coefficient"] = array_of(std::move(coefficient));
  result["covariance"] = array_of(std::move(covariance));
  return result;
}

nb::dict fit_leaf(const BoundLeafModels& models, const Vector<std::int64_t>& rows) {
  require(rows.shape(0) > 0, "a leaf has rows");
  std::vector<Row> rows_of_leaf;
  for (const std::int64_t row : span_of(rows)) {
    require(row >= 0 && static_cast<std::size_t>(row) < models.n_rows, "a row does not exist");
    rows_of_leaf.push_back(static_cast<Row>(row));
  }
  LeafScratch scratch;
  std::vector<LeafModel> fitted;
  fitted.push_back(models.models->fit(rows_of_leaf, scratch));
  return arrays_of_models(fitted);
}

nb::tuple grow_leaf_models(const Columns& columns, const BoundOutcome& outcome,
                           const std::vector<double>& outcome_prior, const Settings& settings, BoundLeafModels& models,
                           const LeafSearch& search, std::size_t n_threads) {
  require(outcome.n_rows() == columns.n_rows && models.n_rows == columns.n_rows, "one outcome per row");
  require(settings.prior.feature_weight.size() == columns.columns.size(), "one feature weight per column");
  return with_rows(outcome, [&]<Outcome T>(Engine<T>, const T& of) {
    std::vector<LeafModel> fitted;
    const nb::dict nodes = without_gil([&](Interrupt& interrupt) {
                             auto tree = Engine<T>::grow_leaf_models(columns, of, settings, outcome_prior,
                                                                     *models.models, search, n_threads, interrupt);
                             fitted = std::move(tree.models);
                             return filled_fields_of_tree(std::move(tree.nodes), of, columns.columns.size(), n_threads,
                                                          interrupt);
                           }).to_dict();
    return nb::make_tuple(nodes, arrays_of_models(fitted));
  });
}

}  // namespace

void bind_leaves(nb::module_& module) {
  nb::class_<LeafSearch>(module, "LeafSearch", "How a tree with models in its leaves is searched.")
      .def(nb::init<std::size_t, std::size_t, std::size_t, bool>(), nb::arg("width"), nb::arg("few_rows"),
           nb::arg("n_rounds"), nb::arg("extrapolate"));
  nb::class_<BoundLeafModels>(module, "LeafModels",
                              "Models for the leaves of a table, with terms that evidence chooses.")
      .def("fit", &fit_leaf, nb::arg("rows").noconvert(), "The model of some rows; one array per field.");
  module.def(
      "linear_leaves",
      [](const Columns& columns, const Vector<std::int64_t>& feature, const Vector<std::uint8_t>& kind,
         const Vector<double>& category, const Vector<double>& log_weight, const Vector<std::int8_t>& direction,
         std::size_t most_terms, const Vector<double>& y, const std::optional<Vector<double>>& weight,
         const std::vector<double>& prior) {
        require(y.shape(0) == columns.n_rows, "one outcome per row");
        require(!weight || weight->shape(0) == columns.n_rows, "one weight per row");
        require(prior.size() == 4, "a prior has four parameters");
        auto models = std::make_shared<LinearLeafModels>(
            columns, terms_of(columns, feature, kind, category, log_weight, direction), most_terms, copy_of(y),
            copy_of(weight), prior);
        return BoundLeafModels{std::move(models), columns.n_rows};
      },
      nb::arg("columns"), nb::arg("feature").noconvert(), nb::arg("kind").noconvert(), nb::arg("category").noconvert(),
      nb::arg("log_weight").noconvert(), nb::arg("direction").noconvert(), nb::arg("most_terms"),
      nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(), nb::arg("prior"), nb::keep_alive<0, 1>(),
      "Linear models of y, which is shifted and scaled as for Normal.");
  module.def(
      "logistic_leaves",
      [](const Columns& columns, const Vector<std::int64_t>& feature, const Vector<std::uint8_t>& kind,
         const Vector<double>& category, const Vector<double>& log_weight, const Vector<std::int8_t>& direction,
         std::size_t most_terms, const Vector<std::int64_t>& classes, const std::optional<Vector<double>>& weight,
         const std::vector<double>& prior) {
        require(classes.shape(0) == columns.n_rows, "one class per row");
        require(!weight || weight->shape(0) == columns.n_rows, "one weight per row");
        for (const std::int64_t code : span_of(classes))
          require(code >= 0 && static_cast<std::size_t>(code) < prior.size(), "a class code is out of range");
        auto models = std::make_shared<LogisticLeafModels>(
            columns, terms_of(columns, feature, kind, category, log_weight, direction), most_terms, copy_of(classes),
            copy_of(weight), prior);
        return BoundLeafModels{std::move(models), columns.n_rows};
      },
      nb::arg("columns"), nb::arg("feature").noconvert(), nb::arg("kind").noconvert(), nb::arg("category").noconvert(),
      nb::arg("log_weight").noconvert(), nb::arg("direction").noconvert(), nb::arg("most_terms"),
      nb::arg("classes").noconvert(), nb::arg("weight").noconvert().none(), nb::arg("prior"), nb::keep_alive<0, 1>(),
      "Logistic models of class codes, with the parameters of a Dirichlet prior.");
  module.def("grow_leaf_models", &grow_leaf_models, nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"),
             nb::arg("settings"), nb::arg("models"), nb::arg("search"), nb::arg("n_threads"),
             "Grow a tree with models in its leaves; returns one array per field of its nodes, and of their models.");
}

}  // namespace baytree::bindings
