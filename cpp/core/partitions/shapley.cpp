#include "partitions/shapley.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "math/counter_random.hpp"

namespace baytree {

namespace {

constexpr std::uint64_t kSeed = 0;  // explanations of a row are the same ones every time

template <std::size_t n_words>
using Set = std::array<std::uint64_t, n_words>;

template <std::size_t n_words>
bool contains(const Set<n_words>& all, const Set<n_words>& some) {
  for (std::size_t w = 0; w < n_words; ++w)
    if (some[w] & ~all[w]) return false;
  return true;
}

}  // namespace

// Distinct sets, each with the sum of its weights: games "all of the set are known".
template <std::size_t n_words>
class Shapley::WeightedSets {
 public:
  void add(const Set<n_words>& set, double weight) {
    if (weight == 0.0) return;
    if (2 * (sets.size() + 1) > slots_.size()) make_room();
    const std::size_t slot = find(set);
    if (slots_[slot] == 0) {
      sets.push_back(set);
      weights.push_back(0.0);
      slots_[slot] = static_cast<std::uint32_t>(sets.size());
    }
    weights[slots_[slot] - 1] += weight;
  }

  // Adds to each feature its Shapley value in the sum of the games.
  void add_values(double factor, std::vector<double>& by_feature) const {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      int size = 0;
      for (const std::uint64_t word : sets[i]) size += std::popcount(word);
      if (size == 0) continue;
      const double each = weights[i] * factor / size;
      for (std::size_t w = 0; w < n_words; ++w)
        for (std::uint64_t rest = sets[i][w]; rest != 0; rest &= rest - 1)
          by_feature[64 * w + static_cast<std::size_t>(std::countr_zero(rest))] += each;
    }
  }

  std::vector<Set<n_words>> sets;
  std::vector<double> weights;

 private:
  std::size_t find(const Set<n_words>& set) const {
    std::uint64_t hash = 0;
    for (const std::uint64_t word : set) hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    std::size_t slot = (hash ^ (hash >> 32)) & (slots_.size() - 1);
    while (slots_[slot] != 0 && sets[slots_[slot] - 1] != set) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  void make_room() {
    slots_.assign(std::max<std::size_t>(8, 2 * slots_.size()), 0);
    for (std::size_t i = 0; i < sets.size(); ++i) slots_[find(sets[i])] = static_cast<std::uint32_t>(i + 1);
  }

  std::vector<std::uint32_t> slots_;  // a power of two of them: 0, or a position in `sets` and 1
};

struct alignas(kApart) Shapley::Scratch {
  std::vector<std::uint8_t> goes_right;  // by choice
  std::vector<double> mass;  // by node
  std::vector<std::uint32_t> order, place;  // of features, and of each feature in the order
  std::vector<std::uint32_t> known_from;  // the step from which each choice is known
  std::vector<std::uint8_t> is_step;  // whether some choice becomes known at a step
  std::vector<double> before, after;  // predictions

  void resize(std::size_t n_choices, std::size_t n_nodes, std::size_t n_used, std::size_t n_values) {
    goes_right.resize(n_choices);
    mass.resize(n_nodes);
    order.resize(n_used);
    place.resize(n_used);
    is_step.resize(n_used + 1);
    before.resize(n_values);
    after.resize(n_values);
  }
};

struct Shapley::RowContributions {
  double* values;
  double* variance;
  std::size_t n_values;
  std::span<const std::size_t> features;  // positions in the table

  double* value_of(std::size_t feature) const { return values + features[feature] * n_values; }
  double* variance_of(std::size_t feature) const { return variance + features[feature] * n_values; }
};

Shapley::Shapley(const SplitArrays& choices, std::span<const std::int64_t> choice_start,
                 std::span<const double> leaf_share, std::span<const double> choice_share,
                 std::span<const double> left_share, std::size_t n_features)
    : n_features_(n_features), left_(choices.children_left.begin(), choices.children_left.end()),
      right_(choices.children_right.begin(), choices.children_right.end()),
      choice_start_(choice_start.begin(), choice_start.end()), leaf_share_(leaf_share.begin(), leaf_share.end()),
      choice_share_(choice_share.begin(), choice_share.end()), left_share_(left_share.begin(), left_share.end()) {
  check_splits(choices, n_features);
  check_graph(choices, choice_start, leaf_share.size());
  require(choice_share.size() == choices.size() && left_share.size() == choices.size(),
          "the shares of the choices are not all there");
  for (std::size_t i = 0; i < choices.size(); ++i) rules_.add(choices, i);
  rules_.finish();
  const std::vector<std::size_t>& used = rules_.features();
  const auto local = [&](std::size_t feature) {
    return static_cast<std::uint32_t>(std::lower_bound(used.begin(), used.end(), feature) - used.begin());
  };
  feature_start_.push_back(0);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices.kind_of(i) == SplitKind::hyperplane)
      for (const std::uint32_t feature : rules_.terms(i).feature) choice_feature_.push_back(local(feature));
    else choice_feature_.push_back(local(rules_.feature(i)));
    feature_start_.push_back(choice_feature_.size());
  }
}

