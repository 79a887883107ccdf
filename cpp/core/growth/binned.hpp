// Grows the greedy-modal tree of a table of quantile bins. A node is what its rows add up to by code (by_code.hpp); of
// two children the smaller is counted and the other is what is left. Nodes of very few rows are grown on sorted lists:
// then it takes less to look at their rows than at all codes.
//
// The largest nodes are grown level by level, their rows shared out in blocks. Below, a thread takes a node, splits it
// and leaves its children to others, or grows all below it where that is not much. Sums are exact, so the tree is the
// same for any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "data/columns.hpp"
#include "data/row_codes.hpp"
#include "function_ref.hpp"
#include "growth/by_code.hpp"
#include "growth/nodes.hpp"
#include "growth/row_set.hpp"
#include "growth/subtree.hpp"
#include "outcomes/count_rows.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/node.hpp"
#include "partitions/prior.hpp"
#include "types.hpp"

namespace baytree {

inline constexpr std::size_t kBlockRows = 16384;  // that one task counts or divides at most
inline constexpr std::size_t kMostRowsAtOnce = std::size_t{1}
                                               << 20;  // the same on one thread: Ctrl-C is seen in between
inline constexpr std::size_t kTimesShared = 16;  // blocks of a node that several threads count or divide
inline constexpr std::size_t kBytesOfCopy = std::size_t{1} << 19;  // of codes, that a core's cache has room for
inline constexpr std::size_t kBytesARow = 64;  // of sums, beyond which lists are quicker: for each row and feature

// The columns by their bins, without rows.
inline Columns without_rows(const Columns& columns) {
  Columns result{0, false, {}};
  for (const Column& column : columns.columns) {
    const auto n_bins = static_cast<std::ptrdiff_t>(column.n_codes - column.has_missing);
    result.columns.push_back(column_without_rows({column.lows.begin(), column.lows.begin() + n_bins},
                                                 {column.highs.begin(), column.highs.begin() + n_bins},
                                                 column.has_missing, column.is_categorical, !column.values.empty()));
  }
  return result;
}

template <Outcome T>
class BinnedGrower {
 public:
  using Number = typename T::Number;

  // The columns are packed. The outcome gets its tables.
  BinnedGrower(const Columns& columns, T& outcome, const Settings& settings, std::size_t subtree_rows,
               std::size_t n_threads, Interrupt& interrupt)
      : columns_(columns), outcome_(outcome), by_code_(without_rows(columns), outcome.narrowed_to({}), settings),
        count_rows_(settings.rules.limits.min_samples_leaf > 1 && !outcome.counts_once()),
        subtree_rows_(std::min(subtree_rows, kBlockRows)), n_threads_(std::max<std::size_t>(n_threads, 1)),
        interrupt_(interrupt), scratch_(n_threads_), rows_(all_rows(columns, settings)) {
    const std::size_t d = columns.columns.size();
    std::vector<std::size_t> first;
    for (std::size_t f = 0; f < d; ++f) first.push_back(by_code_.first_code(f));
    first.push_back(by_code_.n_codes());
    whole_ = {row_codes(columns, std::move(first)), &outcome_, rows_, {}};
    const std::size_t bytes = by_code_.n_codes() * by_code_.width() * sizeof(Number);
    list_rows_ = std::min(bytes / (kBytesARow * d), subtree_rows_);
    // What waits for a thread has sums: they take no more than half of what the codes of its rows do.
    fewest_left_ = std::max(subtree_rows_ / 4, 2 * bytes / whole_.table.bytes_of_row());
    copied_rows_ = kBytesOfCopy / whole_.table.bytes_of_row();
  }

  // The nodes in depth-first order, the lower child right behind its parent.
  std::vector<Node<Number>> grow(const std::vector<double>& root_prior) {
    nodes_.assign(1, Node<Number>{});
    Open root{0, 0, rows_.size(), {}};
    count({&root, 1});
    complete_root(root, root_prior);
    std::vector<Open> level;
    hand_out(std::move(root), level);
    if (!level.empty()) divided_.resize(rows_.size());
    while (!level.empty()) level = grow_level(std::move(level));
    divided_ = std::vector<Row>();  // {} would keep the memory
    grow_parts();
    return depth_first(std::move(nodes_), parts_);
  }

 private:
  using Sums = RowSums<Number>;
  using Rows = RowSet<T>;

  // A node that is still to be split; rows begin .. end are its own.
  struct Open {
    std::size_t node, begin, end;
    Sums sums;  // empty: it is grown on lists
    std::size_t size() const { return end - begin; }
  };

  // What one thread grows; it may leave some of it to others, as other parts.
  struct Part {
    Part* parent;  // none: it hangs from the tree itself
    std::size_t node;  // of the parent's nodes
    Open top;
    std::vector<Node<Number>> nodes;
  };

