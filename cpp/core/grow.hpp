// Grows the greedy-modal tree: every node takes its modal partition, down from the root.
//
// Large nodes are grown level by level, the work of a level shared out over (node, feature); small ones
// are handed over as whole subtrees. Which way a node goes depends on its size alone and no task reads
// what another writes, so the tree is the same for any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "columns.hpp"
#include "divide.hpp"
#include "feature.hpp"
#include "histogram.hpp"
#include "node.hpp"
#include "outcome.hpp"
#include "parallel.hpp"
#include "plant.hpp"
#include "prior.hpp"
#include "subtree.hpp"

namespace baytree {

// Cells (rows times features) that a subtree's lists may have, for its memory.
inline constexpr std::size_t kMostSubtreeCells = std::size_t{1} << 20;
// Numbers a row that histograms may keep; they stay in memory for a level.
inline constexpr std::size_t kMostHistogramWidth = 8;

template <Outcome T>
class Grower {
 public:
  using Number = typename T::Number;

  // The settings and the outcome are those that `plant` completed.
  Grower(const Columns& columns, const T& outcome, const Settings& settings, std::size_t subtree_rows,
         std::size_t n_threads, Interrupt& interrupt)
      : columns_(columns), outcome_(outcome), settings_(settings),
        subtree_rows_(std::min(subtree_rows, kMostSubtreeRows)), n_threads_(std::max<std::size_t>(n_threads, 1)),
        interrupt_(interrupt), scratch_(n_threads_) {}

  // The tree below a node of some rows, in depth-first order, the lower child right behind its parent.
  std::vector<Node<Number>> grow(Node<Number> top, std::vector<Row> rows) {
    rows_ = std::move(rows);
    nodes_.clear();
    subtrees_.clear();
    nodes_.push_back(std::move(top));
    std::vector<Task> level;
    hand_out({0, 0, rows_.size()}, level);
    while (!level.empty()) level = grow_level(std::move(level));
    grow_subtrees();
    return depth_first(std::move(nodes_));
  }

 private:
  struct Task {
    std::size_t node, begin, end;  // rows_[begin .. end) are the node's
  };

  // A large node while its level is grown.
  struct Open {
    Task task;
    T outcome;
    typename T::Node scorer;
    std::vector<Histogram<Number>> histograms;  // empty: no feature has one, the lists are sorted instead
    std::vector<FeatureScore> scores;
    double best;  // a score (with its prior) that the node's best partition reaches
    double best_cut = kMinusInfinity;  // the same of its cuts
    std::size_t middle = 0;  // where the upper child's rows begin; task.begin: it is a leaf
    std::vector<Node<Number>> children = {};
  };

  struct Scratch {
    SubtreeScratch<Number> subtree;
    HistogramScratch histogram;
    PartitionList<Number> list;
    std::vector<Row> rows;
  };

  std::span<const Row> rows_of(const Task& task) const { return {rows_.data() + task.begin, task.end - task.begin}; }

  // Sends a new node where it is grown: nowhere, as a subtree, or with the next level.
  void hand_out(const Task& task, std::vector<Task>& level) {
    const Node<Number>& node = nodes_[task.node];
    if (node.one_outcome || !settings_.limits.allow_split(node.depth, node.n_rows)) return;
    const bool small = node.n_rows <= subtree_rows_ && node.n_rows * columns_.columns.size() <= kMostSubtreeCells;
    (small ? subtrees_ : level).push_back(task);
  }

  bool use_histograms(const Task& task) const {
    return BoundedOutcome<T> && columns_.has_bins && task.end - task.begin > subtree_rows_ &&
           outcome_.width() <= kMostHistogramWidth && !settings_.prior.by_distance && !settings_.limits.limit_cuts() &&
           !settings_.constrained();
  }
  bool has_histogram(const Open& node, std::size_t feature) const {
    const Column& column = columns_.columns[feature];
    return !node.histograms.empty() && !column.is_categorical && !column.has_gaps;
  }

