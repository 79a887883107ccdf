#include "outcomes/erased.hpp"

namespace baytree {

AnyOutcome<double> any_outcome(GammaRate outcome) { return erased(std::move(outcome)); }
AnyOutcome<double> any_outcome(BetaRate outcome) { return erased(std::move(outcome)); }

}  // namespace baytree
