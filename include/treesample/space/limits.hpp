// The limits of a run, the progress that it reports, and the reason why it ended. They are the same for every method.
//
// A method uses the limits that apply to it, and its documentation says which. It never exceeds them by more than one
// step of its work, and it ends with the answer so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "treesample/error.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/space/budget.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct Limits {
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  std::int64_t budget = kUnlimited;       // in units of `unit`
  BudgetUnit unit = BudgetUnit::kReward;  // of the budget
  double seconds_before = 0.0;            // of a budget in seconds, spent before the method begins; infer() sets them
  std::int64_t calls = kUnlimited;        // calls of functions; infer() turns this limit into a budget
  std::int64_t new_calls = kUnlimited;    // calls that are in no journal or earlier run; infer() enforces this limit
  double seconds = std::numeric_limits<double>::infinity();
  std::size_t bytes = std::size_t{4} << 30;  // of memory, for what grows with the model or the run
  double gap = 0.0;                          // methods with certified bounds end when U - L is at most this
  int threads = 0;                           // at most; 0: one per core. Most methods use one

  // Checks the limits. Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

inline Budget budget_of(const Limits& limits, const EvaluationQueue* queue = nullptr) {
  return {limits.budget, limits.unit, queue, limits.seconds_before};
}

enum class StopReason {
  kExact,
  kRounding,   // nothing is left to search, but rounding leaves log Z less certain than LogBounds::kExact
  kConverged,  // of iterations: one more would change nothing
  kBudget,
  kTime,
  kMemory,
  kGap,
  kInterrupted,
  kFactorFailed,  // the graph's evaluation queue gave up on a factor; the report has its error
};
const char* to_string(StopReason reason);

// The beginning of every method's report.
struct RunReport {
  StopReason stop = StopReason::kBudget;
  std::optional<Error> error = {};  // set for kFactorFailed
  LogBounds log_z;                  // certified; infinite if a method certifies nothing
  Spending spent;
  double seconds = 0.0;
};

struct Progress {
  const char* phase = "";  // what the run is doing
  Spending spent = {};
  LogBounds log_z = {};                 // certified
  std::optional<double> estimate = {};  // of log Z
  std::uint64_t num_nodes = 0;
  std::int64_t num_samples = 0;
  std::optional<double> best = {};        // the largest log density of a configuration so far, if known
  std::optional<double> share_done = {};  // if known
  double seconds = 0.0;                   // since the method began
};

// Watches a run. `progress` is called now and then. `should_stop` (treesample/stop.hpp) is called at least as often,
// and after each call of `progress`. `remark` gets sentences that tell a person how a request was understood.
struct Observer {
  std::function<void(const Progress&)> progress = {};
  ShouldStop should_stop = {};
  std::function<void(const std::string&)> remark = {};
};

}  // namespace treesample
