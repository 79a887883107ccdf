#include "node_arrays.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

namespace baytree::bindings {

namespace {

// The types of numbers that need not be exact, and of positions: a forest has many nodes.
struct Wide {
  using Real = double;
  using Integer = std::int64_t;
};
struct Narrow {
  using Real = float;
  using Integer = std::int32_t;
};

// The categories that splits divide, one split after another.
template <class Sizes>
void add_categories(Fields& fields, const View<Partition>& partitions) {
  auto& start = fields.add_starts<typename Sizes::Integer>("category_start");
  auto& category = fields.add_entries<typename Sizes::Integer>("category");
  auto& goes_left = fields.add_entries<bool>("category_goes_left");
  fields.add_task([&start, &category, &goes_left, partitions] {
    start.reserve(partitions.size() + 1);
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      if (const auto* set = std::get_if<CategorySet>(&partitions[i].split))
        for (const auto& of : set->categories) {
          category.push_back(static_cast<typename Sizes::Integer>(of.number));
          goes_left.push_back(of.goes_lower);
        }
      start.push_back(static_cast<typename Sizes::Integer>(category.size()));
    }
  });
}

// The terms of hyperplanes, one split after another.
template <class Sizes>
void add_hyperplanes(Fields& fields, const View<Partition>& partitions) {
  auto& start = fields.add_starts<typename Sizes::Integer>("hyperplane_start");
  auto& feature = fields.add_entries<typename Sizes::Integer>("hyperplane_feature");
  auto& coefficient = fields.add_entries<double>("hyperplane_coefficient");
  auto& missing_value = fields.add_entries<double>("hyperplane_missing_value");
  fields.add_task([&start, &feature, &coefficient, &missing_value, partitions] {
    start.reserve(partitions.size() + 1);
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      if (const auto* plane = std::get_if<Hyperplane>(&partitions[i].split))
        for (const auto& term : plane->terms) {
          feature.push_back(term.feature);
          coefficient.push_back(term.coefficient);
          missing_value.push_back(term.missing_value);
        }
      start.push_back(static_cast<typename Sizes::Integer>(feature.size()));
    }
  });
}

template <class Sizes>
void add_partitions(Fields& fields, const View<Partition>& partitions) {
  fields.add<std::uint8_t>("kind", [=](std::size_t i) { return kind_of(partitions[i].split); });
  fields.add<typename Sizes::Integer>(
      "feature", [=](std::size_t i) { return partitions[i].is_split() ? partitions[i].feature() : kUndefined; });
  fields.add<double>("threshold", [=](std::size_t i) { return threshold_of(partitions[i].split); });
  fields.add<bool>("has_missing", [=](std::size_t i) { return missing_of(partitions[i].split) != Missing::none; });
  fields.add<bool>("missing_go_to_left",
                   [=](std::size_t i) { return missing_of(partitions[i].split) == Missing::lower; });
  fields.add<typename Sizes::Real>("log_prior_split", [=](std::size_t i) { return partitions[i].log_prior; });
  add_categories<Sizes>(fields, partitions);
  add_hyperplanes<Sizes>(fields, partitions);
}

// What a node has in every store of trees.
template <class Sizes>
void add_nodes(Fields& fields, const NodesView& view) {
  const View<NodeFacts>& nodes = view.nodes;
  fields.add<typename Sizes::Integer>("n_rows", [=](std::size_t i) { return nodes[i].n_rows; });
  fields.add<typename Sizes::Real>("log_prior_leaf", [=](std::size_t i) { return nodes[i].log_prior_leaf; });
  fields.add_rows("statistics", view.width, view.statistics);
}

// What those of a forest do without.
void add_scores(Fields& fields, const NodesView& view) {
  const View<NodeFacts>& nodes = view.nodes;
  fields.add<std::int64_t>("depth", [=](std::size_t i) { return nodes[i].rules.depth; });
  fields.add<double>("log_likelihood", [=](std::size_t i) { return nodes[i].log_likelihood; });
  fields.add_rows("prior", nodes[0].prior.size(),
                  [=](std::size_t i, double* row) { std::ranges::copy(nodes[i].prior, row); });
}

View<Partition> partitions_of(const View<NodeFacts>& nodes) {
  std::vector<const Partition*> partitions(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) partitions[i] = &nodes[i].partition;
  return View(std::move(partitions));
}

}  // namespace

double threshold_of(const Split& split) {
  if (const auto* threshold = std::get_if<Threshold>(&split)) return threshold->threshold;
  if (const auto* plane = std::get_if<Hyperplane>(&split)) return plane->threshold;
  if (std::holds_alternative<PresentMissing>(split)) return std::numeric_limits<double>::infinity();
  if (std::holds_alternative<CategorySet>(split)) return std::numeric_limits<double>::quiet_NaN();
  return kUndefined;
}

Missing missing_of(const Split& split) {
  if (const auto* threshold = std::get_if<Threshold>(&split)) return threshold->missing;
  if (const auto* set = std::get_if<CategorySet>(&split)) return set->missing;
  return kind_of(split) == SplitKind::present_missing ? Missing::upper : Missing::none;
}

Fields fields_of_partitions(const View<Partition>& partitions) {
  Fields fields(partitions.size());
  add_partitions<Wide>(fields, partitions);
  fields.add<double>("log_likelihood_split", [=](std::size_t i) { return partitions[i].log_likelihood; });
  return fields;
}

Fields fields_of_tree(const NodesView& view, std::size_t n_features) {
  const View<NodeFacts>& nodes = view.nodes;
  Fields fields = fields_of_partitions(partitions_of(nodes));
  add_nodes<Wide>(fields, view), add_scores(fields, view);
  fields.add<std::int64_t>("children_left", [=](std::size_t i) { return nodes[i].lower; });
  fields.add<std::int64_t>("children_right", [=](std::size_t i) { return nodes[i].upper; });
  fields.add<double>("log_odds_split", [=](std::size_t i) { return nodes[i].log_odds_split; });
  fields.add_rows("feature_posterior", n_features + 1, [=](std::size_t i, double* row) {
    const std::vector<double>& posterior = nodes[i].feature_posterior;
    std::fill(std::ranges::copy(posterior, row).out, row + n_features + 1, 0.0);
    if (posterior.empty()) row[n_features] = 1.0;  // no split
  });
  return fields;
}

Fields fields_of_space(const NodesView& view) {
  Fields fields(view.nodes.size());
  add_nodes<Wide>(fields, view), add_scores(fields, view);
  return fields;
}

Fields fields_of_member(const NodesView& view) {
  const View<NodeFacts>& nodes = view.nodes;
  Fields fields(nodes.size());
  add_partitions<Narrow>(fields, partitions_of(nodes));
  add_nodes<Narrow>(fields, view);
  fields.add<std::int32_t>("children_right", [=](std::size_t i) { return nodes[i].upper; });
  fields.add<float>("log_odds_split", [=](std::size_t i) { return nodes[i].log_odds_split; });
  fields.add_starts<std::int64_t>("tree_start").push_back(static_cast<std::int64_t>(nodes.size()));
  return fields;
}

}  // namespace baytree::bindings
