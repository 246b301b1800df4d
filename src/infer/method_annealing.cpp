// Annealed importance sampling: as a method of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evaluate/annealed_importance.hpp"
#include "infer/methods.hpp"
#include "infer/policy.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

std::string chains_text(const AnnealedReport& report) {
  return fmt::format("{} of {} each, from {}{}", counted(report.num_chains, "annealed chain"),
                     counted(report.num_temperatures, "temperature"), report.base,
                     report.num_impossible == 0
                         ? ""
                         : fmt::format("; {} of them ended in impossible states", report.num_impossible));
}

// What `infer` shows of samples.
BoundedImportance as_samples(const AnnealedResult& annealed, double confidence) {
  const AnnealedReport& report = annealed.report;
  BoundedImportance samples;
  samples.log_z = report.estimate;
  samples.interval = {report.log_lower, HUGE_VAL};
  samples.confidence = confidence;
  samples.std_error = report.std_error;
  samples.ess = report.ess;
  samples.num_samples = report.num_chains;
  samples.best = annealed.best;
  samples.marginals = annealed.marginals;
  samples.marginal_errors = annealed.marginal_errors;
  samples.marginals_error = annealed.marginals_error;
  samples.no_error = report.no_error;
  return samples;
}

// Chains whose last states fit into the memory: states, weight and density, and copies of them for the atoms.
std::int64_t most_chains(const Task& task) {
  const double each = 3.0 * (task.graph.num_variables() * sizeof(int) + 2.0 * sizeof(double));
  const double bytes = static_cast<double>(task.limits().bytes / policy::kParticleMemoryDivisor);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(bytes / each), 1, AnnealingOptions().max_chains);
}

}  // namespace

Draft run_annealing(const Task& task) {
  const InferOptions& chosen = task.options();
  AnnealingPath path(task.graph);
  AnnealingOptions options{.num_temperatures = *chosen.temperatures,
                           .min_chains = task.plan.min_samples,
                           .max_chains = most_chains(task),
                           .error_probability = 1.0 - *chosen.confidence,
                           .has_marginals = task.question().marginals,
                           .keeps_particles = true,
                           .seed = task.seed()};
  options.min_chains = std::min(options.min_chains, options.max_chains);
  Limits limits = task.limits();
  if (task.run.has_time_limit()) limits.seconds = std::max(0.0, task.run.at(policy::kAnnealingEnd) - task.run.seconds());
  const AnnealedResult result = annealed_importance(
      path, limits, options,
      {.progress = [&](const Progress& now) { task.run.tell(now); }, .should_stop = task.run.search_end()});
  const AnnealedReport& report = result.report;
  Draft draft;
  draft.method = "ais: " + chains_text(report);
  draft.stop = report.stop;
  draft.spent = report.spent;
  draft.marginals_from = "of the annealed chains";
  if (report.num_impossible == report.num_chains) {
    task.run.remark(report.num_chains == 0
                        ? "no chain was done in time (--time, --temperatures)"
                        : "annealing cannot be used here: no chain ended in a possible state");
    return draft;
  }
  draft.log_z = report.estimate;
  BoundedImportance samples = as_samples(result, *chosen.confidence);
  if (task.question().marginals) draft.set_sampled_marginals(samples, "annealed");
  if (task.question().best && !result.best.x.empty()) draft.best = result.best;
  draft.bounded_importance = std::move(samples);
  draft.approximation = std::make_shared<ParticleApproximation>(task.graph, result.particles);
  return draft;
}

}  // namespace treesample
