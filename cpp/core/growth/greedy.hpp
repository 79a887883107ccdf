// Grows the greedy-modal tree: every node takes its modal partition, down from the root.
//
// Large nodes are grown level by level, the work of a level shared out over (node, feature); small ones are handed
// over as whole subtrees. Which way a node goes depends on its size alone and no task reads what another writes, so the
// tree is the same for any number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "function_ref.hpp"
#include "growth/expand.hpp"
#include "growth/node_rows.hpp"
#include "growth/nodes.hpp"
#include "growth/subtree.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/divide.hpp"
#include "partitions/histogram.hpp"
#include "partitions/mode.hpp"
#include "partitions/node.hpp"
#include "partitions/node_features.hpp"
#include "partitions/node_hyperplanes.hpp"
#include "partitions/prior.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

// Values (rows times features) that a subtree's lists may have, for its memory.
inline constexpr std::size_t kMostSubtreeValues = std::size_t{1} << 20;
// Rows of a table whose columns, each for itself, a core's cache holds.
inline constexpr std::size_t kRowsInCache = std::size_t{1} << 17;
// Rows of a node that are worth another thread.
inline constexpr std::size_t kFewestLeft = 2048;
// Numbers a row that histograms may keep; they stay in memory for a level.
inline constexpr std::size_t kMostHistogramWidth = 8;

template <Outcome T>
class GreedyGrower {
 public:
  using Number = typename T::Number;

  // The settings and the outcome are those that `make_root` completed.
  GreedyGrower(const Columns& columns, const T& outcome, const Settings& settings, std::size_t subtree_rows,
               std::size_t n_threads, Interrupt& interrupt)
      : columns_(columns), outcome_(outcome), settings_(settings),
        subtree_rows_(std::min(subtree_rows, kMostSubtreeRows)), n_threads_(std::max<std::size_t>(n_threads, 1)),
        interrupt_(interrupt), scratch_(n_threads_) {}

  // The tree below a node of some rows, in depth-first order, the lower child right behind its parent.
  std::vector<Node<Number>> grow(Node<Number> top, std::vector<Row> rows) {
    rows_ = NodeRows(std::move(rows));
    nodes_.clear();
    subtrees_.clear();
    nodes_.push_back(std::move(top));
    std::vector<Task> level;
    hand_out({0, 0, rows_.size()}, level);
    if (!level.empty()) rows_.make_room();
    while (!level.empty()) {
      std::vector<Task> together = n_together(level.size()) == 1 ? std::vector<Task>{level.back()} : level;
      level.resize(level.size() - together.size());
      const std::vector<Task> below = grow_level(std::move(together));
      level.insert(level.end(), below.begin(), below.end());
    }
    for (Scratch& scratch : scratch_) scratch = {};  // small nodes do not need what large ones did
    rows_.give_up_room();
    std::deque<Part> parts = grow_subtrees();
    scratch_ = std::vector<Scratch>(n_threads_);  // the tree is put together where its work space was
    return depth_first(std::move(nodes_), parts);
  }

 private:
  struct Task {
    std::size_t node, begin, end;  // rows_[begin .. end) are the node's
  };

  // The first threshold of a feature among those that are as good as its best.
  struct BestThreshold {
    double lowest_score = kMinusInfinity;  // from which on they are
    Code last_lower = 0;
    double log_location = 0.0, log_likelihood = 0.0;
  };

  // A large node while its level is grown.
  struct Open {
    Task task;
    NodeOutcome<T> node_outcome;
    std::vector<Histogram<Number>> histograms;  // empty: no feature has one, the lists are sorted instead
    std::vector<FeatureScore> scores;
    std::vector<BestThreshold> best_thresholds;  // by feature, where there are histograms
    double best;  // a score (with its prior) that the node's best partition reaches
    double best_split = kMinusInfinity;  // the same of its splits
    std::optional<Settings> drawn = {};  // where it may not use all features
    std::optional<std::size_t> middle = {};  // where the upper child's rows begin, once they are divided
    std::optional<Children<Number>> children = {};  // none: it is a leaf
  };

  // What one thread grows: a subtree, or a part of one that another thread left.
  struct Part {
    Part* parent;  // none: it is a subtree
    std::size_t node;  // of the parent's nodes, or of all
    std::size_t begin, end;  // of rows_, or of the subtree's lists
    typename Subtree<T>::Shared shared;
    std::vector<Node<Number>> nodes;
  };

  struct alignas(kApart) Scratch {
    SubtreeScratch<Number> subtree;
    HistogramScratch histogram;

    FeatureScratch<Number>& feature() { return subtree.feature; }
  };

