// Variable elimination: what it would cost and whether that fits; then everything exact, and the most probable
// configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "infer/counting.hpp"
#include "infer/methods.hpp"
#include "infer/policy.hpp"
#include "thread_team.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {

// ---- Whether it fits, and when it is given up ----------------------------------------------------------------------

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
  if (!cost) return {};
  const bool has_marginals = request.question.marginals;
  if ((has_marginals ? cost->marginal_bytes : cost->bytes) > static_cast<double>(request.limits.bytes)) return {};
  if (predicted_seconds(*cost, request.limits, has_marginals) > most_seconds) return {};
  elimination.order = cost->order;
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

// ---- The answer ----------------------------------------------------------------------------------------------------

namespace {

// Exact samples of the whole model, for what elimination does not tell: marginals, and a good configuration. False
// where not even one could be drawn in time.
bool add_sampled_marginals(Draft& draft, double log_z, const Task& task) {
  BoundedImportanceOptions sampling;
  sampling.max_samples = policy::kMostExactSamples;
  const auto draw = [&](std::span<int> x, Random& random, StopCheck&) {
    const Assignment sample = draft.approximation->sample(random);
    std::copy(sample.begin(), sample.end(), x.begin());
    return task.graph.log_density(x) - log_z;
  };
  Random random(task.seed(), "marginals");
  BoundedImportance sampled =
      bounded_importance(task.graph, {log_z, draw}, sampling, random,
                         {.should_stop = [&run = task.run, end = task.run.seconds() + task.run.extra_seconds()] {
                           return run.seconds() > end || run.is_interrupted();
                         }});
  if (sampled.num_samples == 0) return false;
  draft.known.best.offer(sampled.best);
  draft.set_sampled_marginals(sampled, "exact");
  return true;
}

// The best sample, its barren variables in their most probable states where that is better.
void improve_best(Draft& draft, const FactorGraph& whole) {
  const std::optional<Configuration>& best = draft.known.best.best();
  if (!best) return;
  Assignment completed = draft.summed->spread(draft.summed->left(best->x));
  draft.summed->choose_best(completed);
  const double log_density = whole.log_density(completed);
  draft.known.best.offer({std::move(completed), log_density});
}

// Of a few exact samples, where nothing better can be had; any one where these take too long or too much memory.
std::optional<Configuration> best_sample(const Approximation& approximation, const Task& task) {
  const ShouldStop is_late = task.run.time_box(policy::kBestSampleShare, policy::kBestSampleSeconds);
  Random random(task.seed(), "best");
  std::optional<Configuration> best;
  try {
    for (int i = 0; i < policy::kMostBestSamples && (i == 0 || !is_late()); ++i) {
      Assignment x = approximation.sample(random);
      const double log_density = task.graph.log_density(x);
      if (!best || log_density > best->log_density) best = {std::move(x), log_density};
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted && error.code() != ErrorCode::kResource) throw;
  }
  if (best) return best;
  FindResult found = find_configuration(task.graph, {.seed = task.seed(), .should_stop = task.run.until()});
  if (found.outcome == FindOutcome::kFound) best = std::move(found.configuration);
  return best;
}

// By a max-product pass, which takes less time than elimination and as much memory again. Returns what there is not
// enough of.
std::string add_max_product(Draft& draft, const Elimination& elimination, const Task& task) {
  const Run& run = task.run;
  if (run.is_overdue()) return "time";
  Limits limits = task.limits();
  // Slices leave nothing behind.
  if (elimination.cost().num_slices == 1.0) {
    limits.bytes -= std::min(limits.bytes, static_cast<std::size_t>(elimination.cost().bytes));
  }
  EliminationOptions pass = elimination_options(task.plan.request, run);
  // Barren variables are part of a configuration: the model that was eliminated is not the one in question.
  if (!draft.summed) pass.order = elimination.cost().order;
  EliminationCost cost = elimination_cost(task.graph, pass, run.set_up_end());
  pass.order = cost.order;
  if (cost.bytes > static_cast<double>(limits.bytes)) {
    pass.goal = EliminationGoal::kSamples;  // all messages are kept
    pass.most_bytes = static_cast<double>(limits.bytes);
    cost = elimination_cost(task.graph, pass, run.set_up_end());
    if (!std::isfinite(cost.num_entries)) return "memory (--memory)";
    pass.slice_variables = cost.slice_variables;
  }
  const double seconds =
      run.has_time_limit() ? policy::kMostProbableEnd * run.time_limit() - run.seconds() : policy::kMostProbableSeconds;
  if (cost.num_entries > policy::kMaximaPerSecond * seconds) return "time";
  const auto found = unless_given_up([&] {
    return most_probable(
        task.graph, limits, pass,
        unless_late(run, "most probable configuration",
                    std::make_shared<LateRule>(LateRule{policy::kMostProbableLook, policy::kMostProbableEnd})));
  });
  if (!found || !*found) return "time";
  const MostProbable& best = **found;
  // Factors that simplification found constant are so within their rounding.
  draft.known.best.prove(best.configuration, best.gap + 2.0 * run.log_error());
  return "";
}

// The sum of the slices that were done when the rest was given up: a lower bound, beside what is known at once.
Draft part_of_slices(const Task& task, double lower) {
  Draft draft = first_answer(task, {lower, HUGE_VAL});
  if (!draft.known.is_exact()) draft.method = "sum over slices of elimination, given up before the last one";
  return draft;
}

// What is learned of log Z on the way, from whole slices, is kept in `lower`.
Observer keeping_lower(Observer watch, double slack, const std::shared_ptr<double>& lower) {
  watch.progress = [tell = std::move(watch.progress), slack, lower](Progress now) {
    now.log_z = now.log_z.widened(slack);
    *lower = std::max(*lower, now.log_z.lower);
    tell(now);
  };
  return watch;
}

void add_marginals(Draft& draft, const Elimination& elimination, const Task& task) {
  const std::optional<Marginals> marginals = unless_given_up([&] { return elimination.marginals(); });
  if (!marginals && task.run.is_overdue()) return;
  const double width = elimination.bounds().width();
  if (marginals && !draft.summed) return draft.known.offer_solved(*marginals, width, "elimination");
  if (!add_sampled_marginals(draft, elimination.log_z(), task) || !draft.summed) return;
  improve_best(draft, task.graph);
  if (marginals) draft.known.offer_solved(of_whole(*marginals, *draft.summed, task.graph), width, "elimination");
}

}  // namespace

