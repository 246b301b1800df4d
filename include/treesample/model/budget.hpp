// What a run may spend, and what it has spent.
#pragma once

#include <cstdint>

namespace treesample {

enum class BudgetUnit {
  kReward,  // one per evaluation of R_n: the unit of the paper's experiments
  kFactor,  // one per evaluation of a factor, |M_n| per R_n: the unit of its problem statement
};

struct Spending {
  std::int64_t reward_evaluations = 0;
  std::int64_t factor_evaluations = 0;
};

class Budget {
 public:
  Budget(std::int64_t limit, BudgetUnit unit) : limit_(limit), unit_(unit) {}

  // Can a reward of this many factors still be paid for? A run never exceeds its budget.
  [[nodiscard]] bool allows(int num_factors) const { return used() + cost(num_factors) <= limit_; }
  void spend(int num_factors) {
    spent_.reward_evaluations += 1;
    spent_.factor_evaluations += num_factors;
  }
  [[nodiscard]] std::int64_t used() const {
    return unit_ == BudgetUnit::kReward ? spent_.reward_evaluations : spent_.factor_evaluations;
  }
  [[nodiscard]] std::int64_t limit() const { return limit_; }
  [[nodiscard]] const Spending& spent() const { return spent_; }

 private:
  [[nodiscard]] std::int64_t cost(int num_factors) const { return unit_ == BudgetUnit::kReward ? 1 : num_factors; }

  std::int64_t limit_;
  BudgetUnit unit_;
  Spending spent_;
};

}  // namespace treesample
