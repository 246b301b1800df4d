// Who does the work of a run: threads of this process, other processes, other machines.
//
// A task is a pure function of a word and a few whole numbers, and of what all tasks of a run share, which is handed
// out once. Its result is numbers that stand for a statement: values of a function, sums of slices with their bounds.
// So it does not matter where a task is done, when, in which order, or how often: a task whose worker was lost is done
// again, and results are put together in the order of the tasks, to the same bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "treesample/error.hpp"

namespace treesample {

// May be used by one thread only.
class Executor {
 public:
  struct Task {
    std::string kind;                          // such as "call" or "slices"
    std::vector<std::int64_t> arguments = {};  // by kind
    std::int64_t shared = -1;                  // what it works on, a number from share(); -1: nothing
  };

  struct Result {
    std::int64_t number = 0;
    std::vector<double> values = {};  // by kind
    std::optional<Error> error = {};  // the task itself failed, and there are no values
    bool is_executor_broken = false;  // the error is not the task's: there is no point in asking for more
    double seconds = 0.0;             // that its worker took
    std::string worker = {};          // who did it, for people
  };

  virtual ~Executor() = default;
  // How many tasks can be under way at the moment; workers may join and leave.
  [[nodiscard]] virtual int num_workers() const = 0;
  // Hands out bytes that many tasks need, once for each worker or machine. Returns their number.
  virtual std::int64_t share(std::string bytes) = 0;
  // Begins these tasks, or lets them wait for a free worker. Returns the number of the first one; that of the next one
  // is one more. No number is used twice.
  virtual std::int64_t submit(std::vector<Task> tasks) = 0;
  // What has arrived since the last call, each result once. If there is nothing, waits for it, but not longer than
  // this.
  virtual std::vector<Result> take(double most_seconds) = 0;
  // Nobody needs the tasks that are under way any more: those that were not begun never are, and results that arrive
  // later are dropped.
  virtual void cancel() = 0;
};

}  // namespace treesample
