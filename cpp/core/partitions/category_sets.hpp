// The partitions of a categorical feature in one node: sets of its categories against the rest. A missing value is a
// category like any other.
//
// The prior draws one of the sets of the column's L categories that may be the smaller side: first its size, 1 to
// L / 2, then one of the L choose k sets of that size, all alike. A node that lacks some categories of the set cannot
// be split by it, and stays a leaf. Without subsets the size is 1, and a category is what a dummy column would be.
// Where there are few categories, all sets are scored. Where there are many, those are scored that the outcomes of the
// categories put next to each other, by their mean (by convexity the likeliest set of all is among them for two
// classes, counts and durations) and by how much they change the mean of the node (which leaves out categories of few
// rows).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <unordered_set>
#include <vector>

#include "outcomes/outcome.hpp"
#include "partitions/prior.hpp"
#include "partitions/split_list.hpp"
#include "types.hpp"

namespace baytree {

inline constexpr std::size_t kFewCategories = 8;  // so many and fewer: every set is scored

// The categories of a node, numbered in ascending order, and the sets of them that are scored.
template <class Number>
struct CategoryList {
  std::vector<std::uint32_t> start;  // of each category's rows in the order, and one more for the end
  std::vector<Number> statistics;    // by category
  std::vector<double> weight;        // by category
  std::vector<std::size_t> n_rows;   // by category
  std::vector<std::vector<std::uint32_t>> orders;  // the categories, ordered by their outcomes in several ways
  // A set is a category alone, the categories of a bit pattern, or the first ones of an order.
  struct Set {
    enum class Kind : std::uint8_t { alone, bits, first } kind;
    std::uint32_t which;  // the category, the bits, or how many
    std::uint32_t order = 0;
  };
  std::vector<Set> sets;
  std::vector<Number> lower;  // statistics of the sets

  std::size_t size() const { return start.size() - 1; }

  // Whether each category is in a set.
  std::vector<std::uint8_t> members(const Set& set) const {
    std::vector<std::uint8_t> result(size());
    if (set.kind == Set::Kind::alone) result[set.which] = 1;
    else if (set.kind == Set::Kind::first)
      for (std::size_t i = 0; i < set.which; ++i) result[orders[set.order][i]] = 1;
    else
      for (std::size_t category = 0; category < size(); ++category) result[category] = set.which >> category & 1;
    return result;
  }
};

namespace detail {

double log_choose(std::size_t n, std::size_t k);

// The prior of the partitions of a column's categories in a node that has some of them.
struct CategoryPrior {
  std::size_t n_column, n_node;  // categories
  bool subsets;
  double charge = 1.0;  // the part of the log of the number of sets that each pays

