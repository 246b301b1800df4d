// The log rewards of ends that are known: each is paid for once, and no more are paid for than the limit allows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "program/program_graph.hpp"
#include "thread_team.hpp"
#include "treesample/program/infer_program.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

class ProgramRewards {
 public:
  // `memory` may be null. All must outlive this object. Threads are those of `limits`, where the program shares
  // rewards.
  ProgramRewards(const ProgramGraph& graph, const Limits& limits, RewardMemory* memory);

  [[nodiscard]] bool is_known(StateId end) const;
  // What an end adds to a path: the log reward less log_paths. Only of a known one.
  [[nodiscard]] double value(StateId end) const { return values_[graph_.end_place(end)]; }
  // Without log_paths.
  [[nodiscard]] double log_reward(StateId end) const;
  [[nodiscard]] std::int64_t num_known() const { return num_known_; }

  // Whether it can be known without a call; it is known then.
  bool recall(StateId end);
  // Evaluates those that are not known, from the first one on, until the limit on calls is reached; then false.
  bool evaluate(std::span<const StateId> ends);
  // A program without rewards at its ends pays for its actions.
  bool pay_for_actions();
  [[nodiscard]] std::int64_t num_calls() const { return num_calls_; }
  [[nodiscard]] bool can_pay() const { return num_calls_ < limit_; }
  // So many at a time keep all threads busy.
  [[nodiscard]] std::size_t enough_to_share() const;

 private:
  void compute(std::span<const StateId> ends, std::span<double> values);
  void keep(StateId end, double log_reward);
  void remember(StateId end, double log_reward);
  std::string key(StateId end);

  const ProgramGraph& graph_;
  RewardMemory* const memory_;
  const std::int64_t limit_;
  std::optional<ThreadTeam> team_;
  std::int64_t num_calls_ = 0, num_known_ = 0;
  std::unordered_map<std::string, StateId> keys_;  // of the ends that are remembered
  std::vector<double> values_;                     // by the place of the end; NaN where it is not known
};

}  // namespace treesample
