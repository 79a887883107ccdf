// Expands nodes of which nothing is known but, for every feature and code, what its rows add up to. The lists of
// partitions, their scores and the choice among them are those of single rows.
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
#include "growth/node_sums.hpp"
#include "growth/nodes.hpp"
#include "growth/root.hpp"
#include "outcomes/outcome.hpp"
#include "outcomes/tallied.hpp"
#include "parallel.hpp"
#include "partitions/divide.hpp"
#include "partitions/location.hpp"
#include "partitions/mode.hpp"
#include "partitions/monotonic.hpp"
#include "partitions/node.hpp"
#include "partitions/node_features.hpp"
#include "partitions/partition_list.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

// Makes the tables of an outcome, where nodes have no more splits than codes: large tables would take longer to make
// than they save.
template <Outcome T>
void prepare_for_few_splits(T& outcome, const std::vector<double>& prior, const typename T::Number* total,
                            const Threads& threads = {}) {
  constexpr std::size_t most = std::size_t{1} << 17;
  if constexpr (requires { outcome.prepare(prior, total, threads, most); })
    outcome.prepare(prior, total, threads, most);
  else outcome.prepare(prior, total, threads);
}

template <Outcome T>
struct alignas(kApart) ByCodeScratch {
  using Number = typename T::Number;
  Tallied<T> outcome;  // of a feature's codes that have rows, as entries
  std::vector<Keyed> order;
  std::size_t n_present = 0;
  std::vector<Number> sets;
  std::vector<FeatureScore> scores;
  PartitionList<Number> list;
  std::optional<Settings> drawn;  // of the node, where it may not use all features

  SortedFeature<Keyed> sorted() const { return {order, n_present, false}; }
};

template <Outcome T>
class ByCode {
 public:
  using Number = typename T::Number;
  using Sums = CodeSums<Number>;
  using Scratch = ByCodeScratch<T>;

  // The columns are without rows.
  ByCode(Columns columns, T outcome, Settings settings)
      : columns_(std::move(columns)), outcome_(std::move(outcome)), settings_(std::move(settings)) {
    for (const Column& column : columns_.columns) {
      first_.push_back(n_codes_);
      n_codes_ += column.n_codes;
    }
  }

  std::size_t n_features() const { return columns_.columns.size(); }
  std::size_t n_codes() const { return n_codes_; }
  std::size_t n_codes_of(std::size_t feature) const { return columns_.columns[feature].n_codes; }
  std::size_t first_code(std::size_t feature) const { return first_[feature]; }
  std::size_t width() const { return outcome_.width(); }
  const T& outcome() const { return outcome_; }
  const Columns& columns() const { return columns_; }
  void set_outcome(T outcome) { outcome_ = std::move(outcome); }
  const Settings& settings() const { return settings_; }
  bool may_be_split(const Node<Number>& node) const { return may_split(node, settings_.rules); }

  // Whether each code of the split's feature goes to the lower side; empty where there is no split.
  std::vector<std::uint8_t> codes_that_go_lower(const Split& split) const {
    if (kind_of(split) == SplitKind::none) return {};
    std::vector<Row> codes(columns_.columns[static_cast<std::size_t>(feature_of(split))].n_codes);
    std::iota(codes.begin(), codes.end(), Row{0});
    return go_lower(columns_, split, codes);
  }

  // Adds up the statistics of the codes of a feature that are chosen.
  template <class Chosen>
  std::vector<Number> sum_up(const Sums& sums, std::size_t feature, Chosen&& chosen) const {
    std::vector<Number> result(width());
    for (Code code = 0; code < columns_.columns[feature].n_codes; ++code)
      if (chosen(code))
        for (std::size_t k = 0; k < width(); ++k) result[k] += sums.statistics[(first_[feature] + code) * width() + k];
    return result;
  }

  // Completes a root that knows its statistics, rows and whether they have one outcome; and the settings.
  void complete_root(const std::vector<double>& prior, const Sums& sums, Node<Number>& root, Interrupt& interrupt) {
    root.rules = NodeRules::of_root(settings_.rules);
    complete_node(outcome_, settings_, prior, root);
    prepare_for_few_splits(outcome_, prior, root.statistics.data());
    settings_.rules.limits.total_weight = outcome_.weight_in(root.statistics.data());
    const TalliedNode<T> scorer(outcome_.node(root.prior, root.statistics.data()));
    std::vector<std::uint8_t> counts(n_features(), 1);
    Scratch scratch;
    parallel_for(counts.size(), 1, interrupt, [&](std::size_t f, std::size_t) {
      if (settings_.prior.proper) counts[f] = settings_.rules.uses(f) && can_be_split(f, root, scorer, sums, scratch);
    });
    share_out_prior(settings_, columns_, counts);
  }

