#include "outcomes/erased.hpp"

namespace baytree {

AnyOutcome<Int128> any_outcome(FixedPoint<Normal> outcome) { return erased(std::move(outcome)); }
AnyOutcome<Int128> any_outcome(FixedPoint<GammaRate> outcome) { return erased(std::move(outcome)); }
AnyOutcome<Int128> any_outcome(FixedPoint<BetaRate> outcome) { return erased(std::move(outcome)); }

}  // namespace baytree
