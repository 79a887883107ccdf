// Grows the whole subtree below a small node. The rows are sorted by every feature once; going down, each sorted list
// is divided in two and stays sorted, so a level costs one pass over the lists. Everything a subtree touches fits in a
// core's cache. Nodes have stretches of the lists to themselves, so that what is below a node can be left to another
// thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "data/entries.hpp"
#include "function_ref.hpp"
#include "growth/expand.hpp"
#include "growth/nodes.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/divide.hpp"
#include "partitions/mode.hpp"
#include "partitions/node.hpp"
#include "partitions/node_features.hpp"
#include "partitions/node_hyperplanes.hpp"
#include "partitions/partition_list.hpp"
#include "partitions/prior.hpp"
#include "partitions/split_list.hpp"
#include "types.hpp"

namespace baytree {

inline constexpr std::size_t kMostSubtreeRows = std::size_t{1} << 16;  // what 16 bits can number

// The rows of a subtree, in the order of every feature.
struct SubtreeLists {
  std::vector<SmallEntry> entries;  // one list per feature, one after another
  std::vector<std::uint8_t> goes_lower;  // by row
  std::vector<std::uint8_t> has_ties;    // by feature
  std::vector<std::uint32_t> missing_rank;  // by feature: the rank of missing values; no row has it if there are none
  std::vector<double> values;  // by feature and rank, where distances count
};

template <class Number>
struct SubtreeScratch {
  std::shared_ptr<SubtreeLists> lists;  // of the last subtree, for the memory; none where others still use it
  std::vector<SmallEntry> upper;
  std::vector<FeatureScore> scores;
  FeatureScratch<Number> feature;  // the one that is looked at
  PartitionList<Number> best_list;  // of the one that is the first choice so far
  std::optional<Settings> drawn;  // of the node that is split, where it may not use all features
  HyperplaneSearchScratch hyperplanes;
  std::vector<std::uint64_t> is_member;  // by position of a row in the subtree, one bit each
  std::vector<Row> members, member_rows;  // positions of a node's rows among the subtree's, and the rows
};

template <Outcome T>
class Subtree {
 public:
  using Number = typename T::Number;

  // A node whose rows are a stretch of the lists.
  struct Stretch {
    std::size_t node, begin, end;
    std::size_t size() const { return end - begin; }
  };

  // What those have in common who grow parts of a subtree.
  struct Shared {
    std::span<const Row> rows;
    std::shared_ptr<const T> outcome;  // of these rows
    std::shared_ptr<SubtreeLists> lists;
  };

  // `rows` are those of `root`, a node that may be split; new nodes are appended to `nodes`, which holds
  // the root alone.
  Subtree(const Columns& columns, const T& outcome, const Settings& settings, std::span<const Row> rows,
          std::vector<Node<Number>>& nodes, SubtreeScratch<Number>& scratch)
      : Subtree(columns, settings, {rows, std::make_shared<const T>(outcome.narrowed_to(rows)), lists_of(scratch)},
                nodes, scratch) {
    lists_->entries.resize(n_features_ * rows_.size());
    lists_->goes_lower.resize(rows_.size());
    lists_->has_ties.resize(n_features_);
    lists_->missing_rank.resize(n_features_);
    if (settings.prior.by_distance) lists_->values.resize(n_features_ * rows_.size());
    for (std::size_t f = 0; f < n_features_; ++f)
      if (settings.rules.uses(f)) sort_list(columns.columns[f], f);
    scratch_.feature.order = {}, scratch_.feature.spare = {};  // nodes find their rows sorted
  }

  // The part of a subtree below a node, which `nodes` holds alone.
  Subtree(const Columns& columns, const Settings& settings, Shared shared, std::vector<Node<Number>>& nodes,
          SubtreeScratch<Number>& scratch)
      : columns_(columns), settings_(settings), rows_(shared.rows), outcome_(std::move(shared.outcome)),
        lists_(std::move(shared.lists)), nodes_(nodes), scratch_(scratch), n_features_(columns.columns.size()) {
    scratch_.upper.resize(std::max(scratch_.upper.size(), rows_.size()));
    scratch_.scores.resize(n_features_);
  }

  Shared shared() const { return {rows_, outcome_, lists_}; }

  void grow(Interrupt& interrupt) {
    grow(interrupt, {0, 0, rows_.size()}, [](const Stretch&) { return false; });
  }

  // Grows what is below a stretch; leave(stretch) may leave a node to somebody else.
  void grow(Interrupt& interrupt, const Stretch& from, FunctionRef<bool(const Stretch&)> leave) {
    std::vector<Stretch> open{from};
    while (!open.empty() && !interrupt.stopped()) {
      const auto [index, begin, end] = open.back();
      open.pop_back();
      const std::size_t middle = split(index, begin, end);
      if (middle == begin) continue;
      const Stretch lower{static_cast<std::size_t>(nodes_[index].lower), begin, middle};
      const Stretch upper{static_cast<std::size_t>(nodes_[index].upper), middle, end};
      if (may_split(nodes_[upper.node], settings_.rules) && !leave(upper)) open.push_back(upper);
      if (may_split(nodes_[lower.node], settings_.rules)) open.push_back(lower);
    }
  }

