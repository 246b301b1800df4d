// What follows every method, and what takes the place of one that could not do its work.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "infer/paid_values.hpp"
#include "infer/phase_verbs.hpp"
#include "infer/planner.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/network.hpp"
#include "treesample/search/first_bounds.hpp"

namespace treesample {

// What elimination has certified stays.
void search_instead(Findings& found, const Task& task, const PhaseClock&) {
  if (!found.is_given_up || task.run.is_interrupted()) return;
  task.run.remark(
      fmt::format("elimination, given up after {:.1f} seconds, would take too long: a search with bounds takes over",
                  task.run.seconds()));
  plan_search_instead(task.plan, task.graph);
  const LogBounds certified = found.draft.known.bounds();
  found = {};
  found.draft.known.bound(certified);
  // What was run before stays in the record.
  std::vector<PlannedPhase>& phases = task.plan.phases;
  std::erase_if(phases, [](const PlannedPhase& phase) { return !phase.began_seconds; });
  for (PlannedPhase& next : planned_phases(task.plan, task.run.seconds(), task.run.time_limit())) {
    phases.push_back(std::move(next));
  }
  run_phases(found, task);
}

// One look at each factor and one configuration: the answer where a method could not begin, and what it certified.
void state_first_bounds(Findings& found, const Task& task, const PhaseClock&) {
  Draft& draft = found.draft;
  if (found.first) draft.known.best.offer(*found.first);
  if (!found.is_given_up) return;
  const Draft first = first_answer(task, draft.known.bounds());
  if (const auto& best = first.known.best.best()) draft.known.best.offer(*best);
  draft.known.bound(first.known.bounds());
  if (task.graph.has_only_tables()) draft.known.bound(task.run.told().widened(task.run.log_error()));
  draft.stop = first.stop;
  if (draft.method.empty()) {
    draft.method = first.method;
  } else if (found.has_log_z) {
    draft.method += "; there was no time or memory for more";
  }
}

// Everything that was paid for bounds log Z from below, whoever asked for it.
void state_paid_values(Findings& found, const Task& task, const PhaseClock&) {
  const std::string hint = add_paid_values(found.draft, task.graph, task.options());
  if (hint.empty()) return;
  task.run.remark(hint);
  task.plan.remarks.push_back(hint);
}

// An estimate is never alone: one look at each factor bounds it where the method does not.
void bound_by_factors(Findings& found, const Task& task, const PhaseClock&) {
  Knowledge& known = found.draft.known;
  if (!task.graph.has_only_tables()) return;
  // Simplification has proved that nothing is possible: methods that do not estimate log Z would not say so.
  if (const LogBounds first = first_bounds(task.graph); first.upper == kNegInf) known.bound(first);
  const bool has_both = known.bounds().lower != kNegInf && known.bounds().upper < HUGE_VAL;
  if (known.log_z() && !known.is_exact() && !has_both) known.bound(first_bounds(task.graph, known.best.best()));
}

// From the simplified model to the original one, of which a network is known to have Z <= 1.
void bound_as_network(Findings& found, const Task& task, const PhaseClock&) {
  Knowledge& known = found.draft.known;
  found.draft.widen(task.run.log_error());
  if (!known.log_z() || known.is_exact()) return;
  const double log_upper = network_log_upper(task.original != nullptr ? *task.original : task.graph);
  if (log_upper < HUGE_VAL) known.bound(LogBounds::at_most(log_upper));
}

// The density of one configuration is a lower bound of Z, and samples may have found a better one.
void bound_by_best(Findings& found, const Task& task, const PhaseClock&) {
  Knowledge& known = found.draft.known;
  const std::optional<Configuration>& best = known.best.best();
  if (!task.graph.has_only_tables() || !known.log_z() || !best || !(best->log_density > known.bounds().lower)) return;
  known.bound(LogBounds::at_least(first_bounds(task.graph, best).widened(task.run.log_error()).lower));
}

}  // namespace treesample
