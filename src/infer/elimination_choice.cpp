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
#include "treesample/exact/decomposed_model.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/executor.hpp"
#include "treesample/text.hpp"

namespace treesample {

namespace {

double speed_of_threads(const Limits& limits) { return std::pow(num_threads(limits), policy::kThreadsPower); }

double entries_per_second(const Limits& limits) { return policy::kSummedPerSecond * speed_of_threads(limits); }

// Nothing where the time for it is over.
template <typename Make>
auto in_time(Make make, const Run& run) {
  return unless_given_up([&] { return make(run.until(policy::kChoiceEnd)); });
}

}  // namespace

EliminationOptions elimination_options(const InferRequest& request, const Run& run) {
  const std::int64_t restarts = request.options.restarts.value_or(0);
  EliminationOptions elimination;
  elimination.restarts = static_cast<int>(restarts);
  elimination.order_work = kEntriesPerSecond * speed_of_threads(request.limits) *
                           (run.has_time_limit() ? policy::kCostShare * run.time_limit() : policy::kOrderSeconds);
  if (request.question.aim == Aim::kBest)
    elimination.order_work = std::min(elimination.order_work, policy::kOrderWorkForBest);
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

namespace {

int num_workers(const InferRequest& request) {
  return request.options.executor ? std::max(1, request.options.executor->num_workers()) : 1;
}

// In slices for the workers of an executor; nothing where they would not be done in this time.
std::optional<EliminationPlan> plan_elsewhere(const FactorGraph& graph, const EliminationPlan& whole,
                                              const InferRequest& request, EliminationOptions options, const Run& run,
                                              double most_seconds) {
  options.most_entries = HUGE_VAL;
  auto plan = in_time(
      [&](const ShouldStop& end) { return plan_for_workers(graph, whole, options, num_workers(request), end); }, run);
  if (!plan || !plan->is_possible() || !(plan->num_slices > 1.0)) return {};
  if (entries_until_done(*plan, options.goal, num_workers(request)) > most_seconds * kEntriesPerSecond) return {};
  return plan;
}

}  // namespace

std::optional<EliminationPlan> cheap_elimination(const FactorGraph& graph, const InferRequest& request, const Run& run,
                                                 double seconds, std::optional<EliminationPlan>* found) {
  EliminationOptions options = elimination_options(request, run);
  if (zeros_of(graph).hard_share >= policy::kAllHard) options.order_work *= policy::kHardOrderShare;
  const double most_seconds = policy::kAllShare * seconds;
  options.most_entries = num_workers(request) * most_seconds * entries_per_second(request.limits);
  std::optional<EliminationPlan> whole = whole_plan(graph, request, options, run);
  if (found != nullptr) *found = whole;
  if (!whole || std::ssize(whole->order) != graph.num_variables()) return {};
  options.most_bytes = static_cast<double>(request.limits.bytes);
  if (request.options.executor) {
    if (auto plan = plan_elsewhere(graph, *whole, request, options, run, most_seconds)) return plan;
  }
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

// Where many causes share an effect, tables are made of small ones. Where that helps, elimination is planned for them:
// the order then names more variables than the model has. Clauses and gates are such tables, too; counting does more
// with them.
bool take_decomposed(Plan& plan, const FactorGraph& graph, const InferRequest& request, const Run& run,
                     double seconds) {
  const bool is_small = plan.elimination && plan.elimination->num_entries <= policy::kToDecompose;
  const bool is_fixed = !request.options.elimination_order.empty();
  if (is_small || is_fixed || run.is_overdue() || zeros_of(graph).are_all) return false;
  const auto decomposed = in_time([&](const ShouldStop& end) { return DecomposedModel(graph, end); }, run);
  if (!decomposed || decomposed->num_decomposed() == 0) return false;
  std::optional<EliminationPlan> whole;
  auto cheap = cheap_elimination(decomposed->graph(), request, run, seconds, &whole);
  const double before = plan.has_elimination ? plan.elimination->num_entries : HUGE_VAL;
  if (!cheap || policy::kWorthDecomposing * before <= cheap->num_entries) return false;
  plan.elimination = std::move(cheap);
  plan.has_elimination = true;
  plan.reasons.push_back(fmt::format("{} of many causes decomposed into chains of small ones",
                                     counted(decomposed->num_decomposed(), "table")));
  return true;
}

// Where the table entries take next to no time, what takes longer is the number of variables, which any other method
// would have to visit as well: elimination is then not given up by its pace.
bool is_quick(const Plan& plan, const Run& run) {
  if (!plan.elimination || !run.has_time_limit()) return false;
  const double seconds = predicted_seconds(*plan.elimination, plan.request.limits, false);
  return seconds < policy::kQuickElimination * run.time_limit();
}

// In less time than the first turn of a count would take.
bool has_log_z_soon(const Plan& plan) {
  if (!plan.eliminates_first) return false;
  const Limits& limits = plan.request.limits;
  const double limit = std::isfinite(limits.seconds) ? limits.seconds : policy::kDefaultSeconds;
  const double seconds = predicted_seconds(*plan.elimination, limits, false);
  return seconds <= std::max(policy::kLeastElimination, policy::kFirstCountShare * limit);
}

// Where only the most probable configuration is asked for, elimination comes first only where it is done at once; what
// follows the method tries it where a search would take longer (infer/best_search.cpp). Models that serve sums alone,
// without barren variables or with decomposed tables, do not serve it.
bool is_too_long_for_best(Plan& plan) {
  const bool is_too_long = plan.elimination->num_entries > policy::kMaximaAtOnce ||
                           plan.elimination->num_slices > 1.0 ||
                           plan.elimination->sample_bytes > static_cast<double>(plan.request.limits.bytes);
  if (!is_too_long) return false;
  plan.reasons.emplace_back(
      "elimination is not done at once: a search for the most probable configuration comes first");
  plan.has_elimination = false;
  return true;
}

}  // namespace

bool choose_elimination(Plan& plan, const FactorGraph& graph, const Run& run) {
  const double seconds = run.has_time_limit() ? run.time_limit() : policy::kDefaultEliminationSeconds;
  const bool is_cheap = take_cheap(plan, graph, plan.request, run, seconds);
  const bool wants_only_best = plan.request.question.aim == Aim::kBest;
  if (wants_only_best && (!is_cheap || is_too_long_for_best(plan))) return false;
  if ((!wants_only_best && take_decomposed(plan, graph, plan.request, run, seconds)) || is_cheap) {
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
    const InferRequest request = request_without(*summed, plan.request);
    take_cheap(plan, summed->graph(), request, run, seconds);
    take_decomposed(plan, summed->graph(), request, run, seconds);
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
  plan.counts_first = !has_log_z_soon(plan) && wants_counting(graph);
  plan.count_share = zeros_of(graph).are_all ? policy::kHardCountShare : policy::kCountShare;
}

}  // namespace treesample
