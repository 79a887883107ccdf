#include "partitions/space_router.hpp"

#include <algorithm>
#include <utility>

namespace baytree {

void check_graph(const SplitArrays& choices, std::span<const std::int64_t> choice_start, std::size_t n_nodes) {
  require(n_nodes > 0 && n_nodes < std::size_t{1} << 31, "a tree space has a root");
  require(detail::divides_entries(choice_start, n_nodes, choices.size()), "the choices of the nodes are all there");
  for (std::size_t node = 0; node < n_nodes; ++node)
    for (auto i = static_cast<std::size_t>(choice_start[node]); i < static_cast<std::size_t>(choice_start[node + 1]);
         ++i) {
      require(choices.kind_of(i) != SplitKind::none, "a choice has no split");
      for (const std::int64_t child : {choices.children_left[i], choices.children_right[i]})
        require(child > static_cast<std::int64_t>(node) && static_cast<std::size_t>(child) < n_nodes,
                "a choice points back, or outside of the tree space");
    }
}

SpaceRouter::SpaceRouter(const SplitArrays& choices, std::span<const std::int64_t> choice_start,
                         std::span<const double> leaf_share, std::span<const double> choice_share,
                         std::size_t n_features)
    : n_features_(n_features), left_(choices.children_left.begin(), choices.children_left.end()),
      right_(choices.children_right.begin(), choices.children_right.end()),
      choice_start_(choice_start.begin(), choice_start.end()), leaf_share_(leaf_share.begin(), leaf_share.end()),
      choice_share_(choice_share.begin(), choice_share.end()) {
  check_splits(choices, n_features);
  check_graph(choices, choice_start, leaf_share.size());
  require(choice_share.size() == choices.size(), "the choices of the nodes are all there");
  for (std::size_t i = 0; i < choices.size(); ++i) rules_.add(choices, i);
  rules_.finish();
}

template <class Value>
void SpaceRouter::weigh_row(Value&& value, Scratch& scratch, LeafWeights& result) const {
  scratch.level.assign(1, 0);
  scratch.mass[0] = 1.0;
  for (; !scratch.level.empty(); std::swap(scratch.level, scratch.next)) {
    scratch.next.clear();
    for (const std::int64_t node : scratch.level) {
      const auto at = static_cast<std::size_t>(node);
      const double mass = std::exchange(scratch.mass[at], 0.0);
      if (mass * leaf_share_[at] > 0.0) {
        result.node.push_back(static_cast<std::int32_t>(node));
        result.weight.push_back(mass * leaf_share_[at]);
      }
      for (auto i = static_cast<std::size_t>(choice_start_[at]); i < static_cast<std::size_t>(choice_start_[at + 1]);
           ++i) {
        const double share = mass * choice_share_[i];
        if (share == 0.0) continue;
        const std::int64_t child = rules_.goes_right(i, value) ? right_[i] : left_[i];
        double& mass_of_child = scratch.mass[static_cast<std::size_t>(child)];
        if (mass_of_child == 0.0) scratch.next.push_back(child);
        mass_of_child += share;
      }
    }
  }
  result.start.push_back(static_cast<std::int64_t>(result.node.size()));
}

template <class Place>
LeafWeights SpaceRouter::weigh_by(const Place& place, const Table& table, std::size_t n_threads,
                                  Interrupt& interrupt) const {
  std::vector<Scratch> scratch(std::max<std::size_t>(n_threads, 1));
  std::vector<LeafWeights> blocks((table.n_rows + kBlock - 1) / kBlock);
  parallel_for(blocks.size(), n_threads, interrupt, [&](std::size_t task, std::size_t worker) {
    scratch[worker].mass.resize(leaf_share_.size());
    for (std::size_t row = task * kBlock; row < std::min(table.n_rows, (task + 1) * kBlock); ++row) {
      const double* values = table.data + static_cast<std::ptrdiff_t>(row) * table.row_stride;
      weigh_row([&](std::size_t feature) { return values[place(feature)]; }, scratch[worker], blocks[task]);
    }
  });
  LeafWeights all;
  for (const LeafWeights& block : blocks) {
    const auto before = static_cast<std::int64_t>(all.node.size());
    for (std::size_t i = 1; i < block.start.size(); ++i) all.start.push_back(before + block.start[i]);
    all.node.insert(all.node.end(), block.node.begin(), block.node.end());
    all.weight.insert(all.weight.end(), block.weight.begin(), block.weight.end());
  }
  return all;
}

LeafWeights SpaceRouter::weigh(const Table& table, const FeatureColumns& columns, std::size_t n_threads,
                               Interrupt& interrupt) const {
  return with_places(table, columns, rules_, n_features_,
                     [&](const auto& place) { return weigh_by(place, table, n_threads, interrupt); });
}

}  // namespace baytree
