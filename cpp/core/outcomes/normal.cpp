#include "outcomes/erased.hpp"

namespace baytree {

AnyOutcome<double> any_outcome(Normal outcome) { return erased(std::move(outcome)); }

}  // namespace baytree
