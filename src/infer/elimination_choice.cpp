// Variable elimination: what it would cost, in which order, whether in slices, and whether that fits.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "infer/known_order.hpp"
#include "infer/methods.hpp"
#include "infer/policy.hpp"
#include "thread_team.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/text.hpp"

namespace treesample {

namespace {

double entries_per_second(const Limits& limits) {
  return kEntriesPerSecond * std::pow(num_threads(limits), policy::kThreadsPower);
}

// The best order that is found in time.
std::optional<EliminationCost> cost_in_time(const FactorGraph& graph, const EliminationOptions& options,
                                            const Run& run) {
  return unless_given_up([&] { return elimination_cost(graph, options, run.until(policy::kChoiceEnd)); });
}

}  // namespace

EliminationOptions elimination_options(const InferRequest& request, const Run& run) {
  const std::int64_t restarts = request.options.restarts.value_or(0);
  EliminationOptions elimination;
  elimination.restarts = static_cast<int>(restarts);
  elimination.order_work = entries_per_second(request.limits) *
                           (run.has_time_limit() ? policy::kCostShare * run.time_limit() : policy::kOrderSeconds);
  elimination.seed = request.options.seed;
  if (request.question.marginals) elimination.goal = EliminationGoal::kMarginals;
  elimination.threads = num_threads(request.limits);
  elimination.progress = run.phase("orders", policy::kCostShare, policy::kOrderSeconds);
  return elimination;
}

namespace {

// Whether everything can be done in slices in this time: log Z, then marginals.
bool is_quick_in_slices(const FactorGraph& graph, const InferRequest& request, EliminationOptions elimination,
                        const Run& run, double most_seconds) {
  elimination.most_bytes = static_cast<double>(request.limits.bytes);
  double seconds = 0.0;
  for (const EliminationGoal goal : {EliminationGoal::kLogZ, EliminationGoal::kMarginals}) {
    const bool is_for_marginals = goal == EliminationGoal::kMarginals;
    if (is_for_marginals && !request.question.marginals) continue;
    elimination.goal = goal;
    elimination.keep_messages = is_for_marginals;
    const std::optional<EliminationCost> cost = cost_in_time(graph, elimination, run);
    if (!cost) return false;
    seconds += predicted_seconds(*cost, request.limits, is_for_marginals);
  }
  return seconds <= most_seconds;
}

}  // namespace

double predicted_seconds(const EliminationCost& cost, const Limits& limits, bool has_marginals) {
  const double work = has_marginals ? 1.0 + policy::kMarginalsWork : 1.0;
  const double bytes = has_marginals ? cost.marginal_bytes : cost.bytes;
  return work * cost.num_entries / entries_per_second(limits) + bytes / policy::kNewBytesPerSecond;
}

std::optional<EliminationOptions> cheap_elimination(const FactorGraph& graph, const InferRequest& request,
                                                    const Run& run, double seconds,
                                                    std::optional<EliminationCost>* found) {
  EliminationOptions elimination = elimination_options(request, run);
  const double most_seconds = policy::kAllShare * seconds;
  elimination.most_entries = most_seconds * entries_per_second(request.limits);
  use_known_order(elimination, graph, request.options);
  const std::optional<EliminationCost> cost = cost_in_time(graph, elimination, run);
  if (found != nullptr) *found = cost;
  if (!cost || std::ssize(cost->order) != graph.num_variables()) return {};
  elimination.order = cost->order;
  elimination.may_slice = true;
  const bool has_marginals = request.question.marginals;
  const bool fits = (has_marginals ? cost->marginal_bytes : cost->bytes) <= static_cast<double>(request.limits.bytes);
  const bool is_quick = predicted_seconds(*cost, request.limits, has_marginals) <= most_seconds;
  if (fits && is_quick) return elimination;
  if (!is_quick_in_slices(graph, request, elimination, run, most_seconds)) return {};
  return elimination;
}

std::optional<Marginals> quick_exact_marginals(const Task& task, double seconds) {
  if (!task.graph.has_only_tables()) return {};
  const auto options = cheap_elimination(task.graph, task.plan.request, task.run, seconds);
  if (!options) return {};
  const Run& run = task.run;
  const Observer watch{
      .progress =
          [&run](Progress now) {
            now.phase = "marginals";
            now.log_z = {};
            run.tell(now);
          },
      .should_stop = [&run, end = run.seconds() + seconds] { return run.seconds() > end || run.is_overdue(); }};
  const auto marginals = [&]() -> std::optional<Marginals> {
    const Elimination elimination(task.graph, task.limits(), *options, watch);
    return elimination.bounds().is_exact() ? std::optional(elimination.marginals()) : std::nullopt;
  };
  return unless_given_up(marginals).value_or(std::nullopt);
}

std::optional<EliminationOptions> sliced_elimination(const FactorGraph& graph, const InferRequest& request,
                                                     const Run& run, double seconds, EliminationCost& cost) {
  if (std::ssize(cost.order) != graph.num_variables()) return {};  // none was cheap enough
  EliminationOptions elimination = elimination_options(request, run);
  const double most_seconds = policy::kLogZShare * seconds;
  elimination.order = cost.order;
  elimination.most_entries = most_seconds * entries_per_second(request.limits);
  elimination.keep_messages = false;
  elimination.most_bytes = static_cast<double>(request.limits.bytes);
  std::optional<EliminationCost> sliced = cost_in_time(graph, elimination, run);
  if (!sliced || predicted_seconds(*sliced, request.limits, false) > most_seconds) return {};
  cost = *std::move(sliced);
  elimination.order = cost.order;
  elimination.slice_variables = cost.slice_variables;
  elimination.may_slice = true;
  elimination.keep_messages = true;  // where they fit
  return elimination;
}

namespace {

// Where elimination with all that is asked for does not fit, log Z alone may.
void plan_log_z_first(Plan& plan, const FactorGraph& graph, const Run& run, double seconds) {
  if (plan.elimination) {
    plan.elimination_options = sliced_elimination(graph, plan.request, run, seconds, *plan.elimination);
  }
  plan.eliminates_first = plan.elimination_options.has_value();
  if (plan.eliminates_first) {
    plan.reasons.push_back(
        fmt::format("elimination has log Z: width {}, {:.2g} table entries in {}; the rest is for a search",
                    plan.elimination->width, plan.elimination->num_entries,
                    counted(static_cast<std::int64_t>(plan.elimination->num_slices), "slice")));
    return;
  }
  plan.reasons.push_back(fmt::format("elimination would not be done within {:.3g} s and {}", seconds,
                                     bytes_text(static_cast<double>(plan.request.limits.bytes))));
}

}  // namespace

bool choose_elimination(Plan& plan, const FactorGraph& graph, const Run& run) {
  const double seconds = run.has_time_limit() ? run.time_limit() : policy::kDefaultEliminationSeconds;
  plan.elimination_options = cheap_elimination(graph, plan.request, run, seconds, &plan.elimination);
  if (plan.elimination_options) {
    plan.sums_out = false;
    plan.reasons.push_back(fmt::format("elimination is cheap: width {}, {:.2g} table entries", plan.elimination->width,
                                       plan.elimination->num_entries));
    return true;
  }
  if (run.is_overdue()) return false;
  const auto summed = sum_out(graph, plan);
  if (summed) {
    const InferRequest request = request_without(*summed, plan.request);
    plan.elimination_options = cheap_elimination(summed->graph(), request, run, seconds, &plan.elimination);
  }
  if (!plan.elimination_options) {
    plan_log_z_first(plan, summed ? summed->graph() : graph, run, seconds);
    return false;
  }
  plan.reasons.push_back(fmt::format("elimination is cheap once {} summed out: width {}, {:.2g} table entries",
                                     counted(summed->num_summed_out(), "barren variable"), plan.elimination->width,
                                     plan.elimination->num_entries));
  return true;
}

}  // namespace treesample
