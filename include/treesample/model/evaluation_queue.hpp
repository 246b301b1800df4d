// Factor evaluations that take long: asked for now, answered later, several at a time.
//
// A search that keeps P programs busy submits evaluations as long as it has some to make, then waits
// for whichever is answered first (or, to be reproducible, for the oldest) and goes on. A factor graph
// carries the queue that answers for its functions (FactorGraph::evaluation_queue).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "treesample/error.hpp"

namespace treesample {

struct OracleQuestion {
  int factor = 0;           // index in the model
  std::vector<int> states;  // of its scope, in scope order
};

using Ticket = std::int64_t;

struct OracleAnswer {
  Ticket ticket = 0;
  std::vector<double> log_values;  // one per question, in the order of the questions
  // Seconds that each evaluation costs this run: as declared, else as measured, also when an earlier run
  // paid for it; so a budget of seconds sees the same costs in a run that was interrupted and taken up
  // again. 0 for what has been asked before in this run: it is paid once.
  std::vector<double> costs;
  // Of each value, as in FactorValue; may be shorter than log_values: the rest has none.
  std::vector<std::optional<std::vector<int>>> witnesses = {};
  std::optional<Error> error = {};  // an evaluation failed for good; the values are then worth nothing
};

class EvaluationQueue {
 public:
  virtual ~EvaluationQueue() = default;

  // True for the factors that may be asked for.
  [[nodiscard]] virtual bool answers(int factor) const = 0;
  // Evaluations that run at the same time; more may be submitted and wait.
  [[nodiscard]] virtual int num_workers() const = 0;
  // Evaluations that are worth having under way: more than num_workers() where workers take several at once. What is
  // submitted may be held back until that many are there or an answer is waited for.
  [[nodiscard]] virtual int max_under_way() const { return num_workers(); }
  // Tickets that have been submitted and not been handed out.
  [[nodiscard]] virtual int num_pending() const = 0;

  // Evaluations that may still be begun; what is known already is free.
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] virtual std::int64_t num_left() const { return kUnlimited; }

  // Throws kArgument for a question that the model does not have.
  virtual Ticket submit(std::vector<OracleQuestion> questions) = 0;
  // Waits for an answer and returns all that are there, in the order in which they came, failed ones
  // included. Throws kArgument when nothing is pending, kInterrupted when the wait was asked to end, and
  // kIo when answers cannot be recorded; the tickets then stay pending.
  virtual std::vector<OracleAnswer> wait_any() = 0;
  // Waits for one ticket, and throws its error when it failed.
  virtual OracleAnswer wait(Ticket ticket) = 0;
};

}  // namespace treesample
