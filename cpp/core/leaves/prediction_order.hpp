// Keeps the predictions of a tree with models in its leaves rising or falling with the columns that they must rise or
// fall with. Within a leaf the directions of the terms do so. A split by such a column divides rows that differ in
// nothing else, so nowhere may a model below it predict more than one above: the difference of two linear forms is
// largest at the ends of the ranges of their columns, one column after the other.
//
// New models are compared with those of all nodes on the other side of such a split, leaves or not: so every pruning
// of the tree is in order too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "leaves/leaf_models.hpp"
#include "leaves/terms.hpp"
#include "partitions/split.hpp"
#include "types.hpp"

namespace baytree {

class PredictionOrder {
 public:
  // `directions`, by feature, are those of the rules of a tree; none: all are free.
  PredictionOrder(const LeafModels& models, std::vector<std::int8_t> directions, bool extrapolate)
      : models_(models), directions_(std::move(directions)), extrapolate_(extrapolate) {}

  bool is_free() const { return directions_.empty(); }
  void add_root(const LeafModel& model);
  // Whether the models of the two sides of a split are in order with each other and with all others.
  bool allows(std::size_t node, const Split& split, const LeafModel& lower, const LeafModel& upper) const;
  // The sides of a split become the next two nodes.
  void add_children(std::size_t node, const Split& split, const LeafModel& lower, const LeafModel& upper);

 private:
  // The values of a column that reach a node: those above `low`, up to and with `high`; and missing ones.
  struct Range {
    double low = kMinusInfinity, high = -kMinusInfinity;
  };
  struct Place {
    LinearForm form;
    std::vector<TermScale> terms;
    std::vector<Range> ranges;  // by feature
    std::int64_t parent = -1;
    std::size_t lower = 0;  // its lower child; the upper one is the next
    Split split = {};
  };

  int direction_of(const Split& split) const;
  Place place_of(const LeafModel& model, std::vector<Range> ranges) const;
  std::vector<Place> sides_of(std::size_t node, const Split& split, const LeafModel& lower,
                              const LeafModel& upper) const;
  bool is_in_order_with(const Place& side, std::size_t other, std::size_t feature, bool is_upper) const;
  bool is_in_order(const Place& lower, const Place& upper, std::size_t feature) const;
  double effect(const Place& place, std::size_t feature, double value) const;
  double largest_difference(const Place& one, const Place& other, std::size_t feature) const;
  void add_ends(const Place& place, std::size_t feature, std::vector<double>& ends, double& slope, double sign) const;

  const LeafModels& models_;
  std::vector<std::int8_t> directions_;
  bool extrapolate_;
  std::vector<Place> places_;  // by node
};

}  // namespace baytree
