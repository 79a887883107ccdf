#include "growth/engine_of.hpp"

namespace baytree {

template Engine<FixedPoints>::Nodes Engine<FixedPoints>::grow_tree(const Columns&, const FixedPoints&, const Settings&,
                                                                   const std::vector<double>&, const Lookahead&,
                                                                   std::size_t, std::size_t, Interrupt&);
template std::unique_ptr<LevelGrower<Int128>> Engine<FixedPoints>::levels(Columns, FixedPoints, Settings,
                                                                          std::vector<double>);
template std::unique_ptr<LevelGrower<Int128>> Engine<FixedPoints>::refit_levels(Columns, FixedPoints, Settings,
                                                                                std::vector<double>, TreeStructure);

}  // namespace baytree
