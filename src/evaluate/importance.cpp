#include "treesample/evaluate/importance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "evaluate/sampled_density.hpp"
#include "space/run_watch.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Computes log_z, std_error and ess from the logarithms of the weights. Dividing all weights by their mean does not
// change std_error and ess, and prevents overflow.
void summarise(const std::vector<double>& log_weights, ImportanceEstimate& estimate) {
  const auto count = static_cast<double>(log_weights.size());
  estimate.log_z = log_sum_exp(log_weights) - std::log(count);
  estimate.std_error = std::numeric_limits<double>::infinity();
  estimate.no_error = "all samples are impossible";
  if (estimate.log_z == kNegInf) return;
  double sum_of_squares = 0.0;
  double squared_deviation = 0.0;
  for (const double log_weight : log_weights) {
    const double relative = std::exp(log_weight - estimate.log_z);  // w / mean
    sum_of_squares += relative * relative;
    squared_deviation += (relative - 1.0) * (relative - 1.0);
  }
  estimate.ess = count * count / sum_of_squares;
  const double fewest = std::max(kFewestEffectiveSamples, kLeastEffectiveShare * count);
  estimate.no_error = estimate.ess < fewest ? fmt::format("{:.1f} effective samples of {}, fewer than {:.0f}",
                                                          estimate.ess, log_weights.size(), fewest)
                                            : "";
  if (estimate.no_error.empty()) estimate.std_error = std::sqrt(squared_deviation / (count * (count - 1.0)));
}

}  // namespace

void distrust_if_blind(ImportanceEstimate& estimate, double unexplored) {
  const double num_outside = unexplored * estimate.num_samples;
  if (!estimate.no_error.empty() || num_outside >= kFewestOutside) return;
  estimate.std_error = std::numeric_limits<double>::infinity();
  estimate.no_error = fmt::format("about {:.2g} of {} samples are outside of what was evaluated, fewer than {:.0f}",
                                  num_outside, estimate.num_samples, kFewestOutside);
}

ImportanceEstimate importance_estimate(const FactorGraph& graph, const Approximation& approximation, int num_samples,
                                       Random& random, const Observer& observer) {
  check_range("importance_estimate", "num_samples", num_samples, 1, INT32_MAX);
  const RunWatch watch({}, observer);
  ImportanceEstimate estimate;
  estimate.best.log_density = kNegInf;
  std::vector<double> log_weights;
  for (bool go_on = true; go_on && estimate.num_samples < num_samples;) {
    std::optional<Assignment> x = sample_if_possible(approximation, random);
    if (!x) {
      estimate.log_z = kNegInf;
      return estimate;
    }
    const std::optional<CompensatedSum> answered = density_if_answered(graph, *x, estimate.spent, estimate.error);
    if (!answered) break;
    const double log_density = answered->value();
    log_weights.push_back(log_density == kNegInf ? kNegInf : log_density - approximation.log_prob(*x));
    ++estimate.num_samples;
    if (estimate.num_samples == 1 || log_density > estimate.best.log_density) {
      estimate.best = {std::move(*x), log_density};
    }
    watch.tell({.phase = "samples", .spent = estimate.spent, .num_samples = estimate.num_samples});
    go_on = !watch.is_asked_to_stop();
  }
  if (log_weights.empty()) {
    estimate.log_z = kNegInf;
    estimate.std_error = std::numeric_limits<double>::infinity();
    estimate.no_error = "there are no samples";
    return estimate;
  }
  summarise(log_weights, estimate);
  return estimate;
}

}  // namespace treesample
