#include "oracle/worker_pool.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <system_error>
#include <utility>

namespace treesample {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kInterruptionInterval{50};

// The error of a job that is given up: the last failure, with what it was about.
Error final_error(const std::exception_ptr& failure, const std::string& subject, int num_failures) {
  ErrorCode code = ErrorCode::kIo;
  std::string reason = "an exception that is not a std::exception";
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    code = error.code() == ErrorCode::kParse ? ErrorCode::kIo : error.code();
    reason = error.what();
  } catch (const std::exception& error) {
    reason = error.what();
  } catch (...) {
  }
  const std::string times = num_failures == 1 ? "" : fmt::format(" {} times, the last time", num_failures);
  return {code, fmt::format("{} failed{}: {}", subject, times, reason)};
}

std::vector<JobResult> all_failed(std::vector<JobResult> results, const OracleSource& source,
                                  const OracleBroken& broken) {
  ++results[0].num_failures;
  for (JobResult& result : results) {
    result.error = Error(ErrorCode::kIo, fmt::format("{} cannot be used: {}", source.description, broken.text));
  }
  return results;
}

}  // namespace

WorkerPool::WorkerPool(Settings settings) : settings_(std::move(settings)) {
  // Signals are for the host's threads; and SIGPIPE must not end it when a program dies.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int i = 0; i < settings_.num_workers; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    stop();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw Error(ErrorCode::kResource,
                fmt::format("no threads for {} workers: {}", settings_.num_workers, error.what()));
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

WorkerPool::~WorkerPool() { stop(); }

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
    queue_.push_back(std::move(job));
  }
  has_work_.notify_one();
}

std::vector<JobResult> WorkerPool::take(bool wait) {
  std::unique_lock lock(mutex_);
  while (wait && results_.empty()) {
    has_results_.wait_for(lock, kInterruptionInterval);
    if (results_.empty() && settings_.is_interrupted && settings_.is_interrupted()) {
      throw Error(ErrorCode::kInterrupted, "interrupted while an evaluation was under way");
    }
  }
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

void WorkerPool::work() {
  std::vector<std::unique_ptr<Oracle>> oracles(settings_.sources.size());
  while (true) {
    std::vector<Job> batch = next_batch();
    if (batch.empty()) return;
    const int source = settings_.source_of[batch[0].factor];
    if (!oracles[source]) oracles[source] = settings_.sources[source].make(stop_);
    std::vector<JobResult> finished;
    try {
      finished = evaluate(*oracles[source], settings_.sources[source], std::move(batch));
    } catch (const OracleStopped&) {
      return;
    }
    std::unique_lock lock(mutex_);
    for (JobResult& result : finished) results_.push_back(std::move(result));
    const std::int64_t number = ++num_finished_;
    has_results_.notify_one();
    if (!settings_.waits_for_confirmation) continue;
    is_confirmed_.wait(lock, [&] { return stop_.is_raised() || num_confirmed_ >= number; });
  }
}

// The oldest job, and those behind it that its source takes along. Empty when there is no more work.
std::vector<Job> WorkerPool::next_batch() {
  std::unique_lock lock(mutex_);
  has_work_.wait(lock, [this] { return stop_.is_raised() || !queue_.empty(); });
  if (stop_.is_raised()) return {};
  std::vector<Job> batch;
  const int factor = queue_.front().factor;
  const auto max_batch = static_cast<std::size_t>(settings_.sources[settings_.source_of[factor]].max_batch);
  while (!queue_.empty() && queue_.front().factor == factor && batch.size() < max_batch) {
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return batch;
}

// Tries the whole batch once. When that fails, each job is tried alone, so that the others get their
// values and the message names the one that cannot be evaluated.
std::vector<JobResult> WorkerPool::evaluate(Oracle& oracle, const OracleSource& source, std::vector<Job> batch) {
  std::vector<std::vector<int>> assignments(batch.size());
  std::vector<JobResult> results(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    assignments[i] = batch[i].states;
    results[i].job = std::move(batch[i]);
  }
  const auto attempt = [&](std::size_t begin, std::size_t count) {
    oracle.prepare();
    const Clock::time_point start = Clock::now();
    const std::vector<double> values =
        oracle.log_values(results[begin].job.factor, std::span(assignments).subspan(begin, count));
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    for (std::size_t i = 0; i < count; ++i) {
      results[begin + i].log_value = values[i];
      results[begin + i].seconds = seconds / static_cast<double>(count);
    }
  };
  if (results.size() > 1) {
    try {
      attempt(0, results.size());
      return results;
    } catch (const OracleStopped&) {
      throw;
    } catch (const OracleBroken& broken) {
      return all_failed(std::move(results), source, broken);
    } catch (...) {
      ++results[0].num_failures;
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (int retry = 0;; ++retry) {
      try {
        attempt(i, 1);
        break;
      } catch (const OracleStopped&) {
        throw;
      } catch (const OracleBroken& broken) {
        return all_failed(std::move(results), source, broken);
      } catch (...) {
        ++results[i].num_failures;
        if (retry < source.max_retries) continue;
        const std::string subject = fmt::format("{}: {}", source.description, settings_.describe(results[i].job));
        results[i].error = final_error(std::current_exception(), subject, retry + 1);
        break;
      }
    }
  }
  return results;
}

}  // namespace treesample
