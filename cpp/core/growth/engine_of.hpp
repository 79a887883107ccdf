// The definitions of engine.hpp, for the files that compile it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "growth/engine.hpp"
#include "growth/forest.hpp"
#include "growth/grow_tree.hpp"
#include "growth/leaf_models.hpp"
#include "growth/levels.hpp"
#include "growth/listing.hpp"
#include "growth/refit.hpp"
#include "growth/refit_levels.hpp"
#include "growth/tree_space.hpp"

namespace baytree {

template <Outcome T>
typename Engine<T>::Nodes Engine<T>::grow_tree(const Columns& columns, const T& outcome, const Settings& settings,
                                               const std::vector<double>& root_prior, const Lookahead& lookahead,
                                               std::size_t subtree_rows, std::size_t n_threads, Interrupt& interrupt) {
  return baytree::grow_tree(columns, outcome, settings, root_prior, lookahead, subtree_rows, n_threads, interrupt);
}

template <Outcome T>
ModelTree<typename T::Number> Engine<T>::grow_leaf_models(const Columns& columns, const T& outcome,
                                                          const Settings& settings,
                                                          const std::vector<double>& root_prior, LeafModels& models,
                                                          const LeafSearch& search, std::size_t n_threads,
                                                          Interrupt& interrupt) {
  if constexpr (kOfCodesAlone<T>) throw std::invalid_argument("trees of this outcome are grown of packed codes alone");
  else return baytree::grow_leaf_models(columns, outcome, settings, root_prior, models, search, n_threads, interrupt);
}

template <Outcome T>
std::vector<SpaceNode<typename T::Number>> Engine<T>::explore(const Columns& columns, const T& outcome,
                                                              const Settings& settings,
                                                              const std::vector<double>& root_prior,
                                                              const Budget& budget, std::size_t subtree_rows,
                                                              std::size_t n_threads, Interrupt& interrupt) {
  TreeSpace<T> space(columns, outcome, settings, subtree_rows, n_threads, interrupt);
  space.explore(root_prior, budget);
  return space.take_nodes();
}

template <Outcome T>
PartitionSpace<typename T::Number> Engine<T>::every_partition(const Columns& columns, const T& outcome,
                                                              const Settings& settings,
                                                              const std::vector<double>& root_prior,
                                                              Interrupt& interrupt) {
  return baytree::every_partition(columns, outcome, settings, root_prior, interrupt);
}

template <Outcome T>
double Engine<T>::grow_forest(const Columns& columns, const T& outcome, const Settings& settings,
                              const std::vector<double>& root_prior, const Lookahead& lookahead, const ForestPlan& plan,
                              std::vector<double> weights, std::size_t subtree_rows, std::size_t n_threads,
                              Interrupt& interrupt, FunctionRef<void(std::size_t, const Nodes&)> keep) {
  ForestGrower<T> forest(columns, outcome, settings, root_prior, lookahead, plan, std::move(weights), subtree_rows);
  forest.grow(n_threads, interrupt, keep);
  return forest.rows().weights().unit();
}

template <Outcome T>
typename Engine<T>::Nodes Engine<T>::refit(const Columns& columns, const T& outcome, const Settings& settings,
                                           const std::vector<double>& root_prior, const TreeStructure& structure,
                                           std::size_t subtree_rows, std::size_t n_threads, Interrupt& interrupt) {
  T prepared = outcome;
  Settings completed = settings;
  auto root = make_root(columns, prepared, completed, root_prior, n_threads, interrupt);
  return RefitGrower<T>(columns, prepared, completed, structure, subtree_rows, n_threads, interrupt)
      .grow(std::move(root), all_rows(columns, completed));
}

template <Outcome T>
std::unique_ptr<LevelGrower<typename T::Number>> Engine<T>::refit_levels(Columns columns, T outcome, Settings settings,
                                                                         std::vector<double> root_prior,
                                                                         TreeStructure structure) {
  return std::make_unique<RefitLevels<T>>(std::move(columns), std::move(outcome), std::move(settings),
                                          std::move(root_prior), std::move(structure));
}

template <Outcome T>
std::unique_ptr<LevelGrower<typename T::Number>> Engine<T>::levels(Columns columns, T outcome, Settings settings,
                                                                   std::vector<double> root_prior) {
  return std::make_unique<Levels<T>>(std::move(columns), std::move(outcome), std::move(settings),
                                     std::move(root_prior));
}

}  // namespace baytree
