// The tree space: a graph of nodes and of the partitions that divide them, which stands for many trees at once.
//
// Z(node) = p0 L + sum_k p_k Z(lower_k) Z(upper_k), over the partitions that were opened, is the evidence of all trees
// below a node. The graph starts as the greedy-modal tree, whose Z sums over its prunings. To open another partition of
// a node is to grow the greedy-modal trees below its two sides and to add them, so every tree in the graph is complete.
// What is opened next is what promises the largest share of the posterior. Nodes with the same rows are one: a
// partition whose sides are known is opened by two links, and nothing is grown.
//
// Steps are taken in rounds. A round weighs the whole graph, so it takes as many steps as make the graph larger by
// about 1 / kRound (by less where the graph is small and to weigh it costs nothing): in all, a step bears the weighing
// of kRound nodes and choices for each that it adds, however many were opened before. The rest of its cost is its own:
// the division of the node's rows (on the way down from the nearest node above whose rows are kept), and the growth of
// what is new below. A node is listed again, for kMoreListed times as many of its partitions, when those that were are
// opened, so that few listings serve many steps. Memory: a node has its statistics and at most kKeptRows rows, a choice
// about 100 bytes, and there are at most kChoices choices to a node of the budget; of the partitions that were listed
// and not opened there are at most kFirstListing at a node, or kMoreListed for each that was opened there.
#pragma once

#include <algorithm>
#include <array>
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
#include "growth/engine.hpp"
#include "growth/expand.hpp"
#include "growth/greedy.hpp"
#include "growth/listing.hpp"
#include "growth/root.hpp"
#include "growth/space_graph.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/divide.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