  struct alignas(kApart) Scratch {
    ByCodeScratch<T> by_code;
    SubtreeScratch<Number> subtree;
    RowCopy<T> copy;
    std::vector<Row> rows;
    std::vector<std::uint16_t> counts;
    std::vector<Sums> spare;

    Sums take() {
      if (spare.empty()) return {};
      Sums result = std::move(spare.back());
      spare.pop_back();
      return result;
    }
  };

  static CodeSums<Number> view(const Sums& sums) {
    return {sums.statistics.data(), sums.n_rows.empty() ? nullptr : sums.n_rows.data()};
  }
  // Before equal ones became one.
  std::size_t n_rows(const Rows& rows, std::size_t begin, std::size_t end) const {
    const Settings& settings = by_code_.settings();
    if (!settings.order) return end - begin;
    std::size_t sum = 0;
    for (const Row row : rows.of(begin, end)) sum += settings.count(rows.row_in_table(row));
    return sum;
  }
  // What one task counts or divides: of a node that is not so large, less, for all threads to have some.
  std::size_t block_rows(std::size_t n_rows) const {
    return n_threads_ > 1 ? std::clamp(n_rows / (8 * n_threads_), kBlockRows / 4, kBlockRows) : kMostRowsAtOnce;
  }
  void clear(Sums& sums) const { sums.clear(by_code_.n_codes(), by_code_.width(), count_rows_); }

  // Some rows of a node.
  struct Block {
    std::size_t of, begin, end;
  };

