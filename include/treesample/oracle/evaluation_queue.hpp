// Factor evaluations that take long: asked for now, answered later, several at a time.
//
// A search that keeps P programs busy submits evaluations as long as it has some to make, then waits
// for whichever is answered first (or, to be reproducible, for the oldest) and goes on.
#pragma once

#include <cstdint>
#include <vector>

namespace treesample {

struct OracleQuestion {
  int factor = 0;           // index in the model
  std::vector<int> states;  // of its scope, in scope order
};

using Ticket = std::int64_t;

struct OracleAnswer {
  Ticket ticket = 0;
  std::vector<double> log_values;  // one per question, in the order of the questions
  // What the evaluations took, also when they were made by an earlier run or for another ticket; so a
  // budget of seconds sees the same costs in a run that was interrupted and taken up again.
  std::vector<double> seconds;
};

class EvaluationQueue {
 public:
  virtual ~EvaluationQueue() = default;

  // Evaluations that run at the same time; more may be submitted and wait.
  [[nodiscard]] virtual int num_workers() const = 0;
  // Tickets that have been submitted and not been handed out.
  [[nodiscard]] virtual int num_pending() const = 0;

  // Throws kArgument for a question that the model does not have.
  virtual Ticket submit(std::vector<OracleQuestion> questions) = 0;
  // Waits for an answer and returns all that are there, in the order in which they came. Throws
  // kArgument when nothing is pending. When an evaluation failed for good, its ticket is gone and its
  // Error is thrown here; the other tickets stay pending.
  virtual std::vector<OracleAnswer> wait_any() = 0;
  // Waits for one ticket; the deterministic order is that of submission.
  virtual OracleAnswer wait(Ticket ticket) = 0;
};

}  // namespace treesample
