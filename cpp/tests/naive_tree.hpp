// The greedy-modal tree grown straight from its definition: every split of every node listed and scored by the
// closed form. Slow, for small tables; it shares with the core only the types it is described in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "problems.hpp"

namespace baytree::tests {

struct NaiveSplit {
  std::size_t feature;
  double below, above;  // the values it falls between
  double log_prior, log_likelihood;
  double score() const { return log_prior + log_likelihood; }
};

struct NaiveNode {
  std::size_t depth, n_rows;
  double log_likelihood;
  double log_prior_leaf = 0.0;
  std::vector<double> feature_posterior;  // empty: it cannot be split
  std::vector<NaiveSplit> split;          // one, or none in a leaf
};

template <class Count>
class NaiveGrower {
 public:
  explicit NaiveGrower(const Problem<Count>& problem) : problem_(problem), weights_(problem.prior.feature_weight) {
    std::vector<Row> rows(problem.outcome.y.size());
    std::iota(rows.begin(), rows.end(), Row{0});
    for (const Row row : rows) total_weight_ += weight_of(row);
    double sum = 0.0;
    for (std::size_t f = 0; f < weights_.size(); ++f)
      if (!problem.prior.proper || !splits_of(f, rows, problem.root_prior).empty()) sum += weights_[f];
    for (double& weight : weights_) weight /= sum > 0.0 ? sum : 1.0;
    grow(rows, 0, problem.root_prior);
  }

  // Depth first, the lower child right behind its parent.
  const std::vector<NaiveNode>& nodes() const { return nodes_; }

 private:
  double weight_of(Row row) const { return static_cast<double>(problem_.outcome.weight_of(row)); }

  std::vector<double> counts(const std::vector<Row>& rows) const {
    std::vector<double> result(problem_.outcome.n_classes);
    for (const Row row : rows) result[problem_.outcome.y[row]] += weight_of(row);
    return result;
  }

  bool large_enough(const std::vector<Row>& rows) const {
    double weight = 0.0;
    for (const Row row : rows) weight += weight_of(row);
    return rows.size() >= problem_.limits.min_samples_leaf &&
           weight >= problem_.limits.min_weight_fraction_leaf * total_weight_ * (1.0 - 1e-9);
  }

  std::vector<Row> side(std::size_t feature, const std::vector<Row>& rows, double below, bool upper) const {
    std::vector<Row> result;
    for (const Row row : rows)
      if ((problem_.columns[feature][row] > below) == upper) result.push_back(row);
    return result;
  }

  // The splits of a feature, their log_prior that of the location alone; a feature without weight has none.
  std::vector<NaiveSplit> splits_of(std::size_t feature, const std::vector<Row>& rows,
                                    const std::vector<double>& prior) const {
    if (weights_[feature] == 0.0) return {};
    Values values;
    for (const Row row : rows) values.push_back(problem_.columns[feature][row]);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::vector<NaiveSplit> splits;
    double sum = 0.0;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const std::vector<Row> lower = side(feature, rows, values[i], false),
                             upper = side(feature, rows, values[i], true);
      if (!large_enough(lower) || !large_enough(upper)) continue;
      const double mass = problem_.prior.by_distance ? values[i + 1] - values[i] : 1.0;
      const double log_likelihood = closed_form(prior, counts(lower)) + closed_form(prior, counts(upper));
      splits.push_back({feature, values[i], values[i + 1], std::log(mass), log_likelihood});
      sum += mass;
    }
    for (NaiveSplit& split : splits) split.log_prior -= std::log(sum);
    return splits;
  }

  void grow(const std::vector<Row>& rows, std::size_t depth, const std::vector<double>& prior) {
    const std::vector<double> total = counts(rows);
    nodes_.push_back({depth, rows.size(), closed_form(prior, total), 0.0, {}, {}});
    const std::size_t index = nodes_.size() - 1;
    const auto present = std::count_if(total.begin(), total.end(), [](double count) { return count > 0.0; });
    if (depth >= problem_.limits.max_depth || present < 2) return;

    const PartitionPrior& q = problem_.prior;
    const double split_mass = q.by_depth ? std::pow(q.split, 1.0 + static_cast<double>(depth)) : q.split;
    std::vector<NaiveSplit> splits;
    double splittable = 0.0;
    for (std::size_t f = 0; f < weights_.size(); ++f) {
      std::vector<NaiveSplit> of_feature = splits_of(f, rows, prior);
      if (!of_feature.empty()) splittable += weights_[f];
      for (NaiveSplit& split : of_feature) split.log_prior += std::log(split_mass * weights_[f]);
      splits.insert(splits.end(), of_feature.begin(), of_feature.end());
    }
    if (splits.empty()) return;
    NaiveNode& node = nodes_[index];
    node.log_prior_leaf = std::log(1.0 - split_mass * (q.proper ? splittable : 1.0));
    const double no_split = node.log_prior_leaf + node.log_likelihood;
    double best = no_split;
    for (const NaiveSplit& split : splits) best = std::max(best, split.score());
    node.feature_posterior.assign(weights_.size() + 1, 0.0);
    for (const NaiveSplit& split : splits) node.feature_posterior[split.feature] += std::exp(split.score() - best);
    node.feature_posterior.back() = std::exp(no_split - best);
    const double sum = std::accumulate(node.feature_posterior.begin(), node.feature_posterior.end(), 0.0);
    for (double& share : node.feature_posterior) share /= sum;

    // Scores this near count as equal; no split, low features and low thresholds come first.
    const double lowest = best - 1e-9 * (1.0 + std::abs(best));
    if (no_split >= lowest) return;
    const NaiveSplit split = *std::find_if(splits.begin(), splits.end(),
                                           [&](const NaiveSplit& c) { return c.score() >= lowest; });
    node.split = {split};
    for (const bool upper : {false, true}) {
      const std::vector<Row> part = side(split.feature, rows, split.below, upper);
      std::vector<double> part_prior = prior;
      const std::vector<double> part_counts = counts(part);
      for (std::size_t c = 0; c < prior.size(); ++c) part_prior[c] += problem_.smoothing * part_counts[c];
      grow(part, depth + 1, part_prior);
    }
  }

  const Problem<Count>& problem_;
  std::vector<double> weights_;
  double total_weight_ = 0.0;
  std::vector<NaiveNode> nodes_;
};

}  // namespace baytree::tests
