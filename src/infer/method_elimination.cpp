// Variable elimination: everything exact, and the most probable configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "infer/counting.hpp"
#include "infer/known_order.hpp"
#include "infer/phase_verbs.hpp"
#include "infer/policy.hpp"
#include "treesample/exact/decomposed_model.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/executor.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {

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

// Without slices: those of log Z may be too large for messages that are kept. Barren variables are part of a
// configuration, so the model may not be the one that was eliminated.
std::optional<EliminationPlan> max_product_plan(const Draft& draft, const EliminationPlan& of_log_z, const Task& task,
                                                const EliminationOptions& options) {
  const Run& run = task.run;
  if (draft.summed && task.plan.whole_elimination) return task.plan.whole_elimination;
  const bool is_for_another = draft.summed || std::ssize(of_log_z.order) != task.graph.num_variables();
  if (!is_for_another && of_log_z.num_slices == 1.0) return of_log_z;
  return unless_given_up([&] {
    return is_for_another ? plan_elimination(task.graph, options, run.set_up_end())
                          : plan_in_order(task.graph, of_log_z.order, {}, run.set_up_end());
  });
}

// By a max-product pass, which takes less time than elimination and as much memory again. Returns what there is not
// enough of.
std::string add_max_product(Draft& draft, const Elimination& elimination, const Task& task, const PhaseClock& clock) {
  const Run& run = task.run;
  if (run.is_overdue()) return "time";
  Limits limits = task.limits();
  EliminationOptions options = elimination_options(task.plan.request, run);
  // Slices leave nothing behind, and messages are kept only where all that was asked for fits beside them.
  const EliminationPlan& of_log_z = elimination.plan();
  if (of_log_z.num_slices == 1.0 && of_log_z.bytes_for(options.goal) <= static_cast<double>(limits.bytes)) {
    limits.bytes -= static_cast<std::size_t>(of_log_z.sample_bytes);
  }
  options.goal = EliminationGoal::kSamples;
  std::optional<EliminationPlan> plan = max_product_plan(draft, of_log_z, task, options);
  if (!plan || !plan->is_possible()) return "time";
  const auto& executor = task.options().executor;
  const int num_workers = executor ? std::max(1, executor->num_workers()) : 1;
  if (executor) {
    options.most_bytes = static_cast<double>(limits.bytes);
    const bool is_for_this = !draft.summed && std::ssize(of_log_z.order) == task.graph.num_variables();
    const bool is_cut = is_for_this && of_log_z.num_slices > 1.0 && of_log_z.sample_bytes <= options.most_bytes;
    plan = is_cut ? of_log_z : unless_given_up([&] {
      return plan_for_workers(task.graph, *plan, options, num_workers, run.set_up_end());
    });
    if (!plan) return "time";
  }
  if (plan->sample_bytes > static_cast<double>(limits.bytes)) {
    options.most_bytes = static_cast<double>(limits.bytes);
    plan = unless_given_up([&] { return plan_slices(task.graph, *plan, options, run.set_up_end()); });
    if (!plan) return "time";
    if (!plan->is_possible()) return "memory (--memory)";
  }
  const double seconds = run.has_time_limit() ? clock.seconds_left() : policy::kMostProbableSeconds;
  const double share = std::ceil(plan->num_slices / num_workers) / plan->num_slices;  // that one worker does
  if (share * plan->num_entries > policy::kMaximaPerSecond * seconds) return "time";
  const auto found = unless_given_up([&] {
    return most_probable(task.graph, limits, *plan,
                         unless_late(run, "most probable configuration",
                                     std::make_shared<LateRule>(LateRule{policy::kMostProbableLook, clock.share})),
                         executor.get());
  });
  if (!found || !*found) return "time";
  const MostProbable& best = **found;
  // Factors that simplification found constant are so within their rounding.
  draft.known.best.prove(best.configuration, best.gap + 2.0 * run.log_error());
  return "";
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

// By the plan of the run, or by the known order where elimination was asked for by name. A resumed one goes on by the
// plan of its file.
std::shared_ptr<const Elimination> eliminated(const Task& task, const Draft& draft, const FactorGraph& graph,
                                              const EliminationOptions& options, const Observer& watch, double slack) {
  SliceWork slices{.file = task.options().resume.value_or(""), .log_slack = task.run.log_error() + slack};
  slices.executor = task.options().executor;
  const auto with = [&](EliminationPlan plan) {
    const SliceRange range = slice_range(task.options(), plan.num_slices);
    slices.first = range.first;
    slices.end = range.end;
    return std::make_shared<const Elimination>(graph, std::move(plan), task.limits(), options, watch, slices);
  };
  if (task.plan.has_elimination) return with(*task.plan.elimination);
  const InferRequest& request = task.plan.request;
  auto known = known_plan(graph, draft.summed ? request_without(*draft.summed, request) : request, watch.should_stop);
  if (!known && task.options().slices) known = plan_elimination(graph, options, watch.should_stop);
  if (!known) return std::make_shared<const Elimination>(graph, task.limits(), options, watch, slices);
  EliminationOptions within = options;
  within.most_bytes = static_cast<double>(task.limits().bytes);
  if (slices.executor) {
    known = plan_for_workers(graph, *std::move(known), within, slices.executor->num_workers(), watch.should_stop);
  }
  return with(plan_log_z(graph, *std::move(known), within, watch.should_stop));
}

// The sum of the slices that were done is a lower bound.
void give_up(Findings& found, double lower, const Task& task) {
  found.is_given_up = true;
  found.draft.known.bound(LogBounds::at_least(lower));
  if (task.plan.is_open && !task.run.is_interrupted()) return;  // a search follows
  const bool is_wanted = task.options().slices && !task.run.is_interrupted() && !task.run.is_overdue();
  if (lower != kNegInf || is_wanted) {
    found.draft.method = task.options().slices ? "the given slices of elimination, a part of the sum"
                                               : "sum over slices of elimination, given up before the last one";
  } else if (!task.run.is_interrupted()) {
    throw OptionError("time",
                      fmt::format("{} seconds are not enough for elimination; allowed are a longer time, none, or "
                                  "--method auto, which then searches",
                                  task.plan.request.limits.seconds),
                      ErrorCode::kResource);
  }
}

// The model that the plan's order is for, where it has tables that are made of small ones.
std::optional<DecomposedModel> decomposed_for(const Task& task, const FactorGraph& left) {
  const bool is_decomposed =
      task.plan.has_elimination && std::ssize(task.plan.elimination->order) > left.num_variables();
  return is_decomposed ? std::optional(DecomposedModel(left)) : std::nullopt;
}

std::string decomposed_text(const DecomposedModel* decomposed) {
  return decomposed == nullptr ? "" : fmt::format("; {} decomposed", counted(decomposed->num_decomposed(), "table"));
}

}  // namespace

