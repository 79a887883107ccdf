// Look-ahead: of no level it is the greedy tree, and threads change nothing.
#include <cstdint>

#include "growth/lookahead.hpp"
#include "growth/root.hpp"
#include "harness.hpp"
#include "interrupts.hpp"
#include "trees.hpp"

namespace baytree::tests {

namespace {

// Wide look-ahead of no level is the greedy tree, and threads change nothing.
void look_ahead_of_no_level_is_greedy() {
  for (const auto& problem : problems<std::uint32_t>(120)) {
    const During during(problem.name);
    const Setting<std::uint32_t> setting(problem);
    Interrupt interrupt = never_asked();
    const Columns columns = setting.encoded(0);
    auto grow = [&](std::size_t levels, std::size_t n_threads) {
      auto outcome = problem.outcome;
      Settings settings = setting.settings();
      auto root = make_root(columns, outcome, settings, problem.root_prior, 1, interrupt);
      return LookaheadGrower<Categorical<std::uint32_t>>(columns, outcome, settings, {levels, 8, 2}, n_threads,
                                                         interrupt)
          .grow(std::move(root));
    };
    check_equal(structure(grow(0, 1)), structure(setting.grow({4096, 0, 1})));
    check_equal(structure(grow(1, 3)), structure(grow(1, 1)));
  }
}

const Suite suite{{
    {"look-ahead of no level is greedy", look_ahead_of_no_level_is_greedy},
}};

}  // namespace

}  // namespace baytree::tests
