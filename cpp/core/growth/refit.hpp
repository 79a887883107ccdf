// Makes the nodes that a tree structure has on the rows of a table, and scores them as those of a tree that is grown;
// grows on where the structure asks for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "growth/expand.hpp"
#include "growth/greedy.hpp"
#include "growth/nodes.hpp"
#include "growth/tree_structure.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/location.hpp"
#include "partitions/mode.hpp"
#include "partitions/node.hpp"
#include "partitions/node_features.hpp"
#include "partitions/node_hyperplanes.hpp"
#include "partitions/prior.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

// A child without rows.
template <Outcome T>
Node<typename T::Number> empty_child(const T& outcome, const Settings& settings, const Node<typename T::Number>& parent,
                                     const Split& split, bool is_upper) {
  Node<typename T::Number> child;
  child.rules = parent.rules.below(settings.rules, split, is_upper);
  child.one_outcome = true;
  child.statistics.resize(outcome.width());
  complete_node(outcome, settings, parent.prior, child);
  return child;
}

template <Outcome T>
class RefitGrower {
 public:
  using Number = typename T::Number;

  // The settings and the outcome are those that `make_root` completed.
  RefitGrower(const Columns& columns, const T& outcome, const Settings& settings, const TreeStructure& structure,
              std::size_t subtree_rows, std::size_t n_threads, Interrupt& interrupt)
      : columns_(columns), outcome_(outcome), settings_(settings), structure_(structure), subtree_rows_(subtree_rows),
        n_threads_(std::max<std::size_t>(n_threads, 1)), interrupt_(interrupt) {}

