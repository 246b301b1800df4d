#include "treesample/train/train.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "train/training_run.hpp"

namespace treesample {
namespace {

// Learner steps between two publications of the parameters. Copying a perceptron takes a tenth of a step.
constexpr int kStepsPerPublication = 4;

// Finished episodes that the learner has not yet taken.
class Inbox {
 public:
  void put(FinishedEpisode episode) {
    const std::lock_guard lock(mutex_);
    episodes_.push_back(std::move(episode));
    is_filled_.notify_one();
  }
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    is_filled_.notify_one();
  }
  // Takes all of them; with `wait`, waits for at least one. Rethrows the error of a worker.
  std::vector<FinishedEpisode> take(bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) is_filled_.wait(lock, [&] { return !episodes_.empty() || error_; });
    if (error_) std::rethrow_exception(error_);
    return std::exchange(episodes_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable is_filled_;
  std::vector<FinishedEpisode> episodes_;
  std::exception_ptr error_;
};

// Threads that run episodes until the object is destroyed, which joins them.
class WorkerThreads {
 public:
  WorkerThreads(const TrainingRun& run, std::uint64_t first_number, const ParameterBoard& board, Inbox& inbox)
      : next_number_(first_number) {
    for (int i = 0; i < run.options().num_workers; ++i) {
      threads_.emplace_back([this, &run, &board, &inbox] { work(run, board, inbox); });
    }
  }
  ~WorkerThreads() {
    should_stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // All episodes with smaller numbers have been started. After a crash, the unfinished ones among them are lost.
  [[nodiscard]] std::uint64_t next_number() const { return next_number_; }

 private:
  void work(const TrainingRun& run, const ParameterBoard& board, Inbox& inbox) {
    try {
      while (!should_stop_) {
        inbox.put(run_numbered_episode(run.options(), run.problems(), next_number_++, board.newest()));
      }
    } catch (...) {
      inbox.fail(std::current_exception());
    }
  }

  std::atomic<std::uint64_t> next_number_;
  std::atomic<bool> should_stop_ = false;
  std::vector<std::thread> threads_;
};

void train_in_turns(TrainingRun& run) {
  while (!run.is_finished() && !run.is_interrupted()) {
    const FinishedEpisode episode =
        run_numbered_episode(run.options(), run.problems(), run.counters().next_number++, run.parameters());
    run.take(episode);
    run.learn(run.options().steps_per_episode);
    run.record(episode);
    run.checkpoint();
  }
}

void train_concurrently(TrainingRun& run) {
  ParameterBoard board;
  Inbox inbox;
  const auto publish = [&] {
    ParameterBoard::Posted now = run.parameters();
    board.publish(std::move(now.network), now.version);
  };
  publish();
  WorkerThreads workers(run, run.counters().next_number, board, inbox);
  while (!run.is_finished() && !run.is_interrupted()) {
    const std::vector<FinishedEpisode> arrived = inbox.take(!run.has_work());
    for (const FinishedEpisode& episode : arrived) {
      if (run.is_finished() || run.is_interrupted()) break;
      run.take(episode);
      run.record(episode);
      run.counters().next_number = workers.next_number();
      run.checkpoint();
    }
    run.learn(kStepsPerPublication);
    publish();
  }
}

}  // namespace

TrainReport train(const TrainOptions& options, const TrainObserver& observer) {
  TrainingRun run(options, observer);
  run.begin();
  if (options.is_deterministic) {
    train_in_turns(run);
  } else {
    train_concurrently(run);
  }
  return run.finish();
}

}  // namespace treesample
