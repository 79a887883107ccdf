#include "leaves/prediction_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

namespace baytree {

void PredictionOrder::add_root(const LeafModel& model) {
  if (!is_free()) places_.push_back(place_of(model, std::vector<Range>(directions_.size())));
}

int PredictionOrder::direction_of(const Split& split) const {
  const auto* threshold = std::get_if<Threshold>(&split);
  return threshold ? directions_[static_cast<std::size_t>(threshold->feature)] : 0;
}

PredictionOrder::Place PredictionOrder::place_of(const LeafModel& model, std::vector<Range> ranges) const {
  Place place;
  place.form = models_.form(model);
  place.terms = model.terms;
  place.ranges = std::move(ranges);
  return place;
}

std::vector<PredictionOrder::Place> PredictionOrder::sides_of(std::size_t node, const Split& split,
                                                              const LeafModel& lower, const LeafModel& upper) const {
  std::vector<Place> sides{place_of(lower, places_[node].ranges), place_of(upper, places_[node].ranges)};
  if (const auto* threshold = std::get_if<Threshold>(&split)) {
    const auto feature = static_cast<std::size_t>(threshold->feature);
    sides[0].ranges[feature].high = sides[1].ranges[feature].low = threshold->threshold;
  }
  for (Place& side : sides) side.parent = static_cast<std::int64_t>(node);
  return sides;
}

bool PredictionOrder::allows(std::size_t node, const Split& split, const LeafModel& lower,
                             const LeafModel& upper) const {
  if (is_free()) return true;
  const std::vector<Place> sides = sides_of(node, split, lower, upper);
  if (direction_of(split) != 0 && !is_in_order(sides[0], sides[1], std::get<Threshold>(split).feature)) return false;
  std::size_t below = node;
  for (std::int64_t up = places_[node].parent; up >= 0; up = places_[below].parent) {
    const auto above = static_cast<std::size_t>(up);
    const bool is_upper = below != places_[above].lower;
    const std::size_t other = is_upper ? places_[above].lower : places_[above].lower + 1;
    below = above;
    if (direction_of(places_[above].split) == 0) continue;
    const auto feature = static_cast<std::size_t>(std::get<Threshold>(places_[above].split).feature);
    for (const Place& side : sides)
      if (!is_in_order_with(side, other, feature, is_upper)) return false;
  }
  return true;
}

void PredictionOrder::add_children(std::size_t node, const Split& split, const LeafModel& lower,
                                   const LeafModel& upper) {
  if (is_free()) return;
  places_[node].split = split;
  places_[node].lower = places_.size();
  for (Place& side : sides_of(node, split, lower, upper)) places_.push_back(std::move(side));
}

// With a node on the other side of a split by a feature, and all nodes below that one.
bool PredictionOrder::is_in_order_with(const Place& side, std::size_t other, std::size_t feature, bool is_upper) const {
  const Place& place = places_[other];
  if (!(is_upper ? is_in_order(place, side, feature) : is_in_order(side, place, feature))) return false;
  if (place.lower == 0) return true;
  return is_in_order_with(side, place.lower, feature, is_upper) &&
         is_in_order_with(side, place.lower + 1, feature, is_upper);
}

// Two nodes on either side of a split by a feature: they are nearest to each other where the feature is.
bool PredictionOrder::is_in_order(const Place& lower, const Place& upper, std::size_t feature) const {
  const double below = effect(lower, feature, lower.ranges[feature].high);
  const double above = effect(upper, feature, upper.ranges[feature].low);
  const bool rises = directions_[feature] > 0;
  const Place &low = rises ? lower : upper, &high = rises ? upper : lower;
  double difference = low.form.level - high.form.level + (rises ? below - above : above - below);
  for (std::size_t f = 0; f < directions_.size(); ++f)
    if (f != feature) difference += largest_difference(low, high, f);
  return difference <= 0.0;
}

// What a value of a feature adds to the linear form of a node.
double PredictionOrder::effect(const Place& place, std::size_t feature, double value) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < place.terms.size(); ++k) {
    const TermScale& scale = place.terms[k];
    const Term& term = models_.terms()[scale.term];
    if (term.feature != feature) continue;
    double x = value;
    if (term.kind == TermKind::category) x = value == term.category ? 1.0 : 0.0;
    if (term.kind == TermKind::missing) x = std::isnan(value) ? 1.0 : 0.0;
    if (std::isnan(x)) continue;
    if (!extrapolate_) x = std::clamp(x, scale.low, scale.high);
    sum += place.form.slopes[k] * ((x - scale.centre) / scale.scale);
  }
  return sum;
}

// The values of a feature at which the effect in a node bends or jumps; adds its slope beyond them.
void PredictionOrder::add_ends(const Place& place, std::size_t feature, std::vector<double>& ends, double& slope,
                               double sign) const {
  for (std::size_t k = 0; k < place.terms.size(); ++k) {
    const TermScale& scale = place.terms[k];
    const Term& term = models_.terms()[scale.term];
    if (term.feature != feature) continue;
    if (term.kind == TermKind::category) ends.push_back(term.category);
    if (term.kind != TermKind::value) continue;
    ends.insert(ends.end(), {scale.low, scale.high});
    slope += sign * place.form.slopes[k] / scale.scale;
  }
}

// The most by which the effect of a feature in one node exceeds that in another, for the same value.
double PredictionOrder::largest_difference(const Place& one, const Place& other, std::size_t feature) const {
  std::vector<double> ends;
  double slope = 0.0;
  add_ends(one, feature, ends, slope, 1.0);
  add_ends(other, feature, ends, slope, -1.0);
  const auto difference = [&](double value) { return effect(one, feature, value) - effect(other, feature, value); };
  double most = difference(std::numeric_limits<double>::quiet_NaN());
  const double low = std::max(one.ranges[feature].low, other.ranges[feature].low);
  const double high = std::min(one.ranges[feature].high, other.ranges[feature].high);
  if (low >= high) return most;  // only rows with a missing value reach both
  const bool runs_away = (slope > 0.0 && high == -kMinusInfinity) || (slope < 0.0 && low == kMinusInfinity);
  if (extrapolate_ && runs_away) return -kMinusInfinity;
  ends.insert(ends.end(), {low, high, -1.0});  // a category without a term has no place in the table
  for (const double end : ends)
    if (std::isfinite(end)) most = std::max(most, difference(std::clamp(end, low, high)));
  return most;
}

}  // namespace baytree
