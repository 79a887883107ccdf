// Grows a tree whose leaves hold models of their own. A node's candidates are the best split of each feature for
// constant leaves, of the outcome and of what the node's own model leaves unexplained; the most promising ones are
// scored again with the models that the two sides would have. The best one is then moved to where these two models
// divide the rows: the best split of the difference of their log densities is one more candidate, and so on.
//
// Large nodes are searched on some of their rows; the best split is moved along its feature with all of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "growth/engine.hpp"
#include "growth/expand.hpp"
#include "growth/listing.hpp"
#include "growth/nodes.hpp"
#include "leaves/leaf_models.hpp"
#include "leaves/prediction_order.hpp"
#include "outcomes/normal.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

template <Outcome T>
class LeafModelGrower {
 public:
  using Number = typename T::Number;

  // The settings and the outcome are those that `make_root` completed; `models` know the weights of the outcome.
  // `directions` are those of predictions.
  LeafModelGrower(const Columns& columns, const T& outcome, const Settings& settings, const LeafModels& models,
                  const LeafSearch& search, std::vector<std::int8_t> directions, std::size_t n_threads,
                  Interrupt& interrupt)
      : columns_(columns), outcome_(outcome), settings_(settings), models_(models), search_(search),
        order_(models, std::move(directions), search.extrapolate), n_threads_(std::max<std::size_t>(n_threads, 1)),
        interrupt_(interrupt), scratch_(n_threads_) {
    Normal response{std::vector<double>(columns.n_rows), {}, false, {}};
    if (!outcome.counts_once())
      for (std::size_t row = 0; row < columns.n_rows; ++row)
        response.weight.push_back(static_cast<double>(outcome.weight_of(row)));
    for (Scratch& scratch : scratch_) {
      scratch.response = response;
      scratch.densities.resize(columns.n_rows);
    }
  }

  ModelTree<Number> grow(Node<Number> root) {
    nodes_.push_back(std::move(root));
    std::vector<Open> level;
    level.push_back({0, all_rows(columns_, settings_)});
    fitted_.push_back(models_.fit(level[0].rows, scratch_[0].leaf));
    order_.add_root(fitted_.back());
    while (!level.empty()) level = order_.is_free() ? grow_level(std::move(level)) : grow_in_turn(std::move(level));
    return depth_first();
  }

 private:
  static constexpr std::size_t kRefined = 3;  // candidates that a round of refinement adds
  inline static const std::vector<double> kDifferencePrior{0.0, 1.0, 2.0, 1.0};  // of differences between -1 and 1

  struct Open {
    std::size_t node;
    std::vector<Row> rows;
    std::vector<Row> some = {};  // of a large node
    std::vector<Partition> candidates = {};
    std::vector<double> values = {};  // log of prior times likelihood
    std::vector<LeafModel> children = {};
    Sides sides = {};

    std::span<const Row> searched() const { return some.empty() ? rows : some; }
  };
  struct alignas(kApart) Scratch {
    ListingScratch<Number> listing;
    ListingScratch<double> response_listing;
    LeafScratch leaf;
    Normal response;  // by row, of those that are looked at
    std::vector<double> densities;
  };

  // One node after the other, since each must be in order with all before it.
  std::vector<Open> grow_in_turn(std::vector<Open> level) {
    std::vector<Open> next;
    for (Open& open : level) {
      std::vector<Open> one;
      one.push_back(std::move(open));
      for (Open& child : grow_level(std::move(one))) next.push_back(std::move(child));
    }
    return next;
  }

