// Complete configurations whose densities are evaluated, several at a time if the model's queue allows it.
//
// The factors of a configuration are evaluated as in a reward (space/reward.hpp): tables, then functions with a
// declared cost, cheapest first, then the other functions, and nothing after the first -inf. A function is evaluated
// only once for the same states.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "math/compensated_sum.hpp"
#include "treesample/model/evaluation_queue.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/budget.hpp"
#include "treesample/space/reward_queue.hpp"

namespace treesample {

struct AskedConfiguration {
  Assignment x;
  double log_density = 0.0;
  double log_error = 0.0;                           // of log_density; large values may have cancelled
  std::vector<std::pair<int, double>> values = {};  // factor and value, for the functions that were evaluated
  std::int64_t tag = 0;                             // chosen by the caller
  std::optional<Error> error = {};                  // set if a function failed permanently: there is no density
};

class ConfigurationQueue {
 public:
  // Keeps references to the graph and the budget.
  ConfigurationQueue(const FactorGraph& graph, Budget& budget, AnswerOrder order);

  // True if the budget allows one more configuration, with everything under way counted at its full price. A
  // configuration is charged its actual cost when it is returned. Nothing is charged twice, so charges do not depend on
  // the order of arrival.
  [[nodiscard]] bool can_pay() const;
  // The number of calls that may still be begun (EvaluationQueue::num_left).
  [[nodiscard]] std::int64_t num_left() const;
  // Pre: can_pay.
  void submit(Assignment x, std::int64_t tag);
  // Should more be submitted before waiting?
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] int num_pending() const { return static_cast<int>(pending_.size()); }
  // Returns at least one configuration in the order of arrival, or exactly one in the order of submission. Pre:
  // num_pending() > 0. Throws kInterrupted and kIo as EvaluationQueue::wait_any does.
  std::vector<AskedConfiguration> wait();

  // The functions of the graph, in the order of evaluation.
  [[nodiscard]] const std::vector<int>& functions() const { return functions_; }

 private:
  struct Pending {
    AskedConfiguration asked;
    CompensatedSum density;
    std::size_t next_function = 0;
    double seconds = 0.0;  // of its calls
    bool is_known = false;
  };
  // Continues with a configuration until a program has to answer, or everything is known.
  void go_on(std::int64_t id, Pending& pending);
  void add_value(Pending& pending, double value);
  static void add_to_density(Pending& pending, double value);
  void finish(std::int64_t id, Pending& pending);
  void charge(const Pending& pending);
  [[nodiscard]] std::optional<double> known(int factor, std::span<const int> states) const;
  [[nodiscard]] std::vector<int> states_of(int factor, std::span<const int> x) const;
  static std::string key(std::span<const int> states);

  const FactorGraph* graph_;
  Budget* budget_;
  AnswerOrder order_;
  std::vector<int> tables_, functions_;
  std::vector<std::unordered_map<std::string, double>> known_;  // by factor
  Spending price_;                                              // the most that a configuration can cost
  std::int64_t next_id_ = 0;
  std::map<std::int64_t, Pending> pending_;
  std::deque<std::int64_t> ready_;
  std::unordered_map<Ticket, std::int64_t> under_way_;
};

}  // namespace treesample