  std::span<const Row> rows_of(const Task& task) const { return rows_.of(task.begin, task.end); }
  Node<Number>& node_of(const Open& open) { return nodes_[open.task.node]; }
  const Node<Number>& node_of(const Open& open) const { return nodes_[open.task.node]; }
  const Settings& settings_of(const Open& open) const { return open.drawn ? *open.drawn : settings_; }
  double log_prior_of(const Open& open, std::size_t feature) const {
    return NodePrior(settings_of(open).prior, node_of(open).rules.depth).of_feature(feature);
  }

  // Nodes of a level that are open at the same time: all, for all threads to have work and for what they read of a
  // column to be in the cache for all of them; one, which takes less memory, where this gains nothing.
  std::size_t n_together(std::size_t n_nodes) const {
    return n_threads_ == 1 && columns_.n_rows <= kRowsInCache ? 1 : n_nodes;
  }

  // Sends a new node where it is grown: nowhere, as a subtree, or with the next level.
  void hand_out(const Task& task, std::vector<Task>& level) {
    const Node<Number>& node = nodes_[task.node];
    if (!may_split(node, settings_.rules)) return;
    const std::size_t n_rows = task.end - task.begin;
    const bool small = n_rows <= std::min(subtree_rows_, settings_.most_in_lists) &&
                       n_rows * columns_.columns.size() <= kMostSubtreeValues;
    (small ? subtrees_ : level).push_back(task);
  }

  bool use_histograms(const Task& task) const {
    return has_bounds(outcome_) && columns_.has_bins && task.end - task.begin > subtree_rows_ &&
           outcome_.width() <= kMostHistogramWidth && !(settings_.rules.limits.min_weight_fraction_leaf > 0.0) &&
           !settings_.rules.constrained();
  }
  bool has_histogram(const Open& open, std::size_t feature) const {
    const Column& column = columns_.columns[feature];
    return !open.histograms.empty() && !column.is_categorical && !column.has_missing;
  }