  // The nodes in depth-first order, that of the structure; some of them perhaps without rows.
  std::vector<Node<Number>> grow(Node<Number> root, std::vector<Row> rows) {
    nodes_.assign(structure_.size(), {});
    nodes_[0] = std::move(root);
    forbid(0);
    std::vector<Task> level, growing;
    level.push_back({0, std::move(rows)});
    while (!level.empty()) {
      std::vector<Sides> sides(level.size());
      std::vector<FeatureScratch<Number>> scratch(n_threads_);
      parallel_for(level.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
        sides[i] = expand(level[i].node, level[i].rows, scratch[worker]);
      });
      std::vector<Task> next;
      for (std::size_t i = 0; i < level.size(); ++i) {
        const std::size_t node = level[i].node;
        if (structure_.grow(node) != TreeStructure::kNothing) growing.push_back(std::move(level[i]));
        if (structure_.is_leaf(node)) continue;
        next.push_back({structure_.lower(node), std::move(sides[i].lower)});
        next.push_back({structure_.upper(node), std::move(sides[i].upper)});
      }
      level = std::move(next);
    }
    for (Task& task : growing) grow_below(std::move(task));
    return depth_first(std::move(nodes_));
  }

 private:
  struct Task {
    std::size_t node;
    std::vector<Row> rows;
  };

  Sides expand(std::size_t i, const std::vector<Row>& rows, FeatureScratch<Number>& scratch) {
    Node<Number>& node = nodes_[i];
    if (structure_.grow(i) != TreeStructure::kNothing) return {};
    Sides sides;
    if (!structure_.is_leaf(i)) {
      for (const Row row : rows) (structure_.goes_lower(i, columns_, row) ? sides.lower : sides.upper).push_back(row);
      make_children_of(i, sides);
      forbid(structure_.lower(i)), forbid(structure_.upper(i));
      node.partition = {structure_.split(i), kMinusInfinity, log_likelihood_of_sides(i, rows)};
    }
    if (!rows.empty() && may_split(node, settings_.rules)) node.partition.log_prior = score(i, rows, scratch);
    if (structure_.is_leaf(i)) return {};
    node.lower = static_cast<std::int64_t>(structure_.lower(i)),
    node.upper = static_cast<std::int64_t>(structure_.upper(i));
    return sides;
  }

  void grow_below(Task task) {
    if (task.rows.empty()) return;
    if (structure_.grow(task.node) == TreeStructure::kAnything) {
      GreedyGrower<T> grower(columns_, outcome_, settings_, subtree_rows_, n_threads_, interrupt_);
      graft(nodes_, task.node, grower.grow(std::move(nodes_[task.node]), std::move(task.rows)));
      return;
    }
    Node<Number>& node = nodes_[task.node];
    if (may_split(node, settings_.rules)) node.partition = best_of_feature(task.node, task.rows);
    if (!node.partition.is_split()) return;
    auto children = expand_by(columns_, outcome_, settings_, node, node.partition.split, task.rows).children;
    add_children(nodes_, task.node, std::move(children));
  }

  // The best split by the feature that the structure names for a leaf; none if the feature has none.
  Partition best_of_feature(std::size_t i, std::span<const Row> rows) {
    FeatureScratch<Number> scratch;
    score(i, rows, scratch);
    const Node<Number>& node = nodes_[i];
    const auto f = static_cast<std::size_t>(structure_.grow(i));
    if (!settings_.rules.uses(f) || !node.rules.allows(f) || columns_.columns[f].n_codes < 2) return {};
    const NodeOutcome<T> node_outcome(outcome_, rows, node);
    const auto sorted = list_feature(columns_, node_outcome.scored(node), f, rows, settings_, scratch);
    return best_partition(scratch.list, f, columns_, sorted, settings_,
                          NodePrior(settings_.prior, node.rules.depth).of_feature(f),
                          [&](Keyed entry) { return rows[row_in_node(entry)]; });
  }

  // What the structure forbids from a node on down.
  void forbid(std::size_t i) {
    if (structure_.forbidden(i).empty()) return;
    require(settings_.rules.paths != nullptr, "columns are forbidden by rules of paths");
    nodes_[i].rules.path = settings_.rules.paths->without(*nodes_[i].rules.path, structure_.forbidden(i));
  }

  // Scores all partitions of a node; returns the log prior of the given one.
  double score(std::size_t i, std::span<const Row> rows, FeatureScratch<Number>& scratch) {
    Node<Number>& node = nodes_[i];
    std::optional<Settings> of_node;
    const Settings& settings = settings_of_node(
        settings_, columns_, node, [&](std::size_t f) { return varies(columns_.columns[f], rows); }, of_node);
    const NodeOutcome<T> node_outcome(outcome_, rows, node);
    const bool is_plane = kind_of(structure_.split(i)) == SplitKind::hyperplane;
    const std::int32_t feature = is_plane ? -1 : feature_of(structure_.split(i));
    double location = kMinusInfinity;
    std::vector<FeatureScore> scores(columns_.columns.size());
    score_features(
        scores,
        [&](std::size_t f) -> SplitList* {
          if (!settings.rules.uses(f) || columns_.columns[f].n_codes < 2) return nullptr;
          const auto sorted = list_feature(columns_, node_outcome.scored(node), f, rows, settings_, scratch);
          if (static_cast<std::int32_t>(f) == feature)
            location = log_location_of(scratch.list, sorted, columns_.columns[f], settings_, [&](Keyed entry) {
              return structure_.goes_lower(i, columns_, rows[row_in_node(entry)]);
            });
          return &scratch.list.splits;
        },
        [](std::size_t) { return kMinusInfinity; }, [](std::size_t, const FeatureScore&) {});
    double log_prior = kMinusInfinity;
    BestHyperplane plane;
    if (settings_.oblique.share > 0.0)
      plane = best_hyperplane(i, rows, node_outcome.scored(node), settings, scores, log_prior);
    choose_mode(node, settings, scores, plane);
    if (feature < 0) return log_prior;
    return NodePrior(settings_.prior, node.rules.depth).of_feature(static_cast<std::size_t>(feature)) + location;
  }

  // The best that is found, or the given one; and the log prior of that, if it is a hyperplane.
  BestHyperplane best_hyperplane(std::size_t i, std::span<const Row> rows, const ScoredNode<T>& scored,
                                 const Settings& settings, std::span<const FeatureScore> scores, double& log_prior) {
    const Node<Number>& node = nodes_[i];
    HyperplaneSearchScratch scratch;
    NodeHyperplanes<T> search(columns_, scored, rows, settings, scratch);
    BestHyperplane best = search.find(rival_of_hyperplanes(node, settings_.prior, scores));
    const auto* given = std::get_if<Hyperplane>(&structure_.split(i));
    if (!given) return best;
    log_prior = search.log_prior_of(*given);
    const Partition partition{*given, log_prior, node.partition.log_likelihood};
    if (partition.score() > best.partition.score()) best.partition = partition;
    return best;
  }

  void make_children_of(std::size_t i, const Sides& sides) {
    const Node<Number>& node = nodes_[i];
    Node<Number>&lower = nodes_[structure_.lower(i)], &upper = nodes_[structure_.upper(i)];
    if (!sides.lower.empty() && !sides.upper.empty()) {
      Children<Number> children = make_children(outcome_, settings_, node, structure_.split(i),
                                                std::span<const Row>(sides.lower), std::span<const Row>(sides.upper));
      lower = std::move(children.lower), upper = std::move(children.upper);
      return;
    }
    const auto child = [&](const std::vector<Row>& rows, bool is_upper) {
      if (rows.empty()) return empty_child(outcome_, settings_, node, structure_.split(i), is_upper);
      const NodeRules rules = node.rules.below(settings_.rules, structure_.split(i), is_upper);
      return make_node(outcome_, settings_, rules, node.prior, std::span<const Row>(rows), [](Row row) { return row; });
    };
    lower = child(sides.lower, false), upper = child(sides.upper, true);
  }

  // Of the two sides under the prior of their parent, as splits are scored.
  double log_likelihood_of_sides(std::size_t i, const std::vector<Row>& rows) const {
    const Node<Number>& node = nodes_[i];
    const auto& lower = nodes_[structure_.lower(i)];
    const auto& upper = nodes_[structure_.upper(i)];
    if (rows.empty()) return 0.0;
    return outcome_.log_likelihood(node.prior, lower.statistics.data()) +
           outcome_.log_likelihood(node.prior, upper.statistics.data());
  }

  const Columns& columns_;
  const T& outcome_;
  const Settings& settings_;
  const TreeStructure& structure_;
  std::size_t subtree_rows_, n_threads_;
  Interrupt& interrupt_;
  std::vector<Node<Number>> nodes_;
};

}  // namespace baytree
