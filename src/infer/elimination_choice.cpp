// Variable elimination: what it would cost, in which order, whether in slices, and whether that fits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "infer/counting.hpp"
#include "infer/known_order.hpp"
#include "infer/methods.hpp"
#include "infer/planner.hpp"
#include "infer/policy.hpp"
#include "space/num_threads.hpp"
#include "treesample/exact/barren_marginals.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/text.hpp"

namespace treesample {

namespace {

double entries_per_second(const Limits& limits) {
  return kEntriesPerSecond * std::pow(num_threads(limits), policy::kThreadsPower);
}

// Nothing where the time for it is over.
template <typename MakePlan>
std::optional<EliminationPlan> in_time(MakePlan make_plan, const Run& run) {
  return unless_given_up([&] { return make_plan(run.until(policy::kChoiceEnd)); });
}

}  // namespace

EliminationOptions elimination_options(const InferRequest& request, const Run& run) {
  const std::int64_t restarts = request.options.restarts.value_or(0);
  EliminationOptions elimination;
  elimination.restarts = static_cast<int>(restarts);
  elimination.order_work = entries_per_second(request.limits) *
                           (run.has_time_limit() ? policy::kCostShare * run.time_limit() : policy::kOrderSeconds);
  if (!request.options.elimination_order.empty()) elimination.order_work = 0.0;  // the order stays as it is
  elimination.seed = request.options.seed;
  elimination.goal = request.question.marginals ? EliminationGoal::kMarginals : EliminationGoal::kSamples;
  elimination.may_slice = true;
  elimination.threads = num_threads(request.limits);
  elimination.progress = run.phase("orders", policy::kCostShare, policy::kOrderSeconds);
  return elimination;
}

namespace {

// Whether everything can be done in slices in this time: log Z, then marginals.
bool is_quick_in_slices(const FactorGraph& graph, const EliminationPlan& whole, const InferRequest& request,
                        EliminationOptions options, const Run& run, double most_seconds) {
  // Slices have more entries than the whole, but for a better order of what they leave.
  const double work = (request.question.marginals ? 2.0 + policy::kMarginalsWork : 1.0) * whole.num_entries;
  if (work / entries_per_second(request.limits) > most_seconds) return false;
  double seconds = 0.0;
  for (const EliminationGoal goal : {EliminationGoal::kLogZ, EliminationGoal::kMarginals}) {
    const bool is_for_marginals = goal == EliminationGoal::kMarginals;
    if (is_for_marginals && !request.question.marginals) continue;
    options.goal = goal;
    const auto plan = in_time([&](const ShouldStop& end) { return plan_slices(graph, whole, options, end); }, run);
    if (!plan || !plan->is_possible()) return false;
    seconds += predicted_seconds(*plan, request.limits, is_for_marginals);
  }
  return seconds <= most_seconds;
}

}  // namespace

double predicted_seconds(const EliminationPlan& plan, const Limits& limits, bool has_marginals) {
  const double work = has_marginals ? 1.0 + policy::kMarginalsWork : 1.0;
  const double bytes = has_marginals ? plan.marginal_bytes : plan.log_z_bytes;
  return work * plan.num_entries / entries_per_second(limits) + bytes / policy::kNewBytesPerSecond;
}

namespace {

// Without slices, unless they are given with the order; nothing where the time for it is over.
std::optional<EliminationPlan> whole_plan(const FactorGraph& graph, const InferRequest& request,
                                          EliminationOptions options, const Run& run) {
  options.most_bytes = HUGE_VAL;
  return in_time(
      [&](const ShouldStop& end) {
        auto known = known_plan(graph, request, end);
        return known ? *std::move(known) : plan_elimination(graph, options, end);
      },
      run);
}

}  // namespace

std::optional<EliminationPlan> cheap_elimination(const FactorGraph& graph, const InferRequest& request, const Run& run,
                                                 double seconds, std::optional<EliminationPlan>* found) {
  EliminationOptions options = elimination_options(request, run);
  if (zeros_of(graph).hard_share >= policy::kAllHard) options.order_work *= policy::kHardOrderShare;
  const double most_seconds = policy::kAllShare * seconds;
  options.most_entries = most_seconds * entries_per_second(request.limits);
  std::optional<EliminationPlan> whole = whole_plan(graph, request, options, run);
  if (found != nullptr) *found = whole;
  if (!whole || std::ssize(whole->order) != graph.num_variables()) return {};
  options.most_bytes = static_cast<double>(request.limits.bytes);
  const bool has_marginals = request.question.marginals;
  const double bytes = has_marginals ? whole->marginal_bytes : whole->sample_bytes;
  const bool is_quick =
      bytes <= options.most_bytes && predicted_seconds(*whole, request.limits, has_marginals) <= most_seconds;
  if (!is_quick && !is_quick_in_slices(graph, *whole, request, options, run, most_seconds)) return {};
  return in_time([&](const ShouldStop& end) { return plan_log_z(graph, *std::move(whole), options, end); }, run);
}

void offer_eliminated(Knowledge& known, const SummedModel* summed, const Marginals& marginals, double width,
                      const Task& task) {
  if (summed == nullptr) return known.offer_solved(marginals, width, "elimination");
  Marginals all = summed->marginals(marginals);
  const double seconds = task.run.box_seconds(policy::kBarrenShare, policy::kBarrenSeconds);
  const double of_others =
      add_barren_marginals(task.graph, all, seconds * entries_per_second(task.limits()), task.limits(),
                           elimination_options(task.plan.request, task.run),
                           {.should_stop = task.run.time_box(policy::kBarrenShare, policy::kBarrenSeconds)});
  known.offer_solved(std::move(all), std::max(width, of_others), "elimination");
}

// Where elimination was looked at before, and is not carried out, it is not quick.
std::optional<Marginals> quick_exact_marginals(const Task& task, double seconds) {
  if (!task.graph.has_only_tables() || task.plan.elimination) return {};
  const auto plan = cheap_elimination(task.graph, task.plan.request, task.run, seconds);
  if (!plan) return {};
  const Run& run = task.run;
  run.enter("marginals");
  const Observer watch{
      .progress =
          [&run](Progress now) {
            now.log_z = {};
            run.tell(now);
          },
      .should_stop = [&run, end = run.seconds() + seconds] { return run.seconds() > end || run.is_overdue(); }};
  const auto marginals = [&]() -> std::optional<Marginals> {
    const Elimination elimination(task.graph, *plan, task.limits(), elimination_options(task.plan.request, run), watch);
    return elimination.bounds().is_exact() ? std::optional(elimination.marginals()) : std::nullopt;
  };
  return unless_given_up(marginals).value_or(std::nullopt);
}

namespace {

// For log Z alone, with slices where the memory requires them; nothing unless it is predicted to fit into the time.
std::optional<EliminationPlan> log_z_plan(const FactorGraph& graph, const EliminationPlan& whole,
                                          const InferRequest& request, const Run& run, double seconds) {
  if (std::ssize(whole.order) != graph.num_variables()) return {};  // none was cheap enough
  EliminationOptions options = elimination_options(request, run);
  const double most_seconds = policy::kLogZShare * seconds;
  options.goal = EliminationGoal::kLogZ;
  options.most_entries = most_seconds * entries_per_second(request.limits);
  options.most_bytes = static_cast<double>(request.limits.bytes);
  auto plan = in_time([&](const ShouldStop& end) { return plan_slices(graph, whole, options, end); }, run);
  if (!plan || predicted_seconds(*plan, request.limits, false) > most_seconds) return {};
  return plan;
}

// Where elimination with all that is asked for does not fit, log Z alone may.
void plan_log_z_first(Plan& plan, const FactorGraph& graph, const Run& run, double seconds) {
  if (plan.elimination) {
    if (auto found = log_z_plan(graph, *plan.elimination, plan.request, run, seconds)) {
      plan.elimination = std::move(found);
      plan.eliminates_first = plan.has_elimination = true;
    }
  }
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

// What was found is kept also where it is not cheap.
bool take_cheap(Plan& plan, const FactorGraph& graph, const InferRequest& request, const Run& run, double seconds) {
  auto cheap = cheap_elimination(graph, request, run, seconds, &plan.elimination);
  plan.has_elimination = cheap.has_value();
  if (cheap) plan.elimination = std::move(cheap);
  return plan.has_elimination;
}

// Where the table entries take next to no time, what takes longer is the number of variables, which any other method
// would have to visit as well: elimination is then not given up by its pace.
bool is_quick(const Plan& plan, const Run& run) {
  if (!plan.elimination || !run.has_time_limit()) return false;
  const double seconds = predicted_seconds(*plan.elimination, plan.request.limits, false);
  return seconds < policy::kQuickElimination * run.time_limit();
}

}  // namespace

bool choose_elimination(Plan& plan, const FactorGraph& graph, const Run& run) {
  const double seconds = run.has_time_limit() ? run.time_limit() : policy::kDefaultEliminationSeconds;
  if (take_cheap(plan, graph, plan.request, run, seconds)) {
    plan.sums_out = false;
    plan.reasons.push_back(fmt::format("elimination is cheap: width {}, {:.2g} table entries", plan.elimination->width,
                                       plan.elimination->num_entries));
    plan.is_quick = is_quick(plan, run);
    return true;
  }
  if (run.is_overdue()) return false;
  const auto summed = sum_out(graph, plan);
  if (summed) {
    plan.whole_elimination = std::exchange(plan.elimination, {});
    take_cheap(plan, summed->graph(), request_without(*summed, plan.request), run, seconds);
  }
  if (!plan.has_elimination) {
    plan_log_z_first(plan, summed ? summed->graph() : graph, run, seconds);
    return false;
  }
  plan.reasons.push_back(fmt::format("elimination is cheap once {} summed out: width {}, {:.2g} table entries",
                                     counted(summed->num_summed_out(), "barren variable"), plan.elimination->width,
                                     plan.elimination->num_entries));
  plan.is_quick = is_quick(plan, run);
  return true;
}

void plan_search_instead(Plan& plan, const FactorGraph& graph) {
  plan.method = Method::kSearch;
  plan.select = SelectRule::kGap;
  plan.request.options.method = plan.method;
  plan.request.options.select = plan.select;
  plan.request.options.leaf = LeafChoice{LeafKind::kMiniBucket};
  plan.sums_out = plan.may_sum_out;
  plan.counts_first = wants_counting(graph);
  plan.count_share = zeros_of(graph).are_all ? policy::kHardCountShare : policy::kCountShare;
}

}  // namespace treesample
