// How often the evaluations of one program failed, and when that is too often.
#pragma once

#include <cstdint>
#include <optional>

#include "oracle/oracle.hpp"

namespace treesample {

// Counts the evaluations that a run has used: its own and recorded ones.
struct Reliability {
  std::int64_t num_evaluations = 0;
  std::int64_t num_failures = 0;

  // None while the share of failures is allowed, or while there are few evaluations.
  [[nodiscard]] std::optional<Error> too_many(const OracleSource& source, const Error& last) const;
};

}  // namespace treesample
