#include "forest_arrays.hpp"

#include <utility>
#include <variant>

namespace baytree::bindings {

void ForestArrays::add(const NodesView& tree) {
  reserve(tree);
  const std::size_t n = tree.nodes.size();
  for (std::size_t i = 0; i < n; ++i) add_node(tree.nodes[i]);
  const std::size_t before = statistics.size();
  statistics.resize(before + n * tree.width);
  for (std::size_t i = 0; i < n; ++i) tree.statistics(i, &statistics[before + i * tree.width]);
  tree_start.push_back(static_cast<std::int64_t>(kind.size()));
}

ForestArrays ForestArrays::joined(std::vector<ForestArrays> trees) {
  ForestArrays all;
  all.take_shifted(trees, &ForestArrays::tree_start, [](const ForestArrays& tree) { return tree.kind.size(); });
  all.take_shifted(trees, &ForestArrays::category_start, [](const ForestArrays& tree) { return tree.category.size(); });
  all.take_shifted(trees, &ForestArrays::hyperplane_start,
                   [](const ForestArrays& tree) { return tree.hyperplane_feature.size(); });
  all.take(trees, &ForestArrays::children_right), all.take(trees, &ForestArrays::feature);
  all.take(trees, &ForestArrays::n_rows), all.take(trees, &ForestArrays::kind);
  all.take(trees, &ForestArrays::has_missing), all.take(trees, &ForestArrays::missing_go_to_left);
  all.take(trees, &ForestArrays::log_prior_leaf), all.take(trees, &ForestArrays::log_prior_split);
  all.take(trees, &ForestArrays::log_odds_split), all.take(trees, &ForestArrays::threshold);
  all.take(trees, &ForestArrays::statistics), all.take(trees, &ForestArrays::category);
  all.take(trees, &ForestArrays::category_goes_left), all.take(trees, &ForestArrays::hyperplane_feature);
  all.take(trees, &ForestArrays::hyperplane_coefficient), all.take(trees, &ForestArrays::hyperplane_missing_value);
  return all;
}

nb::dict ForestArrays::to_dict(std::size_t width) && {
  const std::size_t n = kind.size();
  nb::dict result;
  result["tree_start"] = array_of(std::move(tree_start));
  result["children_right"] = array_of(std::move(children_right));
  result["kind"] = array_of(std::move(kind));
  result["feature"] = array_of(std::move(feature));
  result["threshold"] = array_of(std::move(threshold));
  result["has_missing"] = array_of_booleans(std::move(has_missing));
  result["missing_go_to_left"] = array_of_booleans(std::move(missing_go_to_left));
  result["category_start"] = array_of(std::move(category_start));
  result["category"] = array_of(std::move(category));
  result["category_goes_left"] = array_of_booleans(std::move(category_goes_left));
  result["hyperplane_start"] = array_of(std::move(hyperplane_start));
  result["hyperplane_feature"] = array_of(std::move(hyperplane_feature));
  result["hyperplane_coefficient"] = array_of(std::move(hyperplane_coefficient));
  result["hyperplane_missing_value"] = array_of(std::move(hyperplane_missing_value));
  result["n_node_samples"] = array_of(std::move(n_rows));
  result["log_prior_leaf"] = array_of(std::move(log_prior_leaf));
  result["log_prior_split"] = array_of(std::move(log_prior_split));
  result["log_odds_split"] = array_of(std::move(log_odds_split));
  result["statistics"] = array_of(std::move(statistics), {n, width});
  return result;
}

// No array has room for more than it gets: there are many trees.
void ForestArrays::reserve(const NodesView& tree) {
  const View<NodeFacts>& nodes = tree.nodes;
  std::size_t n_categories = 0, n_terms = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Split& split = nodes[i].partition.split;
    if (const auto* set = std::get_if<CategorySet>(&split)) n_categories += set->categories.size();
    if (const auto* plane = std::get_if<Hyperplane>(&split)) n_terms += plane->terms.size();
  }
  for (auto* array : {&children_right, &feature, &n_rows}) array->reserve(nodes.size());
  for (auto* array : {&kind, &has_missing, &missing_go_to_left}) array->reserve(nodes.size());
  for (auto* array : {&log_prior_leaf, &log_prior_split, &log_odds_split}) array->reserve(nodes.size());
  for (auto* array : {&category_start, &hyperplane_start}) array->reserve(nodes.size() + 1);
  threshold.reserve(nodes.size()), statistics.reserve(nodes.size() * tree.width);
  category.reserve(n_categories), category_goes_left.reserve(n_categories), hyperplane_feature.reserve(n_terms);
  for (auto* array : {&hyperplane_coefficient, &hyperplane_missing_value}) array->reserve(n_terms);
}

void ForestArrays::add_node(const NodeFacts& node) {
  const Partition& partition = node.partition;
  children_right.push_back(static_cast<std::int32_t>(node.upper));
  kind.push_back(static_cast<std::uint8_t>(kind_of(partition.split)));
  feature.push_back(partition.is_split() ? partition.feature() : kUndefined);
  threshold.push_back(threshold_of(partition.split));
  has_missing.push_back(missing_of(partition.split) != Missing::none);
  missing_go_to_left.push_back(missing_of(partition.split) == Missing::lower);
  n_rows.push_back(static_cast<std::int32_t>(node.n_rows));
  log_prior_leaf.push_back(static_cast<float>(node.log_prior_leaf));
  log_prior_split.push_back(static_cast<float>(partition.log_prior));
  log_odds_split.push_back(static_cast<float>(node.log_odds_split));
  add_entries(partition.split);
}

void ForestArrays::add_entries(const Split& split) {
  if (const auto* set = std::get_if<CategorySet>(&split))
    for (const auto& of : set->categories) {
      category.push_back(static_cast<std::int32_t>(of.number));
      category_goes_left.push_back(of.goes_lower);
    }
  if (const auto* plane = std::get_if<Hyperplane>(&split))
    for (const auto& term : plane->terms) {
      hyperplane_feature.push_back(term.feature);
      hyperplane_coefficient.push_back(term.coefficient);
      hyperplane_missing_value.push_back(term.missing_value);
    }
  category_start.push_back(static_cast<std::int32_t>(category.size()));
  hyperplane_start.push_back(static_cast<std::int32_t>(hyperplane_feature.size()));
}

}  // namespace baytree::bindings
