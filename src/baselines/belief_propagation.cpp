#include "treesample/baselines/belief_propagation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "baselines/message_passing.hpp"
#include "space/run_watch.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

void BeliefPropagationOptions::validate() const {
  check_range("BeliefPropagationOptions", "max_steps", max_steps, 1, 1'000'000'000);
  check_at_least("BeliefPropagationOptions", "tolerance", tolerance, 0.0);
  check_argument(damping >= 0.0 && damping < 1.0, "BeliefPropagationOptions",
                 fmt::format("damping is {}, allowed are values from 0 to below 1", damping));
}

BeliefPropagationResult belief_propagation(const FactorGraph& graph, const Limits& limits,
                                           const BeliefPropagationOptions& options, const Observer& observer) {
  limits.validate();
  options.validate();
  const RunWatch watch(limits, observer);
  MessagePassing messages(graph, options.damping);
  BeliefPropagationResult result;
  BeliefPropagationReport& report = result.report;
  while (report.num_steps < options.max_steps) {
    report.last_change = messages.step();
    ++report.num_steps;
    watch.tell({.phase = "bp"});
    const std::optional<StopReason> reason = watch.reason_to_stop();
    report.stop =
        report.last_change <= options.tolerance ? StopReason::kConverged : reason.value_or(StopReason::kBudget);
    if (report.stop != StopReason::kBudget) break;
  }
  report.estimate = messages.bethe_log_z();
  for (int v = 0; v < graph.num_variables(); ++v) {
    result.marginals.emplace_back(graph.num_states(v), 0.0);
    if (!messages.belief(v, result.marginals.back())) report.estimate = kNegInf;
  }
  if (report.estimate == kNegInf) {
    for (std::vector<double>& marginal : result.marginals) std::fill(marginal.begin(), marginal.end(), 0.0);
  }
  report.spent.factor_evaluations = messages.num_entries();
  report.seconds = watch.seconds();
  return result;
}

}  // namespace treesample
