#include <algorithm>
#include <cmath>

#include "infer/methods.hpp"
#include "infer/policy.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/first_bounds.hpp"

namespace treesample {

void tell_first_bounds(const FactorGraph& graph, std::uint64_t seed, const Run& run) {
  run.tell({.phase = "first bounds", .log_z = first_bounds(graph), .estimate = kNegInf});
  if (!graph.has_only_tables() || run.time_limit() < policy::kFirstBoundsLimit) return;
  FindOptions find;
  find.seed = seed;
  find.should_stop = [&run, end = run.seconds() + policy::kFirstFindSeconds] {
    return run.seconds() > end || run.is_interrupted();
  };
  const FindResult found = find_configuration(graph, find);
  if (found.outcome != FindOutcome::kFound) return;
  run.tell({.phase = "first bounds", .log_z = first_bounds(graph, found.configuration), .estimate = kNegInf});
}

Draft first_answer(const Task& task, const LogBounds& certified) {
  Draft draft;
  draft.method = "first bounds: the maxima of the factors and one configuration; there was no time for more";
  draft.stop = task.run.is_interrupted() ? StopReason::kInterrupted : StopReason::kTime;
  bool is_impossible = false;
  std::optional<Configuration> best;
  if (task.graph.has_only_tables() && task.run.is_overdue()) {
    // The search for a possible configuration takes several passes over the model; only the first configuration is
    // tried.
    Assignment x(static_cast<std::size_t>(task.graph.num_variables()), 0);
    const double log_density = task.graph.log_density(x);
    if (log_density != kNegInf) best = {std::move(x), log_density};
  } else if (task.graph.has_only_tables()) {
    FindOptions find;
    find.seed = task.seed();
    find.should_stop = [run = task.run, end = task.run.seconds() + policy::kFirstFindSeconds] {
      return run.seconds() > end;
    };
    FindResult found = find_configuration(task.graph, find);
    if (found.outcome == FindOutcome::kFound) best = std::move(found.configuration);
    is_impossible = found.outcome == FindOutcome::kImpossible;
  }
  draft.known.bound(certified);
  draft.known.bound(is_impossible ? LogBounds{kNegInf, kNegInf} : first_bounds(task.graph, best));
  if (best) draft.known.best.offer(*best);
  return draft;
}

}  // namespace treesample
