// Particle filters, Gibbs sampling, belief propagation, Metropolis, and the frequencies of the best configurations.
// Annealing is in method_annealing.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "infer/leaves.hpp"
#include "infer/phase_verbs.hpp"
#include "infer/policy.hpp"
#include "infer/words.hpp"
#include "treesample/baselines/belief_propagation.hpp"
#include "treesample/baselines/frequencies.hpp"
#include "treesample/baselines/gibbs.hpp"
#include "treesample/baselines/metropolis.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

Observer watch(const Run& run) {
  return {.progress = [run](const Progress& now) { run.tell(now); }, .should_stop = run.search_end()};
}

// The part common to the three particle methods.
void state_particles(Draft& draft, const ParticleApproximation& particles, const RunReport& report,
                     const Question& question) {
  draft.stop = report.stop;
  draft.spent = report.spent;
  if (particles.is_empty()) return;
  if (question.best) {
    if (const auto best = particles.best()) draft.known.best.offer(*best);
  }
  if (question.marginals) draft.known.offer({.values = particles.marginals(), .from = "of the particles"});
  draft.approximation = std::make_shared<ParticleApproximation>(particles);
}

// The state of each variable with the largest belief. Where these exclude each other, any possible configuration.
void add_believed_best(Draft& draft, const Task& task, const Marginals& beliefs) {
  if (!task.question().best || !task.graph.has_only_tables() || beliefs.empty()) return;
  Configuration believed;
  for (const std::vector<double>& states : beliefs) {
    believed.x.push_back(static_cast<int>(std::max_element(states.begin(), states.end()) - states.begin()));
  }
  believed.log_density = task.graph.log_density(believed.x);
  if (believed.log_density != kNegInf) draft.known.best.offer(believed);
  if (draft.known.best.best()) return;
  FindOptions options;
  options.seed = task.seed();
  options.should_stop = task.run.time_box(policy::kFindShare, policy::kFindSeconds);
  const FindResult found = find_configuration(task.graph, options);
  if (found.outcome == FindOutcome::kFound) draft.known.best.offer(found.configuration);
}

bool has_zeros(const FactorGraph& graph) {
  return std::any_of(graph.factors().begin(), graph.factors().end(), [](const Factor& factor) {
    return factor.is_clause() || std::any_of(factor.log_values().begin(), factor.log_values().end(),
                                             [](double value) { return value == kNegInf; });
  });
}

}  // namespace

// What is drawn cannot tell the rare from the impossible. Work is counted, so that the same seed has the same answer.
void look_for_one(Findings& found, const Task& task, const PhaseClock& clock) {
  if (!task.graph.has_only_tables() || !has_zeros(task.graph)) return;
  FindOptions options;
  options.seed = task.seed();
  options.is_improved = false;
  options.max_decisions = policy::kFindDecisions;
  options.should_stop = clock.should_stop();
  if (find_configuration(task.graph, options).outcome != FindOutcome::kImpossible) return;
  found.draft.known.bound({kNegInf, kNegInf});
  found.draft.method = fmt::format("{}: there is nothing to be drawn", word_for(*task.options().method));
  found.is_complete = true;
}

void run_particle_filter(Findings& found, const Task& task, const PhaseClock&) {
  const InferOptions& chosen = task.options();
  const bool is_sis = chosen.method == Method::kSis;
  const SmcOptions options{.min_samples = task.plan.min_samples,
                           .ess_threshold = is_sis ? 0.0 : *chosen.ess_threshold,
                           .resampling = *chosen.resampling,
                           .seed = task.seed()};
  const SearchSpace space = space_for(task, task.graph, SpaceKind::kTree);
  const SmcResult result =
      smc(task.graph, space, make_estimate(task, space).values, task.limits(), options, watch(task.run));
  Draft& draft = found.draft;
  state_particles(draft, result.approximation, result.report, task.question());
  const bool is_cut_off = result.report.stop == StopReason::kInterrupted || result.report.stop == StopReason::kTime;
  if (!is_cut_off || !result.approximation.is_empty()) draft.known.estimate(result.report.estimate, Trust::kGuess);
  draft.method = fmt::format("{}, order {}: {}, {}, effective sample size {:.1f}", word_for(*chosen.method),
                             word_for(*chosen.order), counted(result.report.num_particles, "particle"),
                             counted(result.report.num_resamplings, "resampling"), result.report.ess);
}

