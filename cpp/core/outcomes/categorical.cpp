#include "outcomes/erased.hpp"

namespace baytree {

AnyOutcome<double> any_outcome(Categorical<double> outcome) { return erased(std::move(outcome)); }

}  // namespace baytree
