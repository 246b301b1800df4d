// The evaluators (evaluators.hpp) that the options ask for.
#pragma once

#include <memory>

#include "oracle/oracle_model.hpp"
#include "oracle/worker_pool.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {

// Both arguments must outlive the evaluators; `options.remark` may be changed in the meantime.
std::unique_ptr<Evaluators> make_evaluators(const OracleModel& model, const OracleOptions& options,
                                            WorkerPool::Settings settings);

}  // namespace treesample