  // Gives a node its modal partition; none: it stays a leaf. Several threads share its features.
  void choose_partition(Node<Number>& node, const Sums& sums, Scratch& scratch, const Threads& threads = {}) const {
    const TalliedNode<T> scorer(outcome_.node(node.prior, node.statistics.data()));
    const Settings& settings = settings_of(node, sums, scratch);
    const NodePrior log_prior(settings.prior, node.rules.depth);
    stop_if_asked();
    if (threads.n > 1) score_at_once(node, scorer, sums, settings, scratch, threads);
    else score_in_turn(node, scorer, sums, settings, scratch);
    const auto search = [](double) { return BestHyperplane{}; };
    node.partition = modal_partition(node, settings, scratch.scores, search, [&](const Mode& mode) {
      const auto f = static_cast<std::size_t>(mode.feature);
      list(node, scorer, f, sums, scratch);
      collect(f, sums, scratch);
      return partition_at(scratch.list, first_split(scratch.list.splits, mode.lowest_score), f, columns_,
                          scratch.sorted(), settings_, log_prior.of_feature(f),
                          [](Keyed entry) { return Row{key_of(entry)}; });
    });
  }

  // Scores all partitions of a node; returns the log prior of the given split, which sends some codes of its feature
  // to the lower side.
  double score_given(Node<Number>& node, const Sums& sums, const Split& split, std::span<const std::uint8_t> lower,
                     Scratch& scratch) const {
    const TalliedNode<T> scorer(outcome_.node(node.prior, node.statistics.data()));
    const Settings& settings = settings_of(node, sums, scratch);
    stop_if_asked();
    score_in_turn(node, scorer, sums, settings, scratch);
    choose_mode(node, settings, scratch.scores);
    if (kind_of(split) == SplitKind::none) return kMinusInfinity;
    const auto f = static_cast<std::size_t>(feature_of(split));
    if (!settings.rules.uses(f) || !list(node, scorer, f, sums, scratch)) return kMinusInfinity;
    collect(f, sums, scratch);
    return NodePrior(settings_.prior, node.rules.depth).of_feature(f) +
           log_location_of(scratch.list, scratch.sorted(), columns_.columns[f], settings_,
                           [&](Keyed entry) { return lower[key_of(entry)] != 0; });
  }

  // Scores all partitions of a node; returns the best of those of one feature, no split if it has none.
  Partition best_of_feature(Node<Number>& node, const Sums& sums, std::size_t f, Scratch& scratch) const {
    score_given(node, sums, NoSplit{}, {}, scratch);
    const TalliedNode<T> scorer(outcome_.node(node.prior, node.statistics.data()));
    if (!settings_.rules.uses(f) || !node.rules.allows(f) || !list(node, scorer, f, sums, scratch)) return {};
    collect(f, sums, scratch);
    return best_partition(scratch.list, f, columns_, scratch.sorted(), settings_,
                          NodePrior(settings_.prior, node.rules.depth).of_feature(f),
                          [](Keyed entry) { return Row{key_of(entry)}; });
  }

  // A node of the rows whose codes of a feature are chosen.
  template <class Chosen>
  Node<Number> node_of(const NodeSums<Number>& sums, std::size_t feature, Chosen&& chosen) const {
    Node<Number> node;
    node.statistics = sum_up(sums.by_code(), feature, chosen);
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
    for (Code code = 0; code < n_codes_of(feature); ++code) {
      const std::size_t at = first_code(feature) + code;
      if (sums.rows[at] == 0 || !chosen(code)) continue;
      node.n_rows += static_cast<std::size_t>(sums.rows[at]);
      low = std::min(low, sums.low_key[at]), high = std::max(high, sums.high_key[at]);
    }
    node.one_outcome = low >= high;
    return node;
  }

  Node<Number> root_of(const std::vector<double>& prior, const NodeSums<Number>& sums, Interrupt& interrupt) {
    Node<Number> root = node_of(sums, 0, [](Code) { return true; });
    complete_root(prior, sums.by_code(), root, interrupt);
    return root;
  }

