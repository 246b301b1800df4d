// Calls that an executor makes (treesample/executor.hpp), as tasks of the kind "call":
//
//   arguments   factor, number of rows, and the states of each row
//   values      one per row; if there is one row, NaN and its witness may follow: places in the scope
//
// Nobody waits for a single call: one thread submits all that is asked for, and takes all that has arrived.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "oracle/evaluators.hpp"
#include "oracle/oracle.hpp"
#include "treesample/executor.hpp"

namespace treesample {

class ExecutorEvaluators final : public Evaluators {
 public:
  struct Settings {
    std::vector<OracleSource> sources;  // that make no oracles here: their functions are the executor's
    std::vector<int> source_of = {};    // by factor; -1 for tables
    std::function<std::string(const Job&)> describe = {};
    std::function<bool()> is_interrupted = {};  // asked while take() waits
  };

  ExecutorEvaluators(std::shared_ptr<Executor> executor, Settings settings);
  ~ExecutorEvaluators() override;  // stops
  ExecutorEvaluators(const ExecutorEvaluators&) = delete;
  ExecutorEvaluators& operator=(const ExecutorEvaluators&) = delete;

  // Submitted by take(), together with all others.
  void push(Job job) override;
  std::vector<JobResult> take(bool wait) override;
  void confirm() override {}
  void stop() override;

 private:
  struct Batch {
    std::vector<Job> jobs;
    int num_failures = 0;  // of batches that these jobs were in before
  };

  void submit(bool is_waited_for);
  [[nodiscard]] std::size_t next_size(int factor, std::size_t num_begun, bool is_waited_for) const;
  [[nodiscard]] static Executor::Task task_of(const Batch& batch);
  void receive(Executor::Result result, std::vector<JobResult>& finished);
  [[nodiscard]] const OracleSource& source(const Job& job) const {
    return settings_.sources[settings_.source_of[job.factor]];
  }

  const std::shared_ptr<Executor> executor_;
  const Settings settings_;
  std::map<int, std::deque<Job>> queues_;  // by factor
  std::deque<Batch> again_;                // of a batch that failed, each job alone
  std::map<std::int64_t, Batch> under_way_;
};

}  // namespace treesample