  std::size_t largest() const { return subsets ? n_column / 2 : 1; }
  // Log prior that a certain set is drawn.
  double log_set(std::size_t size) const {
    return -std::log(static_cast<double>(largest())) - log_choose(n_column, size);
  }
  // With the charge that is paid.
  double log_paid(std::size_t size) const { return log_set(size) - (charge - 1.0) * log_choose(n_column, size); }
  // Log prior of a partition with so many of the node's categories on one side: either side may have been drawn. Dummy
  // columns are two, where the column has more categories than these, and then so are the partitions.
  double log_partition(std::size_t size) const;
  // The part of the mass that splits the node.
  double mass() const;
};

// Where a row counts as several that agree, a set of categories seems to explain what it cannot know: of a category of
// one row all that the row counts, of one of many rows half of what the factor adds. So it pays for that.
double charge_of_sets(const RowFactor& factor, const std::vector<double>& weight_of_categories);

template <Outcome T, class Entry>
void gather_categories(const T& outcome, std::span<const Entry> order, CategoryList<typename T::Number>& list) {
  const std::size_t width = outcome.width();
  list.start.clear();
  list.statistics.clear();
  list.weight.clear();
  list.n_rows.clear();
  for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
    end = begin + 1;
    while (end < order.size() && same_value(order[end - 1], order[end])) ++end;
    list.start.push_back(static_cast<std::uint32_t>(begin));
    list.statistics.resize(list.statistics.size() + width);
    add_all(outcome, order.subspan(begin, end - begin), &list.statistics[list.statistics.size() - width]);
    double weight = 0.0;
    std::size_t n_rows = 0;
    for (const Entry entry : order.subspan(begin, end - begin)) {
      weight += static_cast<double>(outcome.weight_of(row_in_node(entry)));
      n_rows += count_of(outcome, row_in_node(entry));
    }
    list.weight.push_back(weight);
    list.n_rows.push_back(n_rows);
  }
  list.start.push_back(static_cast<std::uint32_t>(order.size()));
}

// Sets that the outcomes put next to each other, each once. Categories with equal outcomes stay together.
template <Outcome T>
void list_neighbours(const T& outcome, const typename T::Number* total, CategoryList<typename T::Number>& list) {
  using Set = typename CategoryList<typename T::Number>::Set;
  const std::size_t n = list.size(), width = outcome.width();
  std::uint64_t all = 0;
  for (std::size_t category = 0; category < n; ++category) all += mark_of(category);
  std::unordered_set<std::uint64_t> listed;
  std::vector<double> key(n);
  const std::vector<std::size_t> ways = orders_of(outcome, total, outcome.n_orders());
  list.orders.resize(2 * ways.size());
  for (std::size_t k = 0; k < list.orders.size(); ++k) {
    const double of_node = outcome.order_key(total, total, ways[k / 2]);
    double size = 0.0;
    for (std::size_t category = 0; category < n; ++category) {
      key[category] = outcome.order_key(&list.statistics[category * width], total, ways[k / 2]);
      if (k % 2 == 1) key[category] = list.weight[category] * (key[category] - of_node);
      size = std::max(size, std::abs(key[category]));
    }
    auto& order = list.orders[k];
    order.resize(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
    std::uint64_t mark = mark_of(order[0]);
    for (std::size_t length = 2; length + 2 <= n; ++length) {
      mark += mark_of(order[length - 1]);
      const bool apart = key[order[length]] - key[order[length - 1]] > 1e-9 * size;
      if (apart && listed.insert(std::min(mark, all - mark)).second)
        list.sets.push_back({Set::Kind::first, static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(k)});
    }
  }
}

template <Outcome T>
void list_sets(const T& outcome, const typename T::Number* total, const CategoryPrior& prior,
               CategoryList<typename T::Number>& list) {
  using Set = typename CategoryList<typename T::Number>::Set;
  const auto n = static_cast<std::uint32_t>(list.size());
  const bool one_says_all = n == 2 && (prior.subsets || prior.n_column == 2);
  list.sets.clear();
  for (std::uint32_t category = 0; category < (one_says_all ? 1 : n < 2 ? 0 : n); ++category)
    list.sets.push_back({Set::Kind::alone, category});
  if (!prior.subsets || n < 4) return;
  if (n > kFewCategories) return list_neighbours(outcome, total, list);
  for (std::uint32_t bits = 1; bits < 1u << (n - 1); ++bits)  // the last category stays on the upper side
    if (std::popcount(bits) > 1 && std::popcount(bits) + 1 < static_cast<int>(n))
      list.sets.push_back({Set::Kind::bits, bits});
}

// What the categories of a set add up to, one set after the other: the first categories of an order go on from the sum
// of those before.
template <class Number>
class SetSum {
 public:
  using Set = typename CategoryList<Number>::Set;

  SetSum(const CategoryList<Number>& list, std::size_t width) : list_(list), statistics_(width) {}

  void move_to(const Set& set) {
    const bool goes_on = set.kind == Set::Kind::first && length_ > 0 && set.order == order_;
    if (!goes_on) clear();
    if (set.kind == Set::Kind::first) {
      for (; length_ < set.which; ++length_) add(list_.orders[set.order][length_]);
      order_ = set.order;
    } else if (set.kind == Set::Kind::alone) {
      add(set.which);
    } else {
      for (std::size_t category = 0; category < list_.size(); ++category)
        if (set.which >> category & 1) add(category);
    }
  }

  const std::vector<Number>& statistics() const { return statistics_; }
  std::size_t n_rows() const { return n_rows_; }
  std::size_t size() const { return size_; }
  double weight() const { return weight_; }

 private:
  void clear() {
    std::fill(statistics_.begin(), statistics_.end(), Number{0});
    n_rows_ = 0, size_ = 0, weight_ = 0.0, length_ = 0;
  }

  void add(std::size_t category) {
    for (std::size_t k = 0; k < statistics_.size(); ++k)
      statistics_[k] += list_.statistics[category * statistics_.size() + k];
    n_rows_ += list_.n_rows[category];
    size_ += 1;
    weight_ += list_.weight[category];
  }

  const CategoryList<Number>& list_;
  std::vector<Number> statistics_;
  std::size_t n_rows_ = 0, size_ = 0;
  double weight_ = 0.0;
  std::uint32_t order_ = 0, length_ = 0;  // how much of an order the sum holds; length 0: something else
};

// Keeps the sets within the limits, with their statistics and locations.
template <class Number>
void keep_allowed_sets(const CategoryPrior& prior, const Limits& limits, std::size_t width, CategoryList<Number>& list,
                       SplitList& splits) {
  std::vector<double> log_share(list.size());  // by size, for there are many sets of a size
  for (std::size_t size = 1; size < list.size(); ++size) log_share[size] = prior.log_partition(size);
  const std::size_t n_rows = std::accumulate(list.n_rows.begin(), list.n_rows.end(), std::size_t{0});
  const double weight = std::accumulate(list.weight.begin(), list.weight.end(), 0.0);
  list.lower.clear();
  splits.log_location.clear();
  SetSum<Number> sum(list, width);
  std::size_t n_kept = 0;
  for (const auto set : list.sets) {
    sum.move_to(set);
    if (std::min(sum.n_rows(), n_rows - sum.n_rows()) < limits.min_samples_leaf) continue;
    if (limits.min_weight_fraction_leaf > 0.0 && std::min(sum.weight(), weight - sum.weight()) < limits.min_weight())
      continue;
    list.lower.insert(list.lower.end(), sum.statistics().begin(), sum.statistics().end());
    splits.log_location.push_back(log_share[sum.size()]);
    list.sets[n_kept++] = set;
  }
  list.sets.resize(n_kept);
}

}  // namespace detail

// Lists the sets of categories within the limits, with scores and locations. `order` is sorted by category; the whole
// column has `n_column` categories.
template <Outcome T, class Entry>
void list_category_sets(const T& outcome, const typename T::Node& node, const typename T::Number* total,
                        std::span<const Entry> order, std::size_t n_column, const Settings& settings,
                        CategoryList<typename T::Number>& list, SplitList& splits) {
  detail::gather_categories(outcome, order, list);
  const detail::CategoryPrior prior{n_column, list.size(), settings.prior.subsets,
                                    detail::charge_of_sets(settings.row_factor, list.weight)};
  detail::list_sets(outcome, total, prior, list);
  detail::keep_allowed_sets(prior, settings.rules.limits, outcome.width(), list, splits);
  const std::size_t n = list.sets.size();
  splits.n_splits = static_cast<std::uint32_t>(n);
  // Sets beyond the limits leave their share to no split; those that are not listed are there all the same.
  splits.mass = 0.0;
  if (settings.prior.subsets && list.size() > kFewCategories) splits.mass = prior.mass();
  else
    for (const double location : splits.log_location) splits.mass += std::exp(location);
  splits.numbers.resize(n);
  std::iota(splits.numbers.begin(), splits.numbers.end(), 0u);
  splits.positions = splits.numbers;
  splits.n_missing_upper = n;
  splits.log_likelihood.resize(n);
  node.set_scores(outcome, list.lower, splits.log_likelihood.data());
}

}  // namespace baytree
