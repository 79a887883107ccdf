#include "growth/engine_of.hpp"

namespace baytree {

template struct Engine<Reals>;

}  // namespace baytree
