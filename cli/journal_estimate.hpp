// An estimate of log Z from the calls of a journal (treesample/surrogate/value_estimate.hpp).
#pragma once

#include "treesample/io/json_model.hpp"
#include "treesample/oracle/journal_calls.hpp"
#include "treesample/surrogate/value_estimate.hpp"

namespace treesample::cli {

// Failures count as the model's programs say. Nothing is called. Throws Error (kArgument) when the calls are not of
// this model.
ValueEstimate journal_estimate(const JsonModel& model, const JournalCalls& calls);

}  // namespace treesample::cli
