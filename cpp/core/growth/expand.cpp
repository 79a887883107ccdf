#include "growth/expand.hpp"

namespace baytree {

void score_features(std::vector<FeatureScore>& scores, FunctionRef<SplitList*(std::size_t)> list,
                    FunctionRef<double(std::size_t)> floor, FunctionRef<void(std::size_t, const FeatureScore&)> keep) {
  for (std::size_t f = 0; f < scores.size(); ++f) {
    scores[f] = {};
    SplitList* splits = list(f);
    if (!splits || splits->n_splits == 0) continue;
    scores[f] = summarise(*splits, floor(f));
    keep(f, scores[f]);
  }
}

BestHyperplane best_hyperplane(const NodeFacts& node, const Settings& settings, std::span<const FeatureScore> scores,
                               SearchHyperplane search) {
  if (!(settings.oblique.share > 0.0)) return {};
  return search(rival_of_hyperplanes(node, settings.prior, scores));
}

Decision decide(NodeFacts& node, const Settings& settings, std::span<const FeatureScore> scores,
                SearchHyperplane search) {
  BestHyperplane hyperplane = best_hyperplane(node, settings, scores, search);
  const Mode mode = choose_mode(node, settings, scores, hyperplane);
  return {mode, std::move(hyperplane.partition)};
}

Partition modal_partition(NodeFacts& node, const Settings& settings, std::span<const FeatureScore> scores,
                          SearchHyperplane search, FunctionRef<Partition(const Mode&)> pick) {
  Decision decision = decide(node, settings, scores, search);
  if (!decision.mode.is_split()) return {};
  return decision.mode.is_hyperplane ? std::move(decision.hyperplane) : pick(decision.mode);
}

Partition with_probability(Split split, const SplitList& splits, std::size_t index, double log_prior) {
  return {std::move(split), log_prior + splits.location(index), splits.log_likelihood[index]};
}

}  // namespace baytree
