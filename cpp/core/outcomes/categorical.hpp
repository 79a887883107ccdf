// Categorical outcomes with a Dirichlet prior.
//
// With n_c the (weighted) count of class c in a set, n their sum, alpha the prior and A its sum,
//   log L = sum_c [lgamma(alpha_c + n_c) - lgamma(alpha_c)] - lgamma(A + n) + lgamma(A).
// A split divides fixed totals N_c, so its score needs only the folded functions
//   G_c(k) = lgamma(alpha_c + k) + lgamma(alpha_c + N_c - k),   H(t) the same with A and N:
//   log L(lower) + log L(upper) = sum_c G_c(lower_c) - H(sum_c lower_c) - 2 log B(alpha).
// For whole counts G and H are tables made once per node; real weights evaluate them as they go, and so do nodes with
// more rows than there are tables for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "math/log_gamma.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

template <class Count>
class CategoricalNode;

// Count: std::uint32_t for unit or whole weights, double for real ones.
template <class Count>
struct Categorical {
  using Number = Count;
  using Node = CategoricalNode<Count>;

  std::size_t n_classes = 0;
  std::vector<Class> y;
  std::vector<Count> weight;  // empty: every row counts once

  // Tables of log_gamma(alpha_c + k) and log_gamma(A + k), shared by all nodes that have this prior.
  struct Tables {
    std::vector<double> prior;
    std::vector<std::vector<double>> by_class;
    std::vector<double> total;

    // Whether they are long enough for the counts of some classes.
    bool hold(std::span<const Class> classes, std::span<const Count> counts, std::size_t most) const {
      std::size_t sum = 0;
      for (std::size_t i = 0; i < classes.size(); ++i) {
        if (std::min<std::size_t>(counts[i], most) >= by_class[classes[i]].size()) return false;
        sum += counts[i];
      }
      return std::min(sum, most) < this->total.size();
    }
  };
  std::shared_ptr<const Tables> tables;
  // Nodes of more rows look up both sides of a split: that takes less time and memory than to fold what is hardly ever
  // looked up.
  std::size_t most_folded = std::size_t{1} << 12;

  std::size_t n_rows() const { return y.size(); }
  std::size_t width() const { return n_classes; }
  Count weight_of(std::size_t row) const { return weight.empty() ? Count{1} : weight[row]; }

  bool counts_once() const { return weight.empty(); }

