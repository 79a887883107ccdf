// An outcome behind a table of functions. What grows trees is compiled once for all outcomes whose statistics are of
// one kind of number, and asks for the scores of many splits, or for the sums of many rows, at a time: a call costs
// nothing beside them. What stands behind the table is in erased.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/entries.hpp"
#include "data/row_codes.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

template <class Number>
class AnyOutcome;
template <class Number>
class OutcomeTable;

template <class Number>
class ScorerTable {
 public:
  virtual ~ScorerTable() = default;
  virtual double split_score(const Number* lower) const = 0;
  virtual double upper_bound(const Number* from, const Number* to) const = 0;
  virtual void split_scores(const OutcomeTable<Number>& outcome, std::span<const Keyed> order, const Number* start,
                            std::span<const std::uint32_t> positions, double* scores) const = 0;
  virtual void split_scores(const OutcomeTable<Number>& outcome, std::span<const SmallEntry> order, const Number* start,
                            std::span<const std::uint32_t> positions, double* scores) const = 0;
  virtual void set_scores(const OutcomeTable<Number>& outcome, std::span<const Number> sets, double* scores) const = 0;
};

// The weights of rows, in a unit; none: every row counts once.
template <class Number>
struct WeightView {
  using Weight = std::conditional_t<std::is_floating_point_v<Number>, double, std::int64_t>;
  const Weight* weights = nullptr;
  double unit = 1.0;

  double of(std::size_t row) const { return weights ? static_cast<double>(weights[row]) * unit : unit; }
};

// The functions of an Outcome (outcome.hpp).
template <class Number>
class OutcomeTable {
 public:
  virtual ~OutcomeTable() = default;
  virtual std::unique_ptr<OutcomeTable> copy() const = 0;
  virtual std::unique_ptr<OutcomeTable> narrowed_to(std::span<const Row> rows) const = 0;
  virtual std::unique_ptr<ScorerTable<Number>> node(const std::vector<double>& prior, const Number* total) const = 0;

  virtual std::size_t n_rows() const = 0;
  virtual std::size_t width() const = 0;
  virtual bool has_bounds() const = 0;
  virtual bool has_exact_sums() const = 0;
  virtual WeightView<Number> weights() const = 0;
  virtual bool counts_once() const = 0;
  virtual double weight_in(const Number* statistics) const = 0;
  virtual std::uint64_t mark_of_row(std::size_t row) const = 0;
  virtual bool same(std::size_t a, std::size_t b) const = 0;
  virtual void add(Number* statistics, std::size_t row) const = 0;
  virtual std::vector<double> child_prior(const std::vector<double>& prior, const Number* child,
                                          double smoothing) const = 0;
  virtual double log_likelihood(const std::vector<double>& prior, const Number* total) const = 0;
  virtual double mean(const std::vector<double>& prior, const Number* total, double times) const = 0;
  virtual double mean_unit() const = 0;
  virtual std::size_t n_orders() const = 0;
  virtual double order_key(const Number* set, const Number* node, std::size_t order) const = 0;

  virtual void set_weights(const std::vector<double>& weights) = 0;
  virtual void set_whole_weights(bool whole) = 0;
  virtual void prepare(const std::vector<double>& prior, const Number* total, const Threads& threads,
                       std::size_t most) = 0;

  // Of many rows.
  virtual bool has_one(std::span<const Row> rows) const = 0;
  virtual bool has_one(std::span<const SmallEntry> entries) const = 0;
  virtual void add_all(std::span<const Row> rows, Number* statistics) const = 0;
  virtual void add_all(std::span<const Keyed> entries, Number* statistics) const = 0;
  virtual void add_all(std::span<const SmallEntry> entries, Number* statistics) const = 0;
  virtual void add_by_bin(Number* statistics, std::span<const std::uint8_t> bins, std::span<const Row> rows) const = 0;
  virtual void add_by_code(const RowCodes& table, std::span<const Row> rows, Number* statistics,
                           std::vector<std::uint16_t>& counts) const = 0;
  virtual void statistics_of_each(std::span<const Row> rows, Number* result) const = 0;
  virtual void means_of_each(const std::vector<double>& prior, std::span<const Number> sets, double times,
                             double* result) const = 0;
  virtual void order_keys_of_each(std::span<const Row> rows, const Number* node, std::size_t order,
                                  double* result) const = 0;

  // Statistics as float64, in the units of the outcome; and the rows of an outcome that has such statistics.
  virtual void convert(const Number* statistics, double* result) const = 0;
  virtual AnyOutcome<double> as_reals() const = 0;
};

template <class Number>
class AnyNode {
 public:
  explicit AnyNode(std::unique_ptr<ScorerTable<Number>> table) : table_(std::move(table)) {}

