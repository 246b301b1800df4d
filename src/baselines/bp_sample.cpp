#include <fmt/format.h>

#include "baselines/message_passing.hpp"
#include "baselines/sample_count.hpp"
#include "space/run_watch.hpp"
#include "treesample/baselines/belief_propagation.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

Spending step_cost(const MessagePassing& messages, BpCharge charge) {
  switch (charge) {
    case BpCharge::kFactor:
      return {messages.num_factors(), messages.num_entries()};
    case BpCharge::kMessage:
      return {messages.num_messages(), messages.num_entries()};
    case BpCharge::kEntry:
      break;
  }
  return {messages.num_entries(), messages.num_entries()};
}

// Draws one sample by the paper's algorithm. Returns false at a contradiction: x is then not complete.
bool decimate(MessagePassing& messages, int num_steps, Random& random, Assignment& x, std::vector<double>& belief) {
  messages.reset();
  for (std::size_t v = 0; v < x.size(); ++v) {
    for (int step = 0; step < num_steps; ++step) messages.step();
    belief.resize(messages.num_states(static_cast<int>(v)));
    if (!messages.belief(static_cast<int>(v), belief)) return false;
    x[v] = random.categorical(belief);
    messages.fix(static_cast<int>(v), x[v]);
  }
  return true;
}

}  // namespace

void BpSampleOptions::validate() const {
  check_range("BpSampleOptions", "min_samples", min_samples, 0, INT32_MAX);
  check_range("BpSampleOptions", "num_steps", num_steps, 1, 1'000'000);
  check_argument(damping >= 0.0 && damping < 1.0, "BpSampleOptions",
                 fmt::format("damping is {}, allowed are values from 0 to below 1", damping));
}

BpSampleResult bp_sample(const FactorGraph& graph, const Limits& limits, const BpSampleOptions& options,
                         const Observer& observer) {
  limits.validate();
  options.validate();
  const RunWatch watch(limits, observer);
  MessagePassing messages(graph, options.damping);
  const Spending cost = step_cost(messages, options.charge);
  const std::int64_t steps_per_sample = std::int64_t{options.num_steps} * graph.num_variables();
  const std::int64_t num_samples =
      sample_count("bp_sample", limits.budget, {saturating_product(steps_per_sample, in_unit(cost, limits.unit))},
                   options.min_samples);

  Random random(options.seed, "decimation");
  BpSampleReport report;
  Particles particles;
  Assignment x(graph.num_variables());
  std::vector<double> belief;
  while (report.num_samples < num_samples) {
    const bool is_complete = decimate(messages, options.num_steps, random, x, belief);
    const double log_density = is_complete ? graph.log_density(x) : kNegInf;
    ++report.num_samples;
    report.num_contradictions += is_complete ? 0 : 1;
    report.num_zero_density += is_complete && log_density == kNegInf ? 1 : 0;
    if (log_density != kNegInf) {
      particles.states.insert(particles.states.end(), x.begin(), x.end());
      particles.log_weights.push_back(0.0);
      particles.log_densities.push_back(log_density);
    }
    // A sample that ended early is charged like the others.
    report.spent.reward_evaluations += steps_per_sample * cost.reward_evaluations;
    report.spent.factor_evaluations += steps_per_sample * cost.factor_evaluations;
    watch.tell({.phase = "bp", .spent = report.spent, .num_samples = report.num_samples});
    if (const auto reason = watch.reason_to_stop()) {
      report.stop = *reason;
      break;
    }
  }
  report.seconds = watch.seconds();
  return {ParticleApproximation(graph, particles), report};
}

}  // namespace treesample
