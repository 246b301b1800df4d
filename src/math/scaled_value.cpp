#include "math/scaled_value.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "treesample/error.hpp"

namespace treesample {

void check_log_size(double log_value) {
  if (std::abs(log_value) <= ScaledValue::kMostLog || log_value == kNegInf) return;
  throw Error(
      ErrorCode::kNumeric,
      fmt::format("search: log values of {:g} are beyond {:g}: scale the factors, and write impossible states as "
                  "probability 0",
                  log_value, ScaledValue::kMostLog));
}

std::int32_t ScaledValue::unit_of_log(double log_value) {
  if (log_value > 0.0) check_log_size(log_value);
  return static_cast<std::int32_t>(std::round(std::max(log_value, -kMostLog) / kUnitHigh));
}

}  // namespace treesample
