// Grows the whole subtree below a small node on one thread. The rows are sorted by every feature once;
// going down, each sorted list is divided in two and stays sorted, so a level costs one pass over the
// lists. Everything a subtree touches fits in a core's cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "columns.hpp"
#include "divide.hpp"
#include "feature.hpp"
#include "node.hpp"
#include "oblique.hpp"
#include "outcome.hpp"
#include "prior.hpp"

namespace baytree {

// 16 bits for the rank of a value in the subtree, 16 for the row.
struct SmallEntry {
  std::uint32_t packed;
};
inline SmallEntry small_entry(std::uint32_t rank, std::uint32_t row) { return {rank << 16 | row}; }
inline std::uint32_t row_in_node(SmallEntry entry) { return entry.packed & 0xffff; }
inline std::uint32_t rank_of(SmallEntry entry) { return entry.packed >> 16; }
inline bool same_value(SmallEntry a, SmallEntry b) { return (a.packed ^ b.packed) < 0x10000; }

inline constexpr std::size_t kMostSubtreeRows = std::size_t{1} << 16;  // what 16 bits can number

template <class Number>
struct SubtreeScratch {
  std::vector<SmallEntry> lists;  // one list per feature, one behind the other
  std::vector<SmallEntry> upper;
  std::vector<Keyed> order, spare;
  std::vector<std::uint8_t> goes_lower;  // by row
  std::vector<std::uint8_t> has_ties;    // by feature
  std::vector<std::uint32_t> gap_rank;   // by feature: the rank of gaps; no row has it where there are none
  std::vector<FeatureScore> scores;
  PartitionList<Number> list;       // of the feature that is looked at
  PartitionList<Number> best_list;  // of the one with the best partition so far
  ObliqueScratch oblique;
  std::vector<Row> members, member_rows;  // positions of a node's rows among the subtree's, and the rows
};

template <Outcome T>
class Subtree {
 public:
  using Number = typename T::Number;

  // `rows` are those of `root`, a node that may be split; new nodes are appended to `nodes`, which holds
  // the root alone.
  Subtree(const Columns& columns, const T& outcome, const Settings& settings, std::span<const Row> rows,
          std::vector<Node<Number>>& nodes, SubtreeScratch<Number>& scratch)
      : columns_(columns), outcome_(outcome.narrowed_to(rows)), settings_(settings), rows_(rows), nodes_(nodes),
        scratch_(scratch), n_features_(columns.columns.size()) {
    scratch_.lists.resize(n_features_ * rows_.size());
    scratch_.upper.resize(rows_.size());
    scratch_.goes_lower.resize(rows_.size());
    scratch_.scores.resize(n_features_);
    scratch_.has_ties.resize(n_features_);
    scratch_.gap_rank.resize(n_features_);
    for (std::size_t f = 0; f < n_features_; ++f) sort_list(columns.columns[f], f);
  }

  void grow(Interrupt& interrupt) {
    struct Task {
      std::size_t node, begin, end;
    };
    std::vector<Task> tasks{{0, 0, rows_.size()}};
    while (!tasks.empty() && !interrupt.stopped()) {
      const auto [index, begin, end] = tasks.back();
      tasks.pop_back();
      const std::size_t middle = split(index, begin, end);
      if (middle == begin) continue;
      const auto lower = static_cast<std::size_t>(nodes_[index].lower);
      const auto upper = static_cast<std::size_t>(nodes_[index].upper);
      if (may_split(upper)) tasks.push_back({upper, middle, end});
      if (may_split(lower)) tasks.push_back({lower, begin, middle});
    }
  }

 private:
  SmallEntry* list(std::size_t feature) { return scratch_.lists.data() + feature * rows_.size(); }
  std::span<const SmallEntry> list(std::size_t feature, std::size_t begin, std::size_t end) {
    return {list(feature) + begin, end - begin};
  }

  void sort_list(const Column& column, std::size_t feature) {
    sort_rows(column, rows_, scratch_.order, scratch_.spare);
    std::uint32_t rank = 0;
    SmallEntry* entries = list(feature);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      rank += i > 0 && !same_value(scratch_.order[i - 1], scratch_.order[i]);
      entries[i] = small_entry(rank, payload_of(scratch_.order[i]));
    }
    scratch_.has_ties[feature] = rank + 1 < rows_.size();
    const bool ends_in_gaps = key_of(scratch_.order.back()) == column.gap_code();
    scratch_.gap_rank[feature] = ends_in_gaps ? rank : rank + 1;
  }

