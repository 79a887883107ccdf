#include "node_arrays.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <variant>

namespace baytree::bindings {

namespace {

// The categories that splits divide, one split after another.
void add_categories(Fields& fields, const View<Partition>& partitions) {
  struct Found {
    std::vector<std::int64_t> start{0}, category;
    std::vector<std::uint8_t> goes_left;
  };
  const auto found = std::make_shared<Found>();
  fields.add_whole(
      [=] {
        for (std::size_t i = 0; i < partitions.size(); ++i) {
          if (const auto* set = std::get_if<CategorySet>(&partitions[i].split))
            for (const auto& of : set->categories) {
              found->category.push_back(of.number);
              found->goes_left.push_back(of.goes_lower);
            }
          found->start.push_back(static_cast<std::int64_t>(found->category.size()));
        }
      },
      [=](nb::dict& result) {
        result["category_start"] = array_of(std::move(found->start));
        result["category"] = array_of(std::move(found->category));
        result["category_goes_left"] = array_of_booleans(std::move(found->goes_left));
      });
}

// The terms of hyperplanes, one split after another.
void add_hyperplanes(Fields& fields, const View<Partition>& partitions) {
  struct Found {
    std::vector<std::int64_t> start{0}, feature;
    std::vector<double> coefficient, missing_value;
  };
  const auto found = std::make_shared<Found>();
  fields.add_whole(
      [=] {
        for (std::size_t i = 0; i < partitions.size(); ++i) {
          if (const auto* plane = std::get_if<Hyperplane>(&partitions[i].split))
            for (const auto& term : plane->terms) {
              found->feature.push_back(term.feature);
              found->coefficient.push_back(term.coefficient);
              found->missing_value.push_back(term.missing_value);
            }
          found->start.push_back(static_cast<std::int64_t>(found->feature.size()));
        }
      },
      [=](nb::dict& result) {
        result["hyperplane_start"] = array_of(std::move(found->start));
        result["hyperplane_feature"] = array_of(std::move(found->feature));
        result["hyperplane_coefficient"] = array_of(std::move(found->coefficient));
        result["hyperplane_missing_value"] = array_of(std::move(found->missing_value));
      });
}

void add_partitions(Fields& fields, const View<Partition>& partitions) {
  fields.add("kind", [=](std::size_t i) { return static_cast<std::uint8_t>(kind_of(partitions[i].split)); });
  fields.add("feature", [=](std::size_t i) {
    return partitions[i].is_split() ? std::int64_t{partitions[i].feature()} : std::int64_t{kUndefined};
  });
  fields.add("threshold", [=](std::size_t i) { return threshold_of(partitions[i].split); });
  fields.add("has_missing", [=](std::size_t i) { return missing_of(partitions[i].split) != Missing::none; });
  fields.add("missing_go_to_left", [=](std::size_t i) { return missing_of(partitions[i].split) == Missing::lower; });
  fields.add("log_prior_split", [=](std::size_t i) { return partitions[i].log_prior; });
  fields.add("log_likelihood_split", [=](std::size_t i) { return partitions[i].log_likelihood; });
  add_categories(fields, partitions);
  add_hyperplanes(fields, partitions);
}

void add_nodes(Fields& fields, const NodesView& view) {
  const View<NodeFacts>& nodes = view.nodes;
  fields.add("depth", [=](std::size_t i) { return static_cast<std::int64_t>(nodes[i].depth); });
  fields.add("n_rows", [=](std::size_t i) { return static_cast<std::int64_t>(nodes[i].n_rows); });
  fields.add("log_likelihood", [=](std::size_t i) { return nodes[i].log_likelihood; });
  fields.add("log_prior_leaf", [=](std::size_t i) { return nodes[i].log_prior_leaf; });
  fields.add_rows("statistics", view.width, view.statistics);
  fields.add_rows("prior", nodes[0].prior.size(),
                  [=](std::size_t i, double* row) { std::ranges::copy(nodes[i].prior, row); });
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
  add_partitions(fields, partitions);
  return fields;
}

Fields fields_of_tree(const NodesView& view, std::size_t n_features) {
  const View<NodeFacts>& nodes = view.nodes;
  std::vector<const Partition*> partitions(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) partitions[i] = &nodes[i].partition;
  Fields fields = fields_of_partitions(View(std::move(partitions)));
  add_nodes(fields, view);
  fields.add("children_left", [=](std::size_t i) { return nodes[i].lower; });
  fields.add("children_right", [=](std::size_t i) { return nodes[i].upper; });
  fields.add("log_odds_split", [=](std::size_t i) { return nodes[i].log_odds_split; });
  fields.add_rows("feature_posterior", n_features + 1, [=](std::size_t i, double* row) {
    const std::vector<double>& own = nodes[i].feature_posterior;
    std::fill(std::ranges::copy(own, row).out, row + n_features + 1, 0.0);
    if (own.empty()) row[n_features] = 1.0;  // no split
  });
  return fields;
}

Fields fields_of_space(const NodesView& view) {
  Fields fields(view.nodes.size());
  add_nodes(fields, view);
  return fields;
}

}  // namespace baytree::bindings
