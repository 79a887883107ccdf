// The hyperplanes of a node. Where sets of columns limit which may stand on one path, a hyperplane lies within one of
// the sets that its path allows: its prior draws the set first, among those in which there are hyperplanes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "outcomes/outcome.hpp"
#include "partitions/mode.hpp"
#include "partitions/oblique.hpp"
#include "partitions/partition_list.hpp"
#include "partitions/prior.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

// Of the sets that a node's path allows the features that hyperplanes can use; none lies within another one.
std::vector<std::vector<std::uint32_t>> sets_of_hyperplanes(const Settings& settings, const PathState& path);

template <Outcome T>
class NodeHyperplanes {
 public:
  // The settings are those of the node.
  NodeHyperplanes(const Columns& columns, const ScoredNode<T>& scored, std::span<const Row> rows,
                  const Settings& settings, HyperplaneSearchScratch& scratch, std::size_t n_threads = 1)
      : columns_(columns), scored_(scored), rows_(rows), settings_(settings), scratch_(scratch), n_threads_(n_threads) {
  }

  // `rival` is the score of the best other partition: what is far below it is not worth much effort.
  BestHyperplane find(double rival) {
    const PathState* path = scored_.node.rules.path;
    BestHyperplane best;
    if (!path) {
      best = find_within(settings_, {}, rival);
    } else {
      Settings of_set = settings_;
      for (std::vector<std::uint32_t>& set : sets_of_hyperplanes(settings_, *path)) {
        of_set.rules.use.assign(columns_.columns.size(), Use::nothing);
        for (const std::uint32_t feature : set) of_set.rules.use[feature] = Use::everything;
        take_better(find_within(of_set, std::move(set), rival), best);
      }
    }
    best.partition.log_prior -= log_n_sets();
    return best;
  }

  // Of a hyperplane of the node that was searched.
  double log_prior_of(const Hyperplane& plane) const {
    for (const Searched& searched : searched_) {
      const auto& set = searched.set;
      const auto& log_prior = searched.log_prior;
      const bool inside = std::all_of(plane.terms.begin(), plane.terms.end(), [&](const Hyperplane::Term& term) {
        return set.empty() || std::binary_search(set.begin(), set.end(), static_cast<std::uint32_t>(term.feature));
      });
      if (inside && plane.terms.size() < log_prior.size()) return log_prior[plane.terms.size()] - log_n_sets();
    }
    return kMinusInfinity;
  }

 private:
  struct Searched {
    std::vector<std::uint32_t> set;  // empty: all features
    std::vector<double> log_prior;   // by the number of features
  };

  double log_n_sets() const { return std::log(static_cast<double>(std::max<std::size_t>(searched_.size(), 1))); }

  BestHyperplane find_within(const Settings& settings, std::vector<std::uint32_t> set, double rival) {
    BestHyperplane found = HyperplaneSearch<T>(columns_, scored_, rows_, settings, scratch_, n_threads_).find(rival);
    if (found.share > 0.0) searched_.push_back({std::move(set), scratch_.log_prior});
    return found;
  }

  static void take_better(BestHyperplane found, BestHyperplane& best) {
    if (found.share > 0.0) best.share = found.share;
    const double score = best.partition.score();
    if (found.partition.is_split() && (!best.partition.is_split() || as_good_as(found.partition.score()) > score))
      best.partition = std::move(found.partition);
  }

  const Columns& columns_;
  const ScoredNode<T>& scored_;
  std::span<const Row> rows_;
  const Settings& settings_;
  HyperplaneSearchScratch& scratch_;
  std::size_t n_threads_;
  std::vector<Searched> searched_;
};

}  // namespace baytree
