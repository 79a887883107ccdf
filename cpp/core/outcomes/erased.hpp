// Puts an outcome behind the table of functions that any_outcome.hpp declares.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "outcomes/any_outcome.hpp"
#include "outcomes/any_outcomes.hpp"
#include "outcomes/count_rows.hpp"
#include "outcomes/outcome.hpp"
#include "types.hpp"

namespace baytree {

template <Outcome T>
class Erased;

template <Outcome T>
class ErasedNode final : public ScorerTable<typename T::Number> {
 public:
  using Number = typename T::Number;
  using Table = OutcomeTable<Number>;

  explicit ErasedNode(typename T::Node node) : node_(std::move(node)) {}

  double split_score(const Number* lower) const override {
    if constexpr (BoundedOutcome<T>) return node_.split_score(lower);
    else return 0.0;
  }
  double upper_bound(const Number* from, const Number* to) const override {
    if constexpr (BoundedOutcome<T>) return node_.upper_bound(from, to);
    else return 0.0;
  }
  void split_scores(const Table& outcome, std::span<const Keyed> order, const Number* start,
                    std::span<const std::uint32_t> positions, double* scores) const override {
    node_.split_scores(Erased<T>::behind(outcome), order, start, positions, scores);
  }
  void split_scores(const Table& outcome, std::span<const SmallEntry> order, const Number* start,
                    std::span<const std::uint32_t> positions, double* scores) const override {
    node_.split_scores(Erased<T>::behind(outcome), order, start, positions, scores);
  }
  void set_scores(const Table& outcome, std::span<const Number> sets, double* scores) const override {
    node_.set_scores(Erased<T>::behind(outcome), sets, scores);
  }

 private:
  typename T::Node node_;
};

template <Outcome T>
class Erased final : public OutcomeTable<typename T::Number> {
 public:
  using Number = typename T::Number;
  using Table = OutcomeTable<Number>;

  explicit Erased(T of) : of_(std::move(of)) {}
  static const T& behind(const Table& table) { return static_cast<const Erased&>(table).of_; }

  std::unique_ptr<Table> copy() const override { return std::make_unique<Erased>(of_); }
  std::unique_ptr<Table> narrowed_to(std::span<const Row> rows) const override {
    return std::make_unique<Erased>(of_.narrowed_to(rows));
  }
  std::unique_ptr<ScorerTable<Number>> node(const std::vector<double>& prior, const Number* total) const override {
    return std::make_unique<ErasedNode<T>>(of_.node(prior, total));
  }

  std::size_t n_rows() const override { return of_.n_rows(); }
  std::size_t width() const override { return of_.width(); }
  bool has_bounds() const override { return BoundedOutcome<T>; }
  bool has_exact_sums() const override { return baytree::has_exact_sums(of_); }
  WeightView<Number> weights() const override {
    const auto* weights = of_.weight.empty() ? nullptr : of_.weight.data();
    if constexpr (requires { of_.weight_unit; }) return {weights, of_.weight_unit};
    else return {weights};
  }
  bool counts_once() const override { return of_.counts_once(); }
  double weight_in(const Number* statistics) const override { return of_.weight_in(statistics); }
  std::uint64_t mark_of_row(std::size_t row) const override { return of_.mark_of_row(row); }
  bool same(std::size_t a, std::size_t b) const override { return of_.same(a, b); }
  void add(Number* statistics, std::size_t row) const override { of_.add(statistics, row); }
  std::vector<double> child_prior(const std::vector<double>& prior, const Number* child,
                                  double smoothing) const override {
    return of_.child_prior(prior, child, smoothing);
  }
  double log_likelihood(const std::vector<double>& prior, const Number* total) const override {
    return of_.log_likelihood(prior, total);
  }
  double mean(const std::vector<double>& prior, const Number* total, double times) const override {
    return of_.mean(prior, total, times);
  }
  double mean_unit() const override { return of_.mean_unit(); }
  std::size_t n_orders() const override { return of_.n_orders(); }
  double order_key(const Number* set, const Number* node, std::size_t order) const override {
    return of_.order_key(set, node, order);
  }

  void set_weights(const std::vector<double>& weights) override { of_.set_weights(weights); }
  void set_whole_weights(bool whole) override {
    if constexpr (requires { of_.set_whole_weights(whole); }) of_.set_whole_weights(whole);
  }
  void prepare(const std::vector<double>& prior, const Number* total, const Threads& threads,
               std::size_t most) override {
    if constexpr (requires { of_.prepare(prior, total, threads, most); }) of_.prepare(prior, total, threads, most);
    else of_.prepare(prior, total, threads);
  }

  bool has_one(std::span<const Row> rows) const override { return has_one_outcome(of_, rows); }
  bool has_one(std::span<const SmallEntry> entries) const override { return has_one_outcome(of_, entries); }
  void add_all(std::span<const Row> rows, Number* statistics) const override {
    baytree::add_all(of_, rows, statistics);
  }
  void add_all(std::span<const Keyed> entries, Number* statistics) const override {
    baytree::add_all(of_, entries, statistics);
  }
  void add_all(std::span<const SmallEntry> entries, Number* statistics) const override {
    baytree::add_all(of_, entries, statistics);
  }
  void add_by_bin(Number* statistics, std::span<const std::uint8_t> bins, std::span<const Row> rows) const override {
    if constexpr (BoundedOutcome<T>) of_.add_by_bin(statistics, bins, rows);
  }
  void add_by_code(const RowCodes& table, std::span<const Row> rows, Number* statistics,
                   std::vector<std::uint16_t>& counts) const override {
    if constexpr (requires { of_.has_exact_sums(); }) baytree::add_by_code(of_, table, rows, statistics, counts);
  }
  void statistics_of_each(std::span<const Row> rows, Number* result) const override {
    baytree::statistics_of_each(of_, rows, result);
  }
  void means_of_each(const std::vector<double>& prior, std::span<const Number> sets, double times,
                     double* result) const override {
    baytree::means_of_each(of_, prior, sets, times, result);
  }
  void order_keys_of_each(std::span<const Row> rows, const Number* node, std::size_t order,
                          double* result) const override {
    baytree::order_keys_of_each(of_, rows, node, order, result);
  }
  void convert(const Number* statistics, double* result) const override {
    const auto copy = [&](const auto& numbers) {
      for (std::size_t k = 0; k < of_.width(); ++k) result[k] = static_cast<double>(numbers[k]);
    };
    if constexpr (requires { of_.converted(statistics); }) copy(of_.converted(statistics));
    else copy(statistics);
  }
  AnyOutcome<double> as_reals() const override {
    if constexpr (std::is_same_v<Number, double>) return AnyOutcome<double>(copy());
    else return any_outcome(of_.as_reals());
  }

 private:
  T of_;
};

template <Outcome T>
AnyOutcome<typename T::Number> erased(T outcome) {
  return AnyOutcome<typename T::Number>(std::make_unique<Erased<T>>(std::move(outcome)));
}

}  // namespace baytree