void eliminate(Findings& found, const Task& task, const PhaseClock& clock) {
  Draft& draft = found.draft;
  draft.summed = sum_out(task.graph, task.plan);
  const FactorGraph& left = draft.summed ? draft.summed->graph() : task.graph;
  const auto decomposed = decomposed_for(task, left);
  const FactorGraph& graph = decomposed ? decomposed->graph() : left;
  const double slack = (draft.summed ? draft.summed->log_slack() : 0.0) + (decomposed ? decomposed->log_slack() : 0.0);
  const bool goes_on = task.plan.is_quick || task.options().resume;  // of a resumed one, what is done is not lost
  found.rule = std::make_shared<LateRule>(LateRule{goes_on ? clock.share : policy::kEliminationLook, clock.share});
  const auto lower = std::make_shared<double>(kNegInf);
  const Observer watch = keeping_lower(unless_late(task.run, "elimination", found.rule), slack, lower);
  EliminationOptions options = elimination_options(task.plan.request, task.run);
  if (task.options().slices) options.goal = EliminationGoal::kLogZ;
  found.elimination =
      unless_given_up([&] { return eliminated(task, draft, graph, options, watch, slack); }).value_or(nullptr);
  if (!found.elimination) return give_up(found, *lower, task);
  const EliminationPlan& plan = found.elimination->plan();
  draft.method =
      fmt::format("exact: variable elimination, width {}{}{}{}", plan.width, summed_out_text(draft.summed.get()),
                  decomposed_text(decomposed ? &*decomposed : nullptr), slices_text(plan));
  draft.known.bound(found.elimination->bounds().widened(slack));
  draft.known.estimate(found.elimination->log_z(), Trust::kExact);
  draft.stop = StopReason::kExact;
  draft.approximation = found.elimination;
  if (decomposed) {
    draft.approximation = std::make_shared<OriginalApproximation>(left, found.elimination, found.elimination->log_z());
  }
  if (task.options().slices && !(plan.num_slices > 1.0)) {
    throw OptionError("slices", "is given, and the model is not cut: give an order with slices, or less --memory");
  }
  found.is_complete = task.options().slices.has_value() || draft.known.log_z() == kNegInf;
  if (draft.summed && draft.known.log_z() != kNegInf) {
    draft.approximation = std::make_shared<CompletedApproximation>(draft.summed, std::move(draft.approximation));
  }
  *found.rule = {policy::kEliminationLook, 1.0};  // of samples that follow
}

// By the pass back, or from samples where there is no time for it.
void eliminate_for_marginals(Findings& found, const Task& task, const PhaseClock& clock) {
  const Elimination* const elimination = found.elimination.get();
  if (elimination == nullptr) return;
  Draft& draft = found.draft;
  // Samples, which come otherwise, take little: the pass is not given up by its pace.
  const LateRule before = std::exchange(*found.rule, {clock.share, clock.share});
  const auto is_there = unless_too_large([&] {
    const std::optional<Marginals> marginals = unless_given_up([&] { return elimination->marginals(); });
    if (marginals) {
      const FactorGraph& left = draft.summed ? draft.summed->graph() : task.graph;
      const double width = std::max(elimination->bounds().width(), draft.known.bounds().width());
      const auto end = marginals->begin() + left.num_variables();  // not of chains that tables were decomposed into
      offer_eliminated(draft.known, draft.summed.get(), {marginals->begin(), end}, width, task);
    }
    if (draft.known.has_marginals() || (!marginals && task.run.is_overdue())) return true;
    if (add_sampled_marginals(draft, elimination->log_z(), task) && draft.summed) improve_best(draft, task.graph);
    return true;
  });
  if (!is_there) task.run.remark("no marginals: not enough memory (--memory)");
  *found.rule = before;
}

void eliminate_for_best(Findings& found, const Task& task, const PhaseClock& clock) {
  if (!found.elimination) return;
  KnownBest& best = found.draft.known.best;
  const std::string missing = add_max_product(found.draft, *found.elimination, task, clock);
  if (missing.empty()) return;
  best.give_up_proof();
  if (!best.best() && !task.run.is_overdue()) {
    if (const auto sampled = best_sample(*found.draft.approximation, task)) best.offer(*sampled);
  }
  task.run.remark(fmt::format("the most probable configuration was not looked for: {}",
                              task.run.is_interrupted() ? "interrupted" : "not enough " + missing));
}

}  // namespace treesample