  std::vector<Open> grow_level(std::vector<Open> level) {
    parallel_for(level.size(), n_threads_, interrupt_,
                 [&](std::size_t i, std::size_t worker) { find_candidates(level[i], scratch_[worker]); });
    std::vector<std::pair<std::size_t, std::size_t>> tasks;
    for (std::size_t i = 0; i < level.size(); ++i)
      for (std::size_t k = 0; k < level[i].candidates.size(); ++k) tasks.push_back({i, k});
    parallel_for(tasks.size(), n_threads_, interrupt_, [&](std::size_t task, std::size_t worker) {
      const auto [i, k] = tasks[task];
      level[i].values[k] = value_of(level[i], level[i].candidates[k], scratch_[worker].leaf);
    });
    parallel_for(level.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      if (!has_split(level[i]) || interrupt_.stopped()) return;
      refine(level[i], scratch_[worker]);
      choose(level[i], scratch_[worker]);
    });
    std::vector<Open> next;
    for (Open& open : level)
      if (!open.children.empty()) add(open, next);
    return next;
  }

  void find_candidates(Open& open, Scratch& scratch) {
    Node<Number>& node = nodes_[open.node];
    if (may_split(node, settings_.rules)) {
      if (open.rows.size() > search_.few_rows) take_some(open);
      Node<Number> searched = open.some.empty() ? node : node_of(outcome_, open, node.prior);
      open.candidates = highest(
          best_partitions(columns_, outcome_, settings_, open.searched(), {1}, searched, scratch.listing),
          search_.width);
      node.log_prior_leaf = open.some.empty() ? searched.log_prior_leaf : log_no_split(open);
    }
    const LeafModel& model = fitted_[open.node];
    node.log_likelihood = model.log_evidence;
    open.values.resize(open.candidates.size());
    if (open.candidates.empty() || model.terms.empty()) return;
    models_.residuals(model, open.searched(), scratch.leaf, scratch.response.y);
    add_candidates(open, best_of_response(open, models_.residual_prior(), settings_, open.searched(), scratch),
                   search_.width);
  }

  // Evenly, in the order of the rows, which their contents decide.
  void take_some(Open& open) const {
    for (std::size_t i = 0; i < search_.few_rows; ++i)
      open.some.push_back(open.rows[i * open.rows.size() / search_.few_rows]);
  }

  template <Outcome Other>
  Node<typename Other::Number> node_of(const Other& outcome, const Open& open, const std::vector<double>& prior) const {
    return make_node(outcome, settings_, nodes_[open.node].rules, prior, open.searched(), [](Row row) { return row; });
  }

  double log_no_split(const Open& open) const {
    double splittable = 0.0;
    for (std::size_t f = 0; f < columns_.columns.size(); ++f)
      if (settings_.rules.uses(f) && varies(columns_.columns[f], open.rows))
        splittable += settings_.prior.feature_weight[f];
    return settings_.prior.log_no_split(nodes_[open.node].rules.depth, splittable);
  }

  // The best splits of the response that `scratch` holds.
  std::vector<Partition> best_of_response(const Open& open, const std::vector<double>& prior, const Settings& settings,
                                          std::span<const Row> rows, Scratch& scratch) const {
    auto node = make_node(scratch.response, settings, nodes_[open.node].rules, prior, rows,
                          [](Row row) { return row; });
    scratch.response.prepare(node.prior, node.statistics.data());
    return best_partitions(columns_, scratch.response, settings, rows, {1}, node, scratch.response_listing);
  }

  void add_candidates(Open& open, std::vector<Partition> partitions, std::size_t most) const {
    for (Partition& partition : highest(std::move(partitions), most))
      if (std::none_of(open.candidates.begin(), open.candidates.end(),
                       [&](const Partition& other) { return is_same_threshold(partition.split, other.split); }))
        open.candidates.push_back(std::move(partition));
    open.values.resize(open.candidates.size(), kMinusInfinity);
  }

  static bool is_same_threshold(const Split& a, const Split& b) {
    const auto *one = std::get_if<Threshold>(&a), *other = std::get_if<Threshold>(&b);
    return one && other && one->feature == other->feature && one->threshold == other->threshold &&
           one->missing == other->missing;
  }

  // The most promising of the partitions that were found, one of each feature.
  static std::vector<Partition> highest(std::vector<Partition> partitions, std::size_t most) {
    std::vector<double> scores(partitions.size());
    for (std::size_t i = 0; i < partitions.size(); ++i) scores[i] = without_rounding_error(partitions[i].score());
    std::vector<std::uint32_t> chosen;
    choose_highest(scores, most, kMinusInfinity, chosen);
    std::vector<Partition> result;
    for (const std::uint32_t i : chosen) result.push_back(std::move(partitions[i]));
    return result;
  }

  // The models of the two sides of a split, the lower one first.
  std::vector<LeafModel> fit_sides(const Sides& sides, LeafScratch& scratch) const {
    std::vector<LeafModel> result;
    for (const auto* side : {&sides.lower, &sides.upper})
      if (!side->empty()) result.push_back(models_.fit(*side, scratch));
    return result;
  }

  double value_of(const Open& open, const Partition& partition, LeafScratch& scratch) const {
    if (interrupt_.stopped()) return kMinusInfinity;
    return value_with(open, partition, fit_sides(divide_rows(columns_, partition.split, open.searched()), scratch));
  }

  // Log of prior times likelihood; splits that put predictions out of order have prior zero.
  double value_with(const Open& open, const Partition& partition, const std::vector<LeafModel>& sides) const {
    if (sides.size() == 2 && !order_.allows(open.node, partition.split, sides[0], sides[1])) return kMinusInfinity;
    double value = partition.log_prior;
    for (const LeafModel& model : sides) value += model.log_evidence;
    return value;
  }

  static bool has_split(const Open& open) {
    return std::any_of(open.values.begin(), open.values.end(), [](double value) { return value > kMinusInfinity; });
  }

  // The first of the best candidates.
  static std::size_t best_of(const Open& open) {
    const double lowest = as_good_as(*std::max_element(open.values.begin(), open.values.end()));
    const auto first = std::find_if(open.values.begin(), open.values.end(), [&](double v) { return v >= lowest; });
    return static_cast<std::size_t>(first - open.values.begin());
  }

  // Moves the best split to where the models of its sides divide the rows, as long as that is an improvement.
  void refine(Open& open, Scratch& scratch) const {
    for (std::size_t round = 0; round < search_.n_rounds; ++round) {
      const std::size_t best = best_of(open), before = open.candidates.size();
      if (!compare_sides(open, open.candidates[best], open.searched(), scratch)) return;
      add_candidates(open, best_of_response(open, kDifferencePrior, settings_, open.searched(), scratch), kRefined);
      for (std::size_t k = before; k < open.candidates.size(); ++k)
        open.values[k] = value_of(open, open.candidates[k], scratch.leaf);
      if (best_of(open) == best) return;
    }
  }

  // Makes the response how much better the model of the lower side explains each row, within bounds; false where there
  // is no second side.
  bool compare_sides(const Open& open, const Partition& partition, std::span<const Row> rows, Scratch& scratch) const {
    const auto models = fit_sides(divide_rows(columns_, partition.split, open.searched()), scratch.leaf);
    if (models.size() < 2) return false;
    models_.log_densities(models[0], rows, scratch.leaf, scratch.response.y);
    models_.log_densities(models[1], rows, scratch.leaf, scratch.densities);
    for (const Row row : rows)
      scratch.response.y[row] = std::clamp(scratch.response.y[row] - scratch.densities[row], -1.0, 1.0);
    return true;
  }

  // A split that was found on some of the rows, moved along its feature with all of them.
  Partition moved(const Open& open, const Partition& partition, Scratch& scratch) const {
    if (!compare_sides(open, partition, open.rows, scratch)) return partition;
    Settings settings = settings_;
    settings.rules.use.assign(columns_.columns.size(), Use::nothing);
    settings.rules.use[static_cast<std::size_t>(partition.feature())] = Use::everything;
    auto best = best_of_response(open, kDifferencePrior, settings, open.rows, scratch);
    return best.empty() ? partition : std::move(best.front());
  }

  void choose(Open& open, Scratch& scratch) {
    Node<Number>& node = nodes_[open.node];
    const std::size_t chosen = best_of(open);
    Partition best = open.candidates[chosen];
    if (!open.some.empty()) best = moved(open, best, scratch);
    open.sides = divide_rows(columns_, best.split, open.rows);
    open.children = fit_sides(open.sides, scratch.leaf);
    const double value = value_with(open, best, open.children);
    if (value == kMinusInfinity) return open.children.clear();
    const double no_split = node.log_leaf();
    node.log_odds_split = value - no_split;
    share_out(open, value - open.values[chosen], std::max(value, no_split), node);
    if (open.children.size() < 2 || no_split >= as_good_as(std::max(value, no_split))) return open.children.clear();
    node.partition = std::move(best);
    node.partition.log_likelihood = value - node.partition.log_prior;
  }

  // The posterior over features; where candidates were scored on some of the rows, with their distance from the best.
  void share_out(const Open& open, double shift, double top, Node<Number>& node) const {
    node.feature_posterior.assign(columns_.columns.size() + 1, 0.0);
    node.feature_posterior.back() = std::exp(node.log_leaf() - top);
    for (std::size_t k = 0; k < open.values.size(); ++k)
      node.feature_posterior[static_cast<std::size_t>(open.candidates[k].feature())] += std::exp(open.values[k] +
                                                                                                 shift - top);
    const double sum = std::accumulate(node.feature_posterior.begin(), node.feature_posterior.end(), 0.0);
    for (double& share : node.feature_posterior) share /= sum;
  }

  void add(Open& open, std::vector<Open>& next) {
    auto children = make_children(outcome_, settings_, nodes_[open.node], nodes_[open.node].partition.split,
                                  std::span<const Row>(open.sides.lower), std::span<const Row>(open.sides.upper));
    const std::size_t lower = nodes_.size();
    add_children(nodes_, open.node, std::move(children));
    order_.add_children(open.node, nodes_[open.node].partition.split, open.children[0], open.children[1]);
    for (LeafModel& model : open.children) fitted_.push_back(std::move(model));
    next.push_back({lower, std::move(open.sides.lower)});
    next.push_back({lower + 1, std::move(open.sides.upper)});
  }

  // The nodes and their models in depth-first order, the lower child right behind its parent.
  ModelTree<Number> depth_first() {
    ModelTree<Number> result;
    std::vector<std::pair<std::size_t, std::int64_t>> stack{{0, -1}};  // a node, and whose upper child it is
    while (!stack.empty()) {
      const auto [from, parent] = stack.back();
      stack.pop_back();
      const auto place = static_cast<std::int64_t>(result.nodes.size());
      if (parent >= 0) result.nodes[static_cast<std::size_t>(parent)].upper = place;
      result.nodes.push_back(std::move(nodes_[from]));
      result.models.push_back(std::move(fitted_[from]));
      Node<Number>& node = result.nodes.back();
      if (!node.partition.is_split()) continue;
      stack.push_back({static_cast<std::size_t>(node.upper), place});
      stack.push_back({static_cast<std::size_t>(node.lower), -1});
      node.lower = place + 1;
    }
    return result;
  }

  const Columns& columns_;
  const T& outcome_;
  const Settings& settings_;
  const LeafModels& models_;
  LeafSearch search_;
  PredictionOrder order_;
  std::size_t n_threads_;
  Interrupt& interrupt_;
  std::vector<Node<Number>> nodes_;
  std::vector<LeafModel> fitted_;  // by node
  std::vector<Scratch> scratch_;
};

template <Outcome T>
ModelTree<typename T::Number> grow_leaf_models(const Columns& columns, T outcome, Settings settings,
                                               const std::vector<double>& root_prior, LeafModels& models,
                                               const LeafSearch& search, std::size_t n_threads, Interrupt& interrupt) {
  settings.in_any_order = true;
  const std::vector<std::int8_t> directions = std::exchange(settings.rules.monotonic, {});
  auto root = make_root(columns, outcome, settings, root_prior, n_threads, interrupt);
  std::vector<double> weights;
  if (!outcome.counts_once())
    for (std::size_t row = 0; row < columns.n_rows; ++row)
      weights.push_back(static_cast<double>(outcome.weight_of(row)));
  models.set_weights(std::move(weights));
  return LeafModelGrower<T>(columns, outcome, settings, models, search, directions, n_threads, interrupt)
      .grow(std::move(root));
}

}  // namespace baytree