 private:
  static std::shared_ptr<SubtreeLists> lists_of(SubtreeScratch<Number>& scratch) {
    if (!scratch.lists) scratch.lists = std::make_shared<SubtreeLists>();
    return scratch.lists;
  }

  SmallEntry* list(std::size_t feature) { return lists_->entries.data() + feature * rows_.size(); }
  std::span<const SmallEntry> list(std::size_t feature, std::size_t begin, std::size_t end) {
    return {list(feature) + begin, end - begin};
  }

  double* values(std::size_t feature) { return lists_->values.data() + feature * rows_.size(); }

  void sort_list(const Column& column, std::size_t feature) {
    sort_rows(column, rows_, scratch_.feature.order, scratch_.feature.spare);
    std::uint32_t rank = 0;
    SmallEntry* entries = list(feature);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      rank += i > 0 && !same_value(scratch_.feature.order[i - 1], scratch_.feature.order[i]);
      entries[i] = small_entry(rank, payload_of(scratch_.feature.order[i]));
    }
    if (settings_.prior.by_distance)
      for (std::size_t i = 0; i < rows_.size(); ++i)
        values(feature)[rank_of(entries[i])] = column.values[key_of(scratch_.feature.order[i])];
    lists_->has_ties[feature] = rank + 1 < rows_.size();
    const bool ends_in_missing = key_of(scratch_.feature.order.back()) == column.missing_code();
    lists_->missing_rank[feature] = ends_in_missing ? rank : rank + 1;
  }

  // A list that is constant here is never divided again: any part of it is constant too.
  bool constant(std::size_t feature, std::size_t begin, std::size_t end) {
    return !settings_.rules.uses(feature) || same_value(list(feature)[begin], list(feature)[end - 1]);
  }

  Row row_of(SmallEntry entry) const { return rows_[row_in_node(entry)]; }

  SortedFeature<SmallEntry> sorted(std::size_t feature, std::size_t begin, std::size_t end) {
    const std::span<const SmallEntry> order = list(feature, begin, end);
    const std::uint32_t missing_rank = lists_->missing_rank[feature];
    return {order, count_present(order, [=](SmallEntry entry) { return rank_of(entry) == missing_rank; }),
            lists_->has_ties[feature] != 0};
  }

  void list_partitions_of(std::size_t feature, const ScoredNode<T>& node, const SortedFeature<SmallEntry>& sorted) {
    const Column& column = columns_.columns[feature];
    list_partitions(node, feature, column, sorted, settings_, scratch_.feature.list,
                    [of = values(feature)](SmallEntry entry) { return of[rank_of(entry)]; });
  }

  // Splits the node by its modal partition and returns where the upper child's rows begin in the lists; returns `begin`
  // where it stays a leaf.
  std::size_t split(std::size_t index, std::size_t begin, std::size_t end) {
    Node<Number>& node = nodes_[index];
    own_ = &settings_of_node(
        settings_, columns_, node, [&](std::size_t f) { return !constant(f, begin, end); }, scratch_.drawn);
    const typename T::Node scorer = outcome_->node(node.prior, node.statistics.data());
    const ScoredNode<T> scored{*outcome_, scorer, node};
    const std::size_t best_feature = score(scored, begin, end);
    std::size_t n_lower = 0;
    node.partition = modal_partition(
        node, *own_, scratch_.scores,
        [&](double rival) {
          if constexpr (kOfCodesAlone<T>) return BestHyperplane{};
          else return search(scored, rival, begin, end);
        },
        [&](const Mode& mode) { return pick(mode, scored, best_feature, begin, end, n_lower); });
    if (!node.partition.is_split()) return begin;
    if (node.partition.is_hyperplane()) return divide_by_hyperplane(index, begin, end);
    const auto feature = static_cast<std::size_t>(node.partition.feature());
    const std::size_t middle = begin + n_lower;
    make_children_of(index, list(feature, begin, middle), list(feature, middle, end));
    if (children_may_split()) {
      for (const SmallEntry entry : list(feature, begin, middle)) lists_->goes_lower[row_in_node(entry)] = 1;
      for (const SmallEntry entry : list(feature, middle, end)) lists_->goes_lower[row_in_node(entry)] = 0;
      divide_lists(feature, begin, end);
    }
    return middle;
  }

  // Scores all features and keeps the list of the one that is the first choice; returns which it is.
  std::size_t score(const ScoredNode<T>& scored, std::size_t begin, std::size_t end) {
    FeatureRanking ranking(scored.node, *own_);
    std::size_t best_feature = n_features_;
    score_features(
        scratch_.scores,
        [&](std::size_t f) -> SplitList* {
          if (!own_->rules.uses(f) || constant(f, begin, end)) return nullptr;
          list_partitions_of(f, scored, sorted(f, begin, end));
          return &scratch_.feature.list.splits;
        },
        [&](std::size_t f) { return ranking.floor(f); },
        [&](std::size_t f, const FeatureScore& score) {
          if (!ranking.add(f, score)) return;
          best_feature = f;
          std::swap(scratch_.feature.list, scratch_.best_list);
        });
    return best_feature;
  }