inline constexpr double kRound = 8.0;  // the part of the graph that a round adds
inline constexpr double kSmallGraph = 4096.0;  // nodes and choices; rounds of smaller ones add less
inline constexpr std::size_t kFewestSteps = 8;  // of a round; not the number of threads, on which nothing may depend
inline constexpr std::size_t kChoices = 60;  // to a node of the budget
inline constexpr std::size_t kKeptRows = 256;
inline constexpr std::size_t kFirstListing = 16, kMoreListed = 8;

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
    settings_.in_any_order = true;
    Node<Number> root = make_root(columns_, outcome_, settings_, root_prior, n_threads_, interrupt_);
    graph_.absorb(GreedyGrower<T>(columns_, outcome_, settings_, subtree_rows_, n_threads_, interrupt_)
                      .grow(std::move(root), all_rows(columns_, settings_)),
                  {});
    if (budget.max_nodes == 0) return;
    start(budget);
    try {
      std::vector<Worker> workers;
      for (std::size_t i = 0; i < n_threads_; ++i)
        workers.push_back({GreedyGrower<T>(columns_, outcome_, settings_, subtree_rows_, 1, interrupt_), {}, {}});
      while (!is_spent() && widen(budget.root_only, workers))
        if (budget.progress) budget.progress(graph_.size() - n_greedy_, graph_[0].log_evidence);
    } catch (const Interrupted&) {  // the steps that were under way are dropped
    }
  }

  // In the order of their depth, so that children come behind their parents.
  std::vector<SpaceNode<Number>> take_nodes() { return graph_.take_nodes(); }

 private:
  using Origin = typename SpaceGraph<Number>::Origin;

  // Something to do at a node: to open the partition of a rank among those that are listed, or to list them.
  struct Step {
    double log_mass;  // the share of the posterior that it promises
    std::size_t node, rank;
    bool lists;

    bool operator<(const Step& other) const {  // whether it comes first
      return log_mass != other.log_mass ? log_mass > other.log_mass
                                        : std::pair(node, rank) < std::pair(other.node, other.rank);
    }
  };
  // A side of a partition that is opened: a node that is known, or the tree that is grown from a new one.
  struct Side {
    std::optional<std::size_t> known = {};
    std::size_t new_tree = 0;
  };
  struct NewTree {
    Node<Number> node;
    std::vector<Row> rows;
    std::vector<Node<Number>> tree = {};
    std::optional<std::size_t> top = {};  // where the graph has it, once it does
  };
  struct Done {
    std::vector<Partition> listed = {};
    std::vector<Row> rows = {};  // of the node, where they are to be kept
    std::vector<NewTree> new_trees = {};  // of the sides that are not known
    std::array<Side, 2> sides = {};
  };
  struct Worker {
    GreedyGrower<T> grower;
    ListingScratch<Number> scratch;
    std::vector<Row> rows;
  };

  bool is_spent() const { return graph_.size() >= most_nodes_ || graph_.n_choices() >= most_choices_; }
  std::size_t size() const { return graph_.size() + graph_.n_choices(); }

  void start(const Budget& budget) {
    n_greedy_ = graph_.size();
    first_size_ = size();
    constexpr std::size_t endless = static_cast<std::size_t>(-1) / (2 * kChoices);
    const std::size_t max_nodes = std::min(budget.max_nodes, endless);
    most_nodes_ = n_greedy_ + max_nodes;
    most_choices_ = graph_.n_choices() + kChoices * max_nodes;
    if (budget.seconds) interrupt_.stop_after(*budget.seconds);
    place_rows();
  }

  // Takes the most promising steps; returns whether there were any.
  bool widen(bool root_only, std::vector<Worker>& workers) {
    graph_.weigh();
    const std::vector<Step> steps = choose_steps(root_only ? 1 : graph_.size());
    std::vector<Done> done(steps.size());
    parallel_for(steps.size(), n_threads_, interrupt_,
                 [&](std::size_t i, std::size_t worker) { done[i] = look(steps[i], workers[worker]); });
    std::vector<NewTree> new_trees = gather_new_trees(done);
    parallel_for(new_trees.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      new_trees[i].tree = workers[worker].grower.grow(std::move(new_trees[i].node), std::move(new_trees[i].rows));
    });
    for (std::size_t i = 0; i < steps.size() && !is_spent(); ++i) {
      keep_rows(steps[i].node, std::move(done[i].rows));
      if (steps[i].lists) take_list(graph_[steps[i].node], std::move(done[i].listed));
      else open(steps[i].node, done[i].sides, new_trees);
    }
    return !steps.empty();
  }

  // As many as add a part of the graph, if they add what those before did.
  std::size_t steps_at_once() const {
    if (n_opened_ == 0) return kFewestSteps;
    const auto now = static_cast<double>(size()), added = static_cast<double>(size() - first_size_);
    const double by_step = std::max(added / static_cast<double>(n_opened_), 1.0);
    return std::max(kFewestSteps, static_cast<std::size_t>(now * now / (now + kSmallGraph) / kRound / by_step));
  }

  // The best steps of the first nodes, the best first.
  std::vector<Step> choose_steps(std::size_t n_nodes) const {
    const std::size_t most = steps_at_once();
    std::vector<Step> steps;  // a heap, the last on top
    auto take = [&](const Step& step) {
      if (steps.size() == most) {
        if (!(step < steps.front())) return false;
        std::pop_heap(steps.begin(), steps.end());
        steps.pop_back();
      }
      steps.push_back(step);
      std::push_heap(steps.begin(), steps.end());
      return true;
    };
    for (std::size_t index = 0; index < n_nodes; ++index) {
      const SpaceNode<Number>& node = graph_[index];
      const bool hopeless = steps.size() == most && node.log_reach < steps.front().log_mass;
      if (!node.complete() && !hopeless) offer_steps_of(index, take);
    }
    std::sort_heap(steps.begin(), steps.end());
    return steps;
  }

  // A partition that was not opened is taken to gain as much below as those that were.
  template <class Take>
  void offer_steps_of(std::size_t index, Take&& take) const {
    const SpaceNode<Number>& node = graph_[index];
    const double uplift = node.choices.empty() ? 0.0 : node.log_choices - node.log_opened;
    auto promise = [&](double score) {
      return without_rounding_error(node.log_reach + score + uplift - log_add(node.log_evidence, score + uplift));
    };
    if (node.listed.empty()) {
      // No partition that is still unknown is better than all of them, nor than the best one was.
      const double total = node.node.log_total;
      const double rest = 1.0 - std::exp(node.log_leaf() - total) - std::exp(node.log_opened - total);
      const double all = total + std::log(std::max(rest, 1e-30));
      const double best = node.node.log_best_split;
      take({promise(std::min(all, best)), index, 0, true});
      return;
    }
    double before = -kMinusInfinity;  // so that rounding changes no order
    for (std::size_t rank = 0; rank < node.listed.size(); ++rank) {
      before = std::min(before, promise(node.listed[node.listed.size() - 1 - rank].score()));
      if (!take({before, index, rank, false})) return;
    }
  }

  // What can be done without changing the graph.
  Done look(const Step& step, Worker& worker) const {
    const SpaceNode<Number>& node = graph_[step.node];
    const std::span<const Row> rows = rows_of(step.node, worker.rows);
    Done done;
    if (node.rows.empty() && rows.size() <= kKeptRows) done.rows.assign(rows.begin(), rows.end());
    if (step.lists) {
      Node<Number> copy = node.node;
      done.listed = best_partitions(columns_, outcome_, settings_, rows, {.most = next_listing(node), .together = true},
                                    copy, worker.scratch);
      return done;
    }
    const Partition& partition = node.listed[node.listed.size() - 1 - step.rank];
    if (find_sides(node.node, partition.split, rows, done.sides)) return done;
    auto [sides, children] = expand_by(columns_, outcome_, settings_, node.node, partition.split, rows);
    auto look_up = [&](Side& side, Node<Number>& child, std::vector<Row>& of_child) {
      side.known = graph_.find(child);
      if (!side.known) done.new_trees.push_back({std::move(child), std::move(of_child)});
    };
    look_up(done.sides[0], children.lower, sides.lower);
    look_up(done.sides[1], children.upper, sides.upper);
    return done;
  }

  // Looks for both sides of a split in the graph by their rows alone, where those tell all: it is quick.
  bool find_sides(const Node<Number>& node, const Split& split, std::span<const Row> rows,
                  std::array<Side, 2>& sides) const {
    if (settings_.smoothing > 0.0 || settings_.rules.constrained()) return false;
    const std::vector<std::uint8_t> is_lower = go_lower(columns_, split, rows);
    std::uint64_t mark = 0;
    std::size_t n_lower = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (is_lower[i]) mark += mark_of(rows[i]), n_lower += settings_.count(rows[i]);
    sides[0].known = graph_.find(mark, n_lower, node.rules.below(settings_.rules, split, false));
    sides[1].known = graph_.find(node.rows_mark - mark, node.n_rows - n_lower,
                                 node.rules.below(settings_.rules, split, true));
    return sides[0].known && sides[1].known;
  }

  // What is to be grown, each node once.
  static std::vector<NewTree> gather_new_trees(std::vector<Done>& done) {
    std::vector<NewTree> result;
    std::unordered_multimap<std::uint64_t, std::size_t> index_of;
    auto place = [&](NewTree& new_tree) {
      const std::uint64_t key = SpaceGraph<Number>::key_of(new_tree.node);
      const auto [first, last] = index_of.equal_range(key);
      for (auto entry = first; entry != last; ++entry)
        if (SpaceGraph<Number>::same(result[entry->second].node, new_tree.node)) return entry->second;
      index_of.emplace(key, result.size());
      result.push_back(std::move(new_tree));
      return result.size() - 1;
    };
    for (Done& of_step : done) {
      std::size_t next = 0;
      for (Side& side : of_step.sides)
        if (!side.known && next < of_step.new_trees.size()) side.new_tree = place(of_step.new_trees[next++]);
      of_step.new_trees = {};
    }
    return result;
  }

  // Opens the first of the partitions that are listed.
  void open(std::size_t index, const std::array<Side, 2>& sides, std::vector<NewTree>& new_trees) {
    SpaceNode<Number>& node = graph_[index];
    const std::size_t choice = graph_.add_choice(index, std::move(node.listed.back()));
    node.listed.pop_back();
    ++n_opened_;
    for (const bool is_lower : {true, false}) {
      const Origin origin{index, choice, is_lower, false};
      const Side& side = sides[is_lower ? 0 : 1];
      if (side.known) {
        graph_.link(origin, *side.known);
        continue;
      }
      NewTree& new_tree = new_trees[side.new_tree];
      if (new_tree.top) graph_.link(origin, *new_tree.top);
      else new_tree.top = graph_.absorb(std::move(new_tree.tree), origin);
    }
  }

  static std::size_t next_listing(const SpaceNode<Number>& node) {
    return node.n_asked == 0 ? kFirstListing : kMoreListed * node.n_asked;
  }

  // Takes over what was listed, but for what was opened.
  static void take_list(SpaceNode<Number>& node, std::vector<Partition> listed) {
    node.n_asked = next_listing(node);
    node.all_listed = listed.size() < node.n_asked;
    std::unordered_multimap<std::uint64_t, const Split*> opened;
    for (const auto& choice : node.choices) opened.emplace(mark_of(choice.partition.split), &choice.partition.split);
    std::erase_if(listed, [&](const Partition& partition) {
      const auto [first, last] = opened.equal_range(mark_of(partition.split));
      return std::any_of(first, last, [&](const auto& of) { return same_split(partition.split, *of.second); });
    });
    std::vector<std::pair<double, std::size_t>> order(listed.size());  // the best last
    for (std::size_t i = 0; i < listed.size(); ++i)
      order[i] = {without_rounding_error(listed[i].score()), listed.size() - i};
    std::sort(order.begin(), order.end());
    node.listed.clear();
    for (const auto& [score, place] : order) node.listed.push_back(std::move(listed[listed.size() - place]));
  }

  // Orders the rows so that those of a node of the greedy tree are neighbours.
  void place_rows() {
    rows_ = all_rows(columns_, settings_);
    graph_[0].rows = rows_;
    for (std::size_t index = 0; index < graph_.size(); ++index) {  // parents come before their children
      if (graph_[index].choices.empty()) continue;
      const auto first = rows_.begin() + (graph_[index].rows.data() - rows_.data());
      const auto& choice = graph_[index].choices[0];
      const auto [lower, upper] = divide_rows(columns_, choice.partition.split, graph_[index].rows);
      std::copy(upper.begin(), upper.end(), std::copy(lower.begin(), lower.end(), first));
      graph_[choice.lower].rows = graph_[index].rows.first(lower.size());
      graph_[choice.upper].rows = graph_[index].rows.subspan(lower.size());
    }
  }

  // The rows of a node: those that are kept, or found in `work` by dividing those of the nearest node above that has
  // some.
  std::span<const Row> rows_of(std::size_t index, std::vector<Row>& work) const {
    std::vector<std::size_t> path;
    for (; graph_[index].rows.empty(); index = graph_[index].parent) path.push_back(index);
    std::span<const Row> rows = graph_[index].rows;
    for (; !path.empty(); path.pop_back()) {
      const SpaceNode<Number>& node = graph_[path.back()];
      auto sides = divide_rows(columns_, graph_[node.parent].choices[node.choice].partition.split, rows);
      work = std::move(node.is_lower ? sides.lower : sides.upper);
      rows = work;
    }
    return rows;
  }

  void keep_rows(std::size_t index, std::vector<Row> rows) {
    SpaceNode<Number>& node = graph_[index];
    if (rows.empty() || !node.rows.empty()) return;
    node.own_rows = std::move(rows);
    node.rows = node.own_rows;
  }

  const Columns& columns_;
  T outcome_;
  Settings settings_;
  std::size_t subtree_rows_, n_threads_;
  Interrupt& interrupt_;
  SpaceGraph<Number> graph_;
  std::size_t n_greedy_ = 0, first_size_ = 0, n_opened_ = 0, most_nodes_ = 0, most_choices_ = 0;
  std::vector<Row> rows_;
};

}  // namespace baytree
