// The tree space: a graph of nodes and of the partitions that divide them, which stands for many trees at once.
//
// Z(node) = p0 L + sum_k p_k Z(lower_k) Z(upper_k), over the partitions that were opened, is the evidence of all trees
// below a node. The graph starts as the greedy-modal tree, whose Z sums over its prunings. To open another partition of
// a node is to grow the greedy-modal trees below its two sides and to add them, so every tree in the graph is complete.
// What is opened next is what promises the largest share of the posterior. Nodes with the same rows are one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "growth/expand.hpp"
#include "growth/greedy.hpp"
#include "growth/listing.hpp"
#include "growth/root.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/divide.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

struct Budget {
  std::size_t max_nodes = 0;  // beyond those of the greedy tree; the last step may exceed it by a subtree
  std::optional<double> seconds = {};
  bool root_only = false;  // open no partition but the root's
  std::function<void(std::size_t n_nodes, double log_evidence)> progress = {};  // called after every round
};

template <class Number>
struct SpaceNode {
  struct Choice {
    Partition partition;
    std::size_t lower = 0, upper = 0;
  };
  Node<Number> node;
  std::vector<Choice> choices;  // the partitions that were opened
  std::vector<Partition> listed;  // the most probable ones that were not, the best first
  std::size_t n_asked = 0;  // how many were asked for when they were listed; 0: they never were
  bool all_listed = false;
  std::size_t parent = 0, choice = 0;  // how its rows are found
  bool is_lower = false;
  std::size_t begin = 0, end = 0;  // nodes of the greedy tree: where they are
  double log_evidence = 0.0, log_reach = 0.0;  // Z, and the probability that a tree has this node

  double log_leaf() const { return node.log_leaf(); }
  bool complete() const { return all_listed && listed.empty(); }
};