Draft run_elimination(const Task& task) {
  Draft draft;
  if (task.plan.counts_first && count_instead(draft, task)) return draft;
  draft.summed = sum_out(task.graph, task.plan);
  const FactorGraph& graph = draft.summed ? draft.summed->graph() : task.graph;
  EliminationOptions options = task.plan.elimination_options.value_or(elimination_options(task.plan.request, task.run));
  if (!task.plan.elimination_options) options.may_slice = true;  // it was asked for by name
  options.slice_file = task.options().resume.value_or("");
  // What a search could answer instead leaves it time. Marginals begin at 0 again.
  const auto rule = std::make_shared<LateRule>(
      LateRule{policy::kEliminationLook, task.plan.is_open ? policy::kOpenEliminationEnd : policy::kEliminationEnd});
  if (task.options().resume) rule->look = rule->end;  // what is done is not lost
  const auto lower = std::make_shared<double>(kNegInf);
  const Observer watch =
      keeping_lower(unless_late(task.run, "elimination", rule), draft.summed ? draft.summed->log_slack() : 0.0, lower);
  std::shared_ptr<const Elimination> elimination;
  try {
    elimination = std::make_shared<const Elimination>(graph, task.limits(), options, watch);
  } catch (const Error& error) {
    const bool is_part = *lower != kNegInf && (task.run.is_interrupted() || !task.plan.is_open);
    if (error.code() != ErrorCode::kInterrupted || !is_part) throw;
    return part_of_slices(task, *lower);
  }
  rule->end = policy::kEliminationEnd;
  const EliminationCost& cost = elimination->cost();
  draft.method = fmt::format("exact: variable elimination, width {}{}{}", cost.width,
                             summed_out_text(draft.summed.get()), slices_text(cost));
  LogBounds bounds = elimination->bounds();
  if (draft.summed) bounds = bounds.widened(draft.summed->log_slack());
  draft.known.bound(bounds);
  draft.known.estimate(elimination->log_z(), Trust::kExact);
  draft.stop = StopReason::kExact;
  draft.approximation = elimination;
  if (draft.known.log_z() == kNegInf) return draft;
  if (draft.summed) draft.approximation = std::make_shared<CompletedApproximation>(draft.summed, elimination);
  if (task.question().marginals) {
    const auto is_there = unless_too_large([&] {
      add_marginals(draft, *elimination, task);
      return true;
    });
    if (!is_there) task.run.remark("no marginals: not enough memory (--memory)");
  }
  rule->end = 1.0;  // of samples that follow
  if (!task.question().best) return draft;
  const std::string missing = add_max_product(draft, *elimination, task);
  if (missing.empty()) return draft;
  draft.known.best.give_up_proof();
  if (!draft.known.best.best() && !task.run.is_overdue()) {
    if (const auto best = best_sample(*draft.approximation, task)) draft.known.best.offer(*best);
  }
  task.run.remark(fmt::format("the most probable configuration was not looked for: {}",
                              task.run.is_interrupted() ? "interrupted" : "not enough " + missing));
  return draft;
}

}  // namespace treesample
