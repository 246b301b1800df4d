#include "oracle/worker_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <system_error>
#include <utility>

#include "oracle/blocked_signals.hpp"
#include "oracle/failed_job.hpp"
#include "stopwatch.hpp"

namespace treesample {
namespace {

constexpr std::chrono::milliseconds kLookInterval{50};

// Gives up on all results without a value.
void give_up(std::vector<JobResult>& results, const std::vector<char>& is_done, const OracleSource& source,
             const OracleBroken& broken) {
  ++results[0].num_failures;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (is_done[i] != 0) continue;
    results[i].is_source_broken = true;
    results[i].error = Error(ErrorCode::kIo, fmt::format("{} cannot be used: {}", source.description, broken.text));
  }
}

}  // namespace

WorkerPool::WorkerPool(Settings settings) : settings_(std::move(settings)) {
  const BlockedSignals blocked;
  try {
    for (int i = 0; i < settings_.num_workers; ++i) threads_.emplace_back([this, i] { work(i + 1); });
  } catch (const std::system_error& error) {
    WorkerPool::stop();
    throw Error(ErrorCode::kResource,
                fmt::format("no threads for {} workers: {}", settings_.num_workers, error.what()));
  }
}

WorkerPool::~WorkerPool() { WorkerPool::stop(); }

void WorkerPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_.raise();
  }
  has_work_.notify_all();
  is_confirmed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkerPool::push(Job job) {
  {
    const std::lock_guard lock(mutex_);
    const int factor = job.factor;
    queues_[factor].push_back({next_number_++, std::move(job)});
  }
  has_work_.notify_one();
}

std::vector<JobResult> WorkerPool::take(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait && results_.empty()) {
    is_waited_for_ = true;
    has_work_.notify_all();
  }
  while (wait && results_.empty()) {
    has_results_.wait_for(lock, kLookInterval);
    if (results_.empty() && settings_.is_interrupted && settings_.is_interrupted()) {
      is_waited_for_ = false;
      throw Error(ErrorCode::kInterrupted, "interrupted while an evaluation was under way");
    }
  }
  is_waited_for_ = false;
  num_taken_ = num_finished_;
  return std::exchange(results_, {});
}

void WorkerPool::confirm() {
  {
    const std::lock_guard lock(mutex_);
    num_confirmed_ = num_taken_;
  }
  is_confirmed_.notify_all();
}

void WorkerPool::work(int number) {
  const std::string name = fmt::format("{}", number);
  std::vector<std::unique_ptr<Oracle>> made(settings_.sources.size());
  while (true) {
    std::vector<Job> batch = next_batch();
    if (batch.empty()) return;
    const int source = settings_.source_of[batch[0].factor];
    const OracleMaker oracle = [&]() -> Oracle& {
      if (!made[source]) made[source] = settings_.sources[source].make(stop_);
      return *made[source];
    };
    std::vector<JobResult> finished;
    try {
      finished = evaluate(oracle, settings_.sources[source], std::move(batch));
    } catch (const OracleStopped&) {
      return;
    }
    std::unique_lock lock(mutex_);
    for (JobResult& result : finished) {
      result.worker = name;
      results_.push_back(std::move(result));
    }
    is_waited_for_ = false;  // the caller will push more before it waits again
    const std::int64_t batch_number = ++num_finished_;
    has_results_.notify_one();
    if (!settings_.waits_for_confirmation) continue;
    is_confirmed_.wait(lock, [&] { return stop_.is_raised() || num_confirmed_ >= batch_number; });
  }
}

// The factor of the oldest job that may be begun; -1 if there is none. A source that takes batches does not get a
// partial batch while the caller may still add to it.
int WorkerPool::next_factor() const {
  int chosen = -1;
  std::int64_t oldest = 0;
  for (const auto& [factor, queue] : queues_) {
    const auto max_batch = static_cast<std::size_t>(settings_.sources[settings_.source_of[factor]].max_batch);
    if (queue.empty() || (queue.size() < max_batch && !is_waited_for_)) continue;
    if (chosen >= 0 && queue.front().number > oldest) continue;
    chosen = factor;
    oldest = queue.front().number;
  }
  return chosen;
}

