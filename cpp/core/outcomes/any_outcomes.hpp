// The outcomes that are compiled behind a table of functions, each in a file of its own.
#pragma once

#include "outcomes/any_outcome.hpp"
#include "outcomes/categorical.hpp"
#include "outcomes/custom.hpp"
#include "outcomes/fixed_point.hpp"
#include "outcomes/normal.hpp"
#include "outcomes/rate.hpp"

namespace baytree {

AnyOutcome<double> any_outcome(Categorical<double> outcome);
AnyOutcome<double> any_outcome(Normal outcome);
AnyOutcome<double> any_outcome(GammaRate outcome);
AnyOutcome<double> any_outcome(BetaRate outcome);
AnyOutcome<double> any_outcome(Custom outcome);
AnyOutcome<Int128> any_outcome(FixedPoint<Normal> outcome);
AnyOutcome<Int128> any_outcome(FixedPoint<GammaRate> outcome);
AnyOutcome<Int128> any_outcome(FixedPoint<BetaRate> outcome);

}  // namespace baytree
