// The limit of what a run may spend, and what it has spent.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>

#include "treesample/model/evaluation_queue.hpp"

namespace treesample {

enum class BudgetUnit {
  kReward,  // one per evaluation of R_n: the unit of the paper's experiments
  kFactor,  // one per evaluation of a factor, |M_n| per R_n: the unit of its problem statement
  kCost,    // seconds of function factors, declared or measured; tables are free
  kCall,    // one per evaluation of a function factor; tables are free
};

// What evaluations cost, in all units. A call is an evaluation of a function factor: a program, or a C++ callable. An
// evaluation that a queue has answered before in the same run is not counted as a call (Budget::is_new_call).
struct Spending {
  std::int64_t reward_evaluations = 0;
  std::int64_t factor_evaluations = 0;
  double cost_seconds = 0.0;
  std::int64_t calls = 0;

  Spending& operator+=(const Spending& other) {
    reward_evaluations += other.reward_evaluations;
    factor_evaluations += other.factor_evaluations;
    cost_seconds += other.cost_seconds;
    calls += other.calls;
    return *this;
  }
  Spending& operator-=(const Spending& other) {
    reward_evaluations -= other.reward_evaluations;
    factor_evaluations -= other.factor_evaluations;
    cost_seconds -= other.cost_seconds;
    calls -= other.calls;
    return *this;
  }
  [[nodiscard]] Spending times(int count) const {
    return {count * reward_evaluations, count * factor_evaluations, count * cost_seconds, count * calls};
  }
  // For display: a number in the unit of a budget.
  [[nodiscard]] double in(BudgetUnit unit) const {
    if (unit == BudgetUnit::kCost) return cost_seconds;
    if (unit == BudgetUnit::kCall) return static_cast<double>(calls);
    return static_cast<double>(unit == BudgetUnit::kReward ? reward_evaluations : factor_evaluations);
  }
};

// A limit in one of the units. Evaluations under way can be reserved, so that together they cannot exceed the limit.
class Budget {
 public:
  // In the unit kCall, tables and repeated evaluations are free; in kCost, functions of cost 0 are free too. A run that
  // needs only free evaluations must still end: so at most this many reward evaluations in a row may be free.
  static constexpr std::int64_t kFreeRewards = 300'000;

  // In every unit, the number of evaluations that the queue may still begin is a limit as well. Evaluations under way
  // count twice for that limit, so that a reward that evaluates its factors one after the other can be finished; near
  // the end fewer are therefore under way at a time. `seconds_before` were spent before this budget was made: they
  // count towards a limit in seconds, but are not in spent().
  Budget(std::int64_t limit, BudgetUnit unit, const EvaluationQueue* queue = nullptr, double seconds_before = 0.0)
      : limit_(limit), unit_(unit), queue_(queue), seconds_before_(seconds_before) {}

  // Can a reward with this many factors, or evaluations of this price, still be paid for? A run never exceeds its
  // budget, except by costs that were not declared, because these are known only afterwards.
  [[nodiscard]] bool allows(int num_factors) const { return allows(Spending{1, num_factors}); }
  [[nodiscard]] bool allows(const Spending& price) const {
    if (price.calls > 0 && queue_ != nullptr && reserved_.calls + price.calls > queue_->num_left()) return false;
    switch (unit_) {
      case BudgetUnit::kReward:
        return spent_.reward_evaluations + reserved_.reward_evaluations + price.reward_evaluations <= limit_;
      case BudgetUnit::kFactor:
        return spent_.factor_evaluations + reserved_.factor_evaluations + price.factor_evaluations <= limit_;
      case BudgetUnit::kCall:
        return spent_.calls + reserved_.calls + price.calls <= limit_ && allows_free(price);
      case BudgetUnit::kCost:
        break;
    }
    return allows_cost(price.cost_seconds) && allows_free(price);
  }
  void spend(int num_factors) { spend(Spending{1, num_factors}); }
  void spend(const Spending& cost) {
    spent_ += cost;
    if (cost.in(unit_) > 0.0) rewards_when_paid_ = spent_.reward_evaluations;
  }
  void reserve(const Spending& price) { reserved_ += price; }
  void release(const Spending& price) { reserved_ -= price; }

  // For factors that a queue evaluates: the same states are paid for only once. note_call() records the states.
  [[nodiscard]] bool is_new_call(int factor, std::span<const int> states) const {
    return !known_calls_.contains(call_key(factor, states));
  }
  bool note_call(int factor, std::span<const int> states) {
    return known_calls_.insert(call_key(factor, states)).second;
  }

  [[nodiscard]] std::int64_t limit() const { return limit_; }
  [[nodiscard]] BudgetUnit unit() const { return unit_; }
  [[nodiscard]] const Spending& spent() const { return spent_; }

 private:
  [[nodiscard]] bool allows_free(const Spending& price) const {
    return spent_.reward_evaluations + price.reward_evaluations - rewards_when_paid_ <= kFreeRewards;
  }
  // An evaluation that costs something is allowed if it fits and something is left.
  [[nodiscard]] bool allows_cost(double seconds) const {
    constexpr double kRounding = 1.0 + 1e-9;  // for the rounding in sums of decimal fractions
    const double used = seconds_before_ + spent_.cost_seconds + reserved_.cost_seconds;
    const auto limit = static_cast<double>(limit_);
    return seconds == 0.0 || (used + seconds <= limit * kRounding && used < limit);
  }

  static std::string call_key(int factor, std::span<const int> states) {
    std::string key(reinterpret_cast<const char*>(&factor), sizeof factor);
    return key.append(reinterpret_cast<const char*>(states.data()), states.size_bytes());
  }

  std::int64_t limit_;
  BudgetUnit unit_;
  const EvaluationQueue* queue_;
  double seconds_before_;
  Spending spent_, reserved_;
  std::int64_t rewards_when_paid_ = 0;  // reward evaluations when something was last paid for
  std::unordered_set<std::string> known_calls_;
};

}  // namespace treesample