// Takes the oldest job and later ones of the same factor, as many as its source takes at once, but leaves a fair share
// for other idle workers. Empty if there is no more work.
std::vector<Job> WorkerPool::next_batch() {
  std::unique_lock lock(mutex_);
  ++num_idle_;
  has_work_.wait(lock, [this] { return stop_.is_raised() || next_factor() >= 0; });
  const auto num_workers = static_cast<std::size_t>(num_idle_--);
  if (stop_.is_raised()) return {};
  const int factor = next_factor();
  std::deque<Numbered>& queue = queues_[factor];
  const auto max_batch = static_cast<std::size_t>(settings_.sources[settings_.source_of[factor]].max_batch);
  const std::size_t share = std::min(max_batch, (queue.size() + num_workers - 1) / num_workers);
  std::vector<Job> batch;
  for (; batch.size() < share; queue.pop_front()) batch.push_back(std::move(queue.front().job));
  return batch;
}

// Evaluates results[begin .. begin + count) once. Those that get a value are done. In a batch, the failure of one
// result is recorded with it; the failure of a single result is thrown. Any other exception is a failure of the whole
// batch, also that of an oracle that cannot be made.
void WorkerPool::attempt(const OracleMaker& made, std::span<JobResult> results, std::vector<char>& is_done,
                         std::size_t begin, std::size_t count) {
  std::vector<std::vector<int>> assignments;
  for (std::size_t i = begin; i < begin + count; ++i) assignments.push_back(results[i].job.states);
  Oracle& oracle = made();
  oracle.prepare();
  const Stopwatch clock;
  const std::vector<Evaluation> values = oracle.log_values(results[begin].job.factor, assignments);
  const double seconds = clock.seconds() / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    JobResult& result = results[begin + i];
    const std::string problem = value_problem(values[i], assignments[i].size());
    const bool has_failed = !values[i].failure.empty() || !problem.empty();
    if (!has_failed) {
      result.log_value = values[i].log_value;
      result.witness = values[i].witness;
      result.seconds = seconds;
      is_done[begin + i] = 1;
    } else if (count > 1) {
      ++result.num_failures;
    } else if (!values[i].failure.empty()) {
      throw Error(ErrorCode::kIo, "it says: " + values[i].failure);
    } else {
      throw Error(ErrorCode::kNumeric, "a log-value of " + problem);
    }
  }
}

// Tries the whole batch once. Results without a value are then tried one by one, so that the others keep their values
// and the message names the one that cannot be evaluated.
std::vector<JobResult> WorkerPool::evaluate(const OracleMaker& oracle, const OracleSource& source,
                                            std::vector<Job> batch) {
  std::vector<JobResult> results(batch.size());
  std::vector<char> is_done(batch.size(), 0);
  for (std::size_t i = 0; i < batch.size(); ++i) results[i].job = std::move(batch[i]);
  try {
    if (results.size() > 1) {
      try {
        attempt(oracle, results, is_done, 0, results.size());
      } catch (const OracleStopped&) {
        throw;
      } catch (const OracleBroken&) {
        throw;
      } catch (...) {
        ++results[0].num_failures;
      }
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (is_done[i] == 0) evaluate_alone(oracle, source, results, is_done, i);
    }
  } catch (const OracleBroken& broken) {
    give_up(results, is_done, source, broken);
  }
  return results;
}

void WorkerPool::evaluate_alone(const OracleMaker& oracle, const OracleSource& source, std::vector<JobResult>& results,
                                std::vector<char>& is_done, std::size_t i) {
  const Stopwatch clock;
  for (int retry = 0;; ++retry) {
    try {
      attempt(oracle, results, is_done, i, 1);
      return;
    } catch (const OracleStopped&) {
      throw;
    } catch (const OracleBroken&) {
      throw;
    } catch (...) {
      ++results[i].num_failures;
      if (retry < source.max_retries) continue;
      const std::string subject = fmt::format("{}: {}", source.description, settings_.describe(results[i].job));
      results[i].error = final_error(std::current_exception(), subject, retry + 1);
      results[i].seconds = clock.seconds();
      return;
    }
  }
}

}  // namespace treesample
