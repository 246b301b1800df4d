#include "treesample/model/log_value.hpp"

#include <fmt/format.h>

#include "treesample/math/log_domain.hpp"

namespace treesample {

namespace {

std::string problem_above(double value, double most) {
  if (value == kNegInf || (value >= -kLargestMagnitude && value <= most)) return {};  // NaN fails both tests
  return fmt::format("{}, allowed are -inf and numbers from {} to {}", value, -kLargestMagnitude, most);
}

}  // namespace

std::string table_value_problem(double value) { return problem_above(value, kLargestMagnitude); }

std::string log_value_problem(double value, std::optional<double> log_max) {
  if (std::string problem = problem_above(value, kMaxLogValue); !problem.empty()) return problem;
  if (log_max && value > *log_max) return fmt::format("{}, above its declared log_max of {}", value, *log_max);
  return {};
}

}  // namespace treesample