  // Counts the rows of nodes, in blocks; every thread has its own sums of a node.
  void count(std::span<Open> open) {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::size_t step = block_rows(open[i].size());
      for (std::size_t begin = open[i].begin; begin < open[i].end; begin += step)
        blocks.push_back({i, begin, std::min(begin + step, open[i].end)});
    }
    std::vector<std::vector<Sums>> by_worker(n_threads_);
    for (std::vector<Sums>& of_worker : by_worker) of_worker.resize(open.size());
    parallel_for(blocks.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      Sums& sums = by_worker[worker][blocks[i].of];
      if (sums.statistics.empty()) clear(sums);
      whole_.count(blocks[i].begin, blocks[i].end, sums, scratch_[worker].counts);
    });
    add_up(by_worker, open);
  }

  // The sums of all threads, some of the codes at a time.
  void add_up(std::span<std::vector<Sums>> by_worker, std::span<Open> open) {
    std::vector<std::vector<const Sums*>> others(open.size());  // but the first
    for (std::vector<Sums>& of_worker : by_worker)
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (of_worker[i].statistics.empty()) continue;
        if (open[i].sums.statistics.empty()) open[i].sums = std::move(of_worker[i]);
        else others[i].push_back(&of_worker[i]);
      }
    parallel_for(n_threads_, n_threads_, interrupt_, [&](std::size_t part, std::size_t) {
      for (std::size_t i = 0; i < open.size(); ++i)
        for (const Sums* other : others[i]) open[i].sums.add(*other, part, n_threads_);
    });
  }

  // Sends a new node where it is grown: nowhere, with the next level, or by one thread.
  void hand_out(Open open, std::vector<Open>& level) {
    if (!by_code_.may_be_split(nodes_[open.node])) return;
    if (n_threads_ > 1 && open.size() > kTimesShared * subtree_rows_) level.push_back(std::move(open));
    else add_part(nullptr, nodes_, std::move(open));
  }

  Part* add_part(Part* parent, const std::vector<Node<Number>>& nodes, Open top) {
    const std::size_t node = std::exchange(top.node, 0);
    parts_.push_back({parent, node, std::move(top), {nodes[node]}});
    return &parts_.back();
  }

  void complete_root(const Open& root, const std::vector<double>& prior) {
    Node<Number>& node = nodes_[0];
    node.statistics = by_code_.sum_up(view(root.sums), 0, [](Code) { return true; });
    node.n_rows = n_rows(whole_, 0, rows_.size());
    node.one_outcome = has_one_outcome(outcome_, std::span<const Row>(rows_));
    prepare_for_few_splits(outcome_, prior, node.statistics.data(), {n_threads_, &interrupt_});
    by_code_.set_outcome(outcome_.narrowed_to({}));
    by_code_.complete_root(prior, view(root.sums), node, interrupt_);
  }

  // The children of a node that is divided at `middle`.
  Children<Number> make_children_of(const Node<Number>& node, const Open& open, const Rows& rows, std::size_t middle,
                                    const std::vector<std::uint8_t>& lower) const {
    const auto feature = static_cast<std::size_t>(node.partition.feature());
    auto child = [&](std::size_t begin, std::size_t end, bool is_lower) {
      Node<Number> result;
      result.statistics = by_code_.sum_up(view(open.sums), feature,
                                          [&](Code code) { return (lower[code] != 0) == is_lower; });
      result.n_rows = n_rows(rows, begin, end);
      result.one_outcome = has_one_outcome(*rows.outcome, rows.of(begin, end));
      return result;
    };
    Children<Number> children{child(open.begin, middle, true), child(middle, open.end, false)};
    by_code_.complete_children(node, children);
    return children;
  }

  // Some rows of a node, and where its upper side begins.
  struct Stretch {
    std::size_t of, begin, end, middle;
    std::size_t n_lower() const { return middle - begin; }
  };

  // Divides the rows of nodes that have a split, in blocks: first each for itself, then their sides are put together.
  // Returns where the upper side of each node begins.
  std::vector<std::size_t> divide(std::span<const Open> level, std::span<const std::vector<std::uint8_t>> lower) {
    std::vector<Stretch> stretches;
    for (std::size_t i = 0; i < level.size(); ++i) {
      const std::size_t step = block_rows(level[i].size());
      for (std::size_t begin = level[i].begin; begin < level[i].end && !lower[i].empty(); begin += step)
        stretches.push_back({i, begin, std::min(begin + step, level[i].end), 0});
    }
    parallel_for(stretches.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      Stretch& stretch = stretches[i];
      const auto feature = static_cast<std::size_t>(nodes_[level[stretch.of].node].partition.feature());
      stretch.middle = whole_.divide(stretch.begin, stretch.end, feature, lower[stretch.of], scratch_[worker].rows);
    });
    std::vector<std::size_t> middle;
    for (const Open& open : level) middle.push_back(open.begin);
    for (const Stretch& stretch : stretches) middle[stretch.of] += stretch.n_lower();
    std::vector<std::size_t> to_lower(stretches.size()), to_upper(stretches.size());
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      const bool is_first = i == 0 || stretches[i].of != stretches[i - 1].of;
      to_lower[i] = is_first ? stretches[i].begin : to_lower[i - 1] + stretches[i - 1].n_lower();
      to_upper[i] = is_first ? middle[stretches[i].of]
                             : to_upper[i - 1] + stretches[i - 1].end - stretches[i - 1].middle;
    }
    parallel_for(stretches.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t) {
      const auto from = rows_.begin(), to = divided_.begin();
      std::copy(from + stretches[i].begin, from + stretches[i].middle, to + to_lower[i]);
      std::copy(from + stretches[i].middle, from + stretches[i].end, to + to_upper[i]);
    });
    parallel_for(stretches.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t) {
      std::copy(divided_.begin() + stretches[i].begin, divided_.begin() + stretches[i].end,
                rows_.begin() + stretches[i].begin);
    });
    return middle;
  }

  // Large nodes, one level: all are split, then the smaller children of all are counted.
  std::vector<Open> grow_level(std::vector<Open> level) {
    std::vector<std::vector<Open>> children(level.size());
    std::vector<Children<Number>> made(level.size());
    std::vector<std::vector<std::uint8_t>> lower(level.size());
    parallel_for(level.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t worker) {
      Node<Number>& node = nodes_[level[i].node];
      const Threads threads{std::max<std::size_t>(n_threads_ / level.size(), 1), &interrupt_};
      by_code_.choose_partition(node, view(level[i].sums), scratch_[worker].by_code, threads);
      lower[i] = by_code_.codes_that_go_lower(node.partition.split);
    });
    const std::vector<std::size_t> middle = divide(level, lower);
    parallel_for(level.size(), n_threads_, interrupt_, [&](std::size_t i, std::size_t) {
      if (lower[i].empty()) return;
      made[i] = make_children_of(nodes_[level[i].node], level[i], whole_, middle[i], lower[i]);
      children[i] = {{0, level[i].begin, middle[i], {}}, {0, middle[i], level[i].end, {}}};
    });
    std::vector<Open> smaller;
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (children[i].empty()) continue;
      add_children(nodes_, level[i].node, std::move(made[i]));
      children[i][0].node = nodes_.size() - 2, children[i][1].node = nodes_.size() - 1;
      if (children[i][1].size() < children[i][0].size()) std::swap(children[i][0], children[i][1]);
      smaller.push_back(std::move(children[i][0]));
    }
    count(smaller);
    std::vector<Open> next;
    for (std::size_t i = 0, k = 0; i < level.size(); ++i) {
      if (children[i].empty()) continue;
      Open& larger = children[i][1];
      level[i].sums.subtract(smaller[k].sums);
      larger.sums = std::move(level[i].sums);
      for (Open* child : {&smaller[k], &larger}) hand_out(std::move(*child), next);
      ++k;
    }
    return next;
  }

  // The largest first: what is left at the end is short, and no thread waits long.
  void grow_parts() {
    std::vector<Part*> waiting;
    for (Part& part : parts_) waiting.push_back(&part);
    std::mutex lock;
    auto grow = [&](Part* part, std::size_t worker, auto&& add) {
      auto leave = [&](Open& open) {
        if (n_threads_ == 1 || open.node == 0 || open.size() < fewest_left_) return false;
        const std::lock_guard<std::mutex> guard(lock);
        add(add_part(part, part->nodes, std::move(open)));
        return true;
      };
      grow_below(std::move(part->top), whole_, part->nodes, scratch_[worker], leave);
    };
    parallel_tasks(std::move(waiting), n_threads_, interrupt_, grow,
                   [](const Part* a, const Part* b) { return a->top.size() < b->top.size(); });
  }

  // Depth first, the smaller child before the larger: then few sums wait at a time. leave(open) may leave a node to
  // other threads.
  void grow_below(Open top, const Rows& rows, std::vector<Node<Number>>& nodes, Scratch& scratch,
                  FunctionRef<bool(Open&)> leave) {
    std::vector<Open> waiting;
    waiting.push_back(std::move(top));
    while (!waiting.empty()) {
      Open open = std::move(waiting.back());
      waiting.pop_back();
      if (leave(open)) continue;
      if (open.sums.statistics.empty()) {
        grow_on_lists(open, rows, nodes, scratch);
      } else if (!rows.is_copy() && open.size() <= copied_rows_) {
        const Rows copy = scratch.copy.take(rows, open.begin, open.end);
        open.begin = 0, open.end = copy.rows.size();
        grow_below(std::move(open), copy, nodes, scratch, [](Open&) { return false; });
      } else {
        by_code_.choose_partition(nodes[open.node], view(open.sums), scratch.by_code);
        if (nodes[open.node].partition.is_split()) split(open, rows, nodes, waiting, scratch);
        if (!open.sums.statistics.empty()) scratch.spare.push_back(std::move(open.sums));
      }
    }
  }

  void split(Open& open, const Rows& rows, std::vector<Node<Number>>& nodes, std::vector<Open>& waiting,
             Scratch& scratch) {
    const Split& by = nodes[open.node].partition.split;
    const std::vector<std::uint8_t> lower = by_code_.codes_that_go_lower(by);
    const std::size_t middle = rows.divide(open.begin, open.end, static_cast<std::size_t>(feature_of(by)), lower,
                                           scratch.rows);
    add_children(nodes, open.node, make_children_of(nodes[open.node], open, rows, middle, lower));
    Open smaller{nodes.size() - 2, open.begin, middle, {}}, larger{nodes.size() - 1, middle, open.end, {}};
    if (larger.size() < smaller.size()) std::swap(smaller, larger);
    auto wants_sums = [&](const Open& of) { return by_code_.may_be_split(nodes[of.node]) && of.size() > list_rows_; };
    if (wants_sums(smaller) || wants_sums(larger)) {
      smaller.sums = scratch.take();
      clear(smaller.sums);
      rows.count(smaller.begin, smaller.end, smaller.sums, scratch.counts);
    }
    if (wants_sums(larger)) {
      open.sums.subtract(smaller.sums);
      std::swap(larger.sums, open.sums);
    }
    for (Open* child : {&larger, &smaller}) {
      if (!wants_sums(*child) && !child->sums.statistics.empty())
        scratch.spare.push_back(std::exchange(child->sums, Sums{}));
      if (by_code_.may_be_split(nodes[child->node])) waiting.push_back(std::move(*child));
    }
  }

  void grow_on_lists(const Open& open, const Rows& rows, std::vector<Node<Number>>& nodes, Scratch& scratch) {
    std::vector<Row> table_rows;  // in the table
    for (const Row row : rows.of(open.begin, open.end)) table_rows.push_back(rows.row_in_table(row));
    std::vector<Node<Number>> grown{nodes[open.node]};
    Subtree<T>(columns_, outcome_, by_code_.settings(), table_rows, grown, scratch.subtree).grow(interrupt_);
    graft(nodes, open.node, std::move(grown));
  }

  const Columns& columns_;
  T& outcome_;
  ByCode<T> by_code_;
  bool count_rows_;  // how many rows there are is something else than what they weigh
  std::size_t subtree_rows_, list_rows_ = 0, copied_rows_ = 0, fewest_left_ = 0;
  std::size_t n_threads_;
  Interrupt& interrupt_;
  std::vector<Scratch> scratch_;
  std::vector<Row> rows_, divided_;  // divided_: work space
  Rows whole_;
  std::vector<Node<Number>> nodes_;
  std::deque<Part> parts_;
};

}  // namespace baytree
