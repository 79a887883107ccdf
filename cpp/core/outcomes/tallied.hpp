// The outcome of a node's rows when nothing is known of them but the sums for every value of a feature: an entry is a
// value with all of its rows. What lists and scores the partitions of single rows does the same with these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

template <Outcome T>
class TalliedNode;

template <Outcome T>
struct Tallied {
  using Number = typename T::Number;
  using Node = TalliedNode<T>;

  const T* of = nullptr;
  std::vector<Number> statistics;   // one entry after another
  std::vector<std::size_t> counts;  // by entry: its rows

  std::size_t n_rows() const { return counts.size(); }
  std::size_t width() const { return of->width(); }
  const Number* at(std::size_t entry) const { return statistics.data() + entry * width(); }
  std::size_t count_of(std::size_t entry) const { return counts[entry]; }
  double weight_of(std::size_t entry) const { return of->weight_in(at(entry)); }
  bool counts_once() const { return false; }
  double weight_in(const Number* set) const { return of->weight_in(set); }
  void add(Number* set, std::size_t entry) const {
    for (std::size_t k = 0; k < width(); ++k) set[k] += at(entry)[k];
  }

  // Single rows are not known.
  Tallied narrowed_to(std::span<const Row>) const { return *this; }
  std::uint64_t mark_of_row(std::size_t) const { return 0; }
  void set_weights(const std::vector<double>&) {}
  bool same(std::size_t, std::size_t) const { return false; }
  void prepare(const std::vector<double>&, const Number*, const Threads& = {}) {}

  std::vector<double> child_prior(const std::vector<double>& prior, const Number* child, double smoothing) const {
    return of->child_prior(prior, child, smoothing);
  }
  double log_likelihood(const std::vector<double>& prior, const Number* total) const {
    return of->log_likelihood(prior, total);
  }
  double mean(const std::vector<double>& prior, const Number* total, double times) const {
    return of->mean(prior, total, times);
  }
  void means_of_each(const std::vector<double>& prior, std::span<const Number> sets, double times,
                     double* result) const {
    baytree::means_of_each(*of, prior, sets, times, result);
  }
  double mean_unit() const { return of->mean_unit(); }
  std::size_t n_orders() const { return of->n_orders(); }
  std::vector<std::size_t> orders_of(const Number* node, std::size_t most) const {
    return baytree::orders_of(*of, node, most);
  }
  double order_key(const Number* set, const Number* node, std::size_t order) const {
    return of->order_key(set, node, order);
  }
  Node node(const std::vector<double>& prior, const Number* total) const { return Node(of->node(prior, total)); }
};

template <Outcome T>
class TalliedNode {
 public:
  explicit TalliedNode(typename T::Node node) : node_(std::move(node)) {}
  const typename T::Node& of() const { return node_; }

  template <class Entry>
  void split_scores(const Tallied<T>& outcome, std::span<const Entry> order, const typename T::Number* start,
                    std::span<const std::uint32_t> positions, double* scores) const {
    const std::size_t width = outcome.width();
    std::vector<typename T::Number> lower(start, start + width), sets(positions.size() * width);
    std::size_t next = 0;
    for (std::size_t j = 0; j < positions.size(); ++j) {
      for (; next <= positions[j]; ++next) outcome.add(lower.data(), row_in_node(order[next]));
      std::copy(lower.begin(), lower.end(), sets.begin() + static_cast<std::ptrdiff_t>(j * width));
    }
    node_.set_scores(*outcome.of, sets, scores);
  }

  void set_scores(const Tallied<T>& outcome, std::span<const typename T::Number> sets, double* scores) const {
    node_.set_scores(*outcome.of, sets, scores);
  }

 private:
  typename T::Node node_;
};

}  // namespace baytree