  std::vector<Task> grow_level(std::vector<Task> tasks) {
    const std::size_t n_features = columns_.columns.size();
    std::vector<std::optional<Open>> level(tasks.size());
    parallel_for(tasks.size(), n_threads_, interrupt_,
                 [&](std::size_t i, std::size_t) { level[i].emplace(open(tasks[i])); });
    parallel_for(tasks.size() * n_features, n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      look_at(*level[i / n_features], i % n_features, scratch_[worker]);
    });
    for (auto& node : level) find_reference(*node);
    parallel_for(tasks.size() * n_features, n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      if (has_histogram(*level[i / n_features], i % n_features))
        score_from_histogram(*level[i / n_features], i % n_features, scratch_[worker]);
    });
    parallel_for(tasks.size(), n_threads_, interrupt_,
                 [&](std::size_t i, std::size_t worker) { split(*level[i], tasks.size(), scratch_[worker]); });
    return add_children(level);
  }

  Open open(const Task& task) const {
    const Node<Number>& node = nodes_[task.node];
    T outcome = outcome_.narrowed_to(rows_of(task));
    typename T::Node scorer = outcome.node(node.prior, node.statistics.data());
    const std::size_t n_features = columns_.columns.size();
    return {task,
            std::move(outcome),
            std::move(scorer),
            std::vector<Histogram<Number>>(use_histograms(task) ? n_features : 0),
            std::vector<FeatureScore>(n_features),
            node.log_likelihood + settings_.prior.log_trivial(node.depth, 1.0),
            kMinusInfinity,
            task.begin};
  }

  // First look at a feature: a histogram where the node has them, the final scores where not.
  void look_at(Open& node, std::size_t feature, Scratch& scratch) const {
    const Column& column = columns_.columns[feature];
    if (column.n_codes < 2) return;
    if constexpr (BoundedOutcome<T>) {
      if (has_histogram(node, feature)) {
        node.histograms[feature] = make_histogram(column, columns_.n_rows, node.outcome, node.scorer,
                                                  rows_of(node.task), scratch.histogram);
        return;
      }
    }
    list_sorted(node, feature, scratch);
    node.scores[feature] = summarise(scratch.list.cuts, kMinusInfinity);
  }

  void find_reference(Open& node) const {
    const NodePrior log_prior(settings_.prior, nodes_[node.task.node].depth);
    for (std::size_t f = 0; f < node.histograms.size(); ++f) {
      const Histogram<Number>& histogram = node.histograms[f];
      if (!has_histogram(node, f))
        node.best_cut = std::max(node.best_cut, log_prior.of_feature(f) + node.scores[f].best);
      else if (histogram.n_cuts > 0)
        node.best_cut = std::max(node.best_cut, log_prior.of_feature(f) + histogram.best_edge -
                                                    std::log(static_cast<double>(histogram.n_cuts)));
    }
    node.best = std::max(node.best, node.best_cut);
  }

  void score_from_histogram(Open& node, std::size_t feature, Scratch& scratch) const {
    if (node.histograms[feature].n_cuts == 0) return;
    // The best cut is wanted even where the trivial partition leaves it out of sight.
    list_histogram_cuts(node, feature, std::min(node.best - kInvisible, node.best_cut), scratch);
    node.scores[feature] = summarise(scratch.list.cuts, kMinusInfinity);
    node.scores[feature].n_cuts = node.histograms[feature].n_cuts;
  }

  // All cuts of a feature that score (with their prior) at least `lowest`.
  void list_histogram_cuts(const Open& node, std::size_t feature, double lowest, Scratch& scratch) const {
    const Histogram<Number>& histogram = node.histograms[feature];
    const NodePrior log_prior(settings_.prior, nodes_[node.task.node].depth);
    const double floor = lowest - log_prior.of_feature(feature) + std::log(static_cast<double>(histogram.n_cuts));
    if constexpr (BoundedOutcome<T>)
      list_cuts(histogram, columns_.columns[feature], node.outcome, node.scorer, rows_of(node.task), floor,
                scratch.list.cuts, scratch.histogram);
  }

  // All partitions of a feature; scratch.histogram.order has the rows in its order.
  SortedFeature<Keyed> list_sorted(const Open& node, std::size_t feature, Scratch& scratch) const {
    const Column& column = columns_.columns[feature];
    const SortedFeature<Keyed> sorted = sorted_feature(column, rows_of(node.task), scratch.histogram.order,
                                                       scratch.histogram.spare);
    list_partitions(ScoredNode<T>{node.outcome, node.scorer, nodes_[node.task.node]}, feature, column, sorted,
                    settings_, scratch.list, [&](Keyed entry) { return column.values[key_of(entry)]; });
    return sorted;
  }

  // Where a level has fewer nodes than there are threads, each search for a hyperplane has several.
  void split(Open& open, std::size_t n_nodes, Scratch& scratch) {
    Node<Number>& node = nodes_[open.task.node];
    ObliqueMode oblique;
    if (settings_.oblique.share > 0.0) {
      const ScoredNode<T> scored{open.outcome, open.scorer, node};
      const std::size_t n_threads = std::max<std::size_t>(n_threads_ / n_nodes, 1);
      oblique = ObliqueSearch<T>(columns_, scored, rows_of(open.task), settings_, scratch.subtree.oblique, n_threads)
                    .find(best_axis(node, settings_.prior, open.scores));
    }
    const Mode mode = choose_mode(node, settings_.prior, open.scores, oblique);
    if (mode.feature < 0) return;
    if (mode.is_oblique) {
      node.partition = std::move(oblique.partition);
      open.middle = divide(open.task, go_lower(columns_, node.partition.split, rows_of(open.task)), scratch.rows);
    } else {
      divide_along(mode, open, scratch);
    }
    for (const auto& [begin, end] : {std::pair(open.task.begin, open.middle), std::pair(open.middle, open.task.end)})
      open.children.push_back(
          make_node(outcome_, settings_.smoothing, node.depth + 1, node.prior, rows_of({0, begin, end})));
    if (settings_.constrained())
      bound_children(outcome_, settings_, node, node.partition, open.children[0], open.children[1]);
  }

  // Divides the rows of a node by the modal cut of a feature.
  void divide_along(const Mode& mode, Open& open, Scratch& scratch) {
    Node<Number>& node = nodes_[open.task.node];
    const auto feature = static_cast<std::size_t>(mode.feature);
    const CutList& cuts = scratch.list.cuts;
    std::size_t cut = 0;
    Split& split = node.partition.split;
    if (has_histogram(open, feature)) {
      list_histogram_cuts(open, feature, open.best - 1.0, scratch);
      cut = first_cut(cuts, mode.lowest_score);
      open.middle = divide_by_code(open.task, feature, cuts.positions[cut], split, scratch.rows);
    } else {
      const SortedFeature<Keyed> sorted = list_sorted(open, feature, scratch);
      cut = first_cut(cuts, mode.lowest_score);
      const std::span<const Row> rows = rows_of(open.task);
      split = split_of(scratch.list, cut, feature, columns_.columns[feature], sorted,
                       [&](Keyed entry) { return rows[row_in_node(entry)]; });
      const std::size_t n_lower = divide_order<Number, Keyed>(scratch.list, cut, sorted.n_present,
                                                              scratch.histogram.order);
      std::vector<std::uint8_t> goes_lower(rows.size());
      for (std::size_t i = 0; i < n_lower; ++i) goes_lower[row_in_node(scratch.histogram.order[i])] = 1;
      open.middle = divide(open.task, goes_lower, scratch.rows);
    }
    node.partition.log_prior = NodePrior(settings_.prior, node.depth).of_feature(feature) + cuts.location(cut);
    node.partition.log_likelihood = cuts.log_likelihood[cut];
  }

  // Puts the rows of the lower side first, otherwise in the order they had.
  std::size_t divide(const Task& task, const std::vector<std::uint8_t>& goes_lower, std::vector<Row>& upper) {
    upper.clear();
    std::size_t middle = task.begin;
    for (std::size_t i = task.begin; i < task.end; ++i)
      if (goes_lower[i - task.begin]) rows_[middle++] = rows_[i];
      else upper.push_back(rows_[i]);
    std::copy(upper.begin(), upper.end(), rows_.begin() + static_cast<std::ptrdiff_t>(middle));
    return middle;
  }

  // Puts the rows up to the cut first, in their order; the split lies between the values on either side of the cut.
  std::size_t divide_by_code(const Task& task, std::size_t feature, Code cut, Split& split, std::vector<Row>& upper) {
    const Column& column = columns_.columns[feature];
    upper.clear();
    Row lower_row = 0, upper_row = 0;
    std::size_t middle = task.begin;
    std::visit(
        [&](const auto& codes) {
          Code highest_lower = 0, lowest_upper = column.n_codes;
          for (std::size_t i = task.begin; i < task.end; ++i) {
            const Row row = rows_[i];
            const Code code = codes[row];
            if (code <= cut) {
              if (middle == task.begin || code > highest_lower) highest_lower = code, lower_row = row;
              rows_[middle++] = row;
            } else {
              if (code < lowest_upper) lowest_upper = code, upper_row = row;
              upper.push_back(row);
            }
          }
        },
        column.codes);
    split = threshold_between(feature, column, lower_row, upper_row, Missing::none);
    std::copy(upper.begin(), upper.end(), rows_.begin() + static_cast<std::ptrdiff_t>(middle));
    return middle;
  }

  std::vector<Task> add_children(std::vector<std::optional<Open>>& level) {
    std::vector<Task> next;
    for (auto& open : level) {
      const auto [parent, begin, end] = open->task;
      const std::size_t middle = open->middle, lower = nodes_.size();
      if (middle == begin) continue;
      nodes_[parent].lower = static_cast<std::int64_t>(lower);
      nodes_[parent].upper = static_cast<std::int64_t>(lower + 1);
      for (Node<Number>& child : open->children) nodes_.push_back(std::move(child));
      hand_out({lower, begin, middle}, next);
      hand_out({lower + 1, middle, end}, next);
    }
    return next;
  }

  void grow_subtrees() {
    // The longest first: what is left at the end is short, and no thread waits long.
    std::stable_sort(subtrees_.begin(), subtrees_.end(),
                     [](const Task& a, const Task& b) { return a.end - a.begin > b.end - b.begin; });
    std::vector<std::vector<Node<Number>>> grown(subtrees_.size());
    parallel_for(subtrees_.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      grown[i].push_back(nodes_[subtrees_[i].node]);
      Subtree<T>(columns_, outcome_, settings_, rows_of(subtrees_[i]), grown[i], scratch_[worker].subtree)
          .grow(interrupt_);
    });
    for (std::size_t i = 0; i < grown.size(); ++i) graft(subtrees_[i].node, std::move(grown[i]));
  }

  // The subtree's root takes the node's place; its other nodes go to the end.
  void graft(std::size_t index, std::vector<Node<Number>> grown) {
    const auto shift = static_cast<std::int64_t>(nodes_.size()) - 1;
    for (std::size_t i = 0; i < grown.size(); ++i) {
      if (grown[i].partition.is_split()) grown[i].lower += shift, grown[i].upper += shift;
      if (i == 0) nodes_[index] = std::move(grown[i]);
      else nodes_.push_back(std::move(grown[i]));
    }
  }

  const Columns& columns_;
  const T& outcome_;
  const Settings& settings_;
  std::size_t subtree_rows_;
  std::size_t n_threads_;
  Interrupt& interrupt_;
  std::vector<Row> rows_;
  std::vector<Node<Number>> nodes_;
  std::vector<Task> subtrees_;
  std::vector<Scratch> scratch_;
};

}  // namespace baytree
