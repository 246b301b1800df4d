#include "program/program_rewards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "space/num_threads.hpp"
#include "treesample/error.hpp"
#include "treesample/text.hpp"

namespace treesample {

ProgramRewards::ProgramRewards(const ProgramGraph& graph, const Limits& limits, RewardMemory* memory)
    : graph_(graph), memory_(memory), limit_(std::min(limits.calls, limits.new_calls)) {
  if (graph.parts().shares_rewards && num_threads(limits) > 1) team_.emplace(num_threads(limits));
}

std::size_t ProgramRewards::enough_to_share() const {
  constexpr std::size_t kEach = 64;  // fewer cheap rewards take less time than to wake a thread
  return team_ ? kEach * static_cast<std::size_t>(team_->size()) : 1;
}

bool ProgramRewards::is_known(StateId end) const {
  const std::size_t place = graph_.end_place(end);
  return place < values_.size() && !std::isnan(values_[place]);
}

double ProgramRewards::log_reward(StateId end) const {
  return graph_.parts().has_log_paths ? value(end) + graph_.program().log_paths(end) : value(end);
}

void ProgramRewards::keep(StateId end, double log_reward) {
  if (!is_log_reward(log_reward)) {
    graph_.throw_at(end, fmt::format("the log reward of an end is {}, {}", log_reward, kLogRewardsAllowed),
                    ErrorCode::kNumeric);
  }
  double log_paths = 0.0;
  if (graph_.parts().has_log_paths) {
    log_paths = graph_.program().log_paths(end);
    if (!(log_paths >= 0.0 && std::isfinite(log_paths))) {
      graph_.throw_at(end, fmt::format("log_paths is {}, allowed are numbers from 0", log_paths), ErrorCode::kNumeric);
    }
  }
  const std::size_t place = graph_.end_place(end);
  if (place >= values_.size()) values_.resize(graph_.ends().size(), std::numeric_limits<double>::quiet_NaN());
  values_[place] = log_reward - log_paths;
  ++num_known_;
}

bool ProgramRewards::recall(StateId end) {
  if (is_known(end)) return true;
  if (!graph_.parts().has_reward) {
    keep(end, 0.0);
    return true;
  }
  const std::optional<double> known = memory_ == nullptr ? std::nullopt : memory_->find(key(end));
  if (known) keep(end, *known);
  return known.has_value();
}

void ProgramRewards::remember(StateId end, double log_reward) {
  if (memory_ == nullptr) return;
  memory_->add(key(end), log_reward);
}

// Ends of one key would get each other's rewards.
std::string ProgramRewards::key(StateId end) {
  std::string key = graph_.program().key(end);
  const auto [place, is_new] = keys_.try_emplace(key, end);
  if (!is_new && place->second != end) {
    graph_.throw_at(end, fmt::format("this end and {} have one key, {}: rewards are remembered by it",
                                     shortened(graph_.program().text(place->second), 80), shortened(key, 80)));
  }
  return key;
}

bool ProgramRewards::evaluate(std::span<const StateId> ends) {
  std::vector<StateId> asked;
  bool is_enough = true;
  for (const StateId end : ends) {
    if (recall(end)) continue;
    is_enough = num_calls_ + static_cast<std::int64_t>(asked.size()) < limit_;
    if (!is_enough) break;
    asked.push_back(end);
  }
  std::vector<double> values(asked.size());
  if (!asked.empty()) compute(asked, values);
  num_calls_ += static_cast<std::int64_t>(asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    keep(asked[i], values[i]);
    remember(asked[i], values[i]);
  }
  if (memory_ != nullptr && !asked.empty()) memory_->flush();
  return is_enough;
}

// Values have the same bits for any number of threads, because none depends on another one.
void ProgramRewards::compute(std::span<const StateId> ends, std::span<double> values) {
  if (!team_ || ends.size() < 2) {
    graph_.program().rewards(ends, values);
    return;
  }
  team_->run(ends.size(), 1 + ends.size() / enough_to_share(), [&](std::size_t first, std::size_t last, int) {
    graph_.program().rewards(ends.subspan(first, last - first), values.subspan(first, last - first));
  });
}

bool ProgramRewards::pay_for_actions() {
  if (graph_.parts().has_reward) return true;
  if (!can_pay()) return false;
  ++num_calls_;
  return true;
}

}  // namespace treesample