void run_gibbs(Findings& found, const Task& task, const PhaseClock&) {
  const InferOptions& chosen = task.options();
  const GibbsOptions options{.min_samples = task.plan.min_samples,
                             .mode = *chosen.gibbs_mode,
                             .num_sweeps = static_cast<int>(*chosen.sweeps),
                             .burn_in = static_cast<int>(*chosen.burn_in),
                             .seed = task.seed()};
  const GibbsResult result = gibbs(task.graph, task.limits(), options, watch(task.run));
  Draft& draft = found.draft;
  state_particles(draft, result.approximation, result.report, task.question());
  draft.method = fmt::format("gibbs ({}): {}, {} each, {} of them without density", word_for(*chosen.gibbs_mode),
                             counted(result.report.num_samples, "sample"), counted(*chosen.sweeps, "sweep"),
                             result.report.num_zero_density);
}

void sample_by_decimation(Findings& found, const Task& task, const PhaseClock&) {
  const InferOptions& chosen = task.options();
  const BpSampleOptions options{.min_samples = task.plan.min_samples,
                                .num_steps = static_cast<int>(*chosen.messages),
                                .damping = *chosen.damping,
                                .seed = task.seed()};
  const BpSampleResult result = bp_sample(task.graph, task.limits(), options, watch(task.run));
  state_particles(found.draft, result.approximation, result.report, task.question());
  found.draft.method = fmt::format("bp: {} by decimation", counted(result.report.num_samples, "sample"));
}

void propagate_beliefs(Findings& found, const Task& task, const PhaseClock& clock) {
  Draft& draft = found.draft;
  const BeliefPropagationResult beliefs =
      belief_propagation(task.graph, {}, {.damping = *task.options().damping}, {.should_stop = clock.should_stop()});
  if (task.question().samples == 0) {
    draft.stop = beliefs.report.stop;
    draft.spent = beliefs.report.spent;
  }
  draft.method = fmt::format("bp: {} after {}; log Z is the Bethe value, no bound",
                             beliefs.report.is_converged() ? "converged" : "NOT converged",
                             counted(beliefs.report.num_steps, "step"));
  draft.known.estimate(beliefs.report.estimate, Trust::kGuess);
  // Where messages contradict each other, which is no proof, there are no beliefs.
  if (beliefs.report.estimate != kNegInf) draft.known.offer({.values = beliefs.marginals, .from = "beliefs"});
  add_believed_best(draft, task, beliefs.marginals);
}

void run_metropolis(Findings& found, const Task& task, const PhaseClock&) {
  const MetropolisResult result = metropolis(task.graph, task.limits(), {.seed = task.seed()}, watch(task.run));
  Draft& draft = found.draft;
  state_particles(draft, result.approximation, result.report, task.question());
  draft.error = result.report.error;
  if (task.question().best && result.best) draft.known.best.offer(*result.best);
  draft.method = fmt::format("metropolis: {}, {} of them to another configuration; the first half is left out",
                             counted(result.report.num_steps, "step"), result.report.num_accepted);
}

void run_frequencies(Findings& found, const Task& task, const PhaseClock&) {
  if (task.question().aim != Aim::kBest) {
    throw OptionError("question",
                      "is 'all', and --method frequencies looks for the best configuration alone: allowed is best");
  }
  if (task.question().samples > 0) {
    throw OptionError("samples", "is not for --method frequencies, which has no distribution to draw from");
  }
  const FrequenciesResult result =
      best_by_frequencies(task.graph, task.limits(), {.seed = task.seed()}, watch(task.run));
  Draft& draft = found.draft;
  draft.method =
      fmt::format("frequencies of the best quarter of {}", counted(result.report.num_asked, "configuration"));
  draft.stop = result.report.stop;
  draft.error = result.report.error;
  draft.spent = result.report.spent;
  if (!result.best) return;
  draft.known.best.offer(*result.best);
  if (!result.report.is_complete) return;
  // The density of another configuration may be off by as much, and so may the simplified model.
  draft.known.best.prove(*result.best, 2.0 * (result.report.log_error + task.run.log_error()));
}

}  // namespace treesample