  double weight_in(const Count* statistics) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < n_classes; ++c) sum += static_cast<double>(statistics[c]);
    return sum;
  }

  bool has_exact_sums() const { return true; }
  std::uint64_t mark_of_row(std::size_t row) const { return mark_of_numbers({static_cast<double>(y[row])}); }
  void set_weights(const std::vector<double>& weights) {
    weight.resize(weights.size());
    for (std::size_t row = 0; row < weights.size(); ++row) weight[row] = static_cast<Count>(weights[row]);
  }

  Categorical narrowed_to(std::span<const Row> rows) const {
    Categorical part;
    narrow_to(rows, part);
    return part;
  }
  // Narrows in the place of another one.
  void narrow_to(std::span<const Row> rows, Categorical& part) const {
    part.n_classes = n_classes, part.tables = tables, part.most_folded = most_folded;
    part.y.reserve(std::bit_ceil(rows.size())), part.y.resize(rows.size());
    if (!weight.empty()) part.weight.reserve(std::bit_ceil(rows.size()));
    part.weight.resize(weight.empty() ? 0 : rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) part.y[i] = y[rows[i]];
    for (std::size_t i = 0; i < part.weight.size(); ++i) part.weight[i] = weight[rows[i]];
  }

  void add(Count* statistics, std::size_t row) const { statistics[y[row]] += weight_of(row); }

  // Adds row i to the statistics of the bin that rows[i] is in. What the loop reads is held in locals: the
  // compiler cannot know that the statistics are not among it.
  void add_by_bin(Count* statistics, std::span<const std::uint8_t> bins, std::span<const Row> rows) const {
    const Class* classes = y.data();
    const Count* weights = weight.data();
    const std::uint8_t* bin = bins.data();
    const Row* row = rows.data();
    const std::size_t n = rows.size(), k = n_classes;
    if (weight.empty())
      for (std::size_t i = 0; i < n; ++i) ++statistics[bin[row[i]] * k + classes[i]];
    else
      for (std::size_t i = 0; i < n; ++i) statistics[bin[row[i]] * k + classes[i]] += weights[i];
  }

  bool same(std::size_t a, std::size_t b) const { return y[a] == y[b]; }

  std::vector<double> child_prior(const std::vector<double>& prior, const Count* child, double smoothing) const {
    std::vector<double> result = prior;
    for (std::size_t c = 0; c < n_classes; ++c) result[c] += smoothing * static_cast<double>(child[c]);
    return result;
  }

  // Makes the tables that nodes with the root's prior fold, for nodes of up to `most` rows. Called once, before any
  // other thread starts.
  void prepare(const std::vector<double>& prior, const Count* total, const Threads& threads = {},
               std::size_t most = std::numeric_limits<std::size_t>::max()) {
    if constexpr (std::integral<Count>) {
      std::vector<Class> every(n_classes);
      std::iota(every.begin(), every.end(), Class{0});
      if (tables && tables->prior == prior && tables->hold(every, {total, n_classes}, most)) return;
      auto made = std::make_shared<Tables>();
      made->prior = prior;
      for (std::size_t c = 0; c < n_classes; ++c)
        made->by_class.push_back(log_gamma_table(prior[c], std::min<std::size_t>(total[c], most), threads));
      const std::size_t n = std::accumulate(total, total + n_classes, std::size_t{0});
      made->total = log_gamma_table(std::accumulate(prior.begin(), prior.end(), 0.0), std::min(n, most), threads);
      tables = std::move(made);
    }
  }

  double log_likelihood(const std::vector<double>& prior, const Count* total) const {
    double prior_sum = 0.0, n = 0.0, sum = 0.0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      prior_sum += prior[c];
      if (total[c] == Count{0}) continue;
      const auto count = static_cast<double>(total[c]);
      sum += log_gamma(prior[c] + count) - log_gamma(prior[c]);
      n += count;
    }
    return sum - log_gamma(prior_sum + n) + log_gamma(prior_sum);
  }

  double mean_unit() const { return 1.0; }
  // The probability of the second of two classes.
  double mean(const std::vector<double>& prior, const Count* total, double times) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < n_classes; ++c) sum += prior[c] + times * static_cast<double>(total[c]);
    return (prior[1] + times * static_cast<double>(total[1])) / sum;
  }

  // By the share of each class; of two, one says it all.
  std::size_t n_orders() const { return n_classes == 2 ? 1 : n_classes; }
  double order_key(const Count* set, const Count*, std::size_t order) const {
    const std::size_t of = n_classes == 2 ? 1 : order;
    return static_cast<double>(set[of]) / static_cast<double>(std::accumulate(set, set + n_classes, Count{0}));
  }

  // By the share of each class that is there, of the largest ones first.
  std::vector<std::size_t> orders_of(const Count* node, std::size_t most) const {
    if (n_classes == 2) return {0};
    std::vector<std::size_t> orders;
    for (std::size_t c = 0; c < n_classes; ++c)
      if (node[c] > Count{0}) orders.push_back(c);
    if (orders.size() <= most) return orders;
    std::stable_sort(orders.begin(), orders.end(), [&](std::size_t a, std::size_t b) { return node[a] > node[b]; });
    orders.resize(most);
    std::sort(orders.begin(), orders.end());
    return orders;
  }

  // The order key of a single row.
  double order_key_of_row(std::size_t row, std::size_t order) const {
    const auto weight = static_cast<double>(weight_of(row));
    return (y[row] == (n_classes == 2 ? 1 : order) ? weight : 0.0) / weight;
  }

  Node node(const std::vector<double>& prior, const Count* total) const { return Node(*this, prior, total); }
};

template <class Count>
class CategoricalNode {
 public:
  CategoricalNode(const Categorical<Count>& outcome, const std::vector<double>& prior, const Count* total)
      : place_(outcome.n_classes), prior_sum_(std::accumulate(prior.begin(), prior.end(), 0.0)) {
    log_beta_ = -log_gamma(prior_sum_);
    for (std::size_t c = 0; c < place_.size(); ++c) {
      if (total[c] == Count{0} && place_.size() > 2) continue;
      place_[c] = static_cast<Class>(classes_.size());
      classes_.push_back(static_cast<Class>(c));
      prior_.push_back(prior[c]);
      total_.push_back(total[c]);
      n_ += total[c];
      log_beta_ += log_gamma(prior[c]);
    }
    if constexpr (std::integral<Count>) fold_tables(outcome, prior);
  }

