// Complete configurations whose densities are evaluated, several at a time if the model's queue allows it.
//
// The factors of a configuration are evaluated as in a reward (space/reward.hpp): tables, then functions with a
// declared cost, cheapest first, then the other functions, and nothing after the first -inf. A function is evaluated
// only once for the same states.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "math/compensated_sum.hpp"
#include "space/caller.hpp"

namespace treesample {

struct AskedConfiguration {
  Assignment x;
  double log_density = 0.0;
  double log_error = 0.0;                           // of log_density; large values may have cancelled
  std::vector<std::pair<int, double>> values = {};  // factor and value, for the functions that were evaluated
  std::int64_t tag = 0;                             // chosen by the caller
  std::optional<Error> error = {};                  // set if a function failed permanently: there is no density
  // Of the functions that were evaluated, those that failed and leave the configuration out of the model.
  std::vector<int> missing = {};
};

class ConfigurationQueue {
 public:
  // Keeps references to the graph and the budget.
  ConfigurationQueue(const FactorGraph& graph, Budget& budget, AnswerOrder order);

  // True if the budget allows one more configuration, with everything under way counted at its full price. A
  // configuration is charged its actual cost when it is returned.
  [[nodiscard]] bool can_pay() const { return caller_.can_pay(price_); }
  // The number of calls that may still be begun (EvaluationQueue::num_left).
  [[nodiscard]] std::int64_t num_left() const { return caller_.num_left(); }
  // Pre: can_pay.
  // With `repeat`, as in OracleQuestion, all its functions are evaluated again.
  void submit(Assignment x, std::int64_t tag, int repeat = 0);
  // Should more be submitted before waiting?
  [[nodiscard]] bool has_room() const { return caller_.has_room(); }
  [[nodiscard]] int num_pending() const { return caller_.num_pending(); }
  // Returns at least one configuration in the order of arrival, or exactly one in the order of submission. Pre:
  // num_pending() > 0. Throws kInterrupted and kIo as EvaluationQueue::wait_any does.
  std::vector<AskedConfiguration> wait();

  // The functions of the graph, in the order of evaluation.
  [[nodiscard]] const std::vector<int>& functions() const { return functions_; }

 private:
  // The sum of the tables at x, which stops at -inf.
  [[nodiscard]] CompensatedSum table_sum(const Assignment& x) const;
  [[nodiscard]] AskedConfiguration asked(CallRequest request) const;

  const FactorGraph* graph_;
  std::vector<int> tables_, functions_;
  Spending price_;  // the most that a configuration can cost
  Caller caller_;
};

}  // namespace treesample
