// The tree space: the graph is sound, and depends neither on threads nor on the way trees are grown.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "growth/space_graph.hpp"
#include "harness.hpp"
#include "interrupts.hpp"
#include "problems.hpp"
#include "trees.hpp"

namespace baytree::tests {

namespace {

using Count = std::uint32_t;
using Real = double;

template <class Count>
using Space = std::vector<SpaceNode<Count>>;

template <class Count>
Space<Count> explore(const Setting<Count>& setting, const Way& way, std::size_t max_nodes) {
  Interrupt interrupt = never_asked();
  const Columns columns = setting.encoded(way.n_bins);
  return EngineOf<Count>::explore(columns, form_of(setting.problem.outcome), setting.settings(),
                                  setting.problem.root_prior, {max_nodes}, way.subtree_rows, way.n_threads, interrupt);
}

template <class Count>
double log_evidence(const Space<Count>& space) {
  std::vector<double> evidence(space.size());
  for (std::size_t i = space.size(); i-- > 0;) {
    evidence[i] = space[i].log_leaf();
    for (const auto& choice : space[i].choices)
      evidence[i] = log_add(evidence[i], choice.partition.log_prior + evidence[choice.lower] + evidence[choice.upper]);
  }
  return evidence[0];
}

// Children come behind their parents, their rows add up, and what a choice says is what its children hold.
template <class Count>
void spaces_are_sound() {
  for (const Problem<Count>& problem : problems<Count>(120)) {
    const During during(problem.name);
    const Setting<Count> setting(problem);
    double before = kMinusInfinity;
    for (const std::size_t max_nodes : {0, 5, 60}) {
      const Space<Count> space = explore(setting, {4096, 0, 1}, max_nodes);
      check(log_evidence(space) >= before - 1e-9, "more budget never lowers the evidence");
      before = log_evidence(space);
      for (std::size_t i = 0; i < space.size(); ++i)
        for (const auto& choice : space[i].choices) {
          check(choice.lower > i && choice.upper > i && choice.lower < space.size() && choice.upper < space.size(),
                "children come behind");
          const auto& lower = space[choice.lower].node;
          const auto& upper = space[choice.upper].node;
          check_equal(lower.n_rows + upper.n_rows, space[i].node.n_rows);
          check_equal(lower.rows_mark + upper.rows_mark, space[i].node.rows_mark);
          check_equal(lower.rules.depth, space[i].node.rules.depth + 1);
          if (problem.smoothing == 0.0)
            check_near(lower.log_likelihood + upper.log_likelihood, choice.partition.log_likelihood, 1e-6);
        }
    }
  }
}

template <class Count>
void spaces_do_not_depend_on_threads() {
  for (const Problem<Count>& problem : problems<Count>(200)) {
    const During during(problem.name);
    const Setting<Count> setting(problem);
    const Space<Count> alone = explore(setting, {64, 16, 1}, 80);
    const Space<Count> together = explore(setting, {64, 16, 3}, 80);
    check_equal(together.size(), alone.size());
    check_equal(log_evidence(together), log_evidence(alone));
    for (std::size_t i = 0; i < alone.size(); ++i) {
      check_equal(together[i].node.rows_mark, alone[i].node.rows_mark);
      check_equal(together[i].choices.size(), alone[i].choices.size());
    }
  }
}

// A stop at any moment leaves a graph that is sound.
void a_stop_leaves_what_was_explored() {
  const auto problem = make_problem<std::uint32_t>("stopped", 400, 2, false, 0.5);
  const Setting<std::uint32_t> setting(problem);
  const Columns columns = setting.encoded(0);
  for (int moment = 0; moment < 12; ++moment) {
    Interrupt interrupt = never_asked();
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 * moment));
      interrupt.stop();
    });
    try {
      const auto nodes = Engine<Counts>::explore(columns, problem.outcome, setting.settings(), problem.root_prior,
                                                 {2000}, 4096, 2, interrupt);
      check(!nodes.empty() && std::isfinite(log_evidence(nodes)), "the graph is sound");
    } catch (const Interrupted&) {  // the greedy tree was not there yet
    }
  }
}

const Suite suite{{
    {"spaces are sound, counts", spaces_are_sound<Count>},
    {"spaces are sound, real", spaces_are_sound<Real>},
    {"spaces do not depend on threads, counts", spaces_do_not_depend_on_threads<Count>},
    {"spaces do not depend on threads, real", spaces_do_not_depend_on_threads<Real>},
    {"a stop leaves what was explored", a_stop_leaves_what_was_explored},
}};

}  // namespace

}  // namespace baytree::tests
