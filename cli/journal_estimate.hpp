// An estimate of log Z from the calls of a journal (treesample/surrogate/value_estimate.hpp).
#pragma once

#include "treesample/io/json_model.hpp"
#include "treesample/oracle/journal_calls.hpp"
#include "treesample/surrogate/value_estimate.hpp"

namespace treesample::cli {

// Failures get the values that the model's programs define. Nothing is called. Throws Error (kArgument) if the calls do
// not belong to this model.
ValueEstimate journal_estimate(const JsonModel& model, const JournalCalls& calls);

}  // namespace treesample::cli