inline double log_add(double a, double b) {
  const double high = std::max(a, b);
  return high == kMinusInfinity ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

template <Outcome T>
class TreeSpace {
 public:
  using Number = typename T::Number;

  TreeSpace(const Columns& columns, T outcome, Settings settings, std::size_t subtree_rows, std::size_t n_threads,
            Interrupt& interrupt)
      : columns_(columns), outcome_(std::move(outcome)), settings_(std::move(settings)), subtree_rows_(subtree_rows),
        n_threads_(std::max<std::size_t>(n_threads, 1)), interrupt_(interrupt) {}

  // Explores until the budget is spent, nothing is left, or an interruption; what was explored by then is kept.
  void explore(const std::vector<double>& root_prior, const Budget& budget) {
    Node<Number> root = make_root(columns_, outcome_, settings_, root_prior, interrupt_);
    auto tree = GreedyGrower<T>(columns_, outcome_, settings_, subtree_rows_, n_threads_, interrupt_)
                    .grow(std::move(root), all_rows(columns_));
    nodes_.reserve(tree.size());
    absorb(std::move(tree), {});
    n_greedy_ = nodes_.size();
    if (budget.max_nodes > 0) place_rows();
    most_nodes_ = budget.max_nodes == static_cast<std::size_t>(-1) ? budget.max_nodes
                                                                   : nodes_.size() + budget.max_nodes;
    if (budget.seconds)
      interrupt_.stop_at(Interrupt::Clock::now() + std::chrono::duration_cast<Interrupt::Clock::duration>(
                                                       std::chrono::duration<double>(std::min(*budget.seconds, 1e8))));
    try {
      std::vector<Worker> workers;
      for (std::size_t i = 0; i < n_threads_; ++i)
        workers.push_back({GreedyGrower<T>(columns_, outcome_, settings_, subtree_rows_, 1, interrupt_), {}});
      while (nodes_.size() < most_nodes_ && widen(budget.root_only, workers))
        if (budget.progress) budget.progress(nodes_.size() - n_greedy_, nodes_[0].log_evidence);
    } catch (const Interrupted&) {  // the steps that were under way are dropped
    }
  }

  // In the order of their depth, so that children come behind their parents.
  std::vector<SpaceNode<Number>> take_nodes() {
    std::vector<std::size_t> place(nodes_.size());
    std::vector<SpaceNode<Number>> ordered;
    ordered.reserve(nodes_.size());
    for (const auto& level : by_depth_)
      for (const std::size_t index : level) {
        place[index] = ordered.size();
        ordered.push_back(std::move(nodes_[index]));
      }
    for (auto& node : ordered)
      for (auto& choice : node.choices) choice.lower = place[choice.lower], choice.upper = place[choice.upper];
    return ordered;
  }

 private:
  // Not the number of threads, on which nothing may depend. A round looks at all nodes, so it grows with them.
  std::size_t steps_at_once() const { return std::max<std::size_t>(8, (nodes_.size() - n_greedy_) / 64); }
  static constexpr std::size_t kFirstListing = 16;  // partitions; each further listing has four times as many

  // Something to do at a node: to open a listed partition, or to list them.
  struct Step {
    double log_mass;  // the share of the posterior that it promises
    std::size_t node, rank;
    bool lists;
  };
  struct Done {
    std::vector<Partition> listed;
    std::vector<Node<Number>> lower, upper;
  };
  struct Worker {
    GreedyGrower<T> grower;
    ListingScratch<Number> scratch;
  };
  struct Origin {
    std::size_t parent = 0, choice = 0;
    bool is_lower = false, is_root = true;
  };

  // Takes the most promising steps; returns whether there were any.
  bool widen(bool root_only, std::vector<Worker>& workers) {
    weigh();
    const std::vector<Step> steps = choose_steps(root_only ? 1 : nodes_.size());
    std::vector<Done> done(steps.size());
    parallel_for(steps.size(), n_threads_, interrupt_,
                 [&](std::size_t i, std::size_t worker) { done[i] = take(steps[i], workers[worker]); });
    for (std::size_t i = 0; i < steps.size() && nodes_.size() < most_nodes_; ++i) add(steps[i], std::move(done[i]));
    for (const Step& step : steps)
      std::erase_if(nodes_[step.node].listed, [](const Partition& partition) { return !partition.is_split(); });
    return !steps.empty();
  }

  static double evidence_of(const std::vector<SpaceNode<Number>>& nodes,
                            const typename SpaceNode<Number>::Choice& choice) {
    return choice.partition.log_prior + nodes[choice.lower].log_evidence + nodes[choice.upper].log_evidence;
  }

  // Z from the leaves up, then the probabilities of the nodes from the root down.
  void weigh() {
    for (std::size_t depth = by_depth_.size(); depth-- > 0;)
      for (const std::size_t index : by_depth_[depth]) {
        SpaceNode<Number>& node = nodes_[index];
        node.log_reach = index == 0 ? 0.0 : kMinusInfinity;
        node.log_evidence = node.log_leaf();
        for (const auto& choice : node.choices)
          node.log_evidence = log_add(node.log_evidence, evidence_of(nodes_, choice));
      }
    for (const auto& level : by_depth_)
      for (const std::size_t index : level)
        for (const auto& choice : nodes_[index].choices) {
          const double share = nodes_[index].log_reach + evidence_of(nodes_, choice) - nodes_[index].log_evidence;
          for (const std::size_t child : {choice.lower, choice.upper})
            nodes_[child].log_reach = log_add(nodes_[child].log_reach, share);
        }
  }

  std::vector<Step> choose_steps(std::size_t n_nodes) const {
    std::vector<Step> steps;
    for (std::size_t index = 0; index < n_nodes; ++index) add_steps_of(index, steps);
    const std::size_t n = std::min(steps.size(), steps_at_once());
    std::partial_sort(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(n), steps.end(),
                      [](const Step& a, const Step& b) {
                        return a.log_mass != b.log_mass ? a.log_mass > b.log_mass
                                                        : std::pair(a.node, a.rank) < std::pair(b.node, b.rank);
                      });
    steps.resize(n);
    return steps;
  }

  // A partition that was not opened is taken to gain as much below as those that were.
  void add_steps_of(std::size_t index, std::vector<Step>& steps) const {
    const SpaceNode<Number>& node = nodes_[index];
    if (node.complete()) return;
    double opened = kMinusInfinity, evidence = kMinusInfinity,
           rest = 1.0 - std::exp(node.log_leaf() - node.node.log_total);
    for (const auto& choice : node.choices) {
      opened = log_add(opened, choice.partition.score());
      evidence = log_add(evidence, evidence_of(nodes_, choice));
      rest -= std::exp(choice.partition.score() - node.node.log_total);
    }
    const double uplift = node.choices.empty() ? 0.0 : evidence - opened;
    auto promise = [&](double score) {
      return without_rounding_error(node.log_reach + score + uplift - log_add(node.log_evidence, score + uplift));
    };
    if (node.listed.empty()) {
      // No partition that is still unknown is better than all of them, nor than the best one was.
      const double all = node.node.log_total + std::log(std::max(rest, 1e-30));
      const double best = node.log_leaf() + node.node.log_odds_split;
      steps.push_back({promise(std::min(all, best)), index, 0, true});
      return;
    }
    for (std::size_t rank = 0; rank < std::min(node.listed.size(), steps_at_once()); ++rank)
      steps.push_back({promise(node.listed[rank].score()), index, rank, false});
  }

  Done take(const Step& step, Worker& worker) const {
    const SpaceNode<Number>& node = nodes_[step.node];
    const std::vector<Row> rows = rows_of(step.node);
    Done done;
    if (step.lists) {
      Node<Number> copy = node.node;
      done.listed = best_partitions(columns_, outcome_, settings_, rows, {next_listing(node)}, copy, worker.scratch);
      return done;
    }
    const Partition& partition = node.listed[step.rank];
    auto [sides, children] = expand_by(columns_, outcome_, settings_, node.node, partition.split, rows);
    done.lower = worker.grower.grow(std::move(children.lower), std::move(sides.lower));
    done.upper = worker.grower.grow(std::move(children.upper), std::move(sides.upper));
    return done;
  }

  static std::size_t next_listing(const SpaceNode<Number>& node) {
    return node.n_asked == 0 ? kFirstListing : 4 * node.n_asked;
  }

  // Orders the rows so that those of a node of the greedy tree are neighbours.
  void place_rows() {
    rows_ = all_rows(columns_);
    nodes_[0].end = rows_.size();
    for (std::size_t index = 0; index < nodes_.size(); ++index) {  // parents come before their children
      if (nodes_[index].choices.empty()) continue;
      const auto [begin, end] = std::pair(nodes_[index].begin, nodes_[index].end);
      const auto& choice = nodes_[index].choices[0];
      const auto [lower, upper] = divide_rows(columns_, choice.partition.split, {rows_.data() + begin, end - begin});
      const std::size_t middle = begin + lower.size();
      std::copy(lower.begin(), lower.end(), rows_.begin() + static_cast<std::ptrdiff_t>(begin));
      std::copy(upper.begin(), upper.end(), rows_.begin() + static_cast<std::ptrdiff_t>(middle));
      nodes_[choice.lower].begin = begin, nodes_[choice.lower].end = middle;
      nodes_[choice.upper].begin = middle, nodes_[choice.upper].end = end;
    }
  }

  std::vector<Row> rows_of(std::size_t index) const {
    std::vector<std::size_t> path;
    for (; nodes_[index].end == 0; index = nodes_[index].parent) path.push_back(index);
    std::vector<Row> rows(rows_.begin() + static_cast<std::ptrdiff_t>(nodes_[index].begin),
                          rows_.begin() + static_cast<std::ptrdiff_t>(nodes_[index].end));
    for (; !path.empty(); path.pop_back()) {
      const SpaceNode<Number>& node = nodes_[path.back()];
      auto sides = divide_rows(columns_, nodes_[node.parent].choices[node.choice].partition.split, rows);
      rows = std::move(node.is_lower ? sides.lower : sides.upper);
    }
    return rows;
  }

  void add(const Step& step, Done done) {
    SpaceNode<Number>& node = nodes_[step.node];
    if (step.lists) {
      node.n_asked = next_listing(node);
      node.all_listed = done.listed.size() < node.n_asked;
      node.listed = std::move(done.listed);
      std::erase_if(node.listed, [&](const Partition& partition) {
        return std::any_of(node.choices.begin(), node.choices.end(),
                           [&](const auto& choice) { return same_split(partition.split, choice.partition.split); });
      });
      std::stable_sort(node.listed.begin(), node.listed.end(), [](const Partition& a, const Partition& b) {
        return without_rounding_error(a.score()) > without_rounding_error(b.score());
      });
      if (!node.all_listed) node.listed.resize(std::min(node.listed.size(), node.n_asked));
      node.listed.shrink_to_fit();
      return;
    }
    const std::size_t choice = node.choices.size();
    node.choices.push_back({std::move(node.listed[step.rank])});
    node.listed[step.rank].split = NoSplit{};  // taken
    absorb(std::move(done.lower), {step.node, choice, true, false});
    absorb(std::move(done.upper), {step.node, choice, false, false});
  }

  // Adds a tree below a choice; where the graph has a node of the same rows already, that one stands for it.
  void absorb(std::vector<Node<Number>> tree, Origin origin) {
    std::vector<std::pair<std::size_t, Origin>> waiting{{0, origin}};
    while (!waiting.empty()) {
      const auto [local, from] = waiting.back();
      waiting.pop_back();
      Node<Number>& node = tree[local];
      const std::optional<std::size_t> known = find(node);
      const std::size_t index = known ? *known : nodes_.size();
      if (!from.is_root) {
        auto& choice = nodes_[from.parent].choices[from.choice];
        (from.is_lower ? choice.lower : choice.upper) = index;
      }
      if (known) continue;
      if (node.partition.is_split()) {
        waiting.push_back({static_cast<std::size_t>(node.upper), {index, 0, false, false}});
        waiting.push_back({static_cast<std::size_t>(node.lower), {index, 0, true, false}});
      }
      insert(std::move(node), from);
    }
  }

  void insert(Node<Number> node, const Origin& from) {
    const std::size_t index = nodes_.size();
    index_of_[key_of_node(node)].push_back(index);
    by_depth_.resize(std::max(by_depth_.size(), node.depth + 1));
    by_depth_[node.depth].push_back(index);
    SpaceNode<Number>& added = nodes_.emplace_back();
    added.parent = from.parent, added.choice = from.choice, added.is_lower = from.is_lower;
    added.all_listed = node.feature_posterior.empty();  // there is nothing to list
    if (node.partition.is_split()) added.choices.push_back({std::move(node.partition)});
    added.node = std::move(node);
    added.node.feature_posterior = {};  // describes the node alone; a space has no use for it
  }

  static std::uint64_t key_of_node(const Node<Number>& node) { return node.rows_mark + mark_of(node.depth); }

  std::optional<std::size_t> find(const Node<Number>& node) const {
    const auto found = index_of_.find(key_of_node(node));
    if (found == index_of_.end()) return {};
    for (const std::size_t index : found->second) {
      const Node<Number>& other = nodes_[index].node;
      if (other.depth == node.depth && other.rows_mark == node.rows_mark && other.n_rows == node.n_rows &&
          other.prior == node.prior && other.bounds.low == node.bounds.low && other.bounds.high == node.bounds.high)
        return index;
    }
    return {};
  }

  const Columns& columns_;
  T outcome_;
  Settings settings_;
  std::size_t subtree_rows_, n_threads_;
  Interrupt& interrupt_;
  std::size_t n_greedy_ = 0, most_nodes_ = 0;
  std::vector<Row> rows_;
  std::vector<SpaceNode<Number>> nodes_;
  std::vector<std::vector<std::size_t>> by_depth_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> index_of_;  // by what the rows and depth add up to
};

}  // namespace baytree