  // The children of a node by its partition, which sends some codes of its feature to the lower side.
  Children<Number> children_of(const Node<Number>& node, const NodeSums<Number>& sums,
                               std::span<const std::uint8_t> lower) const {
    const auto feature = static_cast<std::size_t>(node.partition.feature());
    Children<Number> children{node_of(sums, feature, [&](Code code) { return lower[code] != 0; }),
                              node_of(sums, feature, [&](Code code) { return lower[code] == 0; })};
    complete_children(node, children);
    return children;
  }

  // Completes the children of a node, whose statistics are known.
  void complete_children(const Node<Number>& node, Children<Number>& children) const {
    for (Node<Number>* child : {&children.lower, &children.upper}) {
      child->rules = node.rules.below(settings_.rules, node.partition.split, child == &children.upper);
      complete_node(outcome_, settings_, node.prior, *child);
    }
    if (settings_.rules.constrained())
      bound_children(outcome_, settings_, node, node.partition.split, children.lower, children.upper);
  }

 private:
  const Settings& settings_of(const Node<Number>& node, const Sums& sums, Scratch& scratch) const {
    return settings_of_node(settings_, columns_, node, [&](std::size_t f) { return varies(f, sums); }, scratch.drawn);
  }

  void score_in_turn(const Node<Number>& node, const TalliedNode<T>& scorer, const Sums& sums, const Settings& settings,
                     Scratch& scratch) const {
    FeatureRanking ranking(node, settings);
    scratch.scores.resize(n_features());
    score_features(
        scratch.scores,
        [&](std::size_t f) -> SplitList* {
          return settings.rules.uses(f) && list(node, scorer, f, sums, scratch) ? &scratch.list.splits : nullptr;
        },
        [&](std::size_t f) { return ranking.floor(f); },
        [&](std::size_t f, const FeatureScore& score) { ranking.add(f, score); });
  }

  // Scores features in parallel: all sums that may count are formed, since no feature knows the best of those before.
  void score_at_once(const Node<Number>& node, const TalliedNode<T>& scorer, const Sums& sums, const Settings& settings,
                     Scratch& scratch, const Threads& threads) const {
    scratch.scores.assign(n_features(), {});
    std::vector<Scratch> by_worker(threads.n);
    parallel_for(n_features(), threads.n, *threads.interrupt, [&](std::size_t f, std::size_t worker) {
      if (!settings.rules.uses(f) || !list(node, scorer, f, sums, by_worker[worker])) return;
      SplitList& splits = by_worker[worker].list.splits;
      if (splits.n_splits > 0) scratch.scores[f] = summarise(splits, settings_.floor_of_sums());
    });
  }

  const Number* statistics_at(const Sums& sums, std::size_t f, Code code) const {
    return sums.statistics + (first_[f] + code) * width();
  }
  bool has_rows(const Number* statistics) const {
    for (std::size_t k = 0; k < width(); ++k)
      if (statistics[k] != Number{0}) return true;
    return false;
  }

  // Whether two codes of a feature have rows.
  bool varies(std::size_t f, const Sums& sums) const {
    int n = 0;
    for (Code code = 0; code < columns_.columns[f].n_codes && n < 2; ++code)
      n += has_rows(statistics_at(sums, f, code));
    return n == 2;
  }

  // The codes of a feature that have rows, in ascending order, as entries of a tallied outcome.
  void collect(std::size_t f, const Sums& sums, Scratch& scratch) const {
    const Column& column = columns_.columns[f];
    scratch.outcome.of = &outcome_;
    scratch.outcome.statistics.clear();
    scratch.outcome.counts.clear();
    scratch.order.clear();
    scratch.n_present = 0;
    for (Code code = 0; code < column.n_codes; ++code) {
      const Number* statistics = statistics_at(sums, f, code);
      if (!has_rows(statistics)) continue;
      scratch.order.push_back(keyed(code, static_cast<std::uint32_t>(scratch.order.size())));
      const double n = sums.n_rows ? static_cast<double>(sums.n_rows[first_[f] + code])
                                   : outcome_.weight_in(statistics);
      scratch.outcome.counts.push_back(std::max<std::size_t>(static_cast<std::size_t>(n), 1));
      scratch.outcome.statistics.insert(scratch.outcome.statistics.end(), statistics, statistics + width());
      scratch.n_present += code != column.missing_code();
    }
  }

