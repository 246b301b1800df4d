#include "oracle/reliability.hpp"

#include <fmt/format.h>

namespace treesample {

std::optional<Error> Reliability::too_many(const OracleSource& source, const Error& last) const {
  constexpr int kFewEvaluations = 20;
  const double allowed = source.max_failure_share * static_cast<double>(num_evaluations);
  if (num_evaluations < kFewEvaluations || static_cast<double>(num_failures) <= allowed) return {};
  return Error(last.code(),
               fmt::format("{}: {} of its {} evaluations failed, allowed is a share of {} "
                           "(max_failure_share); the last: {}",
                           source.description, num_failures, num_evaluations, source.max_failure_share, last.what()));
}

}  // namespace treesample
