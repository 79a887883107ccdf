// The partitions of a node, written out: all of them, or the most probable ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "feature.hpp"
#include "node.hpp"
#include "oblique.hpp"
#include "outcome.hpp"
#include "plant.hpp"
#include "prior.hpp"

namespace baytree {

template <class Number>
struct ListingScratch {
  std::vector<Keyed> order, spare;
  PartitionList<Number> list;
  std::vector<FeatureScore> scores;
  std::vector<std::uint32_t> chosen;
  ObliqueScratch oblique;
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

// Adds the cut that comes nearest to halving the rows, if it is not there.
inline void choose_middle(const CutList& cuts, std::size_t n_rows, std::vector<std::uint32_t>& chosen) {
  const auto positions = cuts.with_gaps_upper();
  if (positions.empty()) return;
  const auto found = std::lower_bound(positions.begin(), positions.end() - 1, n_rows / 2 - 1);
  const auto middle = static_cast<std::uint32_t>(found - positions.begin());
  if (cuts.log_likelihood[middle] == kMinusInfinity) return;
  const auto place = std::lower_bound(chosen.begin(), chosen.end(), middle);
  if (place == chosen.end() || *place != middle) chosen.insert(place, middle);
}

// What is listed of a node's partitions: of each feature the `most` that score highest, and the cut in the middle.
struct Listing {
  std::size_t most;
  bool middle = false;
};

// Lists the `most` partitions of each feature that score highest, feature by feature and in ascending order, and fills
// the node's posterior over all of them. Partitions that constraints forbid are no partitions. With none to list, only
// the node's log odds are wanted.
template <Outcome T>
std::vector<Partition> best_partitions(const Columns& columns, const T& outcome, const Settings& settings,
                                       std::span<const Row> rows, const Listing& listing,
                                       Node<typename T::Number>& node, ListingScratch<typename T::Number>& scratch) {
  std::vector<Partition> result;
  if (node.one_outcome || !settings.limits.allow_split(node.depth, node.n_rows)) return result;
  const T own = outcome.narrowed_to(rows);
  const typename T::Node scorer = own.node(node.prior, node.statistics.data());
  const NodePrior log_prior(settings.prior, node.depth);
  const double floor = listing.most == 0 ? -kMinusInfinity : kMinusInfinity;  // sums below it are left out
  scratch.scores.assign(columns.columns.size(), {});
  for (std::size_t f = 0; f < columns.columns.size(); ++f) {
    const Column& column = columns.columns[f];
    if (column.n_codes < 2) continue;
    const SortedFeature<Keyed> feature = sorted_feature(column, rows, scratch.order, scratch.spare);
    list_partitions(ScoredNode<T>{own, scorer, node}, f, column, feature, settings, scratch.list,
                    [&](Keyed entry) { return column.values[key_of(entry)]; });
    CutList& cuts = scratch.list.cuts;
    scratch.scores[f] = summarise(cuts, floor);
    if (listing.most == 0) continue;
    choose_highest(
        cuts.log_likelihood.size(), listing.most,
        [&](std::uint32_t i) { return cuts.log_likelihood[i] + cuts.location(i); }, scratch.chosen);
    if (listing.middle && !column.is_categorical) choose_middle(cuts, rows.size(), scratch.chosen);
    // By threshold, and of each first the cut with the gaps on the upper side: the order in which equals are preferred.
    std::sort(scratch.chosen.begin(), scratch.chosen.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(cuts.positions[a], a) < std::pair(cuts.positions[b], b);
    });
    for (const std::uint32_t i : scratch.chosen) {
      result.push_back(
          {split_of(scratch.list, i, f, column, feature, [&](Keyed entry) { return rows[row_in_node(entry)]; }),
           log_prior.of_feature(f) + cuts.location(i), cuts.log_likelihood[i]});
    }
  }
  ObliqueMode oblique;
  if (settings.oblique.share > 0.0)
    oblique = ObliqueSearch<T>(columns, ScoredNode<T>{own, scorer, node}, rows, settings, scratch.oblique)
                  .find(best_axis(node, settings.prior, scratch.scores));
  choose_mode(node, settings.prior, scratch.scores, oblique);
  if (oblique.partition.is_hyperplane() && listing.most > 0) result.push_back(std::move(oblique.partition));
  return result;
}

template <class Number>
struct PartitionSpace {
  Node<Number> root;
  std::vector<Partition> partitions;  // feature by feature, cuts in ascending order
};

template <Outcome T>
PartitionSpace<typename T::Number> every_partition(const Columns& columns, T outcome, Settings settings,
                                                   const std::vector<double>& outcome_prior, Interrupt& interrupt) {
  PartitionSpace<typename T::Number> space{plant(columns, outcome, settings, outcome_prior, interrupt), {}};
  ListingScratch<typename T::Number> scratch;
  space.partitions = best_partitions(columns, outcome, settings, all_rows(columns), {static_cast<std::size_t>(-1)},
                                     space.root, scratch);
  return space;
}

}  // namespace baytree