  double split_score(const Count* lower) const {
    Count n_lower{0};
    for (const Class c : classes_) n_lower += lower[c];
    return sum_in_lanes(classes_.size(), [&](std::size_t i) { return folded(i, lower[classes_[i]]); }) -
           folded_total(n_lower) - 2.0 * log_beta_;
  }

  void set_scores(const Categorical<Count>&, std::span<const Count> sets, double* scores) const {
    if constexpr (std::integral<Count>) {
      if (place_.size() == 2) return two_class_set_scores(sets, scores);
    }
    for (std::size_t i = 0; i * place_.size() < sets.size(); ++i) scores[i] = split_score(&sets[i * place_.size()]);
  }

  // G_c is convex, so its maximum over an interval is at an end. -H is concave, so a tangent in the
  // middle of the box lies above it; the tangent is linear and joins each class's own maximum.
  double upper_bound(const Count* from, const Count* to) const {
    Count middle{0};
    for (const Class c : classes_) middle += from[c] + (to[c] - from[c]) / 2;
    const double slope = tangent_slope(middle);
    double bound = -folded_total(middle) - slope * static_cast<double>(middle) - 2.0 * log_beta_;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const Count low = from[classes_[i]], high = to[classes_[i]];
      bound += std::max(folded(i, low) + slope * static_cast<double>(low),
                        folded(i, high) + slope * static_cast<double>(high));
    }
    return bound;
  }

  template <class Entry>
  void split_scores(const Categorical<Count>& outcome, std::span<const Entry> order, const Count* start,
                    std::span<const std::uint32_t> positions, double* scores) const {
    if constexpr (std::integral<Count>) {
      if (place_.size() == 2) return two_class_scores(outcome, order, start, positions, scores);
    }
    many_class_scores(outcome, order, start, positions, scores);
  }

 private:
  // A sum in an order that does not depend on how its terms were found: equal sets have equal scores, bit for bit.
  template <class Term>
  static double sum_in_lanes(std::size_t n, Term&& term) {
    double lanes[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4)
      for (std::size_t k = 0; k < 4; ++k) lanes[k] += term(i + k);
    for (; i < n; ++i) lanes[i % 4] += term(i);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }

  void fold_tables(const Categorical<Count>& outcome, const std::vector<double>& prior) {
    const bool shared = outcome.tables && outcome.tables->prior == prior;
    if (shared && n_ > outcome.most_folded) {
      const bool are_enough = outcome.tables->hold(classes_, total_, n_);
      if (are_enough) tables_ = outcome.tables;
      is_direct_ = !are_enough;
      return;
    }
    // The allocator keeps freed small blocks of every size that was asked for, in every thread: let there be few sizes.
    folded_.reserve(std::bit_ceil(2 * std::size_t{n_} + total_.size() + 1));
    for (std::size_t i = 0; i < classes_.size(); ++i)
      if (shared) fold(outcome.tables->by_class[classes_[i]], total_[i]);
      else fold(log_gamma_table(prior_[i], total_[i]), total_[i]);
    if (shared) fold(outcome.tables->total, n_);
    else fold(log_gamma_table(prior_sum_, n_), n_);
  }

  void fold(const std::vector<double>& table, std::size_t n) {
    start_.push_back(folded_.size());
    folded_.resize(folded_.size() + n + 1);
    double* to = folded_.data() + start_.back();
    const double* from = table.data();
    for (std::size_t k = 0; k <= n; ++k) to[k] = from[k] + from[n - k];
  }

  // Of the class in place i, with k on the lower side.
  double folded(std::size_t i, Count k) const {
    if constexpr (std::integral<Count>) {
      if (is_direct_) return both(prior_[i], k, total_[i] - k);
      if (!tables_) return folded_[start_[i] + k];
      const std::vector<double>& table = tables_->by_class[classes_[i]];
      return table[k] + table[total_[i] - k];
    } else {
      return both(prior_[i], k, std::max(total_[i] - k, 0.0));
    }
  }

  double folded_total(Count t) const {
    if constexpr (std::integral<Count>) {
      if (is_direct_) return both(prior_sum_, t, n_ - t);
      return tables_ ? tables_->total[t] + tables_->total[n_ - t] : folded_[start_.back() + t];
    } else {
      return both(prior_sum_, t, std::max(n_ - t, 0.0));
    }
  }

  static double both(double prior, Count lower, Count upper) {
    return log_gamma(prior + static_cast<double>(lower)) + log_gamma(prior + static_cast<double>(upper));
  }

  // Slope of a line through (t, -H(t)) that -H stays below: at whole numbers the step to the next one.
  double tangent_slope(Count t) const {
    if constexpr (std::integral<Count>) return t < n_ ? folded_total(t) - folded_total(t + 1) : 0.0;
    else return digamma(prior_sum_ + std::max(n_ - t, 0.0)) - digamma(prior_sum_ + t);
  }

  // Calls use(score), where score(first, second) is that of a split of two classes.
  template <class Use>
  void with_two_classes(Use&& use) const {
    const double constant = 2.0 * log_beta_;
    if (is_direct_) {
      use([this, constant](Count a, Count b) { return folded(0, a) + folded(1, b) - folded_total(a + b) - constant; });
    } else if (tables_) {
      use([first = tables_->by_class[0].data(), second = tables_->by_class[1].data(), total = tables_->total.data(),
           all_first = total_[0], all_second = total_[1], n = n_, constant](Count a, Count b) {
        return (first[a] + first[all_first - a]) + (second[b] + second[all_second - b]) -
               (total[a + b] + total[n - a - b]) - constant;
      });
    } else {
      use([first = folded_.data(), second = folded_.data() + start_[1], total = folded_.data() + start_[2], constant](
              Count a, Count b) { return first[a] + second[b] - total[a + b] - constant; });
    }
  }

  // The hot loop of most fits: three look-ups a split.
  template <class Entry>
  void two_class_scores(const Categorical<Count>& outcome, std::span<const Entry> order, const Count* start,
                        std::span<const std::uint32_t> positions, double* scores) const {
    const Class* y = outcome.y.data();
    const Count* weight = outcome.weight.empty() ? nullptr : outcome.weight.data();
    with_two_classes([&, n = start[0] + start[1], ones = start[1]](auto&& score) mutable {
      std::size_t next = 0;
      for (std::size_t j = 0; j < positions.size(); ++j) {
        for (; next <= positions[j]; ++next) {
          const std::uint32_t row = row_in_node(order[next]);
          const Count w = weight ? weight[row] : 1;
          n += w;
          ones += w * y[row];
        }
        scores[j] = score(n - ones, ones);
      }
    });
  }

  void two_class_set_scores(std::span<const Count> sets, double* scores) const {
    with_two_classes([&](auto&& score) {
      for (std::size_t i = 0; 2 * i < sets.size(); ++i) scores[i] = score(sets[2 * i], sets[2 * i + 1]);
    });
  }

  template <class Entry>
  void many_class_scores(const Categorical<Count>& outcome, std::span<const Entry> order, const Count* start,
                         std::span<const std::uint32_t> positions, double* scores) const {
    const std::size_t n_classes = classes_.size();
    std::vector<Count> lower(n_classes);
    std::vector<double> value(n_classes);
    Count n{0};
    for (std::size_t i = 0; i < n_classes; ++i) {
      lower[i] = start[classes_[i]];
      value[i] = folded(i, lower[i]);
      n += lower[i];
    }
    auto refresh = [&](std::size_t i) { value[i] = folded(i, lower[i]); };
    std::size_t next = 0;
    for (std::size_t j = 0; j < positions.size(); ++j) {
      const std::size_t begin = next;
      for (; next <= positions[j]; ++next) {
        const std::uint32_t row = row_in_node(order[next]);
        const Count w = outcome.weight_of(row);
        lower[place_[outcome.y[row]]] += w;
        n += w;
      }
      if (next - begin < n_classes) {
        for (std::size_t i = begin; i < next; ++i) refresh(place_[outcome.y[row_in_node(order[i])]]);
      } else {
        for (std::size_t i = 0; i < n_classes; ++i) refresh(i);
      }
      scores[j] = sum_in_lanes(n_classes, [&](std::size_t i) { return value[i]; }) - folded_total(n) - 2.0 * log_beta_;
    }
  }

  // Of many classes, those without rows here are left out: they add nothing to any score.
  std::vector<Class> classes_;
  std::vector<Class> place_;  // by class: where it is among these
  std::vector<double> prior_;  // by place, as is what follows
  std::vector<Count> total_;
  Count n_{0};
  double prior_sum_;
  double log_beta_;
  std::vector<double> folded_;  // G_c of each class and H, one behind the other; whole counts only
  std::vector<std::size_t> start_;  // where they begin
  std::shared_ptr<const typename Categorical<Count>::Tables> tables_;  // instead of these where they would be large
  bool is_direct_ = false;  // there are no tables
};

}  // namespace baytree
