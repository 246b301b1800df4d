// Rewards that are evaluated at the same time: each is submitted first and returned when it is known.
//
// A reward that needs no program (only tables, or -inf before any function) is answered at once. The others are
// answered later, in the order of arrival or of submission. Each reward evaluates its factors one after the other in
// the order of reward.hpp, so that values and charges are those of Reward::evaluate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "space/caller.hpp"
#include "treesample/space/reward.hpp"

namespace treesample {

struct RewardAnswer {
  std::int64_t id = 0;              // of the submission
  std::vector<double> rewards;      // R_n for each of the actions that were asked for
  std::vector<double> magnitudes;   // see Reward::magnitude()
  std::optional<Error> error = {};  // set if a factor failed permanently; nothing was charged
};

class RewardQueue {
 public:
  // Keeps references to all arguments except the space.
  RewardQueue(const FactorGraph& graph, const SearchSpace& space, Budget& budget, AnswerOrder order);

  // A request for some actions of one node: R_n at x for first_action, first_action + 1, ... of the level's variable.
  struct Request {
    int level = 0;
    int first_action = 0;
    int num_actions = 1;
  };
  [[nodiscard]] bool can_pay(const Request& request) const { return caller_.can_pay(price(request)); }
  // Pre: can_pay. Returns the answer if no program is needed (its id is then -1). Otherwise returns none; the answer
  // will come from wait() with the id last_id().
  std::optional<RewardAnswer> submit(const Request& request, std::span<const int> x);
  [[nodiscard]] std::int64_t last_id() const { return next_id_ - 1; }

  // The number of submissions whose answers were not returned yet.
  [[nodiscard]] int num_pending() const { return caller_.num_pending(); }
  // Should more be submitted before waiting? With one worker and no batches: only if nothing is pending.
  [[nodiscard]] bool has_room() const;
  // Waits for at least one answer or, with `or_room`, until there is room. Pre: num_pending() > 0. Throws kInterrupted
  // and kIo as EvaluationQueue::wait_any does.
  std::vector<RewardAnswer> wait(bool or_room = false);

 private:
  [[nodiscard]] Spending price(const Request& request) const {
    return reward_.price(request.level).times(request.num_actions);
  }
  static RewardAnswer answer(CallRequest request);

  const FactorGraph* graph_;
  std::vector<int> variable_of_;  // by level
  Reward reward_;
  AnswerOrder order_;
  Caller caller_;
  std::int64_t next_id_ = 0;
};

}  // namespace treesample
