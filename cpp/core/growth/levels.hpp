// Grows the greedy-modal tree of rows that live elsewhere. Of the rows nothing is known but, for every open node,
// feature and code, how many there are and what their outcomes add up to. Whoever has the rows sends them down the tree
// so far
// (`routes`) and answers with the sums of the open nodes (`grow`), until no node is open.
//
// The lists of partitions, their scores and the choice among them are those of rows in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "data/sort.hpp"
#include "growth/expand.hpp"
#include "growth/nodes.hpp"
#include "growth/root.hpp"
#include "outcomes/outcome.hpp"
#include "outcomes/tallied.hpp"
#include "parallel.hpp"
#include "partitions/divide.hpp"
#include "partitions/monotonic.hpp"
#include "partitions/node.hpp"
#include "partitions/partition_list.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

// The columns of a table whose rows are elsewhere: row c has code c, so that a code can be asked what a row is.
inline Column column_without_rows(std::vector<double> lows, std::vector<double> highs, bool has_missing,
                                  bool is_categorical, bool keep_values) {
  Column column;
  column.n_codes = static_cast<Code>(lows.size()) + has_missing;
  column.has_missing = has_missing;
  column.is_categorical = is_categorical;
  std::vector<std::uint32_t> codes(column.n_codes);
  std::iota(codes.begin(), codes.end(), 0u);
  column.codes = std::move(codes);
  column.set_bins(std::move(lows), std::move(highs), keep_values);
  return column;
}

// How rows go down a tree by their codes, as arrays: a row of code c in node i goes to the lower child where
// goes_lower[start[i] + c] is 1.
struct Routes {
  std::vector<std::int32_t> feature, lower, upper;  // by node; feature -1: the rows stay
  std::vector<std::int64_t> start;
  std::vector<std::uint8_t> goes_lower;
};

// The sums of one open node: by code, the codes of a column behind those of the one before.
template <class Number>
struct NodeSums {
  std::span<const std::int64_t> rows;
  std::vector<Number> statistics;  // width numbers a code
  std::span<const std::int64_t> low_key, high_key;  // the extremes of a number that tells outcomes apart
};

template <Outcome T>
class Levels {
 public:
  using Number = typename T::Number;

  // The outcome has no rows.
  Levels(Columns columns, T outcome, Settings settings, std::vector<double> root_prior)
      : columns_(std::move(columns)), outcome_(std::move(outcome)), settings_(std::move(settings)),
        root_prior_(std::move(root_prior)), open_{0} {
    for (const Column& column : columns_.columns) {
      first_.push_back(n_codes_);
      n_codes_ += column.n_codes;
    }
    nodes_.emplace_back();
  }

  std::size_t n_codes() const { return n_codes_; }
  std::size_t width() const { return outcome_.width(); }
  const std::vector<std::size_t>& open() const { return open_; }
  const T& outcome() const { return outcome_; }
  std::vector<Node<Number>> take_nodes() { return depth_first(nodes_); }

  // Splits the first open nodes; of(i) gives the sums of open node i. The others stay open, before the children.
  template <class Of>
  void grow(std::size_t n_nodes, std::size_t n_threads, Interrupt& interrupt, Of&& of) {
    if (nodes_[0].statistics.empty()) make_root_of(of(0), interrupt);
    std::vector<std::optional<Children<Number>>> children(n_nodes);
    parallel_for(n_nodes, std::max<std::size_t>(n_threads, 1), interrupt, [&](std::size_t i, std::size_t) {
      if (may_split(nodes_[open_[i]], settings_.limits)) children[i] = expand(nodes_[open_[i]], of(i));
    });
    std::vector<std::size_t> next(open_.begin() + static_cast<std::ptrdiff_t>(n_nodes), open_.end());
    for (std::size_t i = 0; i < n_nodes; ++i) {
      if (!children[i]) continue;
      add_children(nodes_, open_[i], std::move(*children[i]));
      for (const std::size_t child : {nodes_.size() - 2, nodes_.size() - 1})
        if (may_split(nodes_[child], settings_.limits)) next.push_back(child);
    }
    open_ = std::move(next);
  }

  Routes routes() const {
    Routes result;
    for (const Node<Number>& node : nodes_) {
      result.feature.push_back(node.partition.feature());
      result.lower.push_back(static_cast<std::int32_t>(node.lower));
      result.upper.push_back(static_cast<std::int32_t>(node.upper));
      result.start.push_back(static_cast<std::int64_t>(result.goes_lower.size()));
      const std::vector<std::uint8_t> lower = codes_that_go_lower(node.partition.split);
      result.goes_lower.insert(result.goes_lower.end(), lower.begin(), lower.end());
    }
    return result;
  }

 private:
  using Sums = NodeSums<Number>;

  std::vector<std::uint8_t> codes_that_go_lower(const Split& split) const {
    if (kind_of(split) == SplitKind::none) return {};
    std::vector<Row> codes(columns_.columns[static_cast<std::size_t>(feature_of(split))].n_codes);
    std::iota(codes.begin(), codes.end(), Row{0});
    return go_lower(columns_, split, codes);
  }

  // A feature of a node: its codes in ascending order, as entries of a tallied outcome.
  struct Feature {
    Tallied<T> outcome;
    std::vector<Keyed> order;
    std::size_t n_present = 0;

    SortedFeature<Keyed> sorted() const { return {order, n_present, false}; }
  };