  bool may_split(std::size_t index) const {
    const Node<Number>& node = nodes_[index];
    return settings_.limits.allow_split(node.depth, node.n_rows) && !node.one_outcome;
  }

  // A list that is constant here is never divided again: any part of it is constant too.
  bool constant(std::size_t feature, std::size_t begin, std::size_t end) {
    return same_value(list(feature)[begin], list(feature)[end - 1]);
  }

  Row row_of(SmallEntry entry) const { return rows_[row_in_node(entry)]; }

  SortedFeature<SmallEntry> sorted(std::size_t feature, std::size_t begin, std::size_t end) {
    const std::span<const SmallEntry> order = list(feature, begin, end);
    const std::uint32_t gap_rank = scratch_.gap_rank[feature];
    return {order, count_present(order, [=](SmallEntry entry) { return rank_of(entry) == gap_rank; }),
            scratch_.has_ties[feature] != 0};
  }

  void list_partitions_of(std::size_t feature, const ScoredNode<T>& node, const SortedFeature<SmallEntry>& sorted) {
    const Column& column = columns_.columns[feature];
    list_partitions(node, feature, column, sorted, settings_, scratch_.list,
                    [&](SmallEntry entry) { return column.values[column.code_of(row_of(entry))]; });
  }

  // Splits the node by its modal partition and returns where the upper child's rows begin in the lists;
  // returns `begin` where the mode is trivial.
  std::size_t split(std::size_t index, std::size_t begin, std::size_t end) {
    const std::size_t depth = nodes_[index].depth;
    const typename T::Node scorer = outcome_.node(nodes_[index].prior, nodes_[index].statistics.data());
    const ScoredNode<T> scored{outcome_, scorer, nodes_[index]};
    const NodePrior log_prior(settings_.prior, depth);
    double best = nodes_[index].log_likelihood + settings_.prior.log_trivial(depth, 1.0);
    std::size_t best_feature = n_features_;
    for (std::size_t f = 0; f < n_features_; ++f) {
      scratch_.scores[f] = {};
      if (constant(f, begin, end)) continue;
      list_partitions_of(f, scored, sorted(f, begin, end));
      if (scratch_.list.cuts.n_cuts == 0) continue;
      scratch_.scores[f] = summarise(scratch_.list.cuts, best - log_prior.of_feature(f) - kInvisible);
      const double of_feature = log_prior.of_feature(f) + scratch_.scores[f].best;
      if (of_feature <= best) continue;
      best = of_feature;
      best_feature = f;
      std::swap(scratch_.list, scratch_.best_list);
    }
    ObliqueMode oblique = find_oblique(nodes_[index], best, begin, end);
    const Mode mode = choose_mode(nodes_[index], settings_.prior, scratch_.scores, oblique);
    if (mode.feature < 0) return begin;
    if (mode.is_oblique) return split_by(std::move(oblique.partition), index, begin, end);

    const auto feature = static_cast<std::size_t>(mode.feature);
    const SortedFeature<SmallEntry> order = sorted(feature, begin, end);
    if (feature != best_feature) {  // an earlier one that is as good but for rounding
      list_partitions_of(feature, scored, order);
      std::swap(scratch_.list, scratch_.best_list);
    }
    const PartitionList<Number>& list_of_mode = scratch_.best_list;
    const CutList& cuts = list_of_mode.cuts;
    const std::size_t cut = first_cut(cuts, mode.lowest_score);
    Node<Number>& node = nodes_[index];
    node.partition = {split_of(list_of_mode, cut, feature, columns_.columns[feature], order,
                               [&](SmallEntry entry) { return row_of(entry); }),
                      log_prior.of_feature(feature) + cuts.location(cut), cuts.log_likelihood[cut]};
    const std::span<SmallEntry> entries(list(feature) + begin, end - begin);
    const std::size_t middle = begin + divide_order(list_of_mode, cut, order.n_present, entries);
    add_children(index, list(feature, begin, middle), list(feature, middle, end));
    if (may_split(nodes_.size() - 2) || may_split(nodes_.size() - 1)) {
      for (const SmallEntry entry : list(feature, begin, middle)) scratch_.goes_lower[row_in_node(entry)] = 1;
      for (const SmallEntry entry : list(feature, middle, end)) scratch_.goes_lower[row_in_node(entry)] = 0;
      divide_lists(feature, begin, end);
    }
    return middle;
  }

