#include "tree/tree_number.hpp"

#include <fmt/format.h>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

void check_log_size(double log_value) {
  if (std::abs(log_value) <= kMostTreeLog || log_value == kNegInf) return;
  throw Error(
      ErrorCode::kNumeric,
      fmt::format("search: log values of {:g} are beyond {:g}: scale the factors, and write impossible states as "
                  "probability 0",
                  log_value, kMostTreeLog));
}

std::int32_t tree_unit_of(double log_value) {
  if (log_value > 0.0) check_log_size(log_value);
  return static_cast<std::int32_t>(TreeNumber::unit_of_log(std::max(log_value, -kMostTreeLog)));
}

}  // namespace treesample
