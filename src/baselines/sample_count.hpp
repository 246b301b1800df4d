// The number of samples for which a budget pays.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "treesample/error.hpp"
#include "treesample/space/budget.hpp"

namespace treesample {

// The prices that a method pays, in the budget's unit. A sample that costs nothing, as in a model without factors or
// functions, counts as 1, so that the number of samples is finite.
struct SamplePrice {
  std::int64_t each = 0;
  std::int64_t first = 0;  // paid once, before the first sample
};

// Throws kArgument if the budget does not pay for one sample and there is no minimum number.
inline std::int64_t sample_count(std::string_view function, std::int64_t budget, SamplePrice price,
                                 std::int64_t min_samples) {
  const std::int64_t each = std::max<std::int64_t>(price.each, 1);
  const std::int64_t paid = budget >= price.first ? (budget - price.first) / each : 0;
  if (std::max(paid, min_samples) < 1) {
    throw OptionError("budget", fmt::format("{} pays for no sample of {}: the first costs {}", budget, function,
                                            static_cast<double>(price.first) + static_cast<double>(each)));
  }
  return std::max(paid, min_samples);
}

// A product that does not fit becomes the largest number: such a cost is above every budget.
inline std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

// Sampling methods need the cost of a sample in advance, which is not known for a budget of seconds.
inline std::int64_t in_unit(const Spending& cost, BudgetUnit unit) {
  if (unit == BudgetUnit::kCost) {
    throw OptionError("budget-unit",
                      "is 'cost', which is known only after a sample: allowed are reward, factor and call");
  }
  if (unit == BudgetUnit::kCall) return cost.calls;
  return unit == BudgetUnit::kReward ? cost.reward_evaluations : cost.factor_evaluations;
}

}  // namespace treesample
