// Random classification problems for the tests of growth and routing, each with one thing of its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "classes.hpp"
#include "partitions/prior.hpp"
#include "tables.hpp"

namespace baytree::tests {

template <class Count>
struct Problem {
  std::string name;
  std::vector<Values> columns;
  Categorical<Count> outcome;
  std::vector<double> root_prior;
  PartitionPrior prior;
  Limits limits;
  double smoothing = 0.0;
};

// The last column repeats the first: whatever it offers, the first must be preferred.
inline std::vector<Values> mixed_columns(std::size_t n, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<Values> columns(7, Values(n));
  for (std::size_t row = 0; row < n; ++row) {
    columns[0][row] = normal(random);
    columns[1][row] = std::round(2.0 * normal(random));
    columns[2][row] = static_cast<double>(random() % 2);
    columns[3][row] = 7.0;                                      // cannot be split
    columns[4][row] = static_cast<double>(random() % 300);      // ties, but more codes than bins
    columns[5][row] = std::exp(4.0 * normal(random));           // distances of very different size
    columns[6][row] = columns[0][row];
  }
  return columns;
}

// Classes that depend on boxes in most columns, one row in seven at random.
inline std::vector<Class> classes_of(const std::vector<Values>& columns, std::size_t n_classes,
                                     std::mt19937_64& random) {
  std::vector<Class> y;
  for (std::size_t row = 0; row < columns[0].size(); ++row) {
    // 0 to 5, the higher the higher the class.
    const std::size_t box = (columns[0][row] > 0.3) + 2u * (columns[1][row] >= 1.0) + (columns[4][row] < 140.0) +
                            (columns[5][row] > 1.0 && columns[2][row] == 0.0);
    y.push_back(static_cast<Class>(random() % 7 ? box * n_classes / 6 : random() % n_classes));
  }
  return y;
}

template <class Count>
Problem<Count> make_problem(std::string name, std::size_t n, std::size_t n_classes, bool weighted, double alpha) {
  std::mt19937_64 random(n * 31 + n_classes * 7 + weighted);
  Problem<Count> problem;
  problem.name = std::move(name);
  problem.columns = mixed_columns(n, random);
  problem.outcome = random_outcome<Count>(n, n_classes, weighted, random);
  problem.outcome.y = classes_of(problem.columns, n_classes, random);
  problem.root_prior.assign(n_classes, alpha);
  // The naive grower takes the most probable partition; the oracle in Python chooses by column too.
  problem.prior.split = 0.99, problem.prior.by_depth = true, problem.prior.by_column = false;
  problem.prior.feature_weight.assign(problem.columns.size(), 1.0);
  return problem;
}

// All settings at any size, for whole and for real weights.
template <class Count>
std::vector<Problem<Count>> problems(std::size_t n) {
  std::vector<Problem<Count>> all{
      make_problem<Count>("two classes", n, 2, false, 1.0),
      make_problem<Count>("three classes, weights", n, 3, true, 0.5),
      make_problem<Count>("two classes, weights, smoothing", n, 2, true, 1.0),
      make_problem<Count>("more classes than histograms take", n, 10, false, 0.2),
      make_problem<Count>("limited rows", n, 2, false, 0.3),
      make_problem<Count>("limited weight", n, 4, true, 0.3),
      make_problem<Count>("limited depth, constant split prior", n, 4, false, 0.7),
      make_problem<Count>("distance", n, 3, true, 0.7),
      make_problem<Count>("improper, uneven features", n, 2, true, 1.5),
      make_problem<Count>("limited rows, weights", n, 3, true, 0.5),
      make_problem<Count>("limited rows, distance", n, 2, false, 0.3),
  };
  all[2].smoothing = 0.3;
  all[4].limits.min_samples_leaf = 7;
  all[5].limits.min_weight_fraction_leaf = 0.02;
  all[6].limits.max_depth = 3;
  all[6].prior.by_depth = false;
  all[7].prior.by_distance = true;
  all[8].prior.proper = false;
  all[8].prior.feature_weight = {0.1, 3.0, 1.0, 1.0, 0.5, 2.0, 0.1};
  all[9].limits.min_samples_leaf = 5;
  all[10].limits.min_samples_leaf = 3;
  all[10].prior.by_distance = true;
  return all;
}

}  // namespace baytree::tests
