// Rewards that are evaluated at the same time: each is submitted first and returned when it is known.
//
// A reward that needs no program (only tables, or -inf before any function) is answered at once. The others are
// answered later, in the order of arrival or, so that a run can be repeated to the bit, in the order of submission.
// Each reward evaluates its factors one after the other in the order of reward.hpp, so that values and charges are
// those of Reward::evaluate. Rewards under way are reserved in the budget at their declared price and charged when they
// are returned.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "treesample/model/evaluation_queue.hpp"
#include "treesample/space/reward.hpp"

namespace treesample {

struct RewardAnswer {
  std::int64_t id = 0;              // of the submission
  std::vector<double> rewards;      // R_n for each of the actions that were asked for
  std::vector<double> magnitudes;   // see Reward::magnitude()
  std::optional<Error> error = {};  // set if a factor failed permanently; nothing was charged
};

enum class AnswerOrder { kArrival, kSubmission };

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
  [[nodiscard]] bool can_pay(const Request& request) const {
    return budget_->allows(reward_.price(request.level).times(request.num_actions));
  }
  // Pre: can_pay. Returns the answer if no program is needed (its id is then -1). Otherwise returns none; the answer
  // will come from wait() with the id last_id().
  std::optional<RewardAnswer> submit(const Request& request, std::span<const int> x);
  [[nodiscard]] std::int64_t last_id() const { return next_id_ - 1; }

  // The number of submissions whose answers were not returned yet.
  [[nodiscard]] int num_pending() const { return static_cast<int>(pending_.size()); }
  // Should more be submitted before waiting? With one worker and no batches: only if nothing is pending.
  [[nodiscard]] bool has_room() const;
  // Waits for at least one answer or, with `or_room`, until there is room. Pre: num_pending() > 0. Throws kInterrupted
  // and kIo as EvaluationQueue::wait_any does.
  std::vector<RewardAnswer> wait(bool or_room = false);

 private:
  // One reward of a submission.
  struct Part {
    std::vector<int> x;
    double sum = 0.0, magnitude = 0.0;
    int num_evaluated = 0;
    double seconds = 0.0;
    std::int64_t calls = 0;
    std::size_t next_function = 0;  // position among the functions of the level
  };
  struct Submission {
    int level = 0;
    std::vector<Part> parts;
    int num_asked = 0;  // parts for which a program was called
    int num_open = 0;   // those of them that are not known yet
    Spending reserved;
    std::optional<Error> error = {};
  };
  struct Place {
    std::int64_t id;
    std::size_t part;
  };
  std::optional<OracleQuestion> next_question(int level, Part& part);
  void ask(OracleQuestion question, Place place);
  void apply(const OracleAnswer& answer);
  RewardAnswer finish(std::int64_t id, Submission submission);

  const FactorGraph* graph_;
  std::vector<int> variable_of_;  // by level
  Reward reward_;
  Budget* budget_;
  AnswerOrder order_;
  std::int64_t next_id_ = 0;
  int num_asked_ = 0;                           // sum over all pending submissions
  std::map<std::int64_t, Submission> pending_;  // by id
  std::deque<std::int64_t> ready_;              // ids of known answers, in the order of arrival
  std::unordered_map<Ticket, Place> under_way_;
};

}  // namespace treesample
