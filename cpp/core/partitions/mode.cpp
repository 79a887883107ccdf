#include "partitions/mode.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace baytree {

namespace {

// The node's posterior over features and no split; `top` is the largest of what they add up from. Features whose best
// split lies below `lowest` have none that could be seen, whether they were summed up or not.
void fill_feature_posterior(NodeFacts& node, const NodePrior& log_prior, std::span<const FeatureScore> scores,
                            const Partition& hyperplane, double top, double lowest) {
  std::vector<double>& posterior = node.feature_posterior;
  posterior.assign(scores.size() + 1, 0.0);
  for (std::size_t f = 0; f < scores.size(); ++f)
    if (scores[f].n_splits > 0 && log_prior.of_feature(f) + scores[f].best >= lowest)
      posterior[f] = std::exp(log_prior.of_feature(f) + scores[f].log_sum - top);
  if (hyperplane.is_split())
    posterior[static_cast<std::size_t>(hyperplane.feature())] += std::exp(hyperplane.score() - top);
  posterior.back() = std::exp(node.log_leaf() - top);
  double sum = 0.0;
  for (const double share : posterior) sum += share;
  for (double& share : posterior) share /= sum;
  node.log_total = top + std::log(sum);
}

}  // namespace

double best_without_hyperplanes(const NodeFacts& node, const PartitionPrior& prior,
                                std::span<const FeatureScore> scores) {
  const NodePrior log_prior(prior, node.depth);
  double best = node.log_likelihood + prior.log_no_split(node.depth, 1.0);
  for (std::size_t f = 0; f < scores.size(); ++f)
    if (scores[f].n_splits > 0) best = std::max(best, log_prior.of_feature(f) + scores[f].best);
  return best;
}

Mode choose_mode(NodeFacts& node, const Settings& settings, std::span<const FeatureScore> scores,
                 const BestHyperplane& hyperplane) {
  const PartitionPrior& prior = settings.prior;
  double splittable = 0.0;
  for (std::size_t f = 0; f < scores.size(); ++f)
    if (scores[f].n_splits > 0) splittable += prior.feature_weight[f] * scores[f].mass;
  if (splittable == 0.0) return {};
  splittable += hyperplane.share;

  const NodePrior log_prior(prior, node.depth);
  node.log_prior_leaf = prior.log_no_split(node.depth, splittable);
  const double no_split = node.log_leaf();
  double best_split = hyperplane.partition.score(), top = std::max(no_split, best_split);
  for (std::size_t f = 0; f < scores.size(); ++f) {
    if (scores[f].n_splits == 0) continue;
    best_split = std::max(best_split, log_prior.of_feature(f) + scores[f].best);
    top = std::max(top, log_prior.of_feature(f) + scores[f].log_sum);
  }
  node.log_odds_split = best_split - no_split;
  const double best = std::max(best_split, no_split);
  if (settings.fills_posterior)
    fill_feature_posterior(node, log_prior, scores, hyperplane.partition, top, best - kInvisible);
  const double lowest = as_good_as(best);
  if (no_split >= lowest) return {};
  for (std::size_t f = 0; f < scores.size(); ++f)
    if (scores[f].n_splits > 0 && log_prior.of_feature(f) + scores[f].best >= lowest)
      return {static_cast<std::int32_t>(f), lowest - log_prior.of_feature(f)};
  return {hyperplane.partition.feature(), lowest, true};
}

}  // namespace baytree