  // The modal partition of a feature; its list is divided by it, and n_lower entries come first.
  Partition pick(const Mode& mode, const ScoredNode<T>& scored, std::size_t best_feature, std::size_t begin,
                 std::size_t end, std::size_t& n_lower) {
    const auto feature = static_cast<std::size_t>(mode.feature);
    const SortedFeature<SmallEntry> order = sorted(feature, begin, end);
    if (feature != best_feature) {  // an earlier one that is as good but for rounding
      list_partitions_of(feature, scored, order);
      std::swap(scratch_.feature.list, scratch_.best_list);
    }
    const std::size_t at = first_split(scratch_.best_list.splits, mode.lowest_score);
    Partition partition = partition_at(scratch_.best_list, at, feature, columns_, order, settings_,
                                       NodePrior(own_->prior, scored.node.rules.depth).of_feature(feature),
                                       [&](SmallEntry entry) { return row_of(entry); });
    n_lower = divide_order(scratch_.best_list, at, order.n_present,
                           std::span<SmallEntry>(list(feature) + begin, end - begin));
    return partition;
  }

  // Searches the node with an outcome of its rows alone; what scores it knows the rows by their sums.
  BestHyperplane search(const ScoredNode<T>& node, double rival, std::size_t begin, std::size_t end) {
    if (!find_members(begin, end)) return {};
    if constexpr (requires { outcome_->narrow_to(scratch_.members, *of_members_); }) {
      if (!of_members_) of_members_.emplace();
      outcome_->narrow_to(scratch_.members, *of_members_);
    } else {
      of_members_.emplace(outcome_->narrowed_to(scratch_.members));
    }
    const ScoredNode<T> scored{*of_members_, node.scorer, node.node};
    return NodeHyperplanes<T>(columns_, scored, scratch_.member_rows, *own_, scratch_.hyperplanes).find(rival);
  }

  // Lists that are constant are not divided, so that another one tells who is here; false where all are.
  bool find_members(std::size_t begin, std::size_t end) {
    std::size_t feature = 0;
    while (feature < n_features_ && constant(feature, begin, end)) ++feature;
    if (feature == n_features_) return false;
    scratch_.is_member.assign((rows_.size() + 63) / 64, 0);
    for (const SmallEntry entry : list(feature, begin, end))
      scratch_.is_member[row_in_node(entry) / 64] |= std::uint64_t{1} << row_in_node(entry) % 64;
    scratch_.members.clear(), scratch_.member_rows.clear();
    scratch_.members.reserve(end - begin), scratch_.member_rows.reserve(end - begin);
    for (std::size_t word = 0; word < scratch_.is_member.size(); ++word)
      for (std::uint64_t left = scratch_.is_member[word]; left != 0; left &= left - 1) {
        scratch_.members.push_back(static_cast<Row>(64 * word) + static_cast<Row>(std::countr_zero(left)));
        scratch_.member_rows.push_back(rows_[scratch_.members.back()]);
      }
    return true;
  }

  std::size_t divide_by_hyperplane(std::size_t index, std::size_t begin, std::size_t end) {
    std::vector<SmallEntry> lower, upper;
    const std::vector<std::uint8_t> is_lower = go_lower(columns_, nodes_[index].partition.split, scratch_.member_rows);
    for (std::size_t i = 0; i < is_lower.size(); ++i) {
      const Row member = scratch_.members[i];
      lists_->goes_lower[member] = is_lower[i];
      (is_lower[i] ? lower : upper).push_back(small_entry(0, member));
    }
    make_children_of(index, lower, upper);
    if (children_may_split()) divide_lists(n_features_, begin, end);
    return begin + lower.size();
  }

  void make_children_of(std::size_t parent, std::span<const SmallEntry> lower, std::span<const SmallEntry> upper) {
    add_children(nodes_, parent,
                 make_children(*outcome_, settings_, nodes_[parent], nodes_[parent].partition.split, lower, upper,
                               [&](SmallEntry entry) { return row_of(entry); }));
  }

  // Of the children that were made last.
  bool children_may_split() const {
    return may_split(nodes_.end()[-2], settings_.rules) || may_split(nodes_.back(), settings_.rules);
  }

  // Divides all lists but that of the feature that was split, which is divided already.
  void divide_lists(std::size_t by, std::size_t begin, std::size_t end) {
    const std::uint8_t* goes_lower = lists_->goes_lower.data();
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
  const Settings& settings_;
  std::span<const Row> rows_;
  std::shared_ptr<const T> outcome_;  // of these rows
  std::optional<T> of_members_;  // of those of the node that is searched
  std::shared_ptr<SubtreeLists> lists_;
  std::vector<Node<Number>>& nodes_;
  SubtreeScratch<Number>& scratch_;
  std::size_t n_features_;
  const Settings* own_ = &settings_;  // of the node that is split
};

}  // namespace baytree
