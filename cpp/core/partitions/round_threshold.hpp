// The number of fewest decimal digits that tells two neighbouring values apart.
#pragma once

namespace baytree {

// Halfway between two values where float64 allows it, and always below the upper one: a value that equals the
// threshold goes to the lower side.
double midpoint(double lower, double upper);

// Of the numbers in the middle half of the gap between two values the one of fewest significant decimal digits; among
// those the nearest to the midpoint, then the lower. At least the lower value and less than the upper one.
double roundest_between(double lower, double upper);

}  // namespace baytree
