// Replaces src/remote and src/oracle/redis_*.cpp if the library is built without Redis.
#include "oracle/redis_evaluators.hpp"
#include "treesample/error.hpp"
#include "treesample/oracle/question_worker.hpp"
#include "treesample/remote/redis_options.hpp"

namespace treesample {
namespace {

[[noreturn]] void refuse(const char* function) {
  throw Error(ErrorCode::kArgument, std::string(function) + ": the library was built without Redis (TREESAMPLE_REDIS)");
}

}  // namespace

void RedisOptions::validate() const {}
bool has_redis_tls() { return false; }
void QuestionWorkerOptions::validate() const {}
std::unique_ptr<Evaluators> make_redis_evaluators(const OracleModel&, RedisEvaluatorSettings) {
  refuse("OracleOptions::redis");
}
QuestionWorkerReport answer_questions(const JsonModel&, const QuestionWorkerOptions&, const RunCallbacks&) {
  refuse("answer_questions");
}

}  // namespace treesample
