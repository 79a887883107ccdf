#include "partitions/category_sets.hpp"

#include "math/log_gamma.hpp"

namespace baytree::detail {

double log_choose(std::size_t n, std::size_t k) {
  const auto all = static_cast<double>(n), some = static_cast<double>(k);
  return log_gamma(all + 1.0) - log_gamma(some + 1.0) - log_gamma(all - some + 1.0);
}

double CategoryPrior::log_partition(std::size_t size) const {
  if (!subsets && n_column > 2) return log_paid(1);
  double share = 0.0, top = kMinusInfinity;
  for (const std::size_t side : {size, n_node - size})
    if (side <= largest()) top = std::max(top, log_paid(side));
  for (const std::size_t side : {size, n_node - size})
    if (side <= largest()) share += std::exp(log_paid(side) - top);
  return top + std::log(share);
}

double CategoryPrior::mass() const {
  double sum = 0.0;
  for (std::size_t size = 1; size <= std::min(largest(), n_node - 1); ++size)
    sum += std::exp(log_choose(n_node, size) + log_set(size));
  return sum;
}

double charge_of_sets(const RowFactor& factor, const std::vector<double>& weight_of_categories) {
  const double n_rows = std::accumulate(weight_of_categories.begin(), weight_of_categories.end(), 0.0) / factor.of_tree;
  const double categories_a_row = std::min(static_cast<double>(weight_of_categories.size()) / n_rows, 1.0);
  return std::max((factor.planned + factor.of_tree * categories_a_row) / 2.0, 1.0);
}

}  // namespace baytree::detail