template <std::size_t n_words>
void Shapley::pass_on(std::size_t choice, bool to_right, const WeightedSets<n_words>& here, WeightedSets<n_words>& left,
                      WeightedSets<n_words>& right) const {
  Set<n_words> features{};
  for (const std::uint32_t feature : features_of(choice)) features[feature / 64] |= std::uint64_t{1} << feature % 64;
  const double share = left_share_[choice];
  for (std::size_t i = 0; i < here.sets.size(); ++i) {
    const double weight = here.weights[i] * choice_share_[choice];
    if (contains(here.sets[i], features)) {
      (to_right ? right : left).add(here.sets[i], weight);
      continue;
    }
    Set<n_words> both = here.sets[i];
    for (std::size_t w = 0; w < n_words; ++w) both[w] |= features[w];
    left.add(here.sets[i], weight * share);
    right.add(here.sets[i], weight * (1.0 - share));
    const double gain = weight * (to_right ? -share : 1.0 - share);
    left.add(both, gain);
    right.add(both, -gain);
  }
}

template <std::size_t n_words>
bool Shapley::add_exactly(const Scratch& scratch, const double* value, std::size_t max_sets,
                          RowContributions row) const {
  const std::size_t n_used = rules_.features().size();
  std::vector<WeightedSets<n_words>> waiting(n_nodes());
  std::vector<double> sums(n_used * row.n_values), of_node(n_used);
  waiting[0].add({}, 1.0);
  std::size_t n_sets = 0;
  for (std::size_t node = 0; node < n_nodes(); ++node) {
    const WeightedSets<n_words> here = std::exchange(waiting[node], {});
    n_sets += here.sets.size();
    if (n_sets > max_sets) return false;
    if (leaf_share_[node] > 0.0 && !here.sets.empty()) {
      std::fill(of_node.begin(), of_node.end(), 0.0);
      here.add_values(leaf_share_[node], of_node);
      for (std::size_t f = 0; f < n_used; ++f)
        for (std::size_t v = 0; v < row.n_values; ++v)
          sums[f * row.n_values + v] += of_node[f] * value[node * row.n_values + v];
    }
    for (auto c = static_cast<std::size_t>(choice_start_[node]); c < static_cast<std::size_t>(choice_start_[node + 1]);
         ++c)
      pass_on(c, scratch.goes_right[c] != 0, here, waiting[static_cast<std::size_t>(left_[c])],
              waiting[static_cast<std::size_t>(right_[c])]);
  }
  for (std::size_t f = 0; f < n_used; ++f)
    for (std::size_t v = 0; v < row.n_values; ++v) row.value_of(f)[v] = sums[f * row.n_values + v];
  return true;
}

void Shapley::predict(Scratch& scratch, const double* value, std::uint32_t step, std::vector<double>& result) const {
  std::fill(result.begin(), result.end(), 0.0);
  scratch.mass[0] = 1.0;
  for (std::size_t node = 0; node < n_nodes(); ++node) {
    const double mass = std::exchange(scratch.mass[node], 0.0);
    if (mass == 0.0) continue;
    for (std::size_t v = 0; v < result.size(); ++v)
      result[v] += leaf_share_[node] > 0.0 ? mass * leaf_share_[node] * value[node * result.size() + v] : 0.0;
    for (auto c = static_cast<std::size_t>(choice_start_[node]); c < static_cast<std::size_t>(choice_start_[node + 1]);
         ++c) {
      double share = left_share_[c];
      if (scratch.known_from[c] <= step) share = scratch.goes_right[c] ? 0.0 : 1.0;
      scratch.mass[static_cast<std::size_t>(left_[c])] += mass * choice_share_[c] * share;
      scratch.mass[static_cast<std::size_t>(right_[c])] += mass * choice_share_[c] * (1.0 - share);
    }
  }
}

