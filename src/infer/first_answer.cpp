#include <cmath>

#include "infer/methods.hpp"
#include "infer/policy.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/first_bounds.hpp"

namespace treesample {

Draft first_answer(const Task& task) {
  Draft draft;
  draft.method = "first bounds: the maxima of the factors and one configuration; there was no time for more";
  draft.stop = task.run.is_interrupted() ? StopReason::kInterrupted : StopReason::kTime;
  bool is_impossible = false;
  if (task.graph.has_only_tables()) {
    FindOptions find;
    find.seed = task.seed();
    const Stopwatch watch;
    find.should_stop = [&] { return watch.seconds() > policy::kFirstFindSeconds; };
    FindResult found = find_configuration(task.graph, find);
    if (found.outcome == FindOutcome::kFound) draft.best = std::move(found.configuration);
    is_impossible = found.outcome == FindOutcome::kImpossible;
  }
  const LogBounds bounds = first_bounds(task.graph, draft.best);
  if (is_impossible || bounds.upper == kNegInf) {
    draft.set_log_z(kNegInf, {kNegInf, kNegInf});
    draft.stop = StopReason::kExact;
  } else if (bounds.lower != kNegInf) {
    draft.set_log_z(bounds.lower, bounds);
  } else if (bounds.upper < HUGE_VAL) {
    draft.upper = bounds.upper;  // and no estimate
  }
  return draft;
}

}  // namespace treesample
