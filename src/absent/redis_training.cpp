// Replaces src/train/distributed_*.cpp and the files they use if the library is built without Redis.
#include "treesample/error.hpp"
#include "treesample/train/distributed.hpp"

namespace treesample {
namespace {

[[noreturn]] void refuse(const char* function) {
  throw Error(ErrorCode::kArgument, std::string(function) + ": the library was built without Redis (TREESAMPLE_REDIS)");
}

}  // namespace

TrainReport train_distributed(const TrainOptions&, const RedisOptions&, const TrainObserver&, const RunCallbacks&) {
  refuse("train_distributed");
}
WorkerReport run_worker(const RedisOptions&, const RunCallbacks&) { refuse("run_worker"); }

}  // namespace treesample