  Feature feature_of_node(std::size_t f, const Sums& sums) const {
    const Column& column = columns_.columns[f];
    Feature result{{&outcome_, {}, {}}, {}};
    for (Code code = 0; code < column.n_codes; ++code) {
      const std::size_t at = first_[f] + code;
      if (sums.rows[at] == 0) continue;
      result.order.push_back(keyed(code, static_cast<std::uint32_t>(result.order.size())));
      result.outcome.counts.push_back(static_cast<std::size_t>(sums.rows[at]));
      const auto from = sums.statistics.begin() + static_cast<std::ptrdiff_t>(at * width());
      result.outcome.statistics.insert(result.outcome.statistics.end(), from,
                                       from + static_cast<std::ptrdiff_t>(width()));
      result.n_present += code != column.missing_code();
    }
    return result;
  }

  void list(const Node<Number>& node, const TalliedNode<T>& scorer, std::size_t f, const Feature& feature,
            PartitionList<Number>& result) const {
    const Column& column = columns_.columns[f];
    list_partitions(ScoredNode<Tallied<T>>{feature.outcome, scorer, node}, f, column, feature.sorted(), settings_,
                    result, [&](Keyed entry) { return column.values[key_of(entry)]; });
  }

  Children<Number> make(const Node<Number>& node, const Split& split, const Sums& sums) const {
    const auto feature = static_cast<std::size_t>(feature_of(split));
    const std::vector<std::uint8_t> lower = codes_that_go_lower(split);
    Children<Number> children{sum_up(sums, feature, [&](Code code) { return lower[code] != 0; }),
                              sum_up(sums, feature, [&](Code code) { return lower[code] == 0; })};
    for (Node<Number>* child : {&children.lower, &children.upper}) {
      child->depth = node.depth + 1;
      complete_node(outcome_, settings_, node.prior, *child);
    }
    if (settings_.constrained()) bound_children(outcome_, settings_, node, split, children.lower, children.upper);
    return children;
  }

  // A node of the rows whose codes of a column are chosen.
  template <class Chosen>
  Node<Number> sum_up(const Sums& sums, std::size_t feature, Chosen&& chosen) const {
    Node<Number> node;
    node.statistics.resize(width());
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
    for (Code code = 0; code < columns_.columns[feature].n_codes; ++code) {
      const std::size_t at = first_[feature] + code;
      if (sums.rows[at] == 0 || !chosen(code)) continue;
      node.n_rows += static_cast<std::size_t>(sums.rows[at]);
      for (std::size_t k = 0; k < width(); ++k) node.statistics[k] += sums.statistics[at * width() + k];
      low = std::min(low, sums.low_key[at]), high = std::max(high, sums.high_key[at]);
    }
    node.one_outcome = low == high;
    return node;
  }

  void make_root_of(const Sums& sums, Interrupt& interrupt) {
    Node<Number>& root = nodes_[0];
    root = sum_up(sums, 0, [](Code) { return true; });
    complete_node(outcome_, settings_, root_prior_, root);
    outcome_.prepare(root_prior_, root.statistics.data());
    settings_.limits.total_weight = outcome_.weight_in(root.statistics.data());
    const TalliedNode<T> scorer(outcome_.node(root.prior, root.statistics.data()));
    std::vector<std::uint8_t> counts(columns_.columns.size(), 1);
    parallel_for(counts.size(), 1, interrupt, [&](std::size_t f, std::size_t) {
      if (!settings_.prior.proper) return;
      const Feature feature = feature_of_node(f, sums);
      if (!settings_.limits.limit_splits()) {
        counts[f] = feature.order.size() > 1;
        return;
      }
      PartitionList<Number> found;
      const Column& column = columns_.columns[f];
      if (column.is_categorical)
        list_category_sets(feature.outcome, scorer, root.statistics.data(), std::span<const Keyed>(feature.order),
                           column.n_codes, settings_, found.categories, found.splits);
      else find_allowed_thresholds(feature.outcome, feature.sorted(), settings_.limits, found.splits);
      counts[f] = found.splits.n_splits > 0;
    });
    settings_.prior.set_feature_weight(divided_by_sum(settings_, columns_, counts));
  }

  // The children of a node by its modal partition; none: it stays a leaf.
  std::optional<Children<Number>> expand(Node<Number>& node, const Sums& sums) const {
    const TalliedNode<T> scorer(outcome_.node(node.prior, node.statistics.data()));
    std::vector<FeatureScore> scores(columns_.columns.size());
    PartitionList<Number> found;
    score_features(
        scores,
        [&](std::size_t f) -> SplitList* {
          stop_if_asked();
          const Feature feature = feature_of_node(f, sums);
          if (feature.order.size() < 2) return nullptr;
          list(node, scorer, f, feature, found);
          return &found.splits;
        },
        [](std::size_t) { return kMinusInfinity; }, [](std::size_t, const FeatureScore&) {});
    const auto search = [](double) { return BestHyperplane{}; };
    node.partition = modal_partition(node, settings_, scores, search, [&](const Mode& mode) {
      const auto f = static_cast<std::size_t>(mode.feature);
      const Feature feature = feature_of_node(f, sums);
      list(node, scorer, f, feature, found);
      return partition_at(found, first_split(found.splits, mode.lowest_score), f, columns_, feature.sorted(),
                          NodePrior(settings_.prior, node.depth).of_feature(f),
                          [](Keyed entry) { return Row{key_of(entry)}; });
    });
    if (!node.partition.is_split()) return {};
    return make(node, node.partition.split, sums);
  }

  Columns columns_;
  T outcome_;
  Settings settings_;
  std::vector<double> root_prior_;
  std::vector<Node<Number>> nodes_;
  std::vector<std::size_t> open_;
  std::vector<std::size_t> first_;  // by column: where its codes begin among those of all columns
  std::size_t n_codes_ = 0;
};

}  // namespace baytree
