#include "oracle/make_evaluators.hpp"

#include <utility>

#include "oracle/executor_evaluators.hpp"
#include "oracle/redis_evaluators.hpp"
#include "treesample/error.hpp"

namespace treesample {

void OracleOptions::validate() const {
  constexpr double kShortestLease = 0.1;
  check_range("OracleOptions", "num_workers", num_workers, executor ? 0 : 1, OracleSet::kMaxWorkers);
  check_at_least("OracleOptions", "question_lease_seconds", question_lease_seconds, kShortestLease);
}

std::unique_ptr<Evaluators> make_evaluators(const OracleModel& model, const OracleOptions& options,
                                            WorkerPool::Settings settings) {
  if (options.executor) {
    return std::make_unique<ExecutorEvaluators>(
        options.executor, ExecutorEvaluators::Settings{.sources = std::move(settings.sources),
                                                       .source_of = std::move(settings.source_of),
                                                       .describe = std::move(settings.describe),
                                                       .is_interrupted = std::move(settings.is_interrupted)});
  }
  if (!options.redis) return std::make_unique<WorkerPool>(std::move(settings));
  for (const OracleSource& source : model.sources) {
    check_argument(source.make == nullptr, "OracleOptions::redis",
                   "functions of this process cannot be called from elsewhere, allowed is a model of a file");
  }
  return make_redis_evaluators(model, {.redis = *options.redis,
                                       .num_workers = options.num_workers,
                                       .lease_seconds = options.question_lease_seconds,
                                       .has_journal = !options.journal.empty(),
                                       .is_interrupted = settings.is_interrupted,
                                       .remark = [&options](const std::string& text) {
                                         if (options.remark) options.remark(text);
                                       }});
}

}  // namespace treesample
