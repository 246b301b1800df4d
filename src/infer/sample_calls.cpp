#include "infer/sample_calls.hpp"

#include <algorithm>

namespace treesample {

SampleCalls::SampleCalls(const Task& task, Draft& draft) : task_(task), draft_(draft), num_answered_(num_answered()) {}

std::int64_t SampleCalls::num_answered() const {
  const EvaluationQueue* const queue = task_.graph.evaluation_queue();
  return queue == nullptr ? 0 : queue->num_answered();
}

std::int64_t SampleCalls::affordable(std::int64_t wanted) const {
  const std::int64_t each = num_functions(task_.graph);
  if (each == 0) return wanted;
  if (const EvaluationQueue* const queue = task_.graph.evaluation_queue()) {
    wanted = std::min(wanted, queue->num_left() / each);
  }
  if (task_.plan.call_budget == Limits::kUnlimited) return wanted;
  const std::int64_t left = task_.plan.call_budget - draft_.spent.calls - num_called(noted_);
  return std::min(wanted, std::max<std::int64_t>(0, left) / each);
}

std::int64_t SampleCalls::num_called(const Spending& spent) const {
  return task_.graph.evaluation_queue() == nullptr ? spent.calls : num_answered() - num_answered_;
}

void SampleCalls::charge(Spending spent) {
  spent.calls = num_called(spent);
  draft_.spent += spent;
  num_answered_ = num_answered();
  noted_ = {};
}

}  // namespace treesample
