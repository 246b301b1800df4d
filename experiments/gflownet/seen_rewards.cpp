#include "experiments/gflownet/seen_rewards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "treesample/error.hpp"

namespace treesample::experiments {

std::optional<double> SeenRewards::find(StateId end) const {
  const auto known = places_.find(end);
  if (known == places_.end()) return std::nullopt;
  return log_rewards_[known->second];
}

std::optional<double> SeenRewards::ask(StateId end) {
  if (const std::optional<double> known = find(end)) return known;
  if (is_spent()) return std::nullopt;
  double log_reward = 0.0;
  program_.rewards({&end, 1}, {&log_reward, 1});
  if (!std::isfinite(log_reward)) {
    throw Error(ErrorCode::kNumeric,
                fmt::format("the log reward of {} is {}, allowed are real numbers", program_.text(end), log_reward));
  }
  places_.emplace(end, ends_.size());
  ends_.push_back(end);
  log_rewards_.push_back(log_reward);
  return log_reward;
}

std::size_t SeenRewards::draw_by_reward(Random& random) {
  // The sums are made again when 2 % of the ends are new, so that a draw costs little.
  if (ends_.size() > sums_.size() + sums_.size() / 50) {
    const double most = *std::max_element(log_rewards_.begin(), log_rewards_.end());
    sums_.clear();
    double sum = 0.0;
    for (const double log_reward : log_rewards_) sums_.push_back(sum += std::exp(log_reward - most));
  }
  const auto at = std::upper_bound(sums_.begin(), sums_.end(), random.uniform() * sums_.back());
  return std::min(static_cast<std::size_t>(at - sums_.begin()), sums_.size() - 1);
}

}  // namespace treesample::experiments
