#include "outcomes/erased.hpp"

namespace baytree {

AnyOutcome<Whole128> any_outcome(Whole<Normal> outcome) { return erased(std::move(outcome)); }
AnyOutcome<Whole128> any_outcome(Whole<GammaRate> outcome) { return erased(std::move(outcome)); }
AnyOutcome<Whole128> any_outcome(Whole<BetaRate> outcome) { return erased(std::move(outcome)); }

}  // namespace baytree
