// Threads that evaluate jobs. Each has its own oracle of every source, and all take work from one queue.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "oracle/evaluators.hpp"
#include "oracle/oracle.hpp"

namespace treesample {

class WorkerPool final : public Evaluators {
 public:
  struct Settings {
    std::vector<OracleSource> sources;
    std::vector<int> source_of = {};  // by factor; -1 for tables
    // A description of the job for messages: "factor 'likelihood' at pump=failed, load=2".
    std::function<std::string(const Job&)> describe = {};
    int num_workers = 1;
    std::function<bool()> is_interrupted = {};  // asked while take() waits
    // If true, a worker begins its next batch only after confirm() has been called for its last one. If the process is
    // killed, at most the batch that each worker holds is lost.
    bool waits_for_confirmation = false;
  };

  explicit WorkerPool(Settings settings);
  ~WorkerPool() override;  // stops
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // A source that takes batches gets one when it is full, or when take() is waiting.
  void push(Job job) override;
  std::vector<JobResult> take(bool wait) override;
  void confirm() override;
  // Interrupts programs and waits for the threads.
  void stop() override;
  // The number of workers that are waiting for work.
  [[nodiscard]] int num_idle() const {
    const std::lock_guard lock(mutex_);
    return num_idle_;
  }

 private:
  struct Numbered {
    std::int64_t number;
    Job job;
  };
  using OracleMaker = std::function<Oracle&()>;  // of one worker: makes its oracle when the oracle is first needed
  void work(int number);
  [[nodiscard]] int next_factor() const;
  std::vector<Job> next_batch();
  static void attempt(const OracleMaker& made, std::span<JobResult> results, std::vector<char>& is_done,
                      std::size_t begin, std::size_t count);
  std::vector<JobResult> evaluate(const OracleMaker& oracle, const OracleSource& source, std::vector<Job> batch);
  void evaluate_alone(const OracleMaker& oracle, const OracleSource& source, std::vector<JobResult>& results,
                      std::vector<char>& is_done, std::size_t i);

  const Settings settings_;
  StopSignal stop_;
  mutable std::mutex mutex_;  // guards all of the following except the threads
  std::condition_variable has_work_, has_results_, is_confirmed_;
  std::map<int, std::deque<Numbered>> queues_;  // by factor
  std::vector<JobResult> results_;
  std::int64_t next_number_ = 0;
  bool is_waited_for_ = false;  // true while take() waits
  int num_idle_ = 0;
  std::int64_t num_finished_ = 0, num_taken_ = 0, num_confirmed_ = 0;  // numbers of batches
  std::vector<std::thread> threads_;                                   // last, because they use all of the above
};

}  // namespace treesample