  // Lists the partitions of a feature; false where there are none.
  bool list(const Node<Number>& node, const TalliedNode<T>& scorer, std::size_t f, const Sums& sums,
            Scratch& scratch) const {
    const Column& column = columns_.columns[f];
    const bool plain = !column.is_categorical && !settings_.rules.limits.limit_splits() &&
                       !settings_.rules.constrained() && !settings_.prior.by_distance;
    if (plain) return list_plain(scorer, f, sums, scratch);
    collect(f, sums, scratch);
    if (scratch.order.size() < 2) return false;
    list_partitions(ScoredNode<Tallied<T>>{scratch.outcome, scorer, node}, f, column, scratch.sorted(), settings_,
                    scratch.list, [&](Keyed entry) { return column.values[key_of(entry)]; });
    return true;
  }

  // Lists all thresholds where nothing limits them: running sums are all it takes.
  bool list_plain(const TalliedNode<T>& scorer, std::size_t f, const Sums& sums, Scratch& scratch) const {
    const Column& column = columns_.columns[f];
    const std::size_t w = width(), n_bins = column.n_codes - column.has_missing;
    const Number* missing = column.has_missing ? statistics_at(sums, f, column.missing_code()) : nullptr;
    const bool any_missing = missing && has_rows(missing);
    std::vector<Number>& sets = scratch.sets;
    if (sets.size() < 2 * w * (n_bins + 1)) sets.resize(2 * w * (n_bins + 1));
    const std::size_t n = running_sums(statistics_at(sums, f, 0), n_bins, sets.data());
    if (n + any_missing < 2) return false;
    SplitList& splits = scratch.list.splits;
    // All values on the lower side is a split only where the missing ones are on the other.
    const std::size_t n_upper = n - !any_missing, n_lower = any_missing ? n - 1 : 0;
    for (std::size_t i = 0; i < n_lower; ++i)
      for (std::size_t k = 0; k < w; ++k) sets[(n_upper + i) * w + k] = sets[i * w + k] + missing[k];
    splits.numbers.resize(n_upper + n_lower);
    std::iota(splits.numbers.begin(), splits.numbers.begin() + static_cast<std::ptrdiff_t>(n_upper), 0u);
    std::iota(splits.numbers.begin() + static_cast<std::ptrdiff_t>(n_upper), splits.numbers.end(), 0u);
    splits.positions = splits.numbers;
    splits.n_missing_upper = n_upper;
    splits.n_splits = static_cast<std::uint32_t>(n_upper + n_lower);
    splits.mass = 1.0;
    splits.log_location.clear();
    splits.log_likelihood.resize(n_upper + n_lower);
    scratch.list.is_categorical = false;
    scorer.of().set_scores(outcome_, {sets.data(), (n_upper + n_lower) * w}, splits.log_likelihood.data());
    return true;
  }

  // The sums up to each code that has rows; returns how many they are. Written for every code: what has no rows is
  // written over by the next.
  std::size_t running_sums(const Number* statistics, std::size_t n_bins, Number* sets) const {
    const std::size_t w = width();
    std::size_t n = 0;
    if (w == 2) {
      Number first{0}, second{0};
      for (std::size_t bin = 0; bin < n_bins; ++bin) {
        first += statistics[2 * bin], second += statistics[2 * bin + 1];
        sets[2 * n] = first, sets[2 * n + 1] = second;
        n += static_cast<std::size_t>((statistics[2 * bin] != Number{0}) | (statistics[2 * bin + 1] != Number{0}));
      }
      return n;
    }
    std::vector<Number> lower(w);
    for (std::size_t bin = 0; bin < n_bins; ++bin, statistics += w) {
      bool any = false;
      for (std::size_t k = 0; k < w; ++k) {
        lower[k] += statistics[k];
        sets[n * w + k] = lower[k];
        any |= statistics[k] != Number{0};
      }
      n += any;
    }
    return n;
  }

  bool can_be_split(std::size_t f, const Node<Number>& root, const TalliedNode<T>& scorer, const Sums& sums,
                    Scratch& scratch) const {
    collect(f, sums, scratch);
    if (!settings_.rules.limits.limit_splits()) return scratch.order.size() > 1;
    const Column& column = columns_.columns[f];
    if (column.is_categorical)
      list_category_sets(scratch.outcome, scorer, root.statistics.data(), std::span<const Keyed>(scratch.order),
                         column.n_codes, settings_, scratch.list.categories, scratch.list.splits);
    else find_allowed_thresholds(scratch.outcome, scratch.sorted(), settings_.rules.limits, scratch.list.splits);
    return scratch.list.splits.n_splits > 0;
  }

  Columns columns_;
  T outcome_;
  Settings settings_;
  std::vector<std::size_t> first_;  // by column: where its codes begin among those of all columns
  std::size_t n_codes_ = 0;
};

}  // namespace baytree