void Shapley::add_order(Scratch& scratch, const double* value, std::vector<double>& added) const {
  const std::size_t n_used = scratch.order.size();
  for (std::size_t i = 0; i < n_used; ++i) scratch.place[scratch.order[i]] = static_cast<std::uint32_t>(i + 1);
  std::fill(scratch.is_step.begin(), scratch.is_step.end(), std::uint8_t{0});
  for (std::size_t c = 0; c < left_.size(); ++c) {
    std::uint32_t step = 0;
    for (const std::uint32_t feature : features_of(c)) step = std::max(step, scratch.place[feature]);
    scratch.known_from[c] = step;
    scratch.is_step[step] = 1;
  }
  predict(scratch, value, 0, scratch.before);
  for (std::uint32_t step = 1; step <= n_used; ++step) {
    if (!scratch.is_step[step]) continue;
    predict(scratch, value, step, scratch.after);
    for (std::size_t v = 0; v < scratch.after.size(); ++v)
      added[scratch.order[step - 1] * scratch.after.size() + v] += scratch.after[v] - scratch.before[v];
    std::swap(scratch.before, scratch.after);
  }
}

void Shapley::add_drawn(Scratch& scratch, const double* value, const ShapleyEffort& effort,
                        RowContributions row) const {
  const std::size_t n_used = rules_.features().size(), size = n_used * row.n_values;
  std::vector<double> of_pair(size), sum(size), square(size);
  for (std::size_t pair = 0; pair < effort.n_pairs; ++pair) {
    const CounterRandom random(kSeed, effort.stream, pair);
    std::iota(scratch.order.begin(), scratch.order.end(), 0);
    for (std::size_t i = 0; i + 1 < n_used; ++i)
      std::swap(scratch.order[i],
                scratch.order[i + static_cast<std::size_t>(random.uniform(i, 0) * static_cast<double>(n_used - i))]);
    std::fill(of_pair.begin(), of_pair.end(), 0.0);
    for (int turn = 0; turn < 2; ++turn, std::reverse(scratch.order.begin(), scratch.order.end()))
      add_order(scratch, value, of_pair);
    for (std::size_t i = 0; i < size; ++i) {
      sum[i] += of_pair[i] / 2;
      square[i] += of_pair[i] / 2 * of_pair[i] / 2;
    }
  }
  const auto n = static_cast<double>(effort.n_pairs);
  for (std::size_t f = 0; f < n_used; ++f)
    for (std::size_t v = 0; v < row.n_values; ++v) {
      const std::size_t i = f * row.n_values + v;
      row.value_of(f)[v] = sum[i] / n;
      row.variance_of(f)[v] = std::max(0.0, square[i] - sum[i] / n * sum[i]) / (n * (n - 1));
    }
}

Contributions Shapley::contributions(const Table& table, const NodeValues& value, const ShapleyEffort& effort,
                                     std::size_t n_threads, Interrupt& interrupt) const {
  require(table.n_columns == n_features_, "the table does not have a column for each feature");
  require(value.n_nodes == n_nodes() && value.values.size() == value.n_rows * value.n_nodes * value.n_values &&
              (value.n_rows == 1 || value.n_rows == table.n_rows),
          "the values of the nodes are not all there");
  require(effort.n_pairs >= 2, "an error needs two pairs of orders");
  const std::size_t n_used = rules_.features().size(), per_row = n_features_ * value.n_values;
  Contributions result;
  result.values.resize(table.n_rows * per_row);
  result.variance.resize(table.n_rows * per_row);
  result.base.resize(table.n_rows * value.n_values);
  std::vector<Scratch> scratch(std::max<std::size_t>(n_threads, 1));
  parallel_for(table.n_rows, n_threads, interrupt, [&](std::size_t task, std::size_t worker) {
    Scratch& work = scratch[worker];
    work.resize(left_.size(), n_nodes(), n_used, value.n_values);
    const double* values = table.data + static_cast<std::ptrdiff_t>(task) * table.row_stride;
    for (std::size_t c = 0; c < left_.size(); ++c)
      work.goes_right[c] = rules_.goes_right(
          c, [&](std::size_t feature) { return values[static_cast<std::ptrdiff_t>(feature) * table.column_stride]; });
    const double* of_nodes = value.of_row(task);
    work.known_from.assign(left_.size(), 1);
    predict(work, of_nodes, 0, work.before);
    std::copy(work.before.begin(), work.before.end(),
              result.base.begin() + static_cast<std::ptrdiff_t>(task * value.n_values));
    const RowContributions row{&result.values[task * per_row], &result.variance[task * per_row], value.n_values,
                               rules_.features()};
    const bool done = n_used <= 64    ? add_exactly<1>(work, of_nodes, effort.max_sets, row)
                      : n_used <= 256 ? add_exactly<4>(work, of_nodes, effort.max_sets, row)
                                      : false;
    if (!done) add_drawn(work, of_nodes, effort, row);
  });
  return result;
}

}  // namespace baytree
