// What elimination would cost, whether that fits, and when it is given up.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "infer/methods.hpp"
#include "infer/policy.hpp"
#include "thread_team.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

double entries_per_second(const Limits& limits) {
  return policy::kEntriesPerSecond * std::pow(num_threads(limits), policy::kThreadsPower);
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
  elimination.restarts = restarts > 0 ? static_cast<int>(restarts) : policy::kEliminationRestarts;
  elimination.stops_when_cheap = restarts == 0;
  elimination.seed = request.options.seed;
  elimination.should_settle = run.time_box(policy::kCostShare, policy::kOrderSeconds);
  elimination.threads = num_threads(request.limits);
  elimination.progress = run.phase("orders", policy::kCostShare, policy::kOrderSeconds);
  return elimination;
}

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
  const std::vector<int>& known = request.options.elimination_order;
  if (std::ssize(known) == graph.num_variables()) elimination.order = known;
  const std::optional<EliminationCost> cost = cost_in_time(graph, elimination, run);
  if (found != nullptr) *found = cost;
  if (!cost || cost->marginal_bytes > static_cast<double>(request.limits.bytes)) return {};
  if (predicted_seconds(*cost, request.limits, request.question.marginals) > most_seconds) return {};
  elimination.order = cost->order;
  return elimination;
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
  const auto summed = sum_out(graph, plan);
  if (summed) {
    plan.elimination_options = cheap_elimination(summed->graph(), plan.request, run, seconds, &plan.elimination);
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

Observer unless_late(const Run& run, const char* phase, std::shared_ptr<const LateRule> rule) {
  struct Pace {
    double share = 0.0, start = 0.0;
  };
  const auto pace = std::make_shared<Pace>();
  const auto tell = [=](const Progress& now) {
    pace->share = now.share_done.value_or(0.0);
    if (pace->share == 0.0) pace->start = run.seconds();
    Progress named = now;
    named.phase = phase;
    run.tell(named);
  };
  const auto is_late = [=, rule = std::move(rule)] {
    if (run.is_overdue()) return true;
    const double now = run.seconds(), end = run.at(rule->end);
    if (now > end) return true;
    const bool is_early = now < run.at(rule->look) || now < pace->start + policy::kPaceShare * run.time_limit();
    if (is_early || pace->share == 0.0) return false;
    return pace->start + (now - pace->start) / pace->share > end;
  };
  return {.progress = tell, .should_stop = is_late};
}

}  // namespace treesample
