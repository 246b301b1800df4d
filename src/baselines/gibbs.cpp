#include "treesample/baselines/gibbs.hpp"

#include <fmt/format.h>

#include "baselines/gibbs_kernel.hpp"
#include "baselines/sample_count.hpp"
#include "space/run_watch.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// The largest possible cost of a sweep.
Spending sweep_cost(const FactorGraph& graph, const GibbsKernel& kernel, GibbsCharge charge) {
  Spending cost;
  for (int v = 0; v < graph.num_variables(); ++v) {
    cost.reward_evaluations += charge == GibbsCharge::kState ? graph.num_states(v) : 1;
    cost.factor_evaluations += std::int64_t{graph.num_states(v)} * kernel.num_factors(v);
    cost.calls += std::int64_t{graph.num_states(v)} * kernel.num_functions(v);
  }
  return cost;
}

// The most calls that the next sweep can make: no state of a function is called for twice where a queue remembers it.
std::int64_t most_new_calls(const FactorGraph& graph, const Spending& sweep, const Spending& spent) {
  double num_states = 0.0;
  for (const Factor& factor : graph.factors()) {
    if (factor.is_table()) continue;
    double count = 1.0;
    for (const int v : factor.scope()) count *= graph.num_states(v);
    num_states += count;
  }
  const double left = num_states - static_cast<double>(spent.calls);
  return left < static_cast<double>(sweep.calls) ? static_cast<std::int64_t>(left) : sweep.calls;
}

// A chain of states. It starts uniformly and counts its sweeps.
class Walk {
 public:
  Walk(const FactorGraph& graph, std::uint64_t seed)
      : graph_(graph), kernel_(graph), random_(seed, "gibbs"), x_(graph.num_variables()) {}

  void restart() {
    for (int v = 0; v < graph_.num_variables(); ++v) x_[v] = static_cast<int>(random_.below(graph_.num_states(v)));
  }
  // Returns false if it should stop before the last sweep; it looks after each one.
  bool run(int num_sweeps, const ShouldStop& should_stop) {
    for (int i = 0; i < num_sweeps; ++i) {
      if (i > 0 && should_stop && should_stop()) return false;
      log_density_ = kernel_.sweep(x_, random_);
      ++num_sweeps_;
    }
    return true;
  }
  [[nodiscard]] const Assignment& x() const { return x_; }
  [[nodiscard]] double log_density() const { return log_density_; }
  [[nodiscard]] std::int64_t num_sweeps() const { return num_sweeps_; }
  [[nodiscard]] const GibbsKernel& kernel() const { return kernel_; }

 private:
  const FactorGraph& graph_;
  GibbsKernel kernel_;
  Random random_;
  Assignment x_;
  double log_density_ = 0.0;
  std::int64_t num_sweeps_ = 0;
};

}  // namespace

void GibbsOptions::validate() const {
  check_range("GibbsOptions", "min_samples", min_samples, 0, INT32_MAX);
  check_range("GibbsOptions", "num_sweeps", num_sweeps, 1, 1'000'000'000);
  check_range("GibbsOptions", "burn_in", burn_in, 0, mode == GibbsMode::kChain ? 1'000'000'000 : 0);
}

GibbsResult gibbs(const FactorGraph& graph, const Limits& limits, const GibbsOptions& options,
                  const Observer& observer) {
  limits.validate();
  options.validate();
  const RunWatch watch(limits, observer);
  Walk walk(graph, options.seed);
  const Spending cost = sweep_cost(graph, walk.kernel(), options.charge);
  const std::int64_t unit_cost = in_unit(cost, limits.unit);
  const std::int64_t num_samples = sample_count("gibbs", limits.budget,
                                                {.each = saturating_product(options.num_sweeps, unit_cost),
                                                 .first = saturating_product(options.burn_in, unit_cost)},
                                                options.min_samples);

  GibbsReport report;
  Particles particles;
  const auto spent = [&] {
    Spending all = walk.kernel().spent();
    all.reward_evaluations = walk.num_sweeps() * cost.reward_evaluations;
    return all;
  };
  // A sweep is not begun unless all its calls can be made.
  const Budget new_calls(EvaluationQueue::kUnlimited, BudgetUnit::kReward, graph.evaluation_queue());
  const auto can_pay = [&] {
    return new_calls.allows(Spending{.calls = most_new_calls(graph, cost, walk.kernel().spent())});
  };
  if (!can_pay())
    throw OptionError("new-calls", "pays for no sweep of gibbs, which evaluates each state of a variable");
  std::optional<StopReason> reason;
  const auto is_over = [&] {
    reason = watch.reason_to_stop();
    if (!reason && cost.calls > 0 && !can_pay()) reason = StopReason::kBudget;
    return reason.has_value();
  };
  // Sweeps of tables alone are quick.
  const ShouldStop should_stop = graph.has_only_tables() ? ShouldStop() : ShouldStop(is_over);
  bool is_whole = true;
  if (options.mode == GibbsMode::kChain) {
    walk.restart();
    is_whole = walk.run(options.burn_in, should_stop);
  }
  while (is_whole && report.num_samples < num_samples) {
    if (options.mode == GibbsMode::kRestarts) walk.restart();
    is_whole = walk.run(options.num_sweeps, should_stop);
    if (!is_whole) break;
    ++report.num_samples;
    if (walk.log_density() == kNegInf) {
      ++report.num_zero_density;
    } else {
      particles.states.insert(particles.states.end(), walk.x().begin(), walk.x().end());
      particles.log_weights.push_back(0.0);
      particles.log_densities.push_back(walk.log_density());
    }
    watch.tell({.phase = "gibbs", .spent = spent(), .num_samples = report.num_samples});
    if (is_over()) break;
  }
  if (reason) report.stop = *reason;
  report.spent = spent();
  report.seconds = watch.seconds();
  return {ParticleApproximation(graph, particles), report};
}

}  // namespace treesample
