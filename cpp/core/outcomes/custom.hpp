// An outcome that the caller defines: additive statistics per row, and functions for whatever needs its prior. Splits
// are scored in batches, one call per node and feature.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

struct CustomFunctions {
  // n sets of statistics (row-major), prior -> n log marginal likelihoods.
  std::function<void(const std::vector<double>& statistics, const std::vector<double>& prior, double* result)>
      log_marginal;
  // prior, statistics of one set -> prior after these rows.
  std::function<std::vector<double>(const std::vector<double>& prior, const std::vector<double>& statistics)> update;
  // posterior -> what it predicts.
  std::function<double(const std::vector<double>& posterior)> mean;
};

class CustomNode;

struct Custom {
  using Number = double;
  using Node = CustomNode;

  std::size_t n_statistics = 0;
  std::vector<double> statistics;  // row-major, already multiplied by the row's weight
  std::vector<double> weight;
  std::shared_ptr<const CustomFunctions> functions;

  std::size_t n_rows() const { return weight.size(); }
  std::size_t width() const { return n_statistics + 1; }  // the weight, then the statistics
  double weight_of(std::size_t row) const { return weight[row]; }
  bool counts_once() const { return false; }
  double weight_in(const double* total) const { return total[0]; }
  bool same(std::size_t a, std::size_t b) const {
    for (std::size_t k = 0; k < n_statistics; ++k)
      if (statistics[a * n_statistics + k] * weight[b] != statistics[b * n_statistics + k] * weight[a]) return false;
    return true;
  }

  std::uint64_t mark_of_row(std::size_t row) const {
    std::uint64_t mark = 0;
    for (std::size_t k = 0; k < n_statistics; ++k)
      mark = mark_of_number(mark, statistics[row * n_statistics + k] / weight[row]);
    return mark;
  }
  void set_weights(std::vector<double> weights) {
    weights.resize(weight.size(), 1.0);
    for (std::size_t row = 0; row < weights.size(); ++row) {
      if (weights[row] == weight[row]) continue;
      for (std::size_t k = 0; k < n_statistics; ++k) {
        double& statistic = statistics[row * n_statistics + k];
        statistic = statistic / weight[row] * weights[row];
      }
    }
    weight = std::move(weights);
  }

  Custom narrowed_to(std::span<const Row> rows) const {
    Custom part{n_statistics, {}, {}, functions};
    part.statistics.reserve(rows.size() * n_statistics);
    for (const Row row : rows) {
      part.weight.push_back(weight[row]);
      for (std::size_t k = 0; k < n_statistics; ++k) part.statistics.push_back(statistics[row * n_statistics + k]);
    }
    return part;
  }

  void add(double* total, std::size_t row) const {
    total[0] += weight[row];
    for (std::size_t k = 0; k < n_statistics; ++k) total[k + 1] += statistics[row * n_statistics + k];
  }

  std::vector<double> child_prior(const std::vector<double>& prior, const double* child, double smoothing) const {
    if (smoothing == 0.0) return prior;
    std::vector<double> share(child + 1, child + width());
    for (double& value : share) value *= smoothing;
    return functions->update(prior, share);
  }

  double log_likelihood(const std::vector<double>& prior, const double* total) const {
    double result = 0.0;
    functions->log_marginal(std::vector<double>(total + 1, total + width()), prior, &result);
    return result;
  }

  double mean_unit() const { return 0.0; }  // not known
  double mean(const std::vector<double>& prior, const double* total, double times) const {
    std::vector<double> sum(total + 1, total + width());
    for (double& value : sum) value *= times;
    return functions->mean(functions->update(prior, sum));
  }

  // By the mean of each statistic.
  std::size_t n_orders() const { return n_statistics; }
  double order_key(const double* set, const double*, std::size_t order) const { return set[order + 1] / set[0]; }

  void prepare(const std::vector<double>&, const double*, const Threads& = {}) {}

  Node node(const std::vector<double>& prior, const double* total) const;
};

class CustomNode {
 public:
  CustomNode(const std::vector<double>& prior, const double* total, std::size_t width)
      : prior_(prior), total_(total + 1, total + width) {}

  template <class Entry>
  void split_scores(const Custom& outcome, std::span<const Entry> order, const double* start,
                    std::span<const std::uint32_t> positions, double* scores) const {
    const std::size_t k = total_.size(), n = positions.size();
    if (n == 0) return;
    std::vector<double> lower(start + 1, start + 1 + k), sets(2 * n * k), result(2 * n);
    std::size_t next = 0;
    for (std::size_t j = 0; j < n; ++j) {
      for (; next <= positions[j]; ++next) {
        const std::size_t row = row_in_node(order[next]);
        for (std::size_t i = 0; i < k; ++i) lower[i] += outcome.statistics[row * k + i];
      }
      for (std::size_t i = 0; i < k; ++i) {
        sets[j * k + i] = lower[i];
        sets[(n + j) * k + i] = total_[i] - lower[i];
      }
    }
    outcome.functions->log_marginal(sets, prior_, result.data());
    for (std::size_t j = 0; j < n; ++j) scores[j] = result[j] + result[n + j];
  }

  void set_scores(const Custom& outcome, std::span<const double> given, double* scores) const {
    const std::size_t k = total_.size(), n = given.size() / (k + 1);
    if (n == 0) return;
    std::vector<double> sets(2 * n * k), result(2 * n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < k; ++i) {
        sets[j * k + i] = given[j * (k + 1) + 1 + i];
        sets[(n + j) * k + i] = total_[i] - sets[j * k + i];
      }
    outcome.functions->log_marginal(sets, prior_, result.data());
    for (std::size_t j = 0; j < n; ++j) scores[j] = result[j] + result[n + j];
  }

 private:
  std::vector<double> prior_, total_;
};

inline CustomNode Custom::node(const std::vector<double>& prior, const double* total) const {
  return CustomNode(prior, total, width());
}

}  // namespace baytree
