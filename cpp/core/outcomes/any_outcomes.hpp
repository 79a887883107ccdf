// The outcomes that are compiled behind a table of functions, each in a file of its own.
#pragma once

#include "outcomes/any_outcome.hpp"
#include "outcomes/categorical.hpp"
#include "outcomes/custom.hpp"
#include "outcomes/normal.hpp"
#include "outcomes/rate.hpp"
#include "outcomes/whole.hpp"

namespace baytree {

AnyOutcome<double> any_outcome(Categorical<double> outcome);
AnyOutcome<double> any_outcome(Normal outcome);
AnyOutcome<double> any_outcome(GammaRate outcome);
AnyOutcome<double> any_outcome(BetaRate outcome);
AnyOutcome<double> any_outcome(Custom outcome);
AnyOutcome<Whole128> any_outcome(Whole<Normal> outcome);
AnyOutcome<Whole128> any_outcome(Whole<GammaRate> outcome);
AnyOutcome<Whole128> any_outcome(Whole<BetaRate> outcome);

}  // namespace baytree
