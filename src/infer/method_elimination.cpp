// Variable elimination: everything exact, and the most probable configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/counting.hpp"
#include "infer/methods.hpp"
#include "infer/policy.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// Exact samples of the whole model, for what elimination does not tell: marginals, and a good configuration.
void add_sampled_marginals(Draft& draft, double log_z, const Task& task) {
  BoundedImportanceOptions sampling;
  sampling.max_samples = policy::kMostExactSamples;
  const auto draw = [&](std::span<int> x, Random& random) {
    const Assignment sample = draft.approximation->sample(random);
    std::copy(sample.begin(), sample.end(), x.begin());
    return task.graph.log_density(x) - log_z;
  };
  Random random(task.seed(), "marginals");
  BoundedImportance sampled =
      bounded_importance(task.graph, {log_z, draw}, sampling, random,
                         {.should_stop = task.run.time_box(policy::kExactSamplesShare, policy::kExactSamplesSeconds)});
  draft.best = sampled.best;
  draft.set_sampled_marginals(std::move(sampled), "exact");
}

// The best sample, its barren variables in their most probable states where that is better.
void improve_best(Draft& draft, const FactorGraph& whole) {
  if (!draft.best) return;
  Assignment completed = draft.summed->spread(draft.summed->left(draft.best->x));
  draft.summed->choose_best(completed);
  const double log_density = whole.log_density(completed);
  draft.offer_best({std::move(completed), log_density});
}

// Of a few exact samples, where nothing better can be had.
Configuration best_sample(const Approximation& approximation, const Task& task) {
  const ShouldStop is_late = task.run.time_box(policy::kBestSampleShare, policy::kBestSampleSeconds);
  Random random(task.seed(), "best");
  Configuration best;
  for (int i = 0; i < policy::kMostBestSamples && (i == 0 || !is_late()); ++i) {
    Assignment x = approximation.sample(random);
    const double log_density = task.graph.log_density(x);
    if (i == 0 || log_density > best.log_density) best = {std::move(x), log_density};
  }
  return best;
}

// By a max-product pass, which takes less time than elimination and as much memory again. Returns what there is not
// enough of.
std::string add_most_probable(Draft& draft, const Elimination& elimination, const Task& task) {
  const Run& run = task.run;
  Limits limits = task.limits();
  limits.bytes -= std::min(limits.bytes, static_cast<std::size_t>(elimination.cost().bytes));
  EliminationOptions pass = elimination_options(task.plan.request, run);
  // Barren variables are part of a configuration: the model that was eliminated is not the one in question.
  if (!draft.summed) pass.order = elimination.cost().order;
  const EliminationCost cost = elimination_cost(task.graph, pass, run.set_up_end());
  pass.order = cost.order;
  if (cost.bytes > static_cast<double>(limits.bytes)) return "memory (--memory)";
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
  const double gap = best.gap + 2.0 * run.log_error();
  draft.is_best_optimal = gap <= MostProbable::kTolerance;
  const bool is_better = !draft.best || best.configuration.log_density > draft.best->log_density;
  if (!is_better && !*draft.is_best_optimal) return "";
  draft.best = best.configuration;
  draft.best_gap = gap;
  return "";
}

void add_marginals(Draft& draft, const Elimination& elimination, const LogBounds& bounds, const Task& task) {
  const std::optional<Marginals> marginals = unless_given_up([&] { return elimination.marginals(); });
  if (!marginals || draft.summed) {
    add_sampled_marginals(draft, elimination.log_z(), task);
    if (draft.summed) improve_best(draft, task.graph);
    if (marginals && draft.summed) draft.set_exact_marginals_left(*marginals);
    return;
  }
  draft.set_exact_marginals(*marginals);
  if (draft.is_exact) return;
  draft.marginals_error = std::min(1.0, std::expm1(2.0 * (bounds.upper - bounds.lower)));
  draft.marginal_errors.assign(marginals->size(), *draft.marginals_error);
  draft.marginals_from =
      fmt::format("by elimination, which rounding puts in doubt: errors up to {:.2g}", *draft.marginals_error);
}

}  // namespace

Draft run_elimination(const Task& task) {
  if (task.plan.counts_first) {
    if (std::optional<Draft> counted = count_instead(task)) return *std::move(counted);
  }
  Draft draft;
  draft.summed = sum_out(task.graph, task.plan);
  const FactorGraph& graph = draft.summed ? draft.summed->graph() : task.graph;
  const EliminationOptions options =
      task.plan.elimination_options.value_or(elimination_options(task.plan.request, task.run));
  // What a search could answer instead leaves it time. Marginals begin at 0 again.
  const auto rule = std::make_shared<LateRule>(
      LateRule{policy::kEliminationLook, task.plan.is_open ? policy::kOpenEliminationEnd : policy::kEliminationEnd});
  const auto elimination =
      std::make_shared<const Elimination>(graph, task.limits(), options, unless_late(task.run, "elimination", rule));
  rule->end = policy::kEliminationEnd;
  draft.method = fmt::format("exact: variable elimination, width {}{}", elimination->cost().width,
                             summed_out_text(draft.summed.get()));
  LogBounds bounds = elimination->bounds();
  if (draft.summed) bounds = bounds.widened(draft.summed->log_slack());
  draft.set_log_z(elimination->log_z(), bounds);
  draft.stop = draft.is_exact ? StopReason::kExact : StopReason::kRounding;
  draft.marginals_from = "exact";
  draft.approximation = elimination;
  if (draft.log_z == kNegInf) return draft;
  if (draft.summed) draft.approximation = std::make_shared<CompletedApproximation>(draft.summed, elimination);
  if (task.question().marginals) add_marginals(draft, *elimination, bounds, task);
  if (!task.question().best) return draft;
  const std::string missing = add_most_probable(draft, *elimination, task);
  if (missing.empty()) return draft;
  draft.is_best_optimal.reset();
  if (!draft.best) draft.best = best_sample(*draft.approximation, task);
  task.run.remark(fmt::format("the most probable configuration was not looked for: not enough {}", missing));
  return draft;
}

}  // namespace treesample
