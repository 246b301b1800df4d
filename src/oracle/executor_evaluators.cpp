#include "oracle/executor_evaluators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "oracle/failed_job.hpp"

namespace treesample {
namespace {

constexpr double kInterruptionSeconds = 0.05;

// The values of a batch; those of a single job may have a witness.
std::vector<Evaluation> values_of(const Executor::Result& result, std::size_t num_jobs) {
  std::vector<Evaluation> values;
  if (result.values.size() < num_jobs || (num_jobs > 1 && result.values.size() > num_jobs)) {
    throw Error(ErrorCode::kNumeric, fmt::format("{} numbers for {} calls", result.values.size(), num_jobs));
  }
  for (std::size_t i = 0; i < num_jobs; ++i) values.push_back({result.values[i] + 0.0});  // a journal has no -0
  if (result.values.size() == num_jobs) return values;
  std::vector<int>& witness = values[0].witness.emplace();
  for (std::size_t i = num_jobs + 1; i < result.values.size(); ++i)
    witness.push_back(static_cast<int>(result.values[i]));
  return values;
}

}  // namespace

ExecutorEvaluators::ExecutorEvaluators(std::shared_ptr<Executor> executor, Settings settings)
    : executor_(std::move(executor)), settings_(std::move(settings)) {}

ExecutorEvaluators::~ExecutorEvaluators() { ExecutorEvaluators::stop(); }

void ExecutorEvaluators::push(Job job) {
  const int factor = job.factor;
  queues_[factor].push_back(std::move(job));
}

void ExecutorEvaluators::stop() {
  queues_.clear();
  again_.clear();
  executor_->cancel();
}

// How many jobs of a factor make the next task; 0 if they wait for more. A partial batch is begun only when the caller
// waits, and leaves a fair share for other idle workers.
std::size_t ExecutorEvaluators::next_size(int factor, std::size_t num_begun, bool is_waited_for) const {
  const std::deque<Job>& queue = queues_.at(factor);
  const auto max_batch = static_cast<std::size_t>(settings_.sources[settings_.source_of[factor]].max_batch);
  if (queue.empty() || max_batch == 1) return queue.empty() ? 0 : 1;
  const auto num_workers = static_cast<std::size_t>(std::max(1, executor_->num_workers()));
  const std::size_t num_busy = under_way_.size() + num_begun;
  if (num_busy >= num_workers || (queue.size() < max_batch && !is_waited_for)) return 0;
  const std::size_t num_idle = num_workers - num_busy;
  return std::min(max_batch, (queue.size() + num_idle - 1) / num_idle);
}

Executor::Task ExecutorEvaluators::task_of(const Batch& batch) {
  Executor::Task task{"call", {batch.jobs[0].factor, std::ssize(batch.jobs)}};
  for (const Job& job : batch.jobs) task.arguments.insert(task.arguments.end(), job.states.begin(), job.states.end());
  return task;
}

void ExecutorEvaluators::submit(bool is_waited_for) {
  std::vector<Batch> batches{std::move_iterator(again_.begin()), std::move_iterator(again_.end())};
  again_.clear();
  for (auto& [factor, queue] : queues_) {
    while (const auto count = next_size(factor, batches.size(), is_waited_for)) {
      const auto end = queue.begin() + static_cast<std::ptrdiff_t>(count);
      batches.push_back({{std::move_iterator(queue.begin()), std::move_iterator(end)}});
      queue.erase(queue.begin(), end);
    }
  }
  if (batches.empty()) return;
  std::vector<Executor::Task> tasks;
  for (const Batch& batch : batches) tasks.push_back(task_of(batch));
  std::int64_t number = executor_->submit(std::move(tasks));
  for (Batch& batch : batches) under_way_.emplace(number++, std::move(batch));
}

// A job of a batch that failed is tried once more alone, so that the others keep their values and the message names the
// one that cannot be evaluated.
void ExecutorEvaluators::receive(Executor::Result result, std::vector<JobResult>& finished) {
  auto found = under_way_.extract(result.number);
  if (found.empty()) return;
  Batch batch = std::move(found.mapped());
  const std::size_t count = batch.jobs.size();
  std::vector<Evaluation> values;
  std::exception_ptr failure;
  try {
    if (result.error) throw Error(*result.error);
    values = values_of(result, count);
  } catch (const Error&) {
    failure = std::current_exception();
    ++batch.num_failures;
  }
  for (std::size_t i = 0; i < count; ++i) {
    JobResult made{.job = std::move(batch.jobs[i]), .seconds = result.seconds / static_cast<double>(count)};
    made.worker = result.worker;
    made.num_failures = i == 0 ? batch.num_failures : 0;
    std::exception_ptr own = failure;
    if (!own) {
      const std::string problem = value_problem(values[i], made.job.states.size());
      if (!problem.empty()) {
        own = std::make_exception_ptr(Error(ErrorCode::kNumeric, "a log-value of " + problem));
        ++made.num_failures;
      }
    }
    const OracleSource& from = source(made.job);
    if (!own) {
      made.log_value = values[i].log_value;
      made.witness = std::move(values[i].witness);
    } else if (result.is_executor_broken) {
      made.is_source_broken = true;
      made.error = Error(ErrorCode::kIo, fmt::format("{} cannot be used: {}", from.description, result.error->what()));
    } else if (count > 1) {
      again_.push_back({{std::move(made.job)}, made.num_failures});
      continue;
    } else {
      made.error = final_error(own, fmt::format("{}: {}", from.description, settings_.describe(made.job)), 1);
    }
    finished.push_back(std::move(made));
  }
}

std::vector<JobResult> ExecutorEvaluators::take(bool wait) {
  std::vector<JobResult> finished;
  while (true) {
    submit(wait);
    const bool waits = wait && finished.empty();
    for (Executor::Result& result : executor_->take(waits ? kInterruptionSeconds : 0.0))
      receive(std::move(result), finished);
    if (!wait || !finished.empty()) return finished;
    if (settings_.is_interrupted && settings_.is_interrupted()) {
      throw Error(ErrorCode::kInterrupted, "interrupted while an evaluation was under way");
    }
  }
}

}  // namespace treesample
