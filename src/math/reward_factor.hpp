// exp(R) as a factor of a product.
#pragma once

#include <cmath>

#include "math/vector_kernels.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

// exp(R) for |R| up to a limit, by default 690 (1e-300 .. 1e300); 0 for R = -inf. An R beyond the limit is represented
// by a negative number from which it can be recovered: R itself if R is negative, -1 / R if it is positive.
inline double factor_of_reward(double reward, double limit = 690.0) {
  if (std::abs(reward) <= limit) return exp_one(reward);
  if (reward == kNegInf) return 0.0;
  return reward < 0.0 ? reward : -1.0 / reward;
}
inline double reward_of_factor(double factor) {
  if (factor >= 0.0) return std::log(factor);
  return factor < -1.0 ? factor : -1.0 / factor;
}

}  // namespace treesample
