#include "experiments/gflownet/judge.hpp"

#include <fmt/format.h>

#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample::experiments {

Judged judge(const FlowTruth& truth, const std::vector<double>& log_weights, double log_z) {
  Judged judged;
  const double sum = log_sum_exp(log_weights);
  judged.log_z_error = std::abs(log_z - truth.log_z());
  if (sum == kNegInf) return judged;
  judged.total_variation = judged.kl = 0.0;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    const double log_p = log_weights[i] - sum, log_target = truth.log_rewards()[i] - truth.log_z();
    judged.total_variation += 0.5 * std::abs(std::exp(log_p) - std::exp(log_target));
    if (log_p != kNegInf) judged.kl += std::exp(log_p) * (log_p - log_target);
  }
  judged.kl = std::max(judged.kl, 0.0);  // rounding
  return judged;
}

Judged judge_samples(const std::vector<std::pair<double, double>>& log_p_and_reward, double true_log_z, double log_z) {
  Judged judged{.total_variation = 0.0, .kl = 0.0, .log_z_error = std::abs(log_z - true_log_z)};
  const auto count = static_cast<double>(log_p_and_reward.size());
  for (const auto& [log_p, log_reward] : log_p_and_reward) {
    const double log_ratio = log_reward - true_log_z - log_p;  // of the target to P_X
    judged.total_variation += std::max(0.0, -std::expm1(log_ratio)) / count;
    judged.kl -= log_ratio / count;
  }
  return judged;
}

void add_judged(Numbers& numbers, const std::string& prefix, std::int64_t budget, const Judged& judged,
                std::int64_t calls, double seconds) {
  const std::string name = fmt::format("{}.{}.", prefix, budget);
  numbers[name + "tv"] = judged.total_variation;
  numbers[name + "kl"] = judged.kl;
  numbers[name + "log_z_error"] = judged.log_z_error;
  numbers[name + "calls"] = static_cast<double>(calls);
  numbers[name + "seconds"] = seconds;
}

}  // namespace treesample::experiments