  double split_score(const Number* lower) const { return table_->split_score(lower); }
  double upper_bound(const Number* from, const Number* to) const { return table_->upper_bound(from, to); }
  template <class Entry>
  void split_scores(const AnyOutcome<Number>& outcome, std::span<const Entry> order, const Number* start,
                    std::span<const std::uint32_t> positions, double* scores) const {
    table_->split_scores(outcome.table(), order, start, positions, scores);
  }
  void set_scores(const AnyOutcome<Number>& outcome, std::span<const Number> sets, double* scores) const {
    table_->set_scores(outcome.table(), sets, scores);
  }

 private:
  std::unique_ptr<ScorerTable<Number>> table_;
};

template <class NumberOfStatistics>
class AnyOutcome {
 public:
  using Number = NumberOfStatistics;
  using Node = AnyNode<Number>;

  AnyOutcome() = default;
  explicit AnyOutcome(std::unique_ptr<OutcomeTable<Number>> table)
      : table_(std::move(table)), weights_(table_->weights()) {}
  AnyOutcome(const AnyOutcome& other) : AnyOutcome(other.table_->copy()) {}
  AnyOutcome(AnyOutcome&&) = default;
  AnyOutcome& operator=(const AnyOutcome& other) { return *this = AnyOutcome(other); }
  AnyOutcome& operator=(AnyOutcome&&) = default;

  const OutcomeTable<Number>& table() const { return *table_; }
  AnyOutcome narrowed_to(std::span<const Row> rows) const { return AnyOutcome(table_->narrowed_to(rows)); }
  Node node(const std::vector<double>& prior, const Number* total) const { return Node(table_->node(prior, total)); }

  std::size_t n_rows() const { return table_->n_rows(); }
  std::size_t width() const { return table_->width(); }
  bool has_bounds() const { return table_->has_bounds(); }
  bool has_exact_sums() const { return table_->has_exact_sums(); }
  double weight_of(std::size_t row) const { return weights_.of(row); }
  bool counts_once() const { return table_->counts_once(); }
  double weight_in(const Number* statistics) const { return table_->weight_in(statistics); }
  std::uint64_t mark_of_row(std::size_t row) const { return table_->mark_of_row(row); }
  bool same(std::size_t a, std::size_t b) const { return table_->same(a, b); }
  void add(Number* statistics, std::size_t row) const { table_->add(statistics, row); }
  std::vector<double> child_prior(const std::vector<double>& prior, const Number* child, double smoothing) const {
    return table_->child_prior(prior, child, smoothing);
  }
  double log_likelihood(const std::vector<double>& prior, const Number* total) const {
    return table_->log_likelihood(prior, total);
  }
  double mean(const std::vector<double>& prior, const Number* total, double times) const {
    return table_->mean(prior, total, times);
  }
  double mean_unit() const { return table_->mean_unit(); }
  std::size_t n_orders() const { return table_->n_orders(); }
  double order_key(const Number* set, const Number* node, std::size_t order) const {
    return table_->order_key(set, node, order);
  }

  void set_weights(const std::vector<double>& weights) {
    table_->set_weights(weights);
    weights_ = table_->weights();
  }
  void set_whole_weights(bool whole) { table_->set_whole_weights(whole); }
  void prepare(const std::vector<double>& prior, const Number* total, const Threads& threads = {},
               std::size_t most = std::numeric_limits<std::size_t>::max()) {
    table_->prepare(prior, total, threads, most);
  }

  template <class Entry>
  bool has_one(std::span<const Entry> entries) const {
    return table_->has_one(entries);
  }
  template <class Entry>
  void add_all(std::span<const Entry> entries, Number* statistics) const {
    table_->add_all(entries, statistics);
  }
  void add_by_bin(Number* statistics, std::span<const std::uint8_t> bins, std::span<const Row> rows) const {
    table_->add_by_bin(statistics, bins, rows);
  }
  void add_by_code(const RowCodes& codes, std::span<const Row> rows, Number* statistics,
                   std::vector<std::uint16_t>& counts) const {
    table_->add_by_code(codes, rows, statistics, counts);
  }
  void statistics_of_each(std::span<const Row> rows, Number* result) const { table_->statistics_of_each(rows, result); }
  void means_of_each(const std::vector<double>& prior, std::span<const Number> sets, double times,
                     double* result) const {
    table_->means_of_each(prior, sets, times, result);
  }
  void order_keys_of_each(std::span<const Row> rows, const Number* node, std::size_t order, double* result) const {
    table_->order_keys_of_each(rows, node, order, result);
  }
  void convert(const Number* statistics, double* result) const { table_->convert(statistics, result); }
  AnyOutcome<double> as_reals() const { return table_->as_reals(); }

 private:
  std::unique_ptr<OutcomeTable<Number>> table_;
  WeightView<Number> weights_;
};

}  // namespace baytree
