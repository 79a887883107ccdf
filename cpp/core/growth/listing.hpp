// The partitions of a node, written out: all of them, or the most probable ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "data/sort.hpp"
#include "growth/engine.hpp"
#include "growth/expand.hpp"
#include "growth/root.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/mode.hpp"
#include "partitions/node.hpp"
#include "partitions/node_features.hpp"
#include "partitions/node_hyperplanes.hpp"
#include "partitions/prior.hpp"
#include "partitions/split_list.hpp"
#include "types.hpp"

namespace baytree {

// What is listed of a node's partitions: the `most` that score highest, of each feature or of all features together
// (then nothing else is wanted of the node); of each feature the threshold in the middle too.
struct Listing {
  std::size_t most;
  bool middle = false;
  bool together = false;
};

template <class Number>
struct ListingScratch {
  FeatureScratch<Number> feature;
  std::vector<FeatureScore> scores;
  std::vector<std::uint32_t> chosen;
  std::vector<double> rounded;  // scores of a feature's partitions
  HyperplaneSearchScratch hyperplanes;
};

// The positions of the `most` highest of some scores (rounded, as they are put in order) above `floor`, in ascending
// order; the earlier ones among equals.
void choose_highest(std::span<const double> scores, std::size_t most, double floor, std::vector<std::uint32_t>& chosen);

// The partitions that score highest of those that were added, in the order in which they were.
class ShortList {
 public:
  explicit ShortList(std::size_t most) : most_(most) {}

  double floor() const { return floor_; }  // what scores no more than this need not be added
  void add(Partition partition, double rounded) {
    partitions_.push_back(std::move(partition));
    rounded_.push_back(rounded);
    if (partitions_.size() / 2 >= most_) shorten();  // now and then, so that each costs little
  }
  std::vector<Partition> take() {
    shorten();
    return std::move(partitions_);
  }

 private:
  void shorten() {
    if (partitions_.size() <= most_) return;
    choose_highest(rounded_, most_, kMinusInfinity, chosen_);
    floor_ = -kMinusInfinity;
    for (std::size_t i = 0; i < most_; ++i) {
      if (chosen_[i] != i) partitions_[i] = std::move(partitions_[chosen_[i]]);
      rounded_[i] = rounded_[chosen_[i]];
      floor_ = std::min(floor_, rounded_[i]);
    }
    partitions_.resize(most_);
    rounded_.resize(most_);
  }

  std::size_t most_;
  double floor_ = kMinusInfinity;
  std::vector<Partition> partitions_;
  std::vector<double> rounded_;
  std::vector<std::uint32_t> chosen_;
};

namespace detail {

// Adds the threshold that comes nearest to halving the rows, if it is not there.
void choose_middle(const SplitList& splits, std::size_t n_rows, std::vector<std::uint32_t>& chosen);

// Chooses what is listed of a feature, by threshold, and of each first the one with missing values on the upper side:
// the order in which equals are preferred. `log_prior` is that of the feature.
template <class Number>
void choose_listed(const PartitionList<Number>& list, const Listing& listing, double log_prior, double floor,
                   std::size_t n_rows, ListingScratch<Number>& scratch) {
  const SplitList& splits = list.splits;
  const bool uniform = splits.log_location.empty();
  const double even = uniform ? splits.uniform_location() : 0.0;
  scratch.rounded.resize(splits.log_likelihood.size());
  for (std::size_t i = 0; i < scratch.rounded.size(); ++i)
    scratch.rounded[i] = without_rounding_error(log_prior + splits.log_likelihood[i] +
                                                (uniform ? even : splits.log_location[i]));
  choose_highest(scratch.rounded, listing.most, floor, scratch.chosen);
  if (listing.middle && !list.is_categorical) choose_middle(splits, n_rows, scratch.chosen);
  if (splits.n_missing_upper < splits.positions.size())
    std::sort(scratch.chosen.begin(), scratch.chosen.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(splits.positions[a], a) < std::pair(splits.positions[b], b);
    });
}

}  // namespace detail

// Lists partitions of a node, feature by feature and in ascending order, and fills the node's posterior over all of
// them, unless they are listed together. Partitions that constraints forbid are no partitions. With none to list, only
// the node's log odds are found.
template <Outcome T>
std::vector<Partition> best_partitions(const Columns& columns, const T& outcome, const Settings& of_tree,
                                       std::span<const Row> rows, const Listing& listing,
                                       Node<typename T::Number>& node, ListingScratch<typename T::Number>& scratch) {
  if (!may_split(node, of_tree.rules)) return {};
  std::optional<Settings> drawn;
  const Settings& settings = settings_of_node(
      of_tree, columns, node, [&](std::size_t f) { return varies(columns.columns[f], rows); }, drawn);
  const NodeOutcome<T> node_outcome(outcome, rows, node);
  const ScoredNode<T> scored = node_outcome.scored(node);
  const NodePrior log_prior(settings.prior, node.rules.depth);
  const bool with_sums = listing.most > 0 && !listing.together;
  const double floor = with_sums ? kMinusInfinity : -kMinusInfinity;  // sums below it are left out
  ShortList result(listing.together ? listing.most : static_cast<std::size_t>(-1));
  SortedFeature<Keyed> sorted{};
  scratch.scores.resize(columns.columns.size());
  score_features(
      scratch.scores,
      [&](std::size_t f) -> SplitList* {
        if (columns.columns[f].n_codes < 2 || !settings.rules.uses(f)) return nullptr;
        sorted = list_feature(columns, scored, f, rows, settings, scratch.feature);
        return &scratch.feature.list.splits;
      },
      [=](std::size_t) { return floor; },
      [&](std::size_t f, const FeatureScore&) {
        if (listing.most == 0) return;
        detail::choose_listed(scratch.feature.list, listing, log_prior.of_feature(f), result.floor(), rows.size(),
                              scratch);
        for (std::size_t k = 0; k < scratch.chosen.size(); ++k) {
          if (k % 4096 == 0) stop_if_asked();
          const std::uint32_t i = scratch.chosen[k];
          result.add(partition_at(scratch.feature.list, i, f, columns, sorted, settings, log_prior.of_feature(f),
                                  [&](Keyed entry) { return rows[row_in_node(entry)]; }),
                     scratch.rounded[i]);
        }
      });
  auto search = [&](double rival) {
    return NodeHyperplanes<T>(columns, scored, rows, settings, scratch.hyperplanes).find(rival);
  };
  Partition hyperplane = listing.together ? best_hyperplane(node, settings, scratch.scores, search).partition
                                          : decide(node, settings, scratch.scores, search).hyperplane;
  std::vector<Partition> listed = result.take();
  if (hyperplane.is_split() && listing.most > 0) listed.push_back(std::move(hyperplane));
  return listed;
}

template <Outcome T>
PartitionSpace<typename T::Number> every_partition(const Columns& columns, T outcome, Settings settings,
                                                   const std::vector<double>& outcome_prior, Interrupt& interrupt) {
  PartitionSpace<typename T::Number> space{make_root(columns, outcome, settings, outcome_prior, 1, interrupt), {}};
  ListingScratch<typename T::Number> scratch;
  space.partitions = best_partitions(columns, outcome, settings, all_rows(columns, settings),
                                     {static_cast<std::size_t>(-1)}, space.root, scratch);
  return space;
}

}  // namespace baytree