  std::vector<Task> grow_level(std::vector<Task> tasks) {
    const std::size_t n_features = columns_.columns.size();
    std::vector<std::optional<Open>> level(tasks.size());
    parallel_for(tasks.size(), n_threads_, interrupt_,
                 [&](std::size_t i, std::size_t) { level[i].emplace(open(tasks[i])); });
    // Feature by feature: what all nodes read of a column is still in the cache when the next node wants it.
    const std::size_t n_nodes = tasks.size();
    parallel_for(n_nodes * n_features, n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      look_at(*level[i % n_nodes], i / n_nodes, scratch_[worker]);
    });
    for (auto& node : level) find_reference(*node);
    score_from_histograms(level);
    std::size_t n_rows = 0;
    for (const Task& task : tasks) n_rows += task.end - task.begin;
    parallel_for(tasks.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      // Where there are fewer nodes than threads, the large ones have several.
      const std::size_t share = n_threads_ * (tasks[i].end - tasks[i].begin) / n_rows;
      expand(*level[i], {std::max<std::size_t>(share, 1), &interrupt_}, scratch_[worker]);
    });
    return next_level(level);
  }

  Open open(const Task& task) const {
    const Node<Number>& node = nodes_[task.node];
    const std::size_t n_features = columns_.columns.size();
    Open result{task,
                NodeOutcome<T>(outcome_, rows_of(task), node),
                std::vector<Histogram<Number>>(use_histograms(task) ? n_features : 0),
                std::vector<FeatureScore>(n_features),
                std::vector<BestThreshold>(use_histograms(task) ? n_features : 0),
                node.log_likelihood + settings_.prior.log_no_split(node.rules.depth, 1.0)};
    settings_of_node(
        settings_, columns_, node, [&](std::size_t f) { return varies(columns_.columns[f], rows_of(task)); },
        result.drawn);
    return result;
  }

  UnsortedFeature<T> unsorted(const Open& open, std::size_t feature) const
    requires BoundedOutcome<T>
  {
    const Column& column = columns_.columns[feature];
    return {column,
            column.n_codes < columns_.n_rows,
            open.node_outcome.outcome,
            open.node_outcome.scorer,
            rows_of(open.task),
            settings_.rules.limits.min_samples_leaf,
            settings_.prior.by_distance};
  }

  // First look at a feature: a histogram where the node has them, the final scores where not.
  void look_at(Open& open, std::size_t feature, Scratch& scratch) const {
    const Column& column = columns_.columns[feature];
    if (column.n_codes < 2 || !settings_of(open).rules.uses(feature)) return;
    if constexpr (BoundedOutcome<T>) {
      if (has_histogram(open, feature)) {
        open.histograms[feature] = make_histogram(unsorted(open, feature), scratch.histogram);
        return;
      }
    }
    list_sorted(open, feature, scratch);
    open.scores[feature] = summarise(scratch.feature().list.splits, settings_.floor_of_sums());
  }

  void find_reference(Open& open) const {
    for (std::size_t f = 0; f < open.histograms.size(); ++f) {
      const Histogram<Number>& histogram = open.histograms[f];
      if (!has_histogram(open, f))
        open.best_split = std::max(open.best_split, log_prior_of(open, f) + open.scores[f].best);
      else if (histogram.n_splits > 0)
        open.best_split = std::max(open.best_split, log_prior_of(open, f) + histogram.best_edge);
    }
    open.best = std::max(open.best, open.best_split);
  }

  // What thresholds of a feature must score (with their prior) to be listed: the best split is needed even where it is
  // invisible beside no split, and what counts in the sums of columns beside the best split.
  double lowest_listed(const Open& open) const {
    const double of_splits = settings_.prior.by_column ? open.best_split - kInvisible : open.best_split;
    return std::min(open.best - kInvisible, of_splits);
  }

  // In some features of some nodes there are thresholds to be listed, which takes a look at all rows. Where these are
  // fewer than there are threads, several share each.
  void score_from_histograms(std::span<std::optional<Open>> level) {
    std::vector<std::pair<Open*, std::size_t>> high;
    for (auto& open : level)
      for (std::size_t f = 0; f < open->histograms.size(); ++f) {
        if (!has_histogram(*open, f)) continue;
        open->scores[f].n_splits = open->histograms[f].n_splits;
        if (open->histograms[f].highest >= lowest_listed(*open) - log_prior_of(*open, f)) high.emplace_back(&*open, f);
      }
    const Threads threads{std::max<std::size_t>(n_threads_ / std::max<std::size_t>(high.size(), 1), 1), &interrupt_};
    parallel_for(high.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      score_from_histogram(*high[i].first, high[i].second, threads, scratch_[worker]);
    });
  }

  void score_from_histogram(Open& open, std::size_t feature, const Threads& threads, Scratch& scratch) const {
    const double log_prior = log_prior_of(open, feature);
    SplitList& splits = scratch.feature().list.splits;
    list_from_histogram(open, feature, lowest_listed(open), threads, scratch);
    open.scores[feature] = summarise(splits, settings_.floor_of_sums());
    if (!splits.numbers.empty())
      open.best_thresholds[feature] = first_threshold(splits,
                                                      as_good_as(log_prior + open.scores[feature].best) - log_prior);
  }

  static BestThreshold first_threshold(const SplitList& splits, double lowest_score) {
    const std::size_t first = first_split(splits, lowest_score);
    return {lowest_score, splits.positions[first], splits.location(first), splits.log_likelihood[first]};
  }

  // All thresholds of a feature that score (with their prior) at least `lowest`.
  void list_from_histogram(const Open& open, std::size_t feature, double lowest, const Threads& threads,
                           Scratch& scratch) const {
    if constexpr (BoundedOutcome<T>)
      list_high_thresholds(unsorted(open, feature), open.histograms[feature], lowest - log_prior_of(open, feature),
                           threads, scratch.feature().list.splits, scratch.histogram);
  }

  SortedFeature<Keyed> list_sorted(const Open& open, std::size_t feature, Scratch& scratch) const {
    return list_feature(columns_, open.node_outcome.scored(node_of(open)), feature, rows_of(open.task), settings_,
                        scratch.feature());
  }

  void expand(Open& open, const Threads& threads, Scratch& scratch) {
    Node<Number>& node = node_of(open);
    forget_histograms(open);
    auto search = [&](double rival) {
      scratch.histogram = {}, scratch.feature() = {};  // what is searched needs room of its own
      const ScoredNode<T> scored = open.node_outcome.scored(node);
      HyperplaneSearchScratch search_scratch;
      return NodeHyperplanes<T>(columns_, scored, rows_of(open.task), settings_of(open), search_scratch, threads.n)
          .find(rival);
    };
    node.partition = modal_partition(node, settings_of(open), open.scores, search,
                                     [&](const Mode& mode) { return pick(mode, open, threads, scratch); });
    if (!node.partition.is_split()) return;
    if (!open.middle)
      open.middle = rows_.divide(open.task.begin, go_lower(columns_, node.partition.split, rows_of(open.task)),
                                 threads);
    open.children = make_children(outcome_, settings_, node, node.partition.split,
                                  rows_.of(open.task.begin, *open.middle), rows_.of(*open.middle, open.task.end),
                                  threads);
  }

  // Those of features that are not the choice, be it by rounding; of a column that is, the threshold is known already.
  void forget_histograms(Open& open) const {
    for (std::size_t f = 0; f < open.histograms.size(); ++f)
      if (log_prior_of(open, f) + open.scores[f].best < open.best_split - 1.0) open.histograms[f] = {};
  }

  // The modal partition of a feature. One from a histogram divides the rows too: that takes the same look at them.
  Partition pick(const Mode& mode, Open& open, const Threads& threads, Scratch& scratch) {
    const auto feature = static_cast<std::size_t>(mode.feature);
    const double log_prior = log_prior_of(open, feature);
    const PartitionList<Number>& list = scratch.feature().list;
    if (has_histogram(open, feature)) {
      BestThreshold& best = open.best_thresholds[feature];
      if (best.lowest_score != mode.lowest_score) {  // another feature is as good but for rounding
        list_from_histogram(open, feature, open.best - 1.0, threads, scratch);
        best = first_threshold(list.splits, mode.lowest_score);
      }
      const Column& column = columns_.columns[feature];
      const auto divided = rows_.divide_by_code(column, open.task.begin, open.task.end, best.last_lower, threads);
      open.middle = divided.middle;
      return {threshold_between(feature, column, divided.lower, divided.upper, Missing::none, settings_.thresholds),
              log_prior + best.log_location, best.log_likelihood};
    }
    const SortedFeature<Keyed> sorted = list_sorted(open, feature, scratch);
    return partition_at(list, first_split(list.splits, mode.lowest_score), feature, columns_, sorted, settings_,
                        log_prior, [rows = rows_of(open.task)](Keyed entry) { return rows[row_in_node(entry)]; });
  }

  std::vector<Task> next_level(std::vector<std::optional<Open>>& level) {
    std::vector<Task> next;
    for (auto& open : level) {
      if (!open->children) continue;
      const std::size_t lower = nodes_.size();
      add_children(nodes_, open->task.node, std::move(*open->children));
      hand_out({lower, open->task.begin, *open->middle}, next);
      hand_out({lower + 1, *open->middle, open->task.end}, next);
    }
    return next;
  }

  std::deque<Part> grow_subtrees() {
    // The longest are taken first: what is left at the end is short, and no thread waits long.
    std::stable_sort(subtrees_.begin(), subtrees_.end(),
                     [](const Task& a, const Task& b) { return a.end - a.begin < b.end - b.begin; });
    std::deque<Part> parts;
    std::vector<Part*> waiting;
    for (const auto& [node, begin, end] : subtrees_) {
      parts.push_back({nullptr, node, begin, end, {}, {nodes_[node]}});
      waiting.push_back(&parts.back());
    }
    std::mutex parts_lock;
    parallel_tasks(std::move(waiting), n_threads_, interrupt_, [&](Part* part, std::size_t worker, auto&& add) {
      grow_part(*part, scratch_[worker].subtree, [&](Part left) {
        const std::lock_guard<std::mutex> guard(parts_lock);
        parts.push_back(std::move(left));
        add(&parts.back());
      });
    });
    return parts;
  }

  // Grows a subtree or a part of one, on one thread; leave(part) leaves some of it to others.
  void grow_part(Part& part, SubtreeScratch<Number>& scratch, FunctionRef<void(Part)> leave) {
    const bool is_whole = !part.parent;
    Subtree<T> subtree = is_whole ? Subtree<T>(columns_, outcome_, settings_, rows_of({0, part.begin, part.end}),
                                               part.nodes, scratch)
                                  : Subtree<T>(columns_, settings_, std::move(part.shared), part.nodes, scratch);
    const std::size_t first = is_whole ? part.begin : 0;
    subtree.grow(interrupt_, {0, part.begin - first, part.end - first}, [&](const typename Subtree<T>::Stretch& below) {
      if (n_threads_ == 1 || below.size() < kFewestLeft) return false;
      leave(Part{&part, below.node, below.begin, below.end, subtree.shared(), {part.nodes[below.node]}});
      if (is_whole) scratch.lists.reset();
      return true;
    });
    part.nodes.shrink_to_fit();  // it is kept while the others grow
  }

  const Columns& columns_;
  const T& outcome_;
  const Settings& settings_;
  std::size_t subtree_rows_;
  std::size_t n_threads_;
  Interrupt& interrupt_;
  NodeRows rows_;
  std::vector<Node<Number>> nodes_;
  std::vector<Task> subtrees_;
  std::vector<Scratch> scratch_;
};

}  // namespace baytree
