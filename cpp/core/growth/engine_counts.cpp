#include "growth/engine_of.hpp"

namespace baytree {

template struct Engine<Counts>;

}  // namespace baytree
