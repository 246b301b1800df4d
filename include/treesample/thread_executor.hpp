// An executor that is threads of this process: for work that is better done side by side than each by several threads.
//
//   InferOptions options;
//   options.executor = std::make_shared<ThreadExecutor>(16, do_slice_task);
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "treesample/executor.hpp"

namespace treesample {

class ThreadExecutor final : public Executor {
 public:
  // Does a task: what is shared, its kind, its arguments. Called by several threads at once.
  using Work = std::function<std::vector<double>(std::string_view shared, const std::string& kind,
                                                 std::span<const std::int64_t> arguments)>;

  ThreadExecutor(int num_threads, Work work);
  // Waits for tasks that were begun.
  ~ThreadExecutor() override;
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;

  [[nodiscard]] int num_workers() const override { return static_cast<int>(threads_.size()); }
  std::int64_t share(std::string bytes) override;
  std::int64_t submit(std::vector<Task> tasks) override;
  std::vector<Result> take(double most_seconds) override;
  void cancel() override;

 private:
  struct Numbered {
    std::int64_t number;
    Task task;
    std::shared_ptr<const std::string> shared;
  };
  void run();
  [[nodiscard]] Result result_of(const Numbered& job) const;

  const Work work_;
  std::vector<std::shared_ptr<const std::string>> shared_;
  std::int64_t next_number_ = 0;
  std::mutex mutex_;  // guards what follows, but for the threads
  std::condition_variable has_work_, has_results_;
  std::deque<Numbered> waiting_;
  std::vector<Result> results_;
  std::int64_t first_wanted_ = 0;  // tasks before this one were cancelled
  bool is_over_ = false;
  std::vector<std::thread> threads_;  // last, because they use all of the above
};

}  // namespace treesample
