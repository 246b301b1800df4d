#include "thread_team.hpp"

#include <algorithm>

#ifdef __linux__
#include <sched.h>
#endif

#include "treesample/error.hpp"

namespace treesample {

int num_cores() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadTeam::ThreadTeam(int num_threads) : num_threads_(num_threads) {
  check_range("ThreadTeam", "num_threads", num_threads, 1, 4096);
}

void ThreadTeam::start() {
  for (int worker = static_cast<int>(threads_.size()) + 1; worker < num_threads_; ++worker) {
    threads_.emplace_back([this, worker](const std::stop_token& stop) { serve(stop, worker); });
  }
}

ThreadTeam::~ThreadTeam() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void ThreadTeam::serve(const std::stop_token& stop, int worker) {
  std::size_t served = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (!has_work_.wait(lock, stop, [&] { return round_ != served; })) return;
      served = round_;
    }
    take_ranges(worker, nullptr);
    const std::scoped_lock lock(mutex_);
    if (--num_busy_ == 0) is_done_.notify_one();
  }
}

void ThreadTeam::take_ranges(int worker, const ShouldStop* should_stop) {
  try {
    while (!is_cancelled_) {
      const std::size_t first = next_.fetch_add(grain_);
      if (first >= count_) return;
      (*work_)(first, std::min(count_, first + grain_), worker);
      if (should_stop != nullptr && *should_stop && (*should_stop)()) {
        was_stopped_ = true;
        is_cancelled_ = true;
      }
    }
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    if (!exception_) exception_ = std::current_exception();
    is_cancelled_ = true;
  }
}

void ThreadTeam::run(std::size_t count, std::size_t grain, const Work& work, const ShouldStop& should_stop) {
  TS_ASSERT(grain > 0);
  const bool is_shared = num_threads_ > 1 && count > grain;
  if (is_shared) start();
  {
    const std::scoped_lock lock(mutex_);
    work_ = &work;
    count_ = count;
    grain_ = grain;
    next_ = 0;
    is_cancelled_ = false;
    was_stopped_ = false;
    exception_ = nullptr;
    if (is_shared) {
      num_busy_ = static_cast<int>(threads_.size());
      ++round_;
    }
  }
  if (is_shared) has_work_.notify_all();
  take_ranges(0, &should_stop);
  if (is_shared) {
    std::unique_lock lock(mutex_);
    is_done_.wait(lock, [&] { return num_busy_ == 0; });
  }
  if (exception_) std::rethrow_exception(exception_);
  if (was_stopped_) throw Error(ErrorCode::kInterrupted, "ThreadTeam: asked to end");
}

}  // namespace treesample
