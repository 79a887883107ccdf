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

// The score of no split, or somewhat less: not all features may be splittable.
double least_of_no_split(const NodeFacts& node, const PartitionPrior& prior) {
  return node.log_likelihood + prior.log_no_split(node.rules.depth, 1.0);
}

// What a feature is ranked by, but for its prior.
double rank_of(const PartitionPrior& prior, const FeatureScore& score) {
  return prior.by_column ? score.log_sum : score.best;
}

// The first feature that ranks as high as any, hyperplanes among them; -1: the hyperplane ranks higher.
std::int32_t first_feature(const PartitionPrior& prior, const NodePrior& log_prior,
                           std::span<const FeatureScore> scores, double rank_of_hyperplane) {
  double highest = rank_of_hyperplane;
  for (std::size_t f = 0; f < scores.size(); ++f)
    if (scores[f].n_splits > 0) highest = std::max(highest, log_prior.of_feature(f) + rank_of(prior, scores[f]));
  const double lowest = as_good_as(highest);
  for (std::size_t f = 0; f < scores.size(); ++f)
    if (scores[f].n_splits > 0 && log_prior.of_feature(f) + rank_of(prior, scores[f]) >= lowest)
      return static_cast<std::int32_t>(f);
  return -1;
}

}  // namespace

FeatureRanking::FeatureRanking(const NodeFacts& node, const Settings& settings)
    : settings_(settings), log_prior_(settings.prior, node.rules.depth), best_(least_of_no_split(node, settings.prior)),
      first_(settings.prior.by_column ? kMinusInfinity : best_) {}

double FeatureRanking::floor(std::size_t feature) const {
  const double seen = settings_.fills_posterior ? best_ - kInvisible : -kMinusInfinity;
  const double ranked = settings_.prior.by_column ? as_good_as(first_) : -kMinusInfinity;
  return std::min(seen, ranked) - log_prior_.of_feature(feature);
}

bool FeatureRanking::add(std::size_t feature, const FeatureScore& score) {
  best_ = std::max(best_, log_prior_.of_feature(feature) + score.best);
  const double rank = log_prior_.of_feature(feature) + rank_of(settings_.prior, score);
  if (rank <= first_) return false;
  first_ = rank;
  return true;
}

double rival_of_hyperplanes(const NodeFacts& node, const PartitionPrior& prior, std::span<const FeatureScore> scores) {
  const NodePrior log_prior(prior, node.rules.depth);
  double best = least_of_no_split(node, prior);
  for (std::size_t f = 0; f < scores.size(); ++f) {
    if (scores[f].n_splits == 0) continue;
    best = std::max(best, log_prior.of_feature(f) + std::max(scores[f].best, rank_of(prior, scores[f])));
  }
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

  const NodePrior log_prior(prior, node.rules.depth);
  node.log_prior_leaf = prior.log_no_split(node.rules.depth, splittable);
  const double no_split = node.log_leaf();
  double best_split = hyperplane.partition.score(), top = std::max(no_split, best_split);
  for (std::size_t f = 0; f < scores.size(); ++f) {
    if (scores[f].n_splits == 0) continue;
    best_split = std::max(best_split, log_prior.of_feature(f) + scores[f].best);
    top = std::max(top, log_prior.of_feature(f) + scores[f].log_sum);
  }
  node.log_best_split = best_split;
  if (settings.fills_posterior)
    fill_feature_posterior(node, log_prior, scores, hyperplane.partition, top,
                           std::max(best_split, no_split) - kInvisible);
  const std::int32_t chosen = first_feature(prior, log_prior, scores, hyperplane.partition.score());
  const auto f = static_cast<std::size_t>(chosen);
  double best_chosen = best_split;
  if (prior.by_column)
    best_chosen = chosen < 0 ? hyperplane.partition.score() : log_prior.of_feature(f) + scores[f].best;
  node.log_odds_split = best_chosen - no_split;
  const double lowest = as_good_as(std::max(best_chosen, no_split));
  if (no_split >= lowest) return {};
  if (chosen < 0) return {hyperplane.partition.feature(), lowest, true};
  return {chosen, lowest - log_prior.of_feature(f)};
}

}  // namespace baytree
