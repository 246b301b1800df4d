#include "treesample/model/log_value.hpp"

#include <fmt/format.h>

#include "treesample/math/log_domain.hpp"

namespace treesample {

std::string log_value_problem(double value, std::optional<double> log_max) {
  const bool is_allowed = value == kNegInf || (value >= kMinLogValue && value <= kMaxLogValue);  // NaN is not
  if (!is_allowed) {
    return fmt::format("{}, allowed are -inf and numbers from {} to {}", value, kMinLogValue, kMaxLogValue);
  }
  if (log_max && value > *log_max) return fmt::format("{}, above its declared log_max of {}", value, *log_max);
  return {};
}

}  // namespace treesample
