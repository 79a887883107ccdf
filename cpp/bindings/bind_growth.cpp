#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "arrays.hpp"
#include "growth/engine.hpp"
#include "growth/forest_rows.hpp"
#include "growth/root.hpp"
#include "interrupt.hpp"
#include "node_arrays.hpp"
#include "outcomes.hpp"

namespace baytree::bindings {

namespace {

void check_shapes(const Columns& columns, const Settings& settings, const BoundOutcome& outcome) {
  require(outcome.n_rows() == columns.n_rows, "one outcome per row");
  require(settings.prior.feature_weight.size() == columns.columns.size(), "one feature weight per column");
  if (settings.prior.by_distance)
    for (const Column& column : columns.columns) require(!column.values.empty(), "distances need values");
}

nb::dict grow(const Columns& columns, const BoundOutcome& outcome, const std::vector<double>& outcome_prior,
              const Settings& settings, const Lookahead& lookahead, std::size_t subtree_rows, std::size_t n_threads) {
  check_shapes(columns, settings, outcome);
  const auto grow_of = [&]<Outcome T>(Engine<T>, const T& of) {
    return without_gil([&](Interrupt& interrupt) {
      return filled_fields_of_tree(
          Engine<T>::grow_tree(columns, of, settings, outcome_prior, lookahead, subtree_rows, n_threads, interrupt), of,
          columns.columns.size(), n_threads, interrupt);
    });
  };
  const auto* fixed_points = std::get_if<FixedPoints>(&outcome.form);
  const bool of_codes = fixed_points && lookahead.levels == 0 && !(settings.oblique.share > 0.0);
  return (of_codes ? grow_of(Engine<FixedPoints>(), *fixed_points) : with_rows(outcome, grow_of)).to_dict();
}

nb::dict refit(const Columns& columns, const BoundOutcome& outcome, const std::vector<double>& outcome_prior,
               const Settings& settings, const TreeStructure& structure, std::size_t subtree_rows,
               std::size_t n_threads) {
  check_shapes(columns, settings, outcome);
  return with_rows(outcome, [&]<Outcome T>(Engine<T>, const T& of) {
    return without_gil([&](Interrupt& interrupt) {
             return filled_fields_of_tree(
                 Engine<T>::refit(columns, of, settings, outcome_prior, structure, subtree_rows, n_threads, interrupt),
                 of, columns.columns.size(), n_threads, interrupt);
           })
        .to_dict();
  });
}

// The nodes of a tree space, and its choices: those of node i begin at choice_start[i].
template <Outcome T>
nb::dict arrays_of_space(const std::vector<SpaceNode<typename T::Number>>& nodes, const T& outcome,
                         std::size_t n_threads) {
  using Choice = typename SpaceNode<typename T::Number>::Choice;
  std::vector<const Choice*> choices;
  std::vector<std::int64_t> start{0};
  for (const auto& node : nodes) {
    for (const Choice& choice : node.choices) choices.push_back(&choice);
    start.push_back(static_cast<std::int64_t>(choices.size()));
  }
  std::vector<const Partition*> partitions;
  for (const Choice* choice : choices) partitions.push_back(&choice->partition);
  Fields of_choices = fields_of_partitions(View(std::move(partitions)));
  of_choices.add<std::int64_t>("children_left", [&](std::size_t i) { return choices[i]->lower; });
  of_choices.add<std::int64_t>("children_right", [&](std::size_t i) { return choices[i]->upper; });
  Fields of_nodes = fields_of_space(
      view_of_nodes(nodes.size(), outcome, [&](std::size_t i) -> const auto& { return nodes[i].node; }));
  of_nodes.add<bool>("complete", [&](std::size_t i) { return nodes[i].complete(); });
  without_gil([&](Interrupt& interrupt) {
    for (Fields* fields : {&of_choices, &of_nodes}) fields->fill(n_threads, interrupt);
  });
  nb::dict result = std::move(of_choices).to_dict();
  result.update(std::move(of_nodes).to_dict());
  result["choice_start"] = array_of(std::move(start));
  return result;
}

nb::dict tree_space(const Columns& columns, const BoundOutcome& outcome, const std::vector<double>& outcome_prior,
                    const Settings& settings, const Budget& budget, std::size_t subtree_rows, std::size_t n_threads) {
  check_shapes(columns, settings, outcome);
  return with_rows(outcome, [&]<Outcome T>(Engine<T>, const T& of) {
    const auto nodes = without_gil([&](Interrupt& interrupt) {
      return Engine<T>::explore(columns, of, settings, outcome_prior, budget, subtree_rows, n_threads, interrupt);
    });
    const bool interrupted = was_interrupted();
    nb::dict result = arrays_of_space(nodes, of, n_threads);
    result["interrupted"] = interrupted;
    return result;
  });
}

nb::dict partition_space(const Columns& columns, const BoundOutcome& outcome, const std::vector<double>& outcome_prior,
                         const Settings& settings) {
  check_shapes(columns, settings, outcome);
  return with_rows(outcome, [&]<Outcome T>(Engine<T>, const T& of) {
    const auto space = without_gil([&](Interrupt& interrupt) {
      return Engine<T>::every_partition(columns, of, settings, outcome_prior, interrupt);
    });
    std::vector<const Partition*> partitions;
    for (const Partition& partition : space.partitions) partitions.push_back(&partition);
    Fields fields = fields_of_partitions(View(std::move(partitions)));
    without_gil([&](Interrupt& interrupt) { fields.fill(1, interrupt); });
    nb::dict result = std::move(fields).to_dict();
    result["log_likelihood"] = space.root.log_likelihood;
    result["log_prior_leaf"] = space.root.log_prior_leaf;
    return result;
  });
}

// Threads that ended leave what they freed to the heaps that they had; this gives it back to the system.
void give_back_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void check_forest(const Columns& columns, const BoundOutcome& outcome, const Settings& settings, const ForestPlan& plan,
                  const std::optional<Vector<double>>& weight) {
  check_shapes(columns, settings, outcome);
  require(!weight || weight->shape(0) == columns.n_rows, "one weight per row");
  require(plan.n_features <= columns.columns.size(), "there are not so many features");
}

nb::dict grow_forest(const Columns& columns, const BoundOutcome& outcome, const std::vector<double>& outcome_prior,
                     const Settings& settings, const Lookahead& lookahead, const ForestPlan& plan,
                     const std::optional<Vector<double>>& weight, std::size_t subtree_rows, std::size_t n_threads) {
  check_forest(columns, outcome, settings, plan, weight);
  return with_rows(outcome, [&]<Outcome T>(Engine<T>, const T& of) {
    double unit = 1.0;
    Fields all = without_gil([&](Interrupt& interrupt) {
      std::vector<Fields> trees(plan.n_trees);
      unit = Engine<T>::grow_forest(columns, of, settings, outcome_prior, lookahead, plan, copy_of(weight),
                                    subtree_rows, n_threads, interrupt, [&](std::size_t i, const auto& nodes) {
                                      const auto get = [&](std::size_t k) -> const auto& { return nodes[k]; };
                                      trees[i] = fields_of_member(view_of_nodes(nodes.size(), of, get));
                                      trees[i].fill(1, interrupt);
                                    });
      // What growing took on many threads, before there are arrays of all trees beside those of each.
      if (n_threads > 1) give_back_memory();
      Fields result = Fields::joined(std::move(trees));
      give_back_memory();  // those of each
      return result;
    });
    nb::dict result = std::move(all).to_dict();
    result["unit"] = unit;
    return result;
  });
}

nb::tuple forest_weights(const Columns& columns, const BoundOutcome& outcome, const Settings& settings,
                         const ForestPlan& plan, const std::optional<Vector<double>>& weight,
                         const Vector<std::int64_t>& rows) {
  check_forest(columns, outcome, settings, plan, weight);
  for (const std::int64_t row : span_of(rows))
    require(row >= 0 && static_cast<std::size_t>(row) < columns.n_rows, "a row does not exist");
  const std::vector<std::uint64_t> marks = std::visit([](const auto& of) { return marks_of_rows(of); }, outcome.form);
  std::vector<double> counts, together;
  without_gil([&](Interrupt&) {
    const ForestRows forest(columns, marks, settings, plan, copy_of(weight));
    const auto add = [&](const std::vector<double>& of_all, std::vector<double>& of_some) {
      for (const std::int64_t row : span_of(rows)) of_some.push_back(of_all[static_cast<std::size_t>(row)]);
    };
    add(forest.weights_together(), together);
    for (std::size_t i = 0; i < plan.n_trees; ++i) {
      stop_if_asked();
      add(forest.weights_of(plan.first + i), counts);
    }
  });
  return nb::make_tuple(array_of(std::move(counts), {plan.n_trees, rows.shape(0)}),
                        array_of(std::move(together), {rows.shape(0)}));
}

}  // namespace

void bind_growth(nb::module_& module) {
  module.def("grow", &grow, nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"),
             nb::arg("lookahead"), nb::arg("subtree_rows"), nb::arg("n_threads"),
             "Grow the tree; returns one array per field of its nodes.");
  module.def(
      "refit", &refit, nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"), nb::arg("settings"),
      nb::arg("structure"), nb::arg("subtree_rows"), nb::arg("n_threads"),
      "The nodes that a tree structure has on the rows of a table, and those that it lets grow; one array per field.");
  module.def("tree_space", &tree_space, nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"),
             nb::arg("settings"), nb::arg("budget"), nb::arg("subtree_rows"), nb::arg("n_threads"),
             "Explore the tree space; returns one array per field of its nodes and of its choices.");
  module.def("partition_space", &partition_space, nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"),
             nb::arg("settings"), "List every partition of the rows.");
  module.def("grow_forest", &grow_forest, nb::arg("columns"), nb::arg("outcome"), nb::arg("outcome_prior"),
             nb::arg("settings"), nb::arg("lookahead"), nb::arg("plan"), nb::arg("weight").noconvert().none(),
             nb::arg("subtree_rows"), nb::arg("n_threads"),
             "Grow the trees of a forest; returns one array per field of their nodes.");
  module.def("forest_weights", &forest_weights, nb::arg("columns"), nb::arg("outcome"), nb::arg("settings"),
             nb::arg("plan"), nb::arg("weight").noconvert().none(), nb::arg("rows").noconvert(),
             "How often each of some rows counts in each tree, with all that are equal to it, and the weight of these "
             "together.");
}

}  // namespace baytree::bindings
