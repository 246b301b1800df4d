// Annealed importance sampling: as a method of its own, and beside the samples of a search.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/annealing_phase.hpp"
#include "infer/phase_verbs.hpp"
#include "infer/policy.hpp"
#include "treesample/evaluate/annealed_importance.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

std::string chains_text(const AnnealedReport& report) {
  return fmt::format(
      "{} of {} each, from {}{}", counted(report.num_chains, "annealed chain"),
      counted(report.num_temperatures, "temperature"), report.base,
      report.num_impossible == 0 ? "" : fmt::format("; {} of them ended in impossible states", report.num_impossible));
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

void run_annealing(Findings& found, const Task& task, const PhaseClock& clock) {
  const InferOptions& chosen = task.options();
  AnnealingOptions options{.num_temperatures = *chosen.temperatures,
                           .min_chains = task.plan.min_samples,
                           .max_chains = most_chains(task),
                           .error_probability = 1.0 - *chosen.confidence,
                           .has_marginals = task.question().marginals,
                           .keeps_particles = true,
                           .seed = task.seed()};
  options.min_chains = std::min(options.min_chains, options.max_chains);
  Limits limits = task.limits();
  if (task.run.has_time_limit()) limits.seconds = std::max(0.0, clock.seconds_left());
  const AnnealedResult result = annealed_importance(
      task.graph, limits, options,
      {.progress = [&](const Progress& now) { task.run.tell(now); }, .should_stop = task.run.search_end()});
  const AnnealedReport& report = result.report;
  Draft& draft = found.draft;
  draft.method = "ais: " + chains_text(report);
  draft.stop = report.stop;
  draft.spent = report.spent;
  if (report.num_impossible == report.num_chains) {
    task.run.remark(report.num_chains == 0 ? "no chain was done in time (--time, --temperatures)"
                                           : "annealing cannot be used here: no chain ended in a possible state");
    return;
  }
  draft.known.estimate(report.estimate, report.no_error.empty() ? Trust::kSampled : Trust::kGuess);
  BoundedImportance samples = as_samples(result, *chosen.confidence);
  draft.set_sampled_marginals(samples, "annealed");
  if (task.question().best && !result.best.x.empty()) draft.known.best.offer(result.best);
  draft.bounded_importance = std::move(samples);
  draft.approximation = std::make_shared<ParticleApproximation>(task.graph, result.particles);
}

// ---- Beside the samples of a search --------------------------------------------------------------------------------

namespace {

// What weighted samples of P_U would come to; these few serve for nothing else.
struct Outlook {
  double ess = 0.0;               // by the end
  double tries_per_second = 0.0;  // of an exact sample
};

Outlook look_ahead(const AnnealingTask& asked, double seconds_left) {
  const Run& run = asked.task.run;
  const double start = run.seconds(), end = start + policy::kOutlookShare * seconds_left;
  Random random(asked.task.seed(), "annealing, outlook");
  Assignment x(asked.graph.num_variables(), -1);
  double unit = kNegInf, sum = 0.0, squares = 0.0;
  while (run.seconds() < end && !run.is_interrupted()) {
    const double log_prob = asked.upper.sample_into(x, random);
    const double log_density = asked.graph.log_density(x);
    if (log_density == kNegInf) continue;
    const double log_weight = log_density - log_prob;
    if (log_weight > unit) {
      const double factor = std::exp(unit - log_weight);
      sum *= factor;
      squares *= factor * factor;
      unit = log_weight;
    }
    const double weight = std::exp(log_weight - unit);
    sum += weight;
    squares += weight * weight;
  }
  const double seconds = std::max(run.seconds() - start, 1e-6);
  const double ess = sum > 0.0 ? sum * sum / squares : 0.0;
  double num_tries = 0.0;
  const double tried = run.seconds();
  for (; run.seconds() < tried + policy::kOutlookShare * seconds_left && !run.is_interrupted(); ++num_tries) {
    asked.upper.sample_or_give_up(x, random, 1.0);
  }
  return {ess * seconds_left / seconds, num_tries / std::max(run.seconds() - tried, 1e-6)};
}

struct TimeLeft {
  const Run& run;
  double start, seconds;  // of all that is left
  [[nodiscard]] double left(double share) const { return std::max(0.0, start + share * seconds - run.seconds()); }
  [[nodiscard]] ShouldStop until(double share) const {
    return [end = start + share * seconds, run = run] { return run.is_interrupted() || run.seconds() > end; };
  }
};

// Chains to the model; they are given up where the first ones all ended in impossible states.
AnnealedResult run_forward(const AnnealingTask& asked, const TimeLeft& time, double error_probability) {
  const Task& task = asked.task;
  Limits limits{.bytes = task.limits().bytes, .threads = task.limits().threads};
  limits.seconds = time.left(policy::kAnnealingShare);
  Progress last;
  const auto is_hopeless = [&] { return last.num_samples >= policy::kFewestAnnealed && last.estimate == kNegInf; };
  const Observer observer{
      .progress = [&](const Progress& now) { last = now; },
      .should_stop = [&, is_over = time.until(policy::kAnnealingShare)] { return is_over() || is_hopeless(); }};
  return annealed_importance(
      asked.graph, limits,
      {.error_probability = error_probability, .has_marginals = task.question().marginals, .seed = task.seed()},
      observer);
}

// Chains back from exact samples; nothing where too few of these can be expected.
std::optional<AnnealedUpper> run_backward(const AnnealingPath& path, const AnnealingTask& asked, const TimeLeft& time,
                                          double error_probability, double expected) {
  if (expected < policy::kFewestExactSamples) return {};
  Random random(asked.task.seed(), "annealing, exact samples");
  const RejectionSamples exact =
      rejection_samples(asked.graph, asked.upper, {policy::kMostExactStarts, Limits::kUnlimited}, random,
                        {.should_stop = time.until(policy::kRejectionShare)});
  Limits limits{.threads = asked.task.limits().threads};
  limits.seconds = time.left(policy::kBackwardShare);
  return annealed_upper(path, exact, limits, {.error_probability = error_probability, .seed = asked.task.seed()},
                        {.should_stop = time.until(policy::kBackwardShare)});
}

}  // namespace

void AnnealedPhase::state(Draft& draft, bool is_whole) const {
  draft.method += "; " + text;
  if (!is_whole) return;
  draft.set_sampled_marginals(samples, "annealed");
  if (!samples.best.x.empty()) draft.known.best.offer(samples.best);
}

BoundedImportance AnnealedPhase::joined(BoundedImportance others, double confidence) const {
  const LogBounds both{std::max(samples.interval.lower, others.interval.lower),
                       std::min(samples.interval.upper, others.interval.upper)};
  // They contradict each other as rarely as all of it is wrong.
  const LogBounds interval{std::min(both.lower, both.upper), std::max(both.lower, both.upper)};
  BoundedImportance joined = std::move(others);
  joined.interval = interval;
  joined.confidence = confidence;
  if (samples.ess > joined.ess) {
    joined.log_z = samples.log_z;
    joined.std_error = samples.std_error;
    joined.no_error = samples.no_error;
    joined.ess = samples.ess;
    joined.num_samples = samples.num_samples;
  }
  // Few of the samples that gave the estimate may count; the others then know better where it cannot be.
  joined.log_z = std::clamp(joined.log_z, interval.lower, interval.upper);
  return joined;
}

std::optional<AnnealedPhase> anneal_if_worth_it(const AnnealingTask& asked, const PhaseClock& clock) {
  const Run& run = asked.task.run;
  if (!run.has_time_limit() || run.is_interrupted()) return {};
  const TimeLeft time{run, run.seconds(), clock.seconds_left()};
  if (time.seconds <= 0.0) return {};
  const Outlook outlook = look_ahead(asked, time.seconds);
  if (outlook.ess >= policy::kGoodEss || run.is_interrupted()) return {};
  run.tell({});
  const double error_probability = 1.0 - *asked.task.options().confidence;
  const AnnealedResult forward = run_forward(asked, time, 0.5 * error_probability);
  if (forward.report.log_lower == kNegInf) return {};
  AnnealedPhase phase;
  phase.samples = as_samples(forward, 0.0);
  phase.text = chains_text(forward.report);
  const double acceptance = std::exp(std::min(0.0, forward.report.estimate - asked.upper.log_value()));
  const double expected = acceptance * outlook.tries_per_second * time.left(policy::kRejectionShare);
  const auto back = run_backward(*forward.path, asked, time, 0.25 * error_probability, expected);
  if (back) {
    phase.samples.interval.upper = back->log_upper;
    phase.text += fmt::format(", and {} back from exact samples", back->num_samples);
  }
  phase.samples.interval = phase.samples.interval.widened(asked.log_slack);
  phase.confidence_left = 1.0 - (back ? 0.25 : 0.5) * error_probability;
  return phase;
}

}  // namespace treesample
