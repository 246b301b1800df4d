// Evaluates single functions, several at a time if the model's queue allows it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "treesample/model/evaluation_queue.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/budget.hpp"
#include "treesample/space/reward_queue.hpp"

namespace treesample {

struct CallAnswer {
  int factor = 0;
  std::vector<int> states;  // of its scope
  FactorValue value;
  std::int64_t tag = 0;             // chosen by the caller
  std::optional<Error> error = {};  // set if it failed permanently: there is no value
};

class CallQueue {
 public:
  // Keeps references to the graph and the budget.
  CallQueue(const FactorGraph& graph, Budget& budget, AnswerOrder order)
      : graph_(&graph), budget_(&budget), order_(order) {}

  [[nodiscard]] bool can_pay(int factor) const { return budget_->allows(price(factor)); }
  // Pre: can_pay.
  void submit(int factor, std::vector<int> states, std::int64_t tag);
  // Should more be submitted before waiting?
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] int num_pending() const { return static_cast<int>(pending_.size()); }
  // Returns at least one answer in the order of arrival, or exactly one in the order of submission. Pre: num_pending()
  // > 0. Throws kInterrupted and kIo as EvaluationQueue::wait_any does.
  std::vector<CallAnswer> wait();

 private:
  struct Pending {
    CallAnswer answer;
    double seconds = 0.0;
    bool is_known = false;
  };
  [[nodiscard]] Spending price(int factor) const;
  void charge(const Pending& pending);

  const FactorGraph* graph_;
  Budget* budget_;
  AnswerOrder order_;
  std::int64_t next_id_ = 0;
  std::map<std::int64_t, Pending> pending_;  // by order of submission
  std::unordered_map<Ticket, std::int64_t> under_way_;
};

}  // namespace treesample
