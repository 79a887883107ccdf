#include "partitions/hyperplane.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace baytree {

namespace {

// The nearest number of so many digits.
double rounded_to(double number, int digits) {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%.*e", digits - 1, number);
  return std::strtod(text.data(), nullptr);
}

// The number of fewest digits near the middle of two, but not the upper one.
double shortest_between(double below, double above) {
  const double middle = midpoint(below, above);
  for (int digits = 1; digits < 17; ++digits) {
    const double rounded = rounded_to(middle, digits);
    if (rounded >= below && rounded < above) return rounded;
  }
  return middle;
}

}  // namespace

void round_off(const Points& points, CandidatePlane& plane, std::vector<double>& projection) {
  points.project(plane.parts, plane.coefficients, projection);
  std::vector<std::uint8_t> is_lower(points.n);
  for (std::size_t i = 0; i < points.n; ++i) is_lower[i] = projection[i] <= plane.threshold;
  for (int digits = 1; digits <= 17; ++digits) {
    stop_if_asked();
    std::vector<double> rounded = plane.coefficients;
    for (double& coefficient : rounded) coefficient = rounded_to(coefficient, digits);
    points.project(plane.parts, rounded, projection);
    double below = kMinusInfinity, above = -kMinusInfinity;
    for (std::size_t i = 0; i < points.n; ++i)
      if (is_lower[i]) below = std::max(below, projection[i]);
      else above = std::min(above, projection[i]);
    if (!(below < above)) continue;
    plane.coefficients = std::move(rounded);
    plane.threshold = shortest_between(below, above);
    return;
  }
}

}  // namespace baytree