  ObliqueMode find_oblique(const Node<Number>& node, double rival, std::size_t begin, std::size_t end) {
    if (settings_.oblique.share == 0.0) return {};
    find_members(begin, end);
    const T own = outcome_.narrowed_to(scratch_.members);
    const typename T::Node scorer = own.node(node.prior, node.statistics.data());
    const ScoredNode<T> scored{own, scorer, node};
    return ObliqueSearch<T>(columns_, scored, scratch_.member_rows, settings_, scratch_.oblique).find(rival);
  }

  // Lists that are constant are not divided, so that another one tells who is here.
  void find_members(std::size_t begin, std::size_t end) {
    scratch_.members.clear();
    std::size_t feature = 0;
    while (feature + 1 < n_features_ && constant(feature, begin, end)) ++feature;
    for (const SmallEntry entry : list(feature, begin, end)) scratch_.members.push_back(row_in_node(entry));
    std::sort(scratch_.members.begin(), scratch_.members.end());
    scratch_.member_rows.clear();
    for (const Row member : scratch_.members) scratch_.member_rows.push_back(rows_[member]);
  }

  std::size_t split_by(Partition partition, std::size_t index, std::size_t begin, std::size_t end) {
    std::vector<SmallEntry> lower, upper;
    const std::vector<std::uint8_t> is_lower = go_lower(columns_, partition.split, scratch_.member_rows);
    for (std::size_t i = 0; i < is_lower.size(); ++i) {
      const Row member = scratch_.members[i];
      scratch_.goes_lower[member] = is_lower[i];
      (is_lower[i] ? lower : upper).push_back(small_entry(0, member));
    }
    nodes_[index].partition = std::move(partition);
    add_children(index, lower, upper);
    if (may_split(nodes_.size() - 2) || may_split(nodes_.size() - 1)) divide_lists(n_features_, begin, end);
    return begin + lower.size();
  }

  void add_children(std::size_t parent, std::span<const SmallEntry> lower, std::span<const SmallEntry> upper) {
    nodes_[parent].lower = static_cast<std::int64_t>(nodes_.size());
    nodes_[parent].upper = nodes_[parent].lower + 1;
    for (const std::span<const SmallEntry> part : {lower, upper}) {
      Node<Number> child;
      child.depth = nodes_[parent].depth + 1;
      child.n_rows = part.size();
      child.one_outcome = has_one_outcome(outcome_, part);
      child.statistics.resize(outcome_.width());
      for (const SmallEntry entry : part) {
        outcome_.add(child.statistics.data(), row_in_node(entry));
        child.rows_mark += mark_of(row_of(entry));
      }
      child.prior = outcome_.child_prior(nodes_[parent].prior, child.statistics.data(), settings_.smoothing);
      child.log_likelihood = outcome_.log_likelihood(child.prior, child.statistics.data());
      nodes_.push_back(std::move(child));
    }
    if (settings_.constrained())
      bound_children(outcome_, settings_, nodes_[parent], nodes_[parent].partition, nodes_.end()[-2], nodes_.back());
  }

  // Divides all lists but that of the feature that was cut, which is divided already.
  void divide_lists(std::size_t by, std::size_t begin, std::size_t end) {
    const std::uint8_t* goes_lower = scratch_.goes_lower.data();
    for (std::size_t f = 0; f < n_features_; ++f) {
      if (f == by || constant(f, begin, end)) continue;
      // Both writes always happen and one counts: no branch that could be mispredicted.
      SmallEntry* entries = list(f);
      SmallEntry* upper = scratch_.upper.data();
      std::size_t n_lower = begin, n_upper = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const SmallEntry entry = entries[i];
        const std::uint8_t lower = goes_lower[row_in_node(entry)];
        entries[n_lower] = entry;
        upper[n_upper] = entry;
        n_lower += lower;
        n_upper += 1 - lower;
      }
      std::copy_n(upper, n_upper, entries + n_lower);
    }
  }

  const Columns& columns_;
  const T outcome_;
  const Settings& settings_;
  std::span<const Row> rows_;
  std::vector<Node<Number>>& nodes_;
  SubtreeScratch<Number>& scratch_;
  std::size_t n_features_;
};

}  // namespace baytree
