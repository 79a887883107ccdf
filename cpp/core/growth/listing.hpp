// The partitions of a node, written out: all of them, or the most probable ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "data/sort.hpp"
#include "growth/expand.hpp"
#include "growth/root.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/mode.hpp"
#include "partitions/node.hpp"
#include "partitions/oblique.hpp"
#include "partitions/prior.hpp"
#include "partitions/split_list.hpp"
#include "types.hpp"

namespace baytree {

// What is listed of a node's partitions: of each feature the `most` that score highest, and the threshold in the
// middle.
struct Listing {
  std::size_t most;
  bool middle = false;
};

template <class Number>
struct ListingScratch {
  FeatureScratch<Number> feature;
  std::vector<FeatureScore> scores;
  std::vector<std::uint32_t> chosen;
  HyperplaneSearchScratch hyperplanes;
};

// The positions of the `most` highest of n scores, in ascending order; the earlier ones among equals.
template <class Score>
void choose_highest(std::size_t n, std::size_t most, Score&& score, std::vector<std::uint32_t>& chosen) {
  chosen.clear();
  for (std::uint32_t i = 0; i < n; ++i)
    if (score(i) > kMinusInfinity) chosen.push_back(i);
  if (chosen.size() <= most) return;
  std::nth_element(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(most), chosen.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     return std::pair(-without_rounding_error(score(a)), a) <
                            std::pair(-without_rounding_error(score(b)), b);
                   });
  chosen.resize(most);
  std::sort(chosen.begin(), chosen.end());
}

namespace detail {

// Adds the threshold that comes nearest to halving the rows, if it is not there.
inline void choose_middle(const SplitList& splits, std::size_t n_rows, std::vector<std::uint32_t>& chosen) {
  const auto positions = splits.with_missing_upper();
  if (positions.empty()) return;
  const auto found = std::lower_bound(positions.begin(), positions.end() - 1, n_rows / 2 - 1);
  const auto middle = static_cast<std::uint32_t>(found - positions.begin());
  if (splits.log_likelihood[middle] == kMinusInfinity) return;
  const auto place = std::lower_bound(chosen.begin(), chosen.end(), middle);
  if (place == chosen.end() || *place != middle) chosen.insert(place, middle);
}

// Chooses what is listed of a feature, by threshold, and of each first the one with missing values on the upper side:
// the order in which equals are preferred.
template <class Number>
void choose_listed(const PartitionList<Number>& list, const Listing& listing, std::size_t n_rows,
                   std::vector<std::uint32_t>& chosen) {
  const SplitList& splits = list.splits;
  choose_highest(
      splits.log_likelihood.size(), listing.most,
      [&](std::uint32_t i) { return splits.log_likelihood[i] + splits.location(i); }, chosen);
  if (listing.middle && !list.is_categorical) choose_middle(splits, n_rows, chosen);
  std::sort(chosen.begin(), chosen.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(splits.positions[a], a) < std::pair(splits.positions[b], b);
  });
}

}  // namespace detail

// Lists the `most` partitions of each feature that score highest, feature by feature and in ascending order, and fills
// the node's posterior over all of them. Partitions that constraints forbid are no partitions. With none to list, only
// the node's log odds are found.
template <Outcome T>
std::vector<Partition> best_partitions(const Columns& columns, const T& outcome, const Settings& settings,
                                       std::span<const Row> rows, const Listing& listing,
                                       Node<typename T::Number>& node, ListingScratch<typename T::Number>& scratch) {
  std::vector<Partition> result;
  if (!may_split(node, settings.limits)) return result;
  const NodeOutcome<T> own(outcome, rows, node);
  const ScoredNode<T> scored = own.scored(node);
  const NodePrior log_prior(settings.prior, node.depth);
  const double floor = listing.most == 0 ? -kMinusInfinity : kMinusInfinity;  // sums below it are left out
  SortedFeature<Keyed> sorted{};
  scratch.scores.resize(columns.columns.size());
  score_features(
      scratch.scores,
      [&](std::size_t f) -> SplitList* {
        if (columns.columns[f].n_codes < 2) return nullptr;
        sorted = list_feature(columns, scored, f, rows, settings, scratch.feature);
        return &scratch.feature.list.splits;
      },
      [=](std::size_t) { return floor; },
      [&](std::size_t f, const FeatureScore&) {
        if (listing.most == 0) return;
        detail::choose_listed(scratch.feature.list, listing, rows.size(), scratch.chosen);
        for (const std::uint32_t i : scratch.chosen) {
          if (result.size() % 4096 == 0) stop_if_asked();
          result.push_back(partition_at(scratch.feature.list, i, f, columns, sorted, log_prior.of_feature(f),
                                        [&](Keyed entry) { return rows[row_in_node(entry)]; }));
        }
      });
  Decision decision = decide(node, settings, scratch.scores, [&](double rival) {
    return HyperplaneSearch<T>(columns, scored, rows, settings, scratch.hyperplanes).find(rival);
  });
  if (decision.hyperplane.is_split() && listing.most > 0) result.push_back(std::move(decision.hyperplane));
  return result;
}

template <class Number>
struct PartitionSpace {
  Node<Number> root;
  std::vector<Partition> partitions;  // feature by feature, splits in ascending order
};

template <Outcome T>
PartitionSpace<typename T::Number> every_partition(const Columns& columns, T outcome, Settings settings,
                                                   const std::vector<double>& outcome_prior, Interrupt& interrupt) {
  PartitionSpace<typename T::Number> space{make_root(columns, outcome, settings, outcome_prior, interrupt), {}};
  ListingScratch<typename T::Number> scratch;
  space.partitions = best_partitions(columns, outcome, settings, all_rows(columns), {static_cast<std::size_t>(-1)},
                                     space.root, scratch);
  return space;
}

}  // namespace baytree
