// What grows trees, as whoever wants trees sees it. It is compiled once for each kind of statistics: counts of classes,
// float64, and sums of whole numbers (engine_counts.cpp, engine_reals.cpp, engine_fixed_point.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "data/columns.hpp"
#include "function_ref.hpp"
#include "growth/forest_rows.hpp"
#include "growth/node_sums.hpp"
#include "growth/space_graph.hpp"
#include "growth/tree_structure.hpp"
#include "leaves/leaf_models.hpp"
#include "outcomes/any_outcome.hpp"
#include "outcomes/categorical.hpp"
#include "outcomes/fixed_point.hpp"
#include "parallel.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

// The outcomes that trees are grown of. Those of whole numbers are for tables whose codes are packed, and have trees
// alone; hyperplanes, look-ahead and spaces take them as reals.
using Counts = Categorical<std::uint32_t>;
using Reals = AnyOutcome<double>;
using FixedPoints = AnyOutcome<Int128>;

struct Lookahead {
  std::size_t levels = 0;
  std::size_t width = 1;  // features of a node that are looked into
  std::size_t per_feature = 1;  // best partitions of each; the threshold in the middle comes on top
};

struct Budget {
  std::size_t max_nodes = 0;  // beyond those of the greedy tree; the last step may exceed it by a subtree
  std::optional<double> seconds = {};
  bool root_only = false;  // open no partition but the root's
  std::function<void(std::size_t n_nodes, double log_evidence)> progress = {};  // called after every round
};

// How a tree with models in its leaves is searched.
struct LeafSearch {
  std::size_t width = 5;  // best splits of the outcome that are scored with models, and of the residual
  std::size_t few_rows = 4096;  // of a larger node that is searched on some of its rows
  std::size_t n_rounds = 3;  // of moving the best split to where the models of its two sides divide the rows
  bool extrapolate = false;  // predictions may leave the ranges of the rows of a leaf
};

// A tree with the model of every node.
template <class Number>
struct ModelTree {
  std::vector<Node<Number>> nodes;  // in depth-first order
  std::vector<LeafModel> models;
};

template <class Number>
struct PartitionSpace {
  Node<Number> root;
  std::vector<Partition> partitions;  // feature by feature, splits in ascending order
};

// Grows the greedy-modal tree of rows that live elsewhere. Of the rows nothing is known but, for every open node,
// feature and code, how many there are and what their outcomes add up to. Whoever has the rows sends them down the tree
// so far (`routes`) and answers with the sums of the open nodes (`grow`), until no node is open.
template <class Number>
class LevelGrower {
 public:
  virtual ~LevelGrower() = default;
  virtual std::size_t n_codes() const = 0;
  virtual const std::vector<std::size_t>& open() const = 0;
  virtual Routes routes() const = 0;
  // Splits the first open nodes; of(i) gives the sums of open node i. The others stay open, before the children.
  virtual void grow(std::size_t n_nodes, std::size_t n_threads, Interrupt& interrupt,
                    FunctionRef<NodeSums<Number>(std::size_t)> of) = 0;
  virtual std::vector<Node<Number>> take_nodes() = 0;
};

template <Outcome T>
struct Engine {
  using Number = typename T::Number;
  using Nodes = std::vector<Node<Number>>;  // in depth-first order, the lower child right behind its parent

  // The greedy-modal tree of a table, or one with look-ahead.
  static Nodes grow_tree(const Columns& columns, const T& outcome, const Settings& settings,
                         const std::vector<double>& root_prior, const Lookahead& lookahead, std::size_t subtree_rows,
                         std::size_t n_threads, Interrupt& interrupt);

  // The greedy-modal tree whose leaves hold models.
  static ModelTree<Number> grow_leaf_models(const Columns& columns, const T& outcome, const Settings& settings,
                                            const std::vector<double>& root_prior, LeafModels& models,
                                            const LeafSearch& search, std::size_t n_threads, Interrupt& interrupt);

  // Explores the tree space until the budget is spent, nothing is left, or an interruption; what was explored by then
  // is kept. In the order of their depth, so that children come behind their parents.
  static std::vector<SpaceNode<Number>> explore(const Columns& columns, const T& outcome, const Settings& settings,
                                                const std::vector<double>& root_prior, const Budget& budget,
                                                std::size_t subtree_rows, std::size_t n_threads, Interrupt& interrupt);

  static PartitionSpace<Number> every_partition(const Columns& columns, const T& outcome, const Settings& settings,
                                                const std::vector<double>& root_prior, Interrupt& interrupt);

  // Calls keep(i, nodes) with every tree of a forest, on any thread; returns what a count of 1 in a tree stands for.
  // The outcome counts every row once; `weights` are those of the rows, none: all of 1.
  static double grow_forest(const Columns& columns, const T& outcome, const Settings& settings,
                            const std::vector<double>& root_prior, const Lookahead& lookahead, const ForestPlan& plan,
                            std::vector<double> weights, std::size_t subtree_rows, std::size_t n_threads,
                            Interrupt& interrupt, FunctionRef<void(std::size_t, const Nodes&)> keep);

  // The nodes that a tree structure has on the rows of a table, and those that it lets grow.
  static Nodes refit(const Columns& columns, const T& outcome, const Settings& settings,
                     const std::vector<double>& root_prior, const TreeStructure& structure, std::size_t subtree_rows,
                     std::size_t n_threads, Interrupt& interrupt);

  // The outcome has no rows.
  static std::unique_ptr<LevelGrower<Number>> levels(Columns columns, T outcome, Settings settings,
                                                     std::vector<double> root_prior);
  static std::unique_ptr<LevelGrower<Number>> refit_levels(Columns columns, T outcome, Settings settings,
                                                           std::vector<double> root_prior, TreeStructure structure);
};

}  // namespace baytree
