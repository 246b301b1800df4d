// How far what a method knows is from the truth.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/gflownet/seen_rewards.hpp"
#include "experiments/gflownet/tasks.hpp"
#include "experiments/run_store.hpp"

namespace treesample::experiments {

struct Judged {
  double total_variation = 1.0;  // to the target
  double kl = HUGE_VAL;          // KL[P_X || P*]
  double log_z_error = HUGE_VAL;
};

// Unnormalised weights of all ends, in the order of the truth. `log_z` is the method's own estimate.
Judged judge(const FlowTruth& truth, const std::vector<double>& log_weights, double log_z);

// From samples of P_X: log P_X and the log reward of each. Their rewards are not counted as calls.
Judged judge_samples(const std::vector<std::pair<double, double>>& log_p_and_reward, double true_log_z, double log_z);

// Adds the numbers under PREFIX.BUDGET. .
void add_judged(Numbers& numbers, const std::string& prefix, std::int64_t budget, const Judged& judged,
                std::int64_t calls, double seconds);

}  // namespace treesample::experiments
