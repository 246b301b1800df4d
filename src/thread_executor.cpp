#include "treesample/thread_executor.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "stopwatch.hpp"

namespace treesample {

ThreadExecutor::ThreadExecutor(int num_threads, Work work) : work_(std::move(work)) {
  check_range("ThreadExecutor", "num_threads", num_threads, 1, 1 << 16);
  for (int i = 0; i < num_threads; ++i) threads_.emplace_back([this] { run(); });
}

ThreadExecutor::~ThreadExecutor() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  has_work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::int64_t ThreadExecutor::share(std::string bytes) {
  shared_.push_back(std::make_shared<const std::string>(std::move(bytes)));
  return std::ssize(shared_) - 1;
}

std::int64_t ThreadExecutor::submit(std::vector<Task> tasks) {
  const std::int64_t first = next_number_;
  {
    const std::lock_guard lock(mutex_);
    for (Task& task : tasks) {
      auto shared = task.shared < 0 ? nullptr : shared_.at(static_cast<std::size_t>(task.shared));
      waiting_.push_back({next_number_++, std::move(task), std::move(shared)});
    }
  }
  has_work_.notify_all();
  return first;
}

std::vector<Executor::Result> ThreadExecutor::take(double most_seconds) {
  std::unique_lock lock(mutex_);
  has_results_.wait_for(lock, std::chrono::duration<double>(most_seconds), [this] { return !results_.empty(); });
  return std::exchange(results_, {});
}

void ThreadExecutor::cancel() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  results_.clear();
  first_wanted_ = next_number_;
}

Executor::Result ThreadExecutor::result_of(const Numbered& job) const {
  Result result{.number = job.number};
  const Stopwatch clock;
  try {
    result.values = work_(job.shared ? std::string_view(*job.shared) : "", job.task.kind, job.task.arguments);
  } catch (const Error& error) {
    result.error = error;
  } catch (const std::exception& error) {
    result.error = Error(ErrorCode::kInternal, error.what());
  }
  result.seconds = clock.seconds();
  return result;
}

void ThreadExecutor::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    has_work_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
    if (is_over_) return;
    const Numbered job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Result result = result_of(job);
    lock.lock();
    if (job.number < first_wanted_) continue;
    results_.push_back(std::move(result));
    has_results_.notify_one();
  }
}

}  // namespace treesample
